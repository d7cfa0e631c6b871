use serde_json::{Value, json};

use crate::testing::{Bench, simple_table};

/// A table with these changes to a valid request.
fn with(changes: Value) -> Value {
    let mut request = simple_table("Orders");
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            request.as_object_mut().unwrap().remove(name);
        } else {
            request[name] = value.clone();
        }
    }
    request
}

fn definitions(names: &str) -> Value {
    names.split(' ').map(|name| json!({ "AttributeName": name, "AttributeType": "S" })).collect()
}

/// `"a b"` is partition key `a` and sort key `b`; `"a+b c"` has two partition attributes.
fn key(text: &str) -> Value {
    let (hash, range) = text.split_once(' ').unwrap_or((text, ""));
    let element = |name: &str, role: &str| json!({ "AttributeName": name, "KeyType": role });
    let hashes = hash.split('+').map(|name| element(name, "HASH"));
    let ranges = range.split('+').filter(|name| !name.is_empty()).map(|name| element(name, "RANGE"));
    hashes.chain(ranges).collect()
}

fn index(name: &str, keys: &str) -> Value {
    json!({ "IndexName": name, "KeySchema": key(keys), "Projection": { "ProjectionType": "ALL" } })
}

const INVALID: &str = "One or more parameter values were invalid: ";

#[test]
fn a_table_is_described_as_dynamodb_does() {
    let bench = Bench::in_memory();
    let reply = bench.ok(
        "CreateTable",
        &with(json!({
            "AttributeDefinitions": definitions("pk sk gk lk"),
            "KeySchema": key("pk sk"),
            "LocalSecondaryIndexes": [index("local", "pk lk")],
            "GlobalSecondaryIndexes": [{
                "IndexName": "global",
                "KeySchema": key("gk"),
                "Projection": { "ProjectionType": "INCLUDE", "NonKeyAttributes": ["z", "a"] },
            }],
            "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "NEW_IMAGE" },
            "Tags": [{ "Key": "k", "Value": "v" }],
        })),
    );
    let created = &reply["TableDescription"];
    assert_eq!(created["TableStatus"], "CREATING");
    assert_eq!(created["GlobalSecondaryIndexes"][0]["IndexStatus"], "CREATING");
    assert!(created.get("WarmThroughput").is_none());
    let table = bench.describe("Orders");
    assert_eq!(table["TableStatus"], "ACTIVE");
    assert_eq!(table["TableArn"], "arn:aws:dynamodb:us-east-1:000000000000:table/Orders");
    assert_eq!(table["KeySchema"], key("pk sk"));
    let names: Vec<_> = table["AttributeDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|definition| &definition["AttributeName"])
        .collect();
    assert_eq!(names, ["gk", "lk", "pk", "sk"], "sorted by name");
    let global = &table["GlobalSecondaryIndexes"][0];
    assert_eq!(global["IndexStatus"], "ACTIVE");
    assert_eq!(global["Projection"]["NonKeyAttributes"], json!(["a", "z"]));
    assert_eq!(global["IndexArn"], "arn:aws:dynamodb:us-east-1:000000000000:table/Orders/index/global");
    assert_eq!(global["ProvisionedThroughput"]["ReadCapacityUnits"], 0);
    assert!(global.get("Backfilling").is_none());
    assert_eq!(table["LocalSecondaryIndexes"][0]["KeySchema"], key("pk lk"));
    assert_eq!(table["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST");
    assert_eq!(table["WarmThroughput"]["ReadUnitsPerSecond"], 12_000);
    assert_eq!(table["LatestStreamLabel"], "2026-02-02T02:40:00.000");
    assert_eq!(table["StreamSpecification"]["StreamViewType"], "NEW_IMAGE");
    assert_eq!(table["DeletionProtectionEnabled"], false);
    assert_eq!(table["ItemCount"], 0);
    let id = table["TableId"].as_str().unwrap();
    assert_eq!((id.len(), id.get(14..15)), (36, Some("4")), "{id}");
}

#[test]
fn items_and_bytes_are_exact() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    bench.put("Orders", &json!({ "pk": { "S": "a" }, "v": { "S": "xyz" } }));
    bench.put("Orders", &json!({ "pk": { "S": "a" }, "v": { "S": "x" } }));
    let table = bench.describe("Orders");
    assert_eq!((&table["ItemCount"], &table["TableSizeBytes"]), (&json!(1), &json!(5)));
}

#[test]
fn a_name_is_taken_once() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    assert_eq!(
        bench.refusal("CreateTable", &simple_table("Orders")),
        "ResourceInUseException: Table already exists: Orders"
    );
    bench.ok("DeleteTable", &json!({ "TableName": "Orders" }));
    bench.table("Orders");
}

#[test]
fn throughput_fits_the_billing_mode() {
    let bench = Bench::in_memory();
    let units = json!({ "ReadCapacityUnits": 5, "WriteCapacityUnits": 5 });
    for mode in [json!("PROVISIONED"), Value::Null] {
        bench.refuses(
            "CreateTable",
            &with(json!({ "BillingMode": mode })),
            &format!("{INVALID}ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"),
        );
    }
    bench.refuses(
        "CreateTable",
        &with(json!({ "ProvisionedThroughput": units })),
        &format!("{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"),
    );
    bench.refuses(
        "CreateTable",
        &with(json!({
            "BillingMode": null,
            "ProvisionedThroughput": { "ReadCapacityUnits": 1_000_000_000_001_i64, "WriteCapacityUnits": 5 },
        })),
        "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
    );
    let global = |throughput: Value| {
        let mut index = index("global", "g");
        index["ProvisionedThroughput"] = throughput;
        json!([index])
    };
    bench.refuses(
        "CreateTable",
        &with(json!({ "AttributeDefinitions": definitions("pk g"), "GlobalSecondaryIndexes": global(units.clone()) })),
        &format!("{INVALID}ProvisionedThroughput should not be specified for index: global when BillingMode is PAY_PER_REQUEST"),
    );
    bench.refuses(
        "CreateTable",
        &with(json!({
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": units,
            "AttributeDefinitions": definitions("pk g"),
            "GlobalSecondaryIndexes": [index("global", "g")],
        })),
        &format!("{INVALID}ProvisionedThroughput is not specified for index: global"),
    );
    bench.refuses(
        "CreateTable",
        &with(json!({
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": units,
            "OnDemandThroughput": { "MaxReadRequestUnits": 5 },
        })),
        &format!("{INVALID}MaxReadRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED."),
    );
    bench.refuses(
        "CreateTable",
        &with(json!({ "OnDemandThroughput": { "MaxWriteRequestUnits": 0 } })),
        &format!("{INVALID}Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of valid range"),
    );
    bench.refuses(
        "CreateTable",
        &with(json!({
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": units,
            "WarmThroughput": { "ReadUnitsPerSecond": 4 },
        })),
        &format!("{INVALID}Requested ReadUnitsPerSecond for WarmThroughput for table is lower than ReadCapacityUnits of ProvisionedThroughput"),
    );
    bench.ok("CreateTable", &with(json!({ "BillingMode": "PROVISIONED", "ProvisionedThroughput": units })));
    let table = bench.describe("Orders");
    assert!(table.get("BillingModeSummary").is_none());
    assert_eq!(table["WarmThroughput"]["WriteUnitsPerSecond"], 5);
}

#[test]
fn keys_and_definitions_fit_each_other() {
    let bench = Bench::in_memory();
    let rows = [
        ("pk", "a b", "Invalid KeySchema: Some index key attribute have no definition".to_owned()),
        ("pk", "pk pk", "Invalid KeySchema: Some index key attribute have no definition".to_owned()),
        (
            "pk sk",
            "q",
            format!(
                "{INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [q], AttributeDefinitions: [sk, pk]"
            ),
        ),
        (
            "pk sk",
            "pk pk",
            "Both the Hash Key and the Range Key element in the KeySchema have the same name".to_owned(),
        ),
        (
            "pk sk",
            "pk+sk",
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type".to_owned(),
        ),
        ("pk pk", "pk", "Attribute Name is duplicated: pk".to_owned()),
        (
            "pk sk",
            "pk",
            format!(
                "{INVALID}Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions"
            ),
        ),
    ];
    for (defined, keys, words) in rows {
        let request = with(json!({ "AttributeDefinitions": definitions(defined), "KeySchema": key(keys) }));
        bench.refuses("CreateTable", &request, &words);
    }
    let range_first =
        json!([{ "AttributeName": "sk", "KeyType": "RANGE" }, { "AttributeName": "pk", "KeyType": "HASH" }]);
    bench.refuses(
        "CreateTable",
        &with(json!({ "AttributeDefinitions": definitions("pk sk"), "KeySchema": range_first })),
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
    );
}

#[test]
fn local_indexes_share_the_partition_key() {
    let bench = Bench::in_memory();
    let rows = [
        ("pk", vec![], "List of LocalSecondaryIndexes is empty"),
        (
            "pk",
            vec![index("local", "pk lk")],
            "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex",
        ),
        ("pk sk", vec![index("local", "pk")], "Index KeySchema does not have a range key for index: local"),
        (
            "pk sk",
            vec![index("local", "lk pk")],
            "Index KeySchema does not have the same leading hash key as table KeySchema for index: local. index hash key: lk, table hash key: pk",
        ),
        ("pk sk", vec![index("local", "pk lk"), index("local", "pk lk")], "Duplicate index name: local"),
        (
            "pk sk",
            (0..6).map(|number| index(&format!("local{number}"), "pk lk")).collect(),
            "Number of LocalSecondaryIndexes exceeds per-table limit of 5",
        ),
    ];
    for (keys, indexes, words) in rows {
        let used: Vec<&str> = if keys == "pk" { vec!["pk", "lk"] } else { vec!["pk", "sk", "lk"] };
        let mut request = with(json!({
            "AttributeDefinitions": definitions(&used.join(" ")),
            "KeySchema": key(keys),
            "LocalSecondaryIndexes": indexes,
        }));
        if words.starts_with("Index KeySchema does not have a range") {
            request["AttributeDefinitions"] = definitions("pk sk");
        }
        bench.refuses("CreateTable", &request, &format!("{INVALID}{words}"));
    }
}

#[test]
fn global_indexes_have_up_to_eight_key_attributes() {
    let bench = Bench::in_memory();
    let rows = [
        (
            "pk",
            "x",
            "Some index key attributes are not defined in AttributeDefinitions. Keys: [x], AttributeDefinitions: [pk]",
        ),
        (
            "pk sk a b c",
            "a sk",
            "Some AttributeDefinitions are not used. AttributeDefinitions: [sk, a, b, pk, c], keys used: [a, sk, pk]",
        ),
        (
            "pk a b c d e",
            "a+b+c+d+e",
            "The KeySchema exceeds the maximum allowed number of HASH key attributes",
        ),
        (
            "pk a b c d e",
            "pk a+b+c+d+e",
            "The KeySchema exceeds the maximum allowed number of RANGE key attributes",
        ),
    ];
    for (defined, keys, words) in rows {
        let request = with(json!({
            "AttributeDefinitions": definitions(defined),
            "GlobalSecondaryIndexes": [index("global", keys)],
        }));
        bench.refuses("CreateTable", &request, &format!("{INVALID}{words}"));
    }
    bench.refuses(
        "CreateTable",
        &with(json!({ "AttributeDefinitions": definitions("pk a"), "GlobalSecondaryIndexes": [index("global", "a a")] })),
        "The KeySchema contains multiple key attributes with the same name",
    );
    let mixed = json!([
        { "AttributeName": "a", "KeyType": "HASH" },
        { "AttributeName": "b", "KeyType": "RANGE" },
        { "AttributeName": "c", "KeyType": "HASH" },
    ]);
    let mut global = index("global", "a");
    global["KeySchema"] = mixed;
    bench.refuses(
        "CreateTable",
        &with(json!({ "AttributeDefinitions": definitions("pk a b c"), "GlobalSecondaryIndexes": [global] })),
        &format!("{INVALID}All HASH key attributes must precede RANGE key attributes in the KeySchema"),
    );
    let many: Vec<Value> = (0..21).map(|number| index(&format!("global{number}"), "pk")).collect();
    bench.refuses(
        "CreateTable",
        &with(json!({ "GlobalSecondaryIndexes": many })),
        &format!("{INVALID}GlobalSecondaryIndex count exceeds the per-table limit of 20"),
    );
    bench.ok(
        "CreateTable",
        &with(json!({
            "AttributeDefinitions": definitions("pk a b c d e f g h"),
            "GlobalSecondaryIndexes": [index("global", "a+b+c+d e+f+g+h")],
        })),
    );
    assert_eq!(bench.describe("Orders")["GlobalSecondaryIndexes"][0]["KeySchema"], key("a+b+c+d e+f+g+h"));
}

#[test]
fn projections_name_attributes_only_with_include() {
    let bench = Bench::in_memory();
    let names = |count: usize| (0..count).map(|number| format!("n{number}")).collect::<Vec<_>>();
    let rows = [
        (json!({}), "Unknown ProjectionType: null"),
        (
            json!({ "ProjectionType": "ALL", "NonKeyAttributes": ["a"] }),
            "ProjectionType is ALL, but NonKeyAttributes is specified",
        ),
        (
            json!({ "ProjectionType": "KEYS_ONLY", "NonKeyAttributes": ["a"] }),
            "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified",
        ),
        (
            json!({ "ProjectionType": "INCLUDE" }),
            "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        ),
        (
            json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "a"] }),
            "Duplicate element in NonKeyAttributes: a",
        ),
    ];
    for (projection, words) in rows {
        let global = json!({ "IndexName": "global", "KeySchema": key("pk"), "Projection": projection });
        bench.refuses(
            "CreateTable",
            &with(json!({ "GlobalSecondaryIndexes": [global] })),
            &format!("{INVALID}{words}"),
        );
    }
    let include = |number: usize| {
        let projection = json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": names(20) });
        json!({ "IndexName": format!("global{number}"), "KeySchema": key("pk"), "Projection": projection })
    };
    let six: Vec<Value> = (0..6).map(include).collect();
    assert!(
        bench
            .refusal("CreateTable", &with(json!({ "GlobalSecondaryIndexes": six })))
            .contains("limit of 100")
    );
    let five: Vec<Value> = (0..5).map(include).collect();
    bench.ok("CreateTable", &with(json!({ "GlobalSecondaryIndexes": five })));
}

#[test]
fn streams_encryption_and_tags_are_checked() {
    let bench = Bench::in_memory();
    let rows = [
        (
            json!({ "StreamSpecification": { "StreamEnabled": true } }),
            format!("{INVALID}Table is being created with a stream enabled, UpdateViewType is required"),
        ),
        (
            json!({ "StreamSpecification": { "StreamEnabled": false, "StreamViewType": "KEYS_ONLY" } }),
            format!(
                "{INVALID}Table is being created with a stream disabled, UpdateViewType should not be specified"
            ),
        ),
        (
            json!({ "SSESpecification": { "Enabled": false, "SSEType": "KMS" } }),
            format!("{INVALID}SSEType can not be specified if Enabled is false"),
        ),
        (
            json!({ "SSESpecification": { "Enabled": true, "KMSMasterKeyId": "k" } }),
            format!("{INVALID}SSEType KMS is required if KMSMasterKeyId is specified"),
        ),
        (
            json!({ "Tags": [{ "Key": "a", "Value": "1" }, { "Key": "a", "Value": "2" }] }),
            "Duplicate Tag Keys provided as input: Duplicate Tag Key found a".to_owned(),
        ),
    ];
    for (changes, words) in rows {
        bench.refuses("CreateTable", &with(changes), &words);
    }
    bench.ok("CreateTable", &with(json!({ "SSESpecification": { "Enabled": true } })));
    let encryption = &bench.describe("Orders")["SSEDescription"];
    assert_eq!((&encryption["Status"], &encryption["SSEType"]), (&json!("ENABLED"), &json!("KMS")));
}

#[test]
fn tables_are_listed_in_pages_by_name() {
    let bench = Bench::in_memory();
    for number in (0..5).rev() {
        bench.table(&format!("table{number}"));
    }
    let first = bench.ok("ListTables", &json!({ "Limit": 2 }));
    assert_eq!(first, json!({ "TableNames": ["table0", "table1"], "LastEvaluatedTableName": "table1" }));
    let rest = bench.ok("ListTables", &json!({ "ExclusiveStartTableName": "table1" }));
    assert_eq!(rest, json!({ "TableNames": ["table2", "table3", "table4"] }));
    let exactly = bench.ok("ListTables", &json!({ "Limit": 5 }));
    assert!(exactly.get("LastEvaluatedTableName").is_none());
}

#[test]
fn a_protected_table_stays() {
    let bench = Bench::in_memory();
    bench.ok("CreateTable", &with(json!({ "DeletionProtectionEnabled": true })));
    let delete = json!({ "TableName": "arn:aws:dynamodb:us-east-1:000000000000:table/Orders" });
    bench.refuses(
        "DeleteTable",
        &delete,
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.",
    );
    bench.ok("UpdateTable", &json!({ "TableName": "Orders", "DeletionProtectionEnabled": false }));
    let reply = bench.ok("DeleteTable", &delete);
    assert_eq!(reply["TableDescription"]["TableStatus"], "DELETING");
    for operation in ["DescribeTable", "DeleteTable", "DescribeTimeToLive"] {
        assert_eq!(
            bench.refusal(operation, &json!({ "TableName": "Orders" })),
            "ResourceNotFoundException: Requested resource not found: Table: Orders not found"
        );
    }
}
