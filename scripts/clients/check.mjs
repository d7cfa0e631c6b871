// Runs checks one after the other and prints a line for each: "ok NAME" or "not ok NAME: why".

import assert from "node:assert/strict";

export const endpoint = process.env.MONOTABLE_ENDPOINT;
export const settings = { endpoint, region: "us-east-1", maxAttempts: 1 };
export { assert };

export async function check(name, work) {
  try {
    await work();
    console.log(`ok ${name}`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`not ok ${name}: ${String(error?.name)}: ${String(error?.message).split("\n").join(" ")}`);
    console.error(error);
  }
}

export async function eventually(condition, seconds = 20) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error("it did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export async function refused(promise, exception) {
  try {
    await promise;
  } catch (error) {
    assert.equal(error.name, exception);
    return error;
  }
  throw new Error(`it was not refused with ${exception}`);
}
