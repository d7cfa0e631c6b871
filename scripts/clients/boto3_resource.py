"""boto3's resource: tables as objects, Python's own values, conditions written as expressions."""

import time
from decimal import Decimal

import boto3
from boto3.dynamodb.conditions import Attr, Key
from botocore.config import Config
from check import ENDPOINT, check, equal, eventually, finish, refused

resource = boto3.resource("dynamodb", endpoint_url=ENDPOINT, config=Config(retries={"max_attempts": 1}))
table = resource.Table("BotoResource")


@check("boto3 resource creates a table")
def _():
    made = resource.create_table(
        TableName="BotoResource",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    )
    made.wait_until_exists()
    made.reload()
    equal(made.table_status, "ACTIVE")
    assert "BotoResource" in [found.name for found in resource.tables.all()]


@check("boto3 resource keeps Python's values")
def _():
    item = {"pk": "a", "sk": "1", "n": Decimal("1.5"), "list": [1, "x", None, True], "map": {"deep": {"er": Decimal("-1E-100")}}, "set": {"a", "b"}}
    table.put_item(Item=item)
    equal(table.get_item(Key={"pk": "a", "sk": "1"})["Item"], item)
    updated = table.update_item(
        Key={"pk": "a", "sk": "1"},
        UpdateExpression="SET #l[0] = :v ADD n :one DELETE #s :a",
        ExpressionAttributeNames={"#l": "list", "#s": "set"},
        ExpressionAttributeValues={":v": "zero", ":one": 1, ":a": {"a"}},
        ReturnValues="ALL_NEW",
    )["Attributes"]
    equal((updated["list"][0], updated["n"], updated["set"]), ("zero", Decimal("2.5"), {"b"}))
    refused(lambda: table.put_item(Item=item, ConditionExpression=Attr("n").lt(1)), "ConditionalCheckFailedException")


@check("boto3 resource writes batches and pages through queries")
def _():
    with table.batch_writer() as batch:
        for n in range(120):
            batch.put_item(Item={"pk": "page", "sk": f"{n:03}", "even": n % 2 == 0, "pad": "x" * 1000})
    found, start = [], {}
    while True:
        page = table.query(KeyConditionExpression=Key("pk").eq("page") & Key("sk").begins_with("0"), FilterExpression=Attr("even").eq(True), Limit=9, **start)
        found += page["Items"]
        if "LastEvaluatedKey" not in page:
            break
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    equal([item["sk"] for item in found], [f"{n:03}" for n in range(0, 100, 2)])
    halves = [table.scan(Segment=segment, TotalSegments=2, Select="COUNT")["Count"] for segment in range(2)]
    equal(sum(halves), 121)


@check("boto3 resource reads batches of several tables' keys")
def _():
    got = resource.batch_get_item(RequestItems={"BotoResource": {"Keys": [{"pk": "page", "sk": f"{n:03}"} for n in range(5)]}})
    equal(sorted(item["sk"] for item in got["Responses"]["BotoResource"]), ["000", "001", "002", "003", "004"])


@check("boto3 resource runs transactions through its client")
def _():
    client = resource.meta.client
    client.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": "BotoResource", "Item": {"pk": "tx", "sk": "1", "n": 1}}},
            {"Update": {"TableName": "BotoResource", "Key": {"pk": "a", "sk": "1"}, "UpdateExpression": "SET seen = :t", "ExpressionAttributeValues": {":t": True}}},
            {"Delete": {"TableName": "BotoResource", "Key": {"pk": "page", "sk": "000"}}},
        ]
    )
    equal(table.get_item(Key={"pk": "a", "sk": "1"})["Item"]["seen"], True)
    assert "Item" not in table.get_item(Key={"pk": "page", "sk": "000"})


@check("boto3 resource has a stream")
def _():
    streams = boto3.client("dynamodbstreams", endpoint_url=ENDPOINT)
    table.reload()
    description = streams.describe_stream(StreamArn=table.latest_stream_arn)["StreamDescription"]
    equal(description["StreamViewType"], "KEYS_ONLY")
    iterator = streams.get_shard_iterator(StreamArn=table.latest_stream_arn, ShardId=description["Shards"][0]["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
    first = streams.get_records(ShardIterator=iterator, Limit=1)["Records"][0]
    equal((first["eventName"], first["dynamodb"]["Keys"]), ("INSERT", {"pk": {"S": "a"}, "sk": {"S": "1"}}))
    assert "NewImage" not in first["dynamodb"]


@check("boto3 resource sees items expire")
def _():
    resource.meta.client.update_time_to_live(TableName="BotoResource", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    table.put_item(Item={"pk": "ttl", "sk": "1", "ttl": int(time.time()) - 5})
    table.put_item(Item={"pk": "ttl", "sk": "2", "ttl": int(time.time()) + 3600})
    eventually(lambda: table.query(KeyConditionExpression=Key("pk").eq("ttl"))["Count"] == 1)


@check("boto3 resource deletes the table")
def _():
    table.delete()
    table.wait_until_not_exists()


finish()
