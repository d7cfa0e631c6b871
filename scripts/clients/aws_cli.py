"""The AWS CLI, version 1, as a shell would call it."""

import json
import subprocess
import time

from check import ENDPOINT, check, equal, eventually, finish

TABLE = "AwsCli"


def aws(*arguments, service="dynamodb"):
    done = subprocess.run(["aws", service, *arguments, "--endpoint-url", ENDPOINT, "--output", "json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout) if done.stdout.strip() else {}


def fails_with(exception, *arguments):
    try:
        aws(*arguments)
    except RuntimeError as error:
        assert exception in str(error), error
        return
    raise AssertionError(f"it was not refused with {exception}")


@check("AWS CLI creates a table")
def _():
    aws(
        "create-table", "--table-name", TABLE, "--billing-mode", "PAY_PER_REQUEST",
        "--attribute-definitions", "AttributeName=pk,AttributeType=S", "AttributeName=sk,AttributeType=N",
        "--key-schema", "AttributeName=pk,KeyType=HASH", "AttributeName=sk,KeyType=RANGE",
        "--stream-specification", "StreamEnabled=true,StreamViewType=NEW_IMAGE",
    )
    aws("wait", "table-exists", "--table-name", TABLE)
    assert TABLE in aws("list-tables")["TableNames"]


@check("AWS CLI puts, gets, updates and deletes items")
def _():
    aws("put-item", "--table-name", TABLE, "--item", '{"pk":{"S":"a"},"sk":{"N":"1"},"v":{"S":"x"}}')
    equal(aws("get-item", "--table-name", TABLE, "--key", '{"pk":{"S":"a"},"sk":{"N":"1"}}')["Item"]["v"], {"S": "x"})
    aws("update-item", "--table-name", TABLE, "--key", '{"pk":{"S":"a"},"sk":{"N":"1"}}', "--update-expression", "SET v = :v", "--expression-attribute-values", '{":v":{"S":"y"}}')
    equal(aws("get-item", "--table-name", TABLE, "--key", '{"pk":{"S":"a"},"sk":{"N":"1.0"}}')["Item"]["v"], {"S": "y"})
    fails_with("ConditionalCheckFailedException", "delete-item", "--table-name", TABLE, "--key", '{"pk":{"S":"a"},"sk":{"N":"1"}}', "--condition-expression", "attribute_not_exists(pk)")
    aws("delete-item", "--table-name", TABLE, "--key", '{"pk":{"S":"a"},"sk":{"N":"1"}}')
    equal(aws("get-item", "--table-name", TABLE, "--key", '{"pk":{"S":"a"},"sk":{"N":"1"}}'), {})


@check("AWS CLI pages through a query by itself")
def _():
    for start in (0, 25):
        puts = [{"PutRequest": {"Item": {"pk": {"S": "p"}, "sk": {"N": str(n)}}}} for n in range(start, start + 25)]
        aws("batch-write-item", "--request-items", json.dumps({TABLE: puts}))
    found = aws("query", "--table-name", TABLE, "--key-condition-expression", "pk = :p", "--expression-attribute-values", '{":p":{"S":"p"}}', "--page-size", "8")
    equal(found["Count"], 50)
    some = aws("scan", "--table-name", TABLE, "--max-items", "10", "--page-size", "4")
    equal(len(some["Items"]), 10)
    rest = aws("scan", "--table-name", TABLE, "--starting-token", some["NextToken"])
    equal(len(rest["Items"]), 40)


@check("AWS CLI runs a transaction")
def _():
    actions = [
        {"Put": {"TableName": TABLE, "Item": {"pk": {"S": "tx"}, "sk": {"N": "1"}}}},
        {"Delete": {"TableName": TABLE, "Key": {"pk": {"S": "p"}, "sk": {"N": "0"}}}},
    ]
    aws("transact-write-items", "--transact-items", json.dumps(actions))
    got = aws("transact-get-items", "--transact-items", json.dumps([{"Get": {"TableName": TABLE, "Key": {"pk": {"S": "tx"}, "sk": {"N": "1"}}}}]))
    equal(got["Responses"][0]["Item"]["pk"], {"S": "tx"})


@check("AWS CLI reads a stream")
def _():
    arn = aws("list-streams", "--table-name", TABLE, service="dynamodbstreams")["Streams"][0]["StreamArn"]
    shard = aws("describe-stream", "--stream-arn", arn, service="dynamodbstreams")["StreamDescription"]["Shards"][0]["ShardId"]
    iterator = aws("get-shard-iterator", "--stream-arn", arn, "--shard-id", shard, "--shard-iterator-type", "TRIM_HORIZON", service="dynamodbstreams")["ShardIterator"]
    records = aws("get-records", "--shard-iterator", iterator, service="dynamodbstreams")["Records"]
    equal([record["eventName"] for record in records[:3]], ["INSERT", "MODIFY", "REMOVE"])


@check("AWS CLI sets a time to live")
def _():
    aws("update-time-to-live", "--table-name", TABLE, "--time-to-live-specification", "Enabled=true,AttributeName=ttl")
    equal(aws("describe-time-to-live", "--table-name", TABLE)["TimeToLiveDescription"]["AttributeName"], "ttl")
    aws("put-item", "--table-name", TABLE, "--item", json.dumps({"pk": {"S": "ttl"}, "sk": {"N": "1"}, "ttl": {"N": str(int(time.time()) - 9)}}))
    eventually(lambda: aws("get-item", "--table-name", TABLE, "--key", '{"pk":{"S":"ttl"},"sk":{"N":"1"}}') == {})


@check("AWS CLI hears DynamoDB's words")
def _():
    fails_with("Requested resource not found: Table: Missing not found", "describe-table", "--table-name", "Missing")


@check("AWS CLI deletes the table")
def _():
    aws("delete-table", "--table-name", TABLE)
    aws("wait", "table-not-exists", "--table-name", TABLE)


finish()
