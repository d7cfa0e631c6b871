use serde_json::{Value, json};

use crate::testing::{Bench, simple_table};

const INVALID: &str = "One or more parameter values were invalid: ";

fn update(changes: Value) -> Value {
    let mut request = json!({ "TableName": "Orders" });
    request.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    request
}

fn provisioned(bench: &Bench) {
    let mut request = simple_table("Orders");
    request["BillingMode"] = json!("PROVISIONED");
    request["ProvisionedThroughput"] = units(5, 5);
    bench.ok("CreateTable", &request);
}

fn units(reads: i64, writes: i64) -> Value {
    json!({ "ReadCapacityUnits": reads, "WriteCapacityUnits": writes })
}

fn create(name: &str, attribute: &str) -> Value {
    json!({ "Create": {
        "IndexName": name,
        "KeySchema": [{ "AttributeName": attribute, "KeyType": "HASH" }],
        "Projection": { "ProjectionType": "ALL" },
    } })
}

fn creating(name: &str, attribute: &str) -> Value {
    update(json!({
        "AttributeDefinitions": [{ "AttributeName": attribute, "AttributeType": "S" }],
        "GlobalSecondaryIndexUpdates": [create(name, attribute)],
    }))
}

#[test]
fn something_must_change() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    let words = "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, \
                 SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, \
                 MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is \
                 required";
    bench.refuses("UpdateTable", &update(json!({})), words);
    bench.refuses("UpdateTable", &update(json!({ "GlobalSecondaryIndexUpdates": [] })), words);
    bench.refuses(
        "UpdateTable",
        &update(json!({ "GlobalSecondaryIndexUpdates": [], "BillingMode": "PAY_PER_REQUEST" })),
        &format!("{INVALID}List of GlobalSecondaryIndexUpdates is empty"),
    );
    assert_eq!(
        bench.refusal("UpdateTable", &json!({ "TableName": "Nothing", "BillingMode": "PAY_PER_REQUEST" })),
        "ResourceNotFoundException: Requested resource not found: Table: Nothing not found"
    );
}

#[test]
fn most_settings_change_alone() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    let (sse, class) = (json!({ "Enabled": true }), json!("STANDARD_INFREQUENT_ACCESS"));
    let stream = json!({ "StreamEnabled": true, "StreamViewType": "KEYS_ONLY" });
    let (warm, limits) = (json!({ "ReadUnitsPerSecond": 13_000 }), json!({ "MaxReadRequestUnits": 5 }));
    let rows = [
        (
            json!({ "SSESpecification": sse, "TableClass": class }),
            "Server-Side Encryption modification must be the only operation in the request",
        ),
        (
            json!({ "TableClass": class, "DeletionProtectionEnabled": true }),
            "TableClass modification must be the only operation in the request",
        ),
        (
            json!({ "DeletionProtectionEnabled": true, "WarmThroughput": warm }),
            "DeletionProtection modification must be the only operation in the request",
        ),
        (
            json!({ "WarmThroughput": warm, "StreamSpecification": stream }),
            "WarmThroughput must be the only operation in the request",
        ),
        (
            json!({ "OnDemandThroughput": limits, "StreamSpecification": stream }),
            "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request",
        ),
        (
            json!({ "ProvisionedThroughput": units(1, 1), "StreamSpecification": stream }),
            "You cannot modify stream status while updating table IOPS",
        ),
        (
            json!({ "ProvisionedThroughput": units(1, 1), "GlobalSecondaryIndexUpdates": [create("global", "g")] }),
            "You cannot create or delete index while updating table IOPS",
        ),
        (
            json!({ "StreamSpecification": stream, "GlobalSecondaryIndexUpdates": [create("global", "g")] }),
            "You cannot create or delete index while changing stream status",
        ),
        (
            json!({ "WarmThroughput": warm, "GlobalSecondaryIndexUpdates": [create("global", "g")] }),
            "Create global secondary index cannot be specified when updating WarmThroughput",
        ),
    ];
    for (changes, words) in rows {
        bench.refuses("UpdateTable", &update(changes), &format!("{INVALID}{words}"));
    }
    let both = json!({ "BillingMode": "PAY_PER_REQUEST", "StreamSpecification": stream });
    let reply = bench.ok("UpdateTable", &update(both));
    assert_eq!(reply["TableDescription"]["TableStatus"], "UPDATING");
    assert_eq!(bench.describe("Orders")["TableStatus"], "ACTIVE");
}

#[test]
fn units_go_up_and_down() {
    let bench = Bench::in_memory();
    provisioned(&bench);
    let reply = bench.ok("UpdateTable", &update(json!({ "ProvisionedThroughput": units(10, 4) })));
    assert_eq!(reply["TableDescription"]["ProvisionedThroughput"]["ReadCapacityUnits"], 5, "the old units");
    let table = bench.describe("Orders");
    let now = &table["ProvisionedThroughput"];
    assert_eq!((&now["ReadCapacityUnits"], &now["WriteCapacityUnits"]), (&json!(10), &json!(4)));
    assert_eq!(now["NumberOfDecreasesToday"], 1);
    assert!(now.get("LastIncreaseDateTime").is_some() && now.get("LastDecreaseDateTime").is_some());
    assert_eq!(table["WarmThroughput"]["WriteUnitsPerSecond"], 5, "what it once took it goes on taking");
    bench.clock.advance_seconds(24 * 60 * 60);
    bench.ok("UpdateTable", &update(json!({ "ProvisionedThroughput": units(9, 4) })));
    assert_eq!(
        bench.describe("Orders")["ProvisionedThroughput"]["NumberOfDecreasesToday"],
        1,
        "of a new day"
    );
    bench.refuses(
        "UpdateTable",
        &update(json!({ "BillingMode": "PROVISIONED", "ProvisionedThroughput": units(9, 4) })),
        "The provisioned throughput for the table will not change. The requested value equals the current value. \
         Current ReadCapacityUnits provisioned for the table: 9. Requested ReadCapacityUnits: 9. Current \
         WriteCapacityUnits provisioned for the table: 4. Requested WriteCapacityUnits: 4. Refer to the Amazon \
         DynamoDB Developer Guide for current limits and how to request higher limits.",
    );
}

#[test]
fn the_billing_mode_switches_both_ways() {
    let bench = Bench::in_memory();
    provisioned(&bench);
    bench.refuses(
        "UpdateTable",
        &update(json!({ "OnDemandThroughput": { "MaxReadRequestUnits": 5 } })),
        &format!("{INVALID}MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED"),
    );
    bench.ok(
        "UpdateTable",
        &update(
            json!({ "BillingMode": "PAY_PER_REQUEST", "OnDemandThroughput": { "MaxReadRequestUnits": 5 } }),
        ),
    );
    let table = bench.describe("Orders");
    assert_eq!(table["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST");
    assert_eq!(table["ProvisionedThroughput"]["ReadCapacityUnits"], 0);
    assert_eq!(table["OnDemandThroughput"], json!({ "MaxReadRequestUnits": 5 }));
    let refused = format!(
        "{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
    );
    bench.refuses("UpdateTable", &update(json!({ "ProvisionedThroughput": units(1, 1) })), &refused);
    bench.ok("UpdateTable", &update(json!({ "BillingMode": "PAY_PER_REQUEST" })));
    let reply = bench.ok(
        "UpdateTable",
        &update(json!({ "OnDemandThroughput": { "MaxReadRequestUnits": -1, "MaxWriteRequestUnits": 7 } })),
    );
    assert_eq!(reply["TableDescription"]["TableStatus"], "ACTIVE");
    assert_eq!(reply["TableDescription"]["OnDemandThroughput"]["MaxReadRequestUnits"], -1);
    assert_eq!(bench.describe("Orders")["OnDemandThroughput"], json!({ "MaxWriteRequestUnits": 7 }));
    bench.refuses(
        "UpdateTable",
        &update(json!({ "BillingMode": "PROVISIONED" })),
        &format!("{INVALID}ProvisionedThroughput must be specified when BillingMode is PROVISIONED"),
    );
    bench.ok(
        "UpdateTable",
        &update(json!({ "BillingMode": "PROVISIONED", "ProvisionedThroughput": units(5, 5) })),
    );
    let table = bench.describe("Orders");
    assert_eq!(table["BillingModeSummary"]["BillingMode"], "PROVISIONED");
    assert!(table.get("OnDemandThroughput").is_none());
    assert_eq!(table["WarmThroughput"]["ReadUnitsPerSecond"], 12_000);
}

#[test]
fn switching_to_provisioned_needs_units_for_every_index() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    bench.ok("UpdateTable", &creating("global", "g"));
    bench.keep_house();
    let switch = json!({ "BillingMode": "PROVISIONED", "ProvisionedThroughput": units(5, 5) });
    bench.refuses(
        "UpdateTable",
        &update(switch.clone()),
        &format!("{INVALID}ProvisionedThroughput must be specified for index: global"),
    );
    let mut with_index = switch;
    let index = json!({ "Update": { "IndexName": "global", "ProvisionedThroughput": units(3, 3) } });
    with_index["GlobalSecondaryIndexUpdates"] = json!([index.clone()]);
    bench.ok("UpdateTable", &update(with_index));
    assert_eq!(
        bench.describe("Orders")["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["ReadCapacityUnits"],
        3
    );
    let words = bench.refusal("UpdateTable", &update(json!({ "GlobalSecondaryIndexUpdates": [index] })));
    assert!(
        words.starts_with(
            "ValidationException: The provisioned throughput for the index global will not change."
        ),
        "{words}"
    );
    bench.refuses(
        "UpdateTable",
        &creating("second", "h"),
        &format!(
            "{INVALID}Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: second"
        ),
    );
}

#[test]
fn index_updates_are_checked() {
    let bench = Bench::in_memory();
    let mut request = simple_table("Orders");
    request["AttributeDefinitions"] = json!([
        { "AttributeName": "pk", "AttributeType": "S" },
        { "AttributeName": "sk", "AttributeType": "S" },
    ]);
    request["KeySchema"] =
        json!([{ "AttributeName": "pk", "KeyType": "HASH" }, { "AttributeName": "sk", "KeyType": "RANGE" }]);
    request["LocalSecondaryIndexes"] = json!([{
        "IndexName": "local",
        "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }, { "AttributeName": "sk", "KeyType": "RANGE" }],
        "Projection": { "ProjectionType": "ALL" },
    }]);
    bench.ok("CreateTable", &request);
    let delete = |name: &str| json!({ "Delete": { "IndexName": name } });
    let with = |updates: Value| update(json!({ "GlobalSecondaryIndexUpdates": updates }));
    let rows = [
        (
            with(json!([{}])),
            format!(
                "{INVALID}One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null"
            ),
        ),
        (
            with(json!([{ "Delete": { "IndexName": "one" }, "Create": create("one", "g")["Create"] }])),
            format!(
                "{INVALID}Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object"
            ),
        ),
        (
            with(json!([delete("one"), delete("one")])),
            format!(
                "{INVALID}Only one global secondary index update per index is allowed simultaneously. Index: one"
            ),
        ),
        (
            with(json!([delete("local")])),
            "Cannot delete an index that is not a GlobalSecondaryIndex: local".to_owned(),
        ),
        (
            with(json!([{ "Update": { "IndexName": "local", "ProvisionedThroughput": units(1, 1) } }])),
            "Cannot update an index that is not a GlobalSecondaryIndex: local".to_owned(),
        ),
        (creating("local", "g"), "Attempting to create an index which already exists".to_owned()),
        (
            with(json!([create("global", "g")])),
            format!("{INVALID}AttributeDefinitions is not specified for index: global"),
        ),
        (
            update(json!({
                "AttributeDefinitions": [{ "AttributeName": "other", "AttributeType": "S" }],
                "GlobalSecondaryIndexUpdates": [create("global", "g")],
            })),
            format!(
                "{INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [g], AttributeDefinitions: [other]"
            ),
        ),
    ];
    for (request, words) in rows {
        bench.refuses("UpdateTable", &request, &words);
    }
    assert_eq!(
        bench.refusal("UpdateTable", &with(json!([delete("ghost")]))),
        "ResourceNotFoundException: Requested resource not found: Index ghost for table Orders"
    );
    let two = update(json!({
        "AttributeDefinitions": [{ "AttributeName": "g", "AttributeType": "S" }],
        "GlobalSecondaryIndexUpdates": [create("one", "g"), create("two", "g")],
    }));
    let only_one = "LimitExceededException: Subscriber limit exceeded: Only 1 online index can be created or deleted \
                    simultaneously per table";
    assert_eq!(bench.refusal("UpdateTable", &two), only_one);
    bench.ok("UpdateTable", &creating("one", "g"));
    assert_eq!(
        bench.refusal("UpdateTable", &creating("two", "g")),
        only_one,
        "while the first is being filled"
    );
    assert_eq!(
        bench.refusal("DeleteTable", &json!({ "TableName": "Orders" })),
        "ResourceInUseException: Attempt to change a resource which is still in use: Cannot delete table while indexes \
         are being created, updated, or deleted."
    );
    bench.ok("UpdateTable", &with(json!([delete("one")])));
    bench.keep_house();
}

#[test]
fn an_index_is_made_and_removed() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    bench.put("Orders", &json!({ "pk": { "S": "a" }, "g": { "S": "x" } }));
    let reply = bench.ok("UpdateTable", &creating("global", "g"));
    let index = &reply["TableDescription"]["GlobalSecondaryIndexes"][0];
    assert_eq!((&index["IndexStatus"], &index["Backfilling"]), (&json!("CREATING"), &json!(false)));
    let index = &bench.describe("Orders")["GlobalSecondaryIndexes"][0];
    assert_eq!((&index["IndexStatus"], &index["Backfilling"]), (&json!("CREATING"), &json!(true)));
    bench.keep_house();
    let table = bench.describe("Orders");
    let index = &table["GlobalSecondaryIndexes"][0];
    assert_eq!((&index["IndexStatus"], &index["ItemCount"]), (&json!("ACTIVE"), &json!(1)));
    assert_eq!(table["AttributeDefinitions"].as_array().unwrap().len(), 2);
    let delete = update(json!({ "GlobalSecondaryIndexUpdates": [{ "Delete": { "IndexName": "global" } }] }));
    let reply = bench.ok("UpdateTable", &delete);
    assert_eq!(reply["TableDescription"]["GlobalSecondaryIndexes"][0]["IndexStatus"], "DELETING");
    let table = bench.describe("Orders");
    assert!(table.get("GlobalSecondaryIndexes").is_none());
    assert_eq!(
        table["AttributeDefinitions"].as_array().unwrap().len(),
        1,
        "definitions go with their last key"
    );
}

#[test]
fn a_stream_is_opened_and_closed() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    let set = |specification: Value| update(json!({ "StreamSpecification": specification }));
    let open = set(json!({ "StreamEnabled": true, "StreamViewType": "KEYS_ONLY" }));
    let close = set(json!({ "StreamEnabled": false }));
    bench.refuses("UpdateTable", &close, "Table has no stream to disable: TableName: Orders");
    bench.refuses(
        "UpdateTable",
        &set(json!({ "StreamEnabled": true })),
        &format!("{INVALID}If stream is being enabled then UpdateViewType is required"),
    );
    bench.refuses(
        "UpdateTable",
        &set(json!({ "StreamEnabled": false, "StreamViewType": "KEYS_ONLY" })),
        &format!("{INVALID}If stream is being disabled, then UpdateViewType must not be specified"),
    );
    bench.ok("UpdateTable", &open);
    bench.refuses("UpdateTable", &open, "Table already has an enabled stream: TableName: Orders");
    let first = bench.describe("Orders")["LatestStreamArn"].clone();
    bench.ok("UpdateTable", &close);
    let table = bench.describe("Orders");
    assert!(table.get("StreamSpecification").is_none());
    assert_eq!(table["LatestStreamArn"], first, "the closed stream is still named");
    bench.ok("UpdateTable", &open);
    assert_ne!(bench.describe("Orders")["LatestStreamArn"], first, "even within a millisecond");
    assert_eq!(bench.ok("ListStreams", &json!({}))["Streams"].as_array().unwrap().len(), 2);
}

#[test]
fn encryption_class_and_warmth_change() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    let sse = |specification: Value| update(json!({ "SSESpecification": specification }));
    bench.refuses(
        "UpdateTable",
        &sse(json!({ "Enabled": false })),
        &format!("{INVALID}Table is already encrypted by default"),
    );
    let key = json!({ "Enabled": true, "SSEType": "KMS", "KMSMasterKeyId": "arn:aws:kms:us-east-1:000000000000:key/k" });
    bench.ok("UpdateTable", &sse(key.clone()));
    bench.refuses(
        "UpdateTable",
        &sse(key),
        &format!("{INVALID}Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want to change Master Key"),
    );
    bench.ok("UpdateTable", &sse(json!({ "Enabled": false })));
    assert!(bench.describe("Orders").get("SSEDescription").is_none());
    bench.ok("UpdateTable", &update(json!({ "TableClass": "STANDARD" })));
    assert!(bench.describe("Orders").get("TableClassSummary").is_none());
    bench.ok("UpdateTable", &update(json!({ "TableClass": "STANDARD_INFREQUENT_ACCESS" })));
    assert_eq!(bench.describe("Orders")["TableClassSummary"]["TableClass"], "STANDARD_INFREQUENT_ACCESS");
    let reply =
        bench.ok("UpdateTable", &update(json!({ "WarmThroughput": { "ReadUnitsPerSecond": 13_000 } })));
    assert_eq!(reply["TableDescription"]["WarmThroughput"]["Status"], "UPDATING");
    assert_eq!(bench.describe("Orders")["WarmThroughput"]["ReadUnitsPerSecond"], 13_000);
    bench.refuses(
        "UpdateTable",
        &update(json!({ "WarmThroughput": { "ReadUnitsPerSecond": 12_999 } })),
        &format!("{INVALID}Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current WarmThroughput, decreasing WarmThroughput is not supported"),
    );
}
