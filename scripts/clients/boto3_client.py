"""boto3's client: tables, items, queries with paging, batches, transactions, streams, TTL, tags, recovery and backups."""

import time

import boto3
from botocore.config import Config
from check import ENDPOINT, check, equal, eventually, finish, refused

config = Config(retries={"max_attempts": 1})
db = boto3.client("dynamodb", endpoint_url=ENDPOINT, config=config)
streams = boto3.client("dynamodbstreams", endpoint_url=ENDPOINT, config=config)
TABLE = "BotoClient"


@check("boto3 client creates a table with indexes and a stream")
def _():
    made = db.create_table(
        TableName=TABLE,
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": kind} for name, kind in [("pk", "S"), ("sk", "N"), ("g", "S")]],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        GlobalSecondaryIndexes=[
            {"IndexName": "ByG", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "ALL"}}
        ],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )["TableDescription"]
    equal(made["TableName"], TABLE)
    db.get_waiter("table_exists").wait(TableName=TABLE, WaiterConfig={"Delay": 1})
    found = db.describe_table(TableName=TABLE)["Table"]
    equal(found["TableStatus"], "ACTIVE")
    equal(found["GlobalSecondaryIndexes"][0]["IndexName"], "ByG")
    assert TABLE in db.list_tables()["TableNames"]
    refused(lambda: db.create_table(TableName=TABLE, AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}], KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}], BillingMode="PAY_PER_REQUEST"), "ResourceInUseException")


@check("boto3 client puts, gets, updates and deletes an item of every type")
def _():
    key = {"pk": {"S": "types"}, "sk": {"N": "1"}}
    item = {
        **key,
        "s": {"S": "Grüße \U0001f600"},
        "n": {"N": "123456789012345678901234567890.12345678"},
        "b": {"B": b"\x00\xff"},
        "t": {"BOOL": True},
        "z": {"NULL": True},
        "ss": {"SS": ["a", "b"]},
        "ns": {"NS": ["1", "2"]},
        "bs": {"BS": [b"x"]},
        "l": {"L": [{"S": ""}, {"N": "1"}]},
        "m": {"M": {"a": {"M": {}}}},
    }
    db.put_item(TableName=TABLE, Item=item)
    equal(db.get_item(TableName=TABLE, Key=key, ConsistentRead=True)["Item"], item)
    updated = db.update_item(
        TableName=TABLE,
        Key=key,
        UpdateExpression="SET #c = if_not_exists(#c, :zero) + :one REMOVE bs",
        ExpressionAttributeNames={"#c": "count"},
        ExpressionAttributeValues={":zero": {"N": "0"}, ":one": {"N": "1"}},
        ReturnValues="UPDATED_NEW",
    )
    equal(updated["Attributes"], {"count": {"N": "1"}})
    error = refused(
        lambda: db.put_item(TableName=TABLE, Item=item, ConditionExpression="attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure="ALL_OLD"),
        "ConditionalCheckFailedException",
    )
    equal(error.response["Error"]["Message"], "The conditional request failed")
    equal(error.response["Item"]["count"], {"N": "1"})
    old = db.delete_item(TableName=TABLE, Key=key, ReturnValues="ALL_OLD", ReturnConsumedCapacity="TOTAL")
    equal(old["Attributes"]["s"], item["s"])
    equal(old["ConsumedCapacity"]["TableName"], TABLE)
    assert "Item" not in db.get_item(TableName=TABLE, Key=key)


@check("boto3 client pages through queries and scans")
def _():
    for start in range(0, 100, 25):
        puts = [{"PutRequest": {"Item": {"pk": {"S": "pages"}, "sk": {"N": str(n)}, "g": {"S": "even" if n % 2 == 0 else "odd"}}}} for n in range(start, start + 25)]
        equal(db.batch_write_item(RequestItems={TABLE: puts})["UnprocessedItems"], {})
    query = {"TableName": TABLE, "KeyConditionExpression": "pk = :p AND sk BETWEEN :a AND :b", "ExpressionAttributeValues": {":p": {"S": "pages"}, ":a": {"N": "10"}, ":b": {"N": "59"}}}
    pages = list(db.get_paginator("query").paginate(**query, PaginationConfig={"PageSize": 7}))
    equal([int(item["sk"]["N"]) for page in pages for item in page["Items"]], list(range(10, 60)))
    assert len(pages) >= 8
    back = db.query(**query, ScanIndexForward=False, Limit=3)
    equal([item["sk"]["N"] for item in back["Items"]], ["59", "58", "57"])
    equal(back["LastEvaluatedKey"], {"pk": {"S": "pages"}, "sk": {"N": "57"}})
    index = db.query(TableName=TABLE, IndexName="ByG", KeyConditionExpression="g = :g", ExpressionAttributeValues={":g": {"S": "odd"}}, Select="COUNT")
    equal(index["Count"], 50)
    scanned = [item for page in db.get_paginator("scan").paginate(TableName=TABLE, FilterExpression="sk < :n", ExpressionAttributeValues={":n": {"N": "20"}}, PaginationConfig={"PageSize": 30}) for item in page["Items"]]
    equal(len(scanned), 20)
    got = db.batch_get_item(RequestItems={TABLE: {"Keys": [{"pk": {"S": "pages"}, "sk": {"N": str(n)}} for n in range(50)], "ProjectionExpression": "sk"}})
    equal(len(got["Responses"][TABLE]), 50)


@check("boto3 client runs transactions, whole or not at all")
def _():
    put = lambda n, **more: {"Put": {"TableName": TABLE, "Item": {"pk": {"S": "tx"}, "sk": {"N": str(n)}}, **more}}
    db.transact_write_items(TransactItems=[put(1), put(2)], ClientRequestToken="once")
    db.transact_write_items(TransactItems=[put(1), put(2)], ClientRequestToken="once")
    error = refused(
        lambda: db.transact_write_items(TransactItems=[put(3), put(1, ConditionExpression="attribute_not_exists(pk)")]),
        "TransactionCanceledException",
    )
    equal([reason["Code"] for reason in error.response["CancellationReasons"]], ["None", "ConditionalCheckFailed"])
    got = db.transact_get_items(TransactItems=[{"Get": {"TableName": TABLE, "Key": {"pk": {"S": "tx"}, "sk": {"N": str(n)}}}} for n in (1, 3)])
    equal(["Item" in response for response in got["Responses"]], [True, False])
    refused(lambda: db.transact_write_items(TransactItems=[put(1)], ClientRequestToken="once"), "IdempotentParameterMismatchException")


def records():
    arn = db.describe_table(TableName=TABLE)["Table"]["LatestStreamArn"]
    found = []
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        while iterator:
            page = streams.get_records(ShardIterator=iterator)
            found += page["Records"]
            if not page["Records"]:
                break
            iterator = page.get("NextShardIterator")
    return found


@check("boto3 client reads the stream of changes")
def _():
    assert any(stream["TableName"] == TABLE for stream in streams.list_streams(TableName=TABLE)["Streams"])
    events = [record["eventName"] for record in records() if record["dynamodb"]["Keys"]["pk"] == {"S": "types"}]
    equal(events, ["INSERT", "MODIFY", "REMOVE"])
    numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in records()]
    equal(numbers, sorted(numbers))


@check("boto3 client sees items expire, with a stream record of the service")
def _():
    db.update_time_to_live(TableName=TABLE, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})
    equal(db.describe_time_to_live(TableName=TABLE)["TimeToLiveDescription"]["AttributeName"], "expires")
    key = {"pk": {"S": "ttl"}, "sk": {"N": "1"}}
    db.put_item(TableName=TABLE, Item={**key, "expires": {"N": str(int(time.time()) - 60)}})
    eventually(lambda: "Item" not in db.get_item(TableName=TABLE, Key=key))
    removed = eventually(lambda: [record for record in records() if record["eventName"] == "REMOVE" and record["dynamodb"]["Keys"] == key])
    equal(removed[0]["userIdentity"]["PrincipalId"], "dynamodb.amazonaws.com")


@check("boto3 client tags a table")
def _():
    arn = db.describe_table(TableName=TABLE)["Table"]["TableArn"]
    db.tag_resource(ResourceArn=arn, Tags=[{"Key": "team", "Value": "one"}])
    equal(db.list_tags_of_resource(ResourceArn=arn)["Tags"], [{"Key": "team", "Value": "one"}])


@check("boto3 client restores a table to a moment and from a backup")
def _():
    enabled = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 2}
    db.update_continuous_backups(TableName=TABLE, PointInTimeRecoverySpecification=enabled)
    db.put_item(TableName=TABLE, Item={"pk": {"S": "kept"}, "sk": {"N": "1"}})
    described = db.describe_continuous_backups(TableName=TABLE)["ContinuousBackupsDescription"]
    moment = described["PointInTimeRecoveryDescription"]["LatestRestorableDateTime"]
    backup = db.create_backup(TableName=TABLE, BackupName="boto3")["BackupDetails"]["BackupArn"]
    time.sleep(0.01)
    db.delete_item(TableName=TABLE, Key={"pk": {"S": "kept"}, "sk": {"N": "1"}})
    db.restore_table_to_point_in_time(SourceTableName=TABLE, TargetTableName="BotoMoment", RestoreDateTime=moment)
    eventually(lambda: db.describe_backup(BackupArn=backup)["BackupDescription"]["BackupDetails"]["BackupStatus"] == "AVAILABLE")
    db.restore_table_from_backup(TargetTableName="BotoBackup", BackupArn=backup)
    for table in ["BotoMoment", "BotoBackup"]:
        db.get_waiter("table_exists").wait(TableName=table, WaiterConfig={"Delay": 1})
        equal(db.describe_table(TableName=table)["Table"]["RestoreSummary"]["RestoreInProgress"], False)
        found = db.get_item(TableName=table, Key={"pk": {"S": "kept"}, "sk": {"N": "1"}})
        equal(found["Item"]["pk"], {"S": "kept"})
        db.delete_table(TableName=table)
    equal([each["BackupArn"] for each in db.list_backups(TableName=TABLE)["BackupSummaries"]], [backup])
    db.delete_backup(BackupArn=backup)


@check("boto3 client hears DynamoDB's words")
def _():
    error = refused(lambda: db.get_item(TableName="Missing", Key={"pk": {"S": "a"}}), "ResourceNotFoundException")
    equal(error.response["Error"]["Message"], "Requested resource not found")
    error = refused(lambda: db.get_item(TableName=TABLE, Key={"pk": {"S": "a"}}), "ValidationException")
    equal(error.response["Error"]["Message"], "The provided key element does not match the schema")
    wrong = boto3.client("dynamodb", endpoint_url=ENDPOINT, aws_access_key_id="CLIENTS", aws_secret_access_key="wrong", config=config)
    refused(wrong.list_tables, "InvalidSignatureException")
    nobody = boto3.client("dynamodb", endpoint_url=ENDPOINT, aws_access_key_id="NOBODY", aws_secret_access_key="wrong", config=config)
    refused(nobody.list_tables, "UnrecognizedClientException")


@check("boto3 client deletes the table")
def _():
    db.delete_table(TableName=TABLE)
    db.get_waiter("table_not_exists").wait(TableName=TABLE, WaiterConfig={"Delay": 1})


finish()
