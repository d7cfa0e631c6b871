// @aws-sdk/client-dynamodb and client-dynamodb-streams: tables, items, queries with paging, transactions, streams, TTL.

import {
  BatchGetItemCommand, BatchWriteItemCommand, CreateTableCommand, DeleteItemCommand, DeleteTableCommand, DescribeTableCommand,
  DescribeTimeToLiveCommand, DynamoDBClient, GetItemCommand, ListTablesCommand, PutItemCommand, QueryCommand, TransactGetItemsCommand,
  TransactWriteItemsCommand, UpdateItemCommand, UpdateTimeToLiveCommand, paginateQuery, paginateScan, waitUntilTableExists,
  waitUntilTableNotExists,
} from "@aws-sdk/client-dynamodb";
import {
  DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand, ListStreamsCommand,
} from "@aws-sdk/client-dynamodb-streams";
import { assert, check, eventually, refused, settings } from "./check.mjs";

const db = new DynamoDBClient(settings);
const streams = new DynamoDBStreamsClient(settings);
const TableName = "SdkJs";
const key = (pk, sk) => ({ pk: { S: pk }, sk: { N: String(sk) } });

await check("SDK for JavaScript creates a table", async () => {
  await db.send(new CreateTableCommand({
    TableName,
    AttributeDefinitions: [["pk", "S"], ["sk", "N"], ["g", "S"]].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }, { AttributeName: "sk", KeyType: "RANGE" }],
    GlobalSecondaryIndexes: [{ IndexName: "ByG", KeySchema: [{ AttributeName: "g", KeyType: "HASH" }], Projection: { ProjectionType: "KEYS_ONLY" } }],
    BillingMode: "PAY_PER_REQUEST",
    StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
  }));
  await waitUntilTableExists({ client: db, maxWaitTime: 30, minDelay: 1 }, { TableName });
  const { TableNames } = await db.send(new ListTablesCommand({}));
  assert.ok(TableNames.includes(TableName));
});

await check("SDK for JavaScript puts, gets, updates and deletes an item", async () => {
  const Item = { ...key("a", 1), b: { B: new Uint8Array([0, 255]) }, l: { L: [{ NULL: true }, { BOOL: false }] }, ns: { NS: ["1", "2.5"] }, g: { S: "x" } };
  await db.send(new PutItemCommand({ TableName, Item }));
  assert.deepEqual((await db.send(new GetItemCommand({ TableName, Key: key("a", 1) }))).Item, Item);
  const updated = await db.send(new UpdateItemCommand({
    TableName, Key: key("a", 1), UpdateExpression: "ADD n :one", ExpressionAttributeValues: { ":one": { N: "1" } }, ReturnValues: "ALL_NEW",
  }));
  assert.deepEqual(updated.Attributes.n, { N: "1" });
  const error = await refused(db.send(new PutItemCommand({
    TableName, Item, ConditionExpression: "attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  })), "ConditionalCheckFailedException");
  assert.deepEqual(error.Item.n, { N: "1" });
  await db.send(new DeleteItemCommand({ TableName, Key: key("a", 1) }));
  assert.equal((await db.send(new GetItemCommand({ TableName, Key: key("a", 1) }))).Item, undefined);
});

await check("SDK for JavaScript pages through queries and scans", async () => {
  for (let start = 0; start < 75; start += 25) {
    const puts = Array.from({ length: 25 }, (_, n) => ({ PutRequest: { Item: { ...key("p", start + n), g: { S: "all" } } } }));
    const reply = await db.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: puts } }));
    assert.deepEqual(reply.UnprocessedItems, {});
  }
  const query = { TableName, KeyConditionExpression: "pk = :p AND sk > :n", ExpressionAttributeValues: { ":p": { S: "p" }, ":n": { N: "9" } } };
  const found = [];
  for await (const page of paginateQuery({ client: db, pageSize: 10 }, query)) found.push(...page.Items.map((item) => Number(item.sk.N)));
  assert.deepEqual(found, Array.from({ length: 65 }, (_, n) => n + 10));
  let count = 0;
  for await (const page of paginateScan({ client: db, pageSize: 20 }, { TableName })) count += page.Count;
  assert.equal(count, 75);
  const index = await db.send(new QueryCommand({ TableName, IndexName: "ByG", KeyConditionExpression: "g = :g", ExpressionAttributeValues: { ":g": { S: "all" } } }));
  assert.equal(index.Count, 75);
  const got = await db.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [key("p", 1), key("p", 2), key("p", 999)] } } }));
  assert.equal(got.Responses[TableName].length, 2);
});

await check("SDK for JavaScript runs transactions", async () => {
  const put = (sk, more) => ({ Put: { TableName, Item: key("tx", sk), ...more } });
  await db.send(new TransactWriteItemsCommand({ TransactItems: [put(1), put(2)] }));
  const error = await refused(
    db.send(new TransactWriteItemsCommand({ TransactItems: [put(3), put(1, { ConditionExpression: "attribute_not_exists(pk)" })] })),
    "TransactionCanceledException",
  );
  assert.deepEqual(error.CancellationReasons.map((reason) => reason.Code), ["None", "ConditionalCheckFailed"]);
  const got = await db.send(new TransactGetItemsCommand({ TransactItems: [1, 3].map((sk) => ({ Get: { TableName, Key: key("tx", sk) } })) }));
  assert.deepEqual(got.Responses.map((response) => response.Item !== undefined), [true, false]);
});

async function records() {
  const { Table } = await db.send(new DescribeTableCommand({ TableName }));
  const StreamArn = Table.LatestStreamArn;
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
  const found = [];
  for (const { ShardId } of StreamDescription.Shards) {
    let { ShardIterator } = await streams.send(new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" }));
    while (ShardIterator) {
      const page = await streams.send(new GetRecordsCommand({ ShardIterator }));
      if (page.Records.length === 0) break;
      found.push(...page.Records);
      ShardIterator = page.NextShardIterator;
    }
  }
  return found;
}

await check("SDK for JavaScript reads streams", async () => {
  const { Streams } = await streams.send(new ListStreamsCommand({ TableName }));
  assert.equal(Streams.length, 1);
  const events = (await records()).filter((record) => record.dynamodb.Keys.pk.S === "a").map((record) => record.eventName);
  assert.deepEqual(events, ["INSERT", "MODIFY", "REMOVE"]);
});

await check("SDK for JavaScript sees items expire", async () => {
  await db.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: { Enabled: true, AttributeName: "ttl" } }));
  const { TimeToLiveDescription } = await db.send(new DescribeTimeToLiveCommand({ TableName }));
  assert.equal(TimeToLiveDescription.AttributeName, "ttl");
  await db.send(new PutItemCommand({ TableName, Item: { ...key("ttl", 1), ttl: { N: String(Math.floor(Date.now() / 1000) - 10) } } }));
  await eventually(async () => (await db.send(new GetItemCommand({ TableName, Key: key("ttl", 1) }))).Item === undefined);
  const removed = await eventually(async () => (await records()).find((record) => record.userIdentity));
  assert.equal(removed.userIdentity.PrincipalId, "dynamodb.amazonaws.com");
});

await check("SDK for JavaScript hears DynamoDB's words", async () => {
  const error = await refused(db.send(new QueryCommand({ TableName, KeyConditionExpression: "sk = :s", ExpressionAttributeValues: { ":s": { N: "1" } } })), "ValidationException");
  assert.equal(error.message, "Query condition missed key schema element: pk");
});

await check("SDK for JavaScript deletes the table", async () => {
  await db.send(new DeleteTableCommand({ TableName }));
  await waitUntilTableNotExists({ client: db, maxWaitTime: 30, minDelay: 1 }, { TableName });
});
