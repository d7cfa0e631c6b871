// @aws-sdk/lib-dynamodb: JavaScript's own values.

import { CreateTableCommand, DeleteTableCommand, DescribeTableCommand, DynamoDBClient, UpdateTimeToLiveCommand, waitUntilTableExists } from "@aws-sdk/client-dynamodb";
import { DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand } from "@aws-sdk/client-dynamodb-streams";
import {
  BatchGetCommand, BatchWriteCommand, DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand, TransactGetCommand, TransactWriteCommand,
  UpdateCommand, paginateQuery,
} from "@aws-sdk/lib-dynamodb";
import { assert, check, eventually, refused, settings } from "./check.mjs";

const client = new DynamoDBClient(settings);
const db = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
const TableName = "Document";

await check("lib-dynamodb has a table", async () => {
  await client.send(new CreateTableCommand({
    TableName,
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }, { AttributeName: "sk", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }, { AttributeName: "sk", KeyType: "RANGE" }],
    BillingMode: "PAY_PER_REQUEST",
    StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_IMAGE" },
  }));
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName });
});

await check("lib-dynamodb keeps JavaScript's values", async () => {
  const Item = { pk: "a", sk: "1", number: 1.5, text: "", list: [1, "two", null, true], map: { a: { b: [] } }, set: new Set(["x", "y"]), bytes: new Uint8Array([1, 2]) };
  await db.send(new PutCommand({ TableName, Item }));
  assert.deepEqual((await db.send(new GetCommand({ TableName, Key: { pk: "a", sk: "1" } }))).Item, Item);
  const updated = await db.send(new UpdateCommand({
    TableName, Key: { pk: "a", sk: "1" }, UpdateExpression: "SET #m.a.c = :c, #l = list_append(#l, :more)",
    ExpressionAttributeNames: { "#m": "map", "#l": "list" }, ExpressionAttributeValues: { ":c": 1, ":more": [5] }, ReturnValues: "ALL_NEW",
  }));
  assert.deepEqual(updated.Attributes.map, { a: { b: [], c: 1 } });
  assert.deepEqual(updated.Attributes.list, [1, "two", null, true, 5]);
});

await check("lib-dynamodb pages through queries", async () => {
  for (const part of [0, 1]) {
    const puts = Array.from({ length: 25 }, (_, n) => ({ PutRequest: { Item: { pk: "p", sk: String(part * 25 + n).padStart(3, "0"), pad: "x".repeat(500) } } }));
    await db.send(new BatchWriteCommand({ RequestItems: { [TableName]: puts } }));
  }
  const found = [];
  const query = { TableName, KeyConditionExpression: "pk = :p", ExpressionAttributeValues: { ":p": "p" }, ProjectionExpression: "sk" };
  for await (const page of paginateQuery({ client: db, pageSize: 7 }, { ...query })) found.push(...page.Items);
  assert.equal(found.length, 50);
  assert.deepEqual(found[0], { sk: "000" });
  const last = await db.send(new QueryCommand({ ...query, ScanIndexForward: false, Limit: 1 }));
  assert.deepEqual(last.Items, [{ sk: "049" }]);
  const got = await db.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [{ pk: "p", sk: "000" }, { pk: "p", sk: "001" }] } } }));
  assert.equal(got.Responses[TableName].length, 2);
});

await check("lib-dynamodb runs transactions", async () => {
  await db.send(new TransactWriteCommand({
    TransactItems: [
      { Put: { TableName, Item: { pk: "tx", sk: "1" } } },
      { Update: { TableName, Key: { pk: "tx", sk: "2" }, UpdateExpression: "SET n = :n", ExpressionAttributeValues: { ":n": 2 } } },
      { ConditionCheck: { TableName, Key: { pk: "a", sk: "1" }, ConditionExpression: "attribute_exists(pk)" } },
    ],
  }));
  const got = await db.send(new TransactGetCommand({ TransactItems: ["1", "2"].map((sk) => ({ Get: { TableName, Key: { pk: "tx", sk } } })) }));
  assert.deepEqual(got.Responses.map((response) => response.Item), [{ pk: "tx", sk: "1" }, { pk: "tx", sk: "2", n: 2 }]);
  await refused(db.send(new TransactWriteCommand({ TransactItems: [{ Delete: { TableName, Key: { pk: "tx", sk: "9" }, ConditionExpression: "attribute_exists(pk)" } }] })), "TransactionCanceledException");
});

await check("lib-dynamodb has streams and expiry", async () => {
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: { Enabled: true, AttributeName: "ttl" } }));
  await db.send(new PutCommand({ TableName, Item: { pk: "ttl", sk: "1", ttl: Math.floor(Date.now() / 1000) - 10 } }));
  await eventually(async () => (await db.send(new GetCommand({ TableName, Key: { pk: "ttl", sk: "1" } }))).Item === undefined);
  const streams = new DynamoDBStreamsClient(settings);
  const StreamArn = (await client.send(new DescribeTableCommand({ TableName }))).Table.LatestStreamArn;
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
  const { ShardIterator } = await streams.send(new GetShardIteratorCommand({ StreamArn, ShardId: StreamDescription.Shards[0].ShardId, ShardIteratorType: "TRIM_HORIZON" }));
  const { Records } = await streams.send(new GetRecordsCommand({ ShardIterator, Limit: 2 }));
  assert.deepEqual(Records.map((record) => record.eventName), ["INSERT", "MODIFY"]);
});

await check("lib-dynamodb deletes the table", async () => {
  await client.send(new DeleteTableCommand({ TableName }));
});
