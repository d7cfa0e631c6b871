"""Runs checks one after the other and prints a line for each: "ok NAME" or "not ok NAME: why"."""

import os
import sys
import time
import traceback

ENDPOINT = os.environ["MONOTABLE_ENDPOINT"]

_failed = False


def check(name):
    """Runs the decorated function now."""

    def run(function):
        global _failed
        try:
            function()
            print(f"ok {name}")
        except Exception as error:  # whatever it is, the next check still runs
            _failed = True
            print(f"not ok {name}: {type(error).__name__}: {error}")
            traceback.print_exc()
        return function

    return run


def equal(found, expected):
    if found != expected:
        raise AssertionError(f"found {found!r}, expected {expected!r}")


def eventually(condition, seconds=20):
    """Waits until the condition holds, and gives what it gave."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("it did not happen in time")
        time.sleep(0.1)


def refused(function, exception):
    """The error of a call that must fail with this exception."""
    from botocore.exceptions import ClientError

    try:
        function()
    except ClientError as error:
        equal(error.response["Error"]["Code"], exception)
        return error
    raise AssertionError(f"it was not refused with {exception}")


def finish():
    sys.exit(1 if _failed else 0)
