use super::*;

/// A request of each operation with every member, as DynamoDB JSON in the order in which we write it.
const REQUESTS: &[(&str, &str)] = &[
    (
        "PutItem",
        r##"{"ReturnConsumedCapacity":"TOTAL","TableName":"Orders","Item":{"a":{"S":"x"}},"ConditionalOperator":"AND","Expected":{"a":{"AttributeValueList":[{"N":"1"}],"ComparisonOperator":"EQ","Exists":true,"Value":{"S":"x"}}},"ReturnValues":"ALL_OLD","ReturnItemCollectionMetrics":"SIZE","ReturnValuesOnConditionCheckFailure":"ALL_OLD","ConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"NULL":true}},"ExpressionAttributeNames":{"#a":"a"}}"##,
    ),
    (
        "GetItem",
        r##"{"ReturnConsumedCapacity":"INDEXES","AttributesToGet":["a"],"TableName":"Orders","Key":{"a":{"S":"x"}},"ConsistentRead":true,"ProjectionExpression":"#a","ExpressionAttributeNames":{"#a":"a"}}"##,
    ),
    (
        "UpdateItem",
        r#"{"TableName":"Orders","Key":{"a":{"S":"x"}},"AttributeUpdates":{"b":{"Value":{"N":"1"},"Action":"ADD"}},"UpdateExpression":"SET b = :b"}"#,
    ),
    ("DeleteItem", r#"{"TableName":"Orders","ReturnValues":"NONE","Key":{"a":{"B":"AQ=="}}}"#),
    (
        "Query",
        r#"{"Select":"COUNT","IndexName":"byDay","QueryFilter":{"b":{"AttributeValueList":[],"ComparisonOperator":"NULL"}},"TableName":"Orders","Limit":5,"KeyConditions":{"a":{"AttributeValueList":[{"S":"x"}],"ComparisonOperator":"EQ"}},"ExclusiveStartKey":{"a":{"S":"x"}},"ConsistentRead":false,"ScanIndexForward":false,"KeyConditionExpression":"a = :a","FilterExpression":"b = :b"}"#,
    ),
    (
        "Scan",
        r#"{"TotalSegments":4,"TableName":"Orders","ScanFilter":{"b":{"ComparisonOperator":"NOT_NULL"}},"Segment":0,"ConsistentRead":true}"#,
    ),
    (
        "BatchGetItem",
        r#"{"RequestItems":{"Orders":{"Keys":[{"a":{"S":"x"}}],"ConsistentRead":true,"ProjectionExpression":"a"}}}"#,
    ),
    (
        "BatchWriteItem",
        r#"{"RequestItems":{"Orders":[{"DeleteRequest":{"Key":{"a":{"S":"x"}}}},{"PutRequest":{"Item":{"a":{"S":"y"}}}}]}}"#,
    ),
    ("TransactGetItems", r#"{"TransactItems":[{"Get":{"Key":{"a":{"S":"x"}},"TableName":"Orders"}}]}"#),
    (
        "TransactWriteItems",
        r#"{"TransactItems":[{"ConditionCheck":{"TableName":"Orders","Key":{"a":{"S":"x"}},"ConditionExpression":"b = c"}},{"Put":{"Item":{"a":{"S":"y"}},"TableName":"Orders"}},{"Delete":{"Key":{"a":{"S":"z"}},"TableName":"Orders"}},{"Update":{"Key":{"a":{"S":"w"}},"UpdateExpression":"REMOVE b","TableName":"Orders"}}],"ClientRequestToken":"t"}"#,
    ),
    (
        "CreateTable",
        r#"{"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],"TableName":"Orders","BillingMode":"PROVISIONED","ProvisionedThroughput":{"WriteCapacityUnits":1,"ReadCapacityUnits":2},"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"LocalSecondaryIndexes":[{"IndexName":"lsi","KeySchema":[],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["b"]}}],"GlobalSecondaryIndexes":[{"IndexName":"gsi","KeySchema":[],"Projection":{"ProjectionType":"ALL"},"ProvisionedThroughput":{"WriteCapacityUnits":1,"ReadCapacityUnits":2},"OnDemandThroughput":{"MaxReadRequestUnits":-1},"WarmThroughput":{"ReadUnitsPerSecond":1}}],"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"SSESpecification":{"Enabled":true,"SSEType":"KMS"},"Tags":[{"Key":"k","Value":"v"}],"TableClass":"STANDARD","DeletionProtectionEnabled":true}"#,
    ),
    ("DescribeTable", r#"{"TableName":"Orders"}"#),
    (
        "UpdateTable",
        r#"{"TableName":"Orders","GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"gsi"}},{"Create":{"IndexName":"new","KeySchema":[],"Projection":{}}},{"Delete":{"IndexName":"old"}}],"ReplicaUpdates":[{"Create": {"RegionName":"x"}}]}"#,
    ),
    ("DeleteTable", r#"{"TableName":"Orders"}"#),
    ("ListTables", r#"{"ExclusiveStartTableName":"Orders","Limit":3}"#),
    ("TagResource", r#"{"ResourceArn":"arn","Tags":[{"Key":"k","Value":"v"}]}"#),
    ("UntagResource", r#"{"ResourceArn":"arn","TagKeys":["k"]}"#),
    ("ListTagsOfResource", r#"{"ResourceArn":"arn","NextToken":"n"}"#),
    (
        "UpdateTimeToLive",
        r#"{"TableName":"Orders","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"until"}}"#,
    ),
    ("DescribeTimeToLive", r#"{"TableName":"Orders"}"#),
    ("ListStreams", r#"{"TableName":"Orders","Limit":1}"#),
    ("DescribeStream", r#"{"StreamArn":"s","ShardFilter":{"Type":"CHILD_SHARDS","ShardId":"x"}}"#),
    (
        "GetShardIterator",
        r#"{"StreamArn":"s","ShardId":"x","ShardIteratorType":"AT_TIMESTAMP","Timestamp":1700000000.125}"#,
    ),
    ("GetRecords", r#"{"ShardIterator":"i","Limit":10}"#),
    ("DescribeLimits", "{}"),
    ("DescribeEndpoints", "{}"),
    ("ExecuteStatement", r#"{"Statement":"SELECT 1","Parameters":[{"S":"x"}],"Limit":1}"#),
    ("BatchExecuteStatement", r#"{"Statements":[{"Statement":"SELECT 1","ConsistentRead":true}]}"#),
    ("ExecuteTransaction", r#"{"TransactStatements":[{"Statement":"x"}],"ClientRequestToken":"t"}"#),
    ("DescribeContinuousBackups", r#"{"TableName":"Orders"}"#),
    (
        "UpdateContinuousBackups",
        r#"{"TableName":"Orders","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":7}}"#,
    ),
    ("CreateBackup", r#"{"TableName":"Orders","BackupName":"nightly"}"#),
    ("DescribeBackup", r#"{"BackupArn":"b"}"#),
    ("ListBackups", r#"{"TableName":"Orders","TimeRangeLowerBound":1.000,"BackupType":"ALL"}"#),
    ("DeleteBackup", r#"{"BackupArn":"b"}"#),
    ("RestoreTableFromBackup", r#"{"TargetTableName":"Copy","BackupArn":"b"}"#),
    (
        "RestoreTableToPointInTime",
        r#"{"SourceTableName":"Orders","TargetTableName":"Copy","UseLatestRestorableTime":true}"#,
    ),
];

fn parse(name: &str, body: &str) -> Operation {
    Operation::parse(name, body.as_bytes()).unwrap_or_else(|error| panic!("{name} {body}: {error}"))
}

#[test]
fn every_request_is_written_as_it_was_read() {
    for (name, body) in REQUESTS {
        let operation = parse(name, body);
        let mut written = Vec::new();
        operation.write_json(&mut written);
        assert_eq!((operation.name(), String::from_utf8(written).unwrap().as_str()), (*name, *body));
    }
}

#[test]
fn every_operation_has_an_answer() {
    for name in ["ImportTable", "ListGlobalTables", "DescribeContributorInsights"] {
        assert_eq!(parse(name, "{}").name(), name);
    }
    let error = Operation::parse("Nonsense", b"{}").unwrap_err();
    assert_eq!(error, ApiError::new(ErrorKind::UnknownOperation, ""));
}

#[test]
fn a_reply_is_read_as_it_was_written() {
    let item = crate::StoredItem::encode(&crate::Item::from([("a".to_owned(), crate::Value::from(1))]));
    let reply = Reply::from(QueryReply {
        items: Some(vec![item]),
        count: 1,
        scanned_count: 2,
        consumed_capacity: Some(ConsumedCapacity {
            table_name: Some("Orders".to_owned()),
            capacity_units: Some(0.5),
            ..ConsumedCapacity::default()
        }),
        ..QueryReply::default()
    });
    let mut written = Vec::new();
    reply.write_json(&mut written);
    assert_eq!(
        std::str::from_utf8(&written).unwrap(),
        r#"{"Items":[{"a":{"N":"1"}}],"Count":1,"ScannedCount":2,"ConsumedCapacity":{"TableName":"Orders","CapacityUnits":0.5}}"#
    );
    assert_eq!(Reply::parse("Query", &written), Ok(reply));
}

#[test]
fn tables_and_writes_are_told() {
    let tables = |name: &str| {
        let (_, body) = REQUESTS.iter().find(|(known, _)| *known == name).unwrap();
        let operation = parse(name, body);
        (operation.table_names().join(" "), operation.is_write())
    };
    assert_eq!(tables("PutItem"), ("Orders".to_owned(), true));
    assert_eq!(tables("BatchGetItem"), ("Orders".to_owned(), false));
    assert_eq!(tables("TransactWriteItems"), ("Orders Orders Orders Orders".to_owned(), true));
    assert_eq!(tables("ExecuteStatement"), (String::new(), false));
    assert_eq!(tables("ExecuteTransaction"), (String::new(), true));
    assert_eq!(tables("RestoreTableToPointInTime"), ("Orders Copy".to_owned(), true));
}

const NULL: &str = "Member must not be null";
const PATTERN: &str = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+";
const CAPACITY: &str = "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]";
const VALUES: &str = "Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]";
const METRICS: &str = "Member must satisfy enum value set: [SIZE, NONE]";
const ON_FAILURE: &str = "Member must satisfy enum value set: [ALL_OLD, NONE]";
const LOGIC: &str = "Member must satisfy enum value set: [OR, AND]";
const COMPARISON: &str = "Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]";
const SELECT: &str = "Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]";
const LENGTH_1: &str = "Member must have length greater than or equal to 1";
const LENGTH_3: &str = "Member must have length greater than or equal to 3";
const VALUE_1: &str = "Member must have value greater than or equal to 1";

/// Violations, each as `value at 'place' rule`.
type Violations<'a> = &'a [(&'a str, &'a str)];

fn assert_violations(name: &str, body: &str, expected: Violations<'_>) {
    let list: Vec<String> = expected
        .iter()
        .map(|(place, rule)| format!("Value {place} failed to satisfy constraint: {rule}"))
        .collect();
    let plural = if list.len() == 1 { "" } else { "s" };
    let message = format!("{} validation error{plural} detected: {}", list.len(), list.join("; "));
    assert_eq!(parse(name, body).check_fields(), Err(ApiError::validation(message)), "{name} {body}");
}

#[test]
fn a_table_name_is_refused_by_the_first_rule_it_breaks() {
    let long = "a".repeat(256);
    for name in ["PutItem", "UpdateItem", "DeleteItem", "GetItem"] {
        let member = if name == "PutItem" { "Item" } else { "Key" };
        let body = |table: &str| format!(r#"{{"TableName":"{table}","{member}":{{}}}}"#);
        assert_violations(name, &format!(r#"{{"{member}":{{}}}}"#), &[("null at 'tableName'", NULL)]);
        assert_violations(name, &body(""), &[("'' at 'tableName'", LENGTH_1)]);
        assert_violations(name, &body("bad table!@#"), &[("'bad table!@#' at 'tableName'", PATTERN)]);
        assert_violations(
            name,
            &body(&long),
            &[(&format!("'{long}' at 'tableName'"), "Member must have length less than or equal to 255")],
        );
        for table in ["a", "arn:aws:dynamodb:us-east-1:123456789012:table/Orders"] {
            assert_eq!(parse(name, &body(table)).check_fields(), Ok(()));
        }
    }
}

#[test]
fn violations_of_writes_come_in_dynamodbs_order() {
    const WRONG: &str = r#""ReturnConsumedCapacity":"hi","ReturnItemCollectionMetrics":"hi","ReturnValues":"hi","ConditionalOperator":"hi","Expected":{"a":{"ComparisonOperator":"hi"}},"ReturnValuesOnConditionCheckFailure":"hi""#;
    let body = format!("{{{WRONG}}}");
    let capacity = ("'hi' at 'returnConsumedCapacity'", CAPACITY);
    let table = ("null at 'tableName'", NULL);
    let metrics = ("'hi' at 'returnItemCollectionMetrics'", METRICS);
    let values = ("'hi' at 'returnValues'", VALUES);
    let logic = ("'hi' at 'conditionalOperator'", LOGIC);
    let expected = ("'hi' at 'expected.a.member.comparisonOperator'", COMPARISON);
    let failure = ("'hi' at 'returnValuesOnConditionCheckFailure'", ON_FAILURE);
    let item = ("null at 'item'", NULL);
    let key = ("null at 'key'", NULL);
    for name in ["PutItem", "UpdateItem", "DeleteItem"] {
        let early = format!(r#"{{"TableName":"abc;",{WRONG}}}"#);
        assert_violations(name, &early, &[("'abc;' at 'tableName'", PATTERN)]);
    }
    assert_violations("PutItem", &body, &[capacity, table, item, logic, expected, values, metrics, failure]);
    assert_violations(
        "UpdateItem",
        &body,
        &[capacity, table, metrics, values, key, logic, expected, failure],
    );
    assert_violations(
        "DeleteItem",
        &body,
        &[capacity, table, values, metrics, key, logic, expected, failure],
    );
}

#[test]
fn violations_of_reads_come_in_dynamodbs_order() {
    assert_violations(
        "GetItem",
        r#"{"ReturnConsumedCapacity":"hi","AttributesToGet":[]}"#,
        &[
            ("'hi' at 'returnConsumedCapacity'", CAPACITY),
            ("'[]' at 'attributesToGet'", LENGTH_1),
            ("null at 'tableName'", NULL),
            ("null at 'key'", NULL),
        ],
    );
    assert_violations(
        "Query",
        r#"{"Select":"hi","IndexName":"a;","ReturnConsumedCapacity":"hi","QueryFilter":{"a":{},"b":{"ComparisonOperator":""}},"ConditionalOperator":"AN","AttributesToGet":[],"Limit":0}"#,
        &[
            ("'hi' at 'select'", SELECT),
            ("'a;' at 'indexName'", PATTERN),
            ("'a;' at 'indexName'", LENGTH_3),
            ("'hi' at 'returnConsumedCapacity'", CAPACITY),
            ("null at 'queryFilter.a.member.comparisonOperator'", NULL),
            ("'' at 'queryFilter.b.member.comparisonOperator'", COMPARISON),
            ("null at 'tableName'", NULL),
            ("'AN' at 'conditionalOperator'", LOGIC),
            ("'[]' at 'attributesToGet'", LENGTH_1),
            ("at 'Limit'", VALUE_1),
        ],
    );
    assert_violations(
        "Scan",
        r#"{"Select":"hi","IndexName":"abc;","TotalSegments":-1,"ReturnConsumedCapacity":"hi","Segment":-1,"Limit":0,"ScanFilter":{"a":{}}}"#,
        &[
            ("'hi' at 'select'", SELECT),
            ("'abc;' at 'indexName'", PATTERN),
            ("'-1' at 'totalSegments'", VALUE_1),
            ("'hi' at 'returnConsumedCapacity'", CAPACITY),
            ("null at 'tableName'", NULL),
            ("null at 'scanFilter.a.member.comparisonOperator'", NULL),
            ("'-1' at 'segment'", "Member must have value greater than or equal to 0"),
            ("'0' at 'limit'", VALUE_1),
        ],
    );
}

#[test]
fn violations_of_batches_name_the_table() {
    assert_violations(
        "BatchGetItem",
        r#"{"ReturnConsumedCapacity":"hi"}"#,
        &[("'hi' at 'returnConsumedCapacity'", CAPACITY), ("null at 'requestItems'", NULL)],
    );
    assert_violations(
        "BatchGetItem",
        r#"{"RequestItems":{"abc":{},"def":{"Keys":[]}}}"#,
        &[
            ("null at 'requestItems.abc.member.keys'", NULL),
            ("'[]' at 'requestItems.def.member.keys'", LENGTH_1),
        ],
    );
    let keys = ["{}"; 101].join(",");
    assert_violations(
        "BatchGetItem",
        &format!(r#"{{"RequestItems":{{"abc":{{"Keys":[{keys}]}}}}}}"#),
        &[("at 'RequestItems.abc.member.Keys'", "Member must have length less than or equal to 100")],
    );
    assert_violations(
        "BatchWriteItem",
        r#"{"RequestItems":{"abc":[]}}"#,
        &[(
            "'{abc=[]}' at 'requestItems'",
            "Map value must satisfy constraint: [Member must have length less than or equal to 25, Member must have length greater than or equal to 1]",
        )],
    );
    assert_violations(
        "BatchWriteItem",
        r#"{"RequestItems":{"abc":[{"DeleteRequest":{},"PutRequest":{}}]}}"#,
        &[
            ("null at 'requestItems.abc.member.1.member.deleteRequest.key'", NULL),
            ("null at 'requestItems.abc.member.1.member.putRequest.item'", NULL),
        ],
    );
}

#[test]
fn violations_of_transactions_name_the_action() {
    for name in ["TransactGetItems", "TransactWriteItems"] {
        assert_violations(name, "{}", &[("null at 'transactItems'", NULL)]);
        assert_violations(name, r#"{"TransactItems":[]}"#, &[("'[]' at 'transactItems'", LENGTH_1)]);
    }
    assert_violations(
        "TransactGetItems",
        r#"{"TransactItems":[{},{"Get":{}}]}"#,
        &[
            ("null at 'transactItems.1.member.get'", NULL),
            ("null at 'transactItems.2.member.get.key'", NULL),
            ("null at 'transactItems.2.member.get.tableName'", NULL),
        ],
    );
    assert_violations(
        "TransactWriteItems",
        r#"{"TransactItems":[{"Update":{}}],"ClientRequestToken":""}"#,
        &[
            ("null at 'transactItems.1.member.update.key'", NULL),
            ("null at 'transactItems.1.member.update.updateExpression'", NULL),
            ("null at 'transactItems.1.member.update.tableName'", NULL),
            ("'' at 'clientRequestToken'", LENGTH_1),
        ],
    );
    let actions = ["{}"; 101].join(",");
    let error = parse("TransactWriteItems", &format!(r#"{{"TransactItems":[{actions}]}}"#))
        .check_fields()
        .unwrap_err();
    assert!(error.message.starts_with("1 validation error detected: Value '[TransactWriteItem("));
    assert!(error.message.ends_with(
        "]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100"
    ));
}

#[test]
fn violations_of_tables_come_in_dynamodbs_order() {
    let alone = |name: &str, body: &str| parse(name, body).check_fields().unwrap_err().message;
    for name in ["CreateTable", "DescribeTable", "UpdateTable", "DeleteTable", "DescribeTimeToLive"] {
        let message = "The parameter 'TableName' is required but was not present in the request";
        assert_eq!(alone(name, "{}"), message, "{name}");
    }
    for name in ["DescribeTable", "UpdateTable", "DeleteTable", "DescribeTimeToLive"] {
        let message = "TableName must be at least 3 characters long and at most 255 characters long";
        assert_eq!(alone(name, r#"{"TableName":"a;"}"#), message, "{name}");
        assert_violations(name, r#"{"TableName":"abc;"}"#, &[("'abc;' at 'tableName'", PATTERN)]);
    }
    assert_violations(
        "CreateTable",
        r#"{"TableName":"a;"}"#,
        &[("'a;' at 'tableName'", PATTERN), ("'a;' at 'tableName'", LENGTH_3)],
    );
    assert_violations("CreateTable", r#"{"TableName":"ab"}"#, &[("'ab' at 'tableName'", LENGTH_3)]);
    assert_violations(
        "CreateTable",
        r#"{"TableName":"abc"}"#,
        &[("null at 'attributeDefinitions'", NULL), ("null at 'keySchema'", NULL)],
    );
    assert_violations(
        "CreateTable",
        r#"{"TableName":"abc","AttributeDefinitions":[{},{"AttributeName":"b","AttributeType":"SS"}],"BillingMode":"A","ProvisionedThroughput":{"ReadCapacityUnits":-1},"KeySchema":[{"KeyType":"HASH"},{"AttributeName":"a"},{"AttributeName":"a","KeyType":"Woop"}]}"#,
        &[
            ("null at 'attributeDefinitions.1.member.attributeName'", NULL),
            ("null at 'attributeDefinitions.1.member.attributeType'", NULL),
            (
                "'SS' at 'attributeDefinitions.2.member.attributeType'",
                "Member must satisfy enum value set: [B, N, S]",
            ),
            ("'A' at 'billingMode'", "Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"),
            ("null at 'provisionedThroughput.writeCapacityUnits'", NULL),
            ("'-1' at 'provisionedThroughput.readCapacityUnits'", VALUE_1),
            (
                "'[KeySchemaElement(attributeName=null, keyType=HASH), KeySchemaElement(attributeName=a, keyType=null), KeySchemaElement(attributeName=a, keyType=Woop)]' at 'keySchema'",
                "Member must have length less than or equal to 2",
            ),
            ("null at 'keySchema.1.member.attributeName'", NULL),
            ("null at 'keySchema.2.member.keyType'", NULL),
            ("'Woop' at 'keySchema.3.member.keyType'", "Member must satisfy enum value set: [HASH, RANGE]"),
        ],
    );
    assert_violations(
        "CreateTable",
        r#"{"TableName":"abc","AttributeDefinitions":[],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"LocalSecondaryIndexes":[{},{"IndexName":"h;","KeySchema":[],"Projection":{"ProjectionType":"abc","NonKeyAttributes":[]}}]}"#,
        &[
            ("null at 'localSecondaryIndexes.1.member.indexName'", NULL),
            ("null at 'localSecondaryIndexes.1.member.keySchema'", NULL),
            ("null at 'localSecondaryIndexes.1.member.projection'", NULL),
            ("'h;' at 'localSecondaryIndexes.2.member.indexName'", PATTERN),
            ("'h;' at 'localSecondaryIndexes.2.member.indexName'", LENGTH_3),
            ("'[]' at 'localSecondaryIndexes.2.member.keySchema'", LENGTH_1),
            (
                "'abc' at 'localSecondaryIndexes.2.member.projection.projectionType'",
                "Member must satisfy enum value set: [ALL, INCLUDE, KEYS_ONLY]",
            ),
            ("'[]' at 'localSecondaryIndexes.2.member.projection.nonKeyAttributes'", LENGTH_1),
        ],
    );
}

#[test]
fn at_most_ten_violations_are_reported() {
    let actions = ["{}"; 11].join(",");
    let message = parse("TransactGetItems", &format!(r#"{{"TransactItems":[{actions}]}}"#))
        .check_fields()
        .unwrap_err()
        .message;
    assert!(message.starts_with("10 validation errors detected: "));
    assert!(message.ends_with(
        "Value null at 'transactItems.10.member.get' failed to satisfy constraint: Member must not be null"
    ));
}

#[test]
fn violations_of_the_other_operations() {
    let arn_length = "Member must have length greater than or equal to 37";
    let rows: &[(&str, &str, Violations<'_>)] = &[
        (
            "ListTables",
            r#"{"ExclusiveStartTableName":"a;","Limit":0}"#,
            &[
                ("'a;' at 'exclusiveStartTableName'", PATTERN),
                ("'a;' at 'exclusiveStartTableName'", LENGTH_3),
                ("'0' at 'limit'", VALUE_1),
            ],
        ),
        (
            "ListTables",
            r#"{"Limit":101}"#,
            &[("'101' at 'limit'", "Member must have value less than or equal to 100")],
        ),
        ("TagResource", r#"{"ResourceArn":"x"}"#, &[("null at 'tags'", NULL)]),
        ("UntagResource", r#"{"ResourceArn":"x"}"#, &[("null at 'tagKeys'", NULL)]),
        ("UpdateTimeToLive", r#"{"TableName":"abc"}"#, &[("null at 'timeToLiveSpecification'", NULL)]),
        (
            "UpdateTimeToLive",
            r#"{"TableName":"abc","TimeToLiveSpecification":{"AttributeName":""}}"#,
            &[
                ("null at 'timeToLiveSpecification.enabled'", NULL),
                ("'' at 'timeToLiveSpecification.attributeName'", LENGTH_1),
            ],
        ),
        ("DescribeStream", r#"{"Limit":0}"#, &[("null at 'streamArn'", NULL), ("'0' at 'limit'", VALUE_1)]),
        ("DescribeStream", r#"{"StreamArn":"x"}"#, &[("'x' at 'streamArn'", arn_length)]),
        (
            "GetShardIterator",
            "{}",
            &[
                ("null at 'streamArn'", NULL),
                ("null at 'shardId'", NULL),
                ("null at 'shardIteratorType'", NULL),
            ],
        ),
        (
            "GetRecords",
            r#"{"Limit":1001}"#,
            &[
                ("null at 'shardIterator'", NULL),
                ("'1001' at 'limit'", "Member must have value less than or equal to 1000"),
            ],
        ),
        (
            "ExecuteStatement",
            r#"{"Statement":"","Parameters":[]}"#,
            &[("'' at 'statement'", LENGTH_1), ("'[]' at 'parameters'", LENGTH_1)],
        ),
        ("BatchExecuteStatement", r#"{"Statements":[]}"#, &[("'[]' at 'statements'", LENGTH_1)]),
        (
            "ExecuteTransaction",
            r#"{"TransactStatements":[{}]}"#,
            &[("null at 'transactStatements.1.member.statement'", NULL)],
        ),
        (
            "UpdateContinuousBackups",
            r#"{"TableName":"abc","PointInTimeRecoverySpecification":{"RecoveryPeriodInDays":36}}"#,
            &[
                ("null at 'pointInTimeRecoverySpecification.pointInTimeRecoveryEnabled'", NULL),
                (
                    "'36' at 'pointInTimeRecoverySpecification.recoveryPeriodInDays'",
                    "Member must have value less than or equal to 35",
                ),
            ],
        ),
        ("CreateBackup", r#"{"TableName":"abc","BackupName":"a"}"#, &[("'a' at 'backupName'", LENGTH_3)]),
    ];
    for (name, body, expected) in rows {
        assert_violations(name, body, expected);
    }
}
