// ElectroDB: a modelling library that writes its own keys and expressions.

import { CreateTableCommand, DeleteTableCommand, DynamoDBClient, UpdateTimeToLiveCommand, waitUntilTableExists } from "@aws-sdk/client-dynamodb";
import { Entity, Service } from "electrodb";
import { assert, check, eventually, settings } from "./check.mjs";

const client = new DynamoDBClient(settings);
const table = "Electro";

const Customer = new Entity({
  model: { entity: "customer", version: "1", service: "shop" },
  attributes: { customer: { type: "string", required: true }, name: { type: "string" }, email: { type: "string" }, visits: { type: "number", default: 0 } },
  indexes: {
    byId: { pk: { field: "pk", composite: ["customer"] }, sk: { field: "sk", composite: [] } },
    byEmail: { index: "gsi1", pk: { field: "gsi1pk", composite: ["email"] }, sk: { field: "gsi1sk", composite: [] } },
  },
}, { client, table });

const Order = new Entity({
  model: { entity: "order", version: "1", service: "shop" },
  attributes: {
    customer: { type: "string", required: true }, order: { type: "string", required: true }, total: { type: "number" },
    status: { type: ["open", "paid"], default: "open" }, tags: { type: "set", items: "string" }, lines: { type: "list", items: { type: "map", properties: { sku: { type: "string" }, count: { type: "number" } } } },
    expires: { type: "number" },
  },
  indexes: {
    byId: { pk: { field: "pk", composite: ["customer"] }, sk: { field: "sk", composite: ["order"] } },
    byStatus: { index: "gsi1", pk: { field: "gsi1pk", composite: ["status"] }, sk: { field: "gsi1sk", composite: ["order"] } },
  },
}, { client, table });

const shop = new Service({ customer: Customer, order: Order }, { client, table });

await check("ElectroDB has a table", async () => {
  const names = ["pk", "sk", "gsi1pk", "gsi1sk"];
  const schema = (hash, range) => [{ AttributeName: hash, KeyType: "HASH" }, { AttributeName: range, KeyType: "RANGE" }];
  await client.send(new CreateTableCommand({
    TableName: table, BillingMode: "PAY_PER_REQUEST", KeySchema: schema("pk", "sk"),
    AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    GlobalSecondaryIndexes: [{ IndexName: "gsi1", KeySchema: schema("gsi1pk", "gsi1sk"), Projection: { ProjectionType: "ALL" } }],
  }));
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName: table });
});

await check("ElectroDB creates, reads, patches and upserts", async () => {
  await Customer.create({ customer: "c1", name: "Ada", email: "ada@example.com" }).go();
  await assert.rejects(Customer.create({ customer: "c1", name: "Eve", email: "eve@example.com" }).go());
  assert.equal((await Customer.get({ customer: "c1" }).go()).data.name, "Ada");
  const patched = await Customer.patch({ customer: "c1" }).add({ visits: 2 }).set({ name: "Ada L." }).go({ response: "all_new" });
  assert.deepEqual([patched.data.visits, patched.data.name], [2, "Ada L."]);
  await Customer.upsert({ customer: "c2", name: "Bob", email: "bob@example.com" }).go();
  assert.equal((await Customer.query.byEmail({ email: "ada@example.com" }).go()).data.length, 1);
});

await check("ElectroDB pages through queries", async () => {
  const orders = Array.from({ length: 40 }, (_, n) => ({ customer: "c1", order: String(n).padStart(3, "0"), total: n, tags: ["x"], lines: [{ sku: "a", count: n }] }));
  const { unprocessed } = await Order.put(orders).go();
  assert.deepEqual(unprocessed, []);
  const found = [];
  let cursor = null;
  do {
    const page = await Order.query.byId({ customer: "c1" }).gte({ order: "010" }).where(({ total }, { lt }) => lt(total, 30)).go({ cursor, limit: 6 });
    found.push(...page.data);
    cursor = page.cursor;
  } while (cursor);
  assert.deepEqual(found.map((order) => order.total), Array.from({ length: 20 }, (_, n) => n + 10));
  assert.deepEqual(found[0].lines, [{ sku: "a", count: 10 }]);
  assert.equal((await Order.query.byStatus({ status: "open" }).go({ pages: "all" })).data.length, 40);
});

await check("ElectroDB runs transactions", async () => {
  const written = await shop.transaction.write(({ customer, order }) => [
    customer.patch({ customer: "c1" }).add({ visits: 1 }).commit(),
    order.patch({ customer: "c1", order: "001" }).set({ status: "paid" }).commit(),
  ]).go();
  assert.equal(written.canceled, false);
  const canceled = await shop.transaction.write(({ customer, order }) => [
    customer.patch({ customer: "c1" }).add({ visits: 1 }).commit(),
    order.create({ customer: "c1", order: "001" }).commit(),
  ]).go();
  assert.equal(canceled.canceled, true);
  const got = await shop.transaction.get(({ customer, order }) => [customer.get({ customer: "c1" }).commit(), order.get({ customer: "c1", order: "001" }).commit()]).go();
  assert.deepEqual([got.data[0].item.visits, got.data[1].item.status], [3, "paid"]);
});

await check("ElectroDB's items expire", async () => {
  await client.send(new UpdateTimeToLiveCommand({ TableName: table, TimeToLiveSpecification: { Enabled: true, AttributeName: "expires" } }));
  await Order.put({ customer: "c9", order: "1", expires: Math.floor(Date.now() / 1000) - 10 }).go();
  await eventually(async () => (await Order.get({ customer: "c9", order: "1" }).go()).data === null);
});

await check("ElectroDB deletes the table", async () => {
  await Order.delete({ customer: "c1", order: "001" }).go();
  await client.send(new DeleteTableCommand({ TableName: table }));
});
