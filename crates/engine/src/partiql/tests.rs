use proptest::prelude::*;
use serde_json::{Value, json};

use super::parse;
use crate::testing::Bench;

/// A table `tab` with the key `pk`, and a table `com` with the key `pk`, `sk`, a global index `by_kind` and a local index `by_rank` of keys only.
fn bench() -> Bench {
    let bench = Bench::in_memory();
    bench.table("tab");
    bench.ok(
        "CreateTable",
        &json!({
            "TableName": "com",
            "AttributeDefinitions": [
                { "AttributeName": "pk", "AttributeType": "S" },
                { "AttributeName": "sk", "AttributeType": "S" },
                { "AttributeName": "kind", "AttributeType": "S" },
                { "AttributeName": "rank", "AttributeType": "N" },
            ],
            "KeySchema": [
                { "AttributeName": "pk", "KeyType": "HASH" },
                { "AttributeName": "sk", "KeyType": "RANGE" },
            ],
            "GlobalSecondaryIndexes": [{
                "IndexName": "by_kind",
                "KeySchema": [{ "AttributeName": "kind", "KeyType": "HASH" }, { "AttributeName": "sk", "KeyType": "RANGE" }],
                "Projection": { "ProjectionType": "KEYS_ONLY" },
            }],
            "LocalSecondaryIndexes": [{
                "IndexName": "by_rank",
                "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }, { "AttributeName": "rank", "KeyType": "RANGE" }],
                "Projection": { "ProjectionType": "KEYS_ONLY" },
            }],
            "BillingMode": "PAY_PER_REQUEST",
        }),
    );
    bench
}

fn with_items() -> Bench {
    let bench = bench();
    for (pk, sk, rank) in [("a", "1", 3), ("a", "2", 2), ("a", "3", 1), ("b", "1", 1), ("c", "9", 5)] {
        bench.put(
            "com",
            &json!({
                "pk": { "S": pk }, "sk": { "S": sk }, "rank": { "N": rank.to_string() }, "kind": { "S": "k" },
                "info": { "M": { "city": { "S": format!("city {sk}") }, "tags": { "L": [{ "S": "x" }, { "S": "y" }] } } },
            }),
        );
    }
    bench
}

fn run(bench: &Bench, statement: &str) -> Value {
    bench.ok("ExecuteStatement", &json!({ "Statement": statement }))
}

fn items(bench: &Bench, statement: &str) -> Value {
    run(bench, statement)["Items"].clone()
}

/// The keys of the items that a SELECT on `com` answers, such as `a1`.
fn keys(bench: &Bench, statement: &str) -> Vec<String> {
    keys_in(&run(bench, statement))
}

fn keys_in(reply: &Value) -> Vec<String> {
    let text = |item: &Value, name: &str| item[name]["S"].as_str().unwrap_or("-").to_owned();
    reply["Items"].as_array().unwrap().iter().map(|item| text(item, "pk") + &text(item, "sk")).collect()
}

fn refusal(bench: &Bench, statement: &str) -> String {
    bench.refusal("ExecuteStatement", &json!({ "Statement": statement }))
}

fn item(bench: &Bench, table: &str, key: &Value) -> Value {
    bench.ok("GetItem", &json!({ "TableName": table, "Key": key }))["Item"].clone()
}

#[test]
fn insert_makes_an_item_once() {
    let bench = bench();
    let insert = "INSERT INTO \"tab\" VALUE {'pk': 'it''s', 'n': -1.50, 'ok': true, 'no': null, 'l': [1, 'x'], 'm': {'a': <<1, 2>>}}";
    assert_eq!(run(&bench, insert), json!({ "Items": [] }));
    assert_eq!(
        item(&bench, "tab", &json!({ "pk": { "S": "it's" } })),
        json!({
            "pk": { "S": "it's" }, "n": { "N": "-1.5" }, "ok": { "BOOL": true }, "no": { "NULL": true },
            "l": { "L": [{ "N": "1" }, { "S": "x" }] }, "m": { "M": { "a": { "NS": ["1", "2"] } } },
        })
    );
    assert_eq!(refusal(&bench, insert), "DuplicateItemException: Duplicate primary key exists in table");
    bench.refuses(
        "ExecuteStatement",
        &json!({ "Statement": "INSERT INTO tab VALUE {'n': 2}" }),
        "Key attribute should be present in the item: Key pk",
    );
}

#[test]
fn parameters_stand_for_values_in_order() {
    let bench = bench();
    let parameters = json!([{ "S": "p" }, { "SS": ["a"] }]);
    let insert =
        json!({ "Statement": "INSERT INTO tab VALUE {'pk': ?, 'set': ?}", "Parameters": parameters });
    bench.ok("ExecuteStatement", &insert);
    let select = json!({ "Statement": "SELECT * FROM tab WHERE pk = ?", "Parameters": [{ "S": "p" }] });
    assert_eq!(bench.ok("ExecuteStatement", &select)["Items"][0]["set"], json!({ "SS": ["a"] }));
    let few =
        json!({ "Statement": "SELECT * FROM tab WHERE pk = ? AND a = ?", "Parameters": [{ "S": "p" }] });
    bench.refuses("ExecuteStatement", &few, "Number of parameters in request and statement don't match.");
}

#[test]
fn select_reads_what_the_key_conditions_leave() {
    let bench = with_items();
    assert_eq!(keys(&bench, "SELECT * FROM com WHERE pk = 'a' AND sk >= '2'"), ["a2", "a3"]);
    assert_eq!(keys(&bench, "SELECT * FROM com WHERE pk = 'a' AND sk BETWEEN '1' AND '2'"), ["a1", "a2"]);
    assert_eq!(keys(&bench, "SELECT * FROM com WHERE pk = 'a' AND begins_with(sk, '3')"), ["a3"]);
    assert_eq!(keys(&bench, "SELECT * FROM com WHERE pk = 'a' AND sk > '1' AND sk < '3'"), ["a2"]);
    assert_eq!(
        keys(&bench, "SELECT * FROM com WHERE pk IN ['b', 'a', 'b'] AND \"rank\" < 3"),
        ["b1", "a2", "a3"]
    );
    assert_eq!(keys(&bench, "SELECT * FROM com WHERE pk = 'a' ORDER BY sk DESC"), ["a3", "a2", "a1"]);
    assert_eq!(
        keys(&bench, "SELECT * FROM com.by_rank WHERE pk = 'a' ORDER BY \"rank\""),
        ["a3", "a2", "a1"]
    );
    assert_eq!(keys(&bench, "SELECT * FROM com.by_kind WHERE kind = 'k' AND sk = '9'"), ["c9"]);
    let mut all = keys(&bench, "SELECT * FROM com;");
    all.sort();
    assert_eq!(all, ["a1", "a2", "a3", "b1", "c9"]);
}

#[test]
fn conditions_filter() {
    let bench = with_items();
    let matching = |condition: &str| {
        let mut found = keys(&bench, &format!("SELECT * FROM com WHERE {condition}"));
        found.sort();
        found.join(" ")
    };
    assert_eq!(matching("pk = 'a' OR sk = '9'"), "a1 a2 a3 c9");
    assert_eq!(matching("NOT (pk = 'a' OR sk = '9')"), "b1");
    assert_eq!(matching("info.city = 'city 9'"), "c9");
    assert_eq!(matching("info.tags[1] = 'y' AND size(info.tags) = 2 AND pk <> 'a' AND sk != '9'"), "b1");
    assert_eq!(matching("contains(info.city, '9')"), "c9");
    assert_eq!(matching("contains(info.tags, 'x') AND pk = 'b'"), "b1");
    assert_eq!(matching("gone IS MISSING AND pk IS NOT MISSING AND pk IN ('b', 'c')"), "b1 c9");
    assert_eq!(matching("pk IS NULL"), "");
    assert_eq!(matching("attribute_type(\"rank\", 'N') AND \"rank\" NOT BETWEEN 1 AND 3"), "c9");
    assert_eq!(matching("'c' = pk"), "c9");
}

#[test]
fn projections_are_named_by_their_last_part() {
    let bench = with_items();
    let select = |what: &str| items(&bench, &format!("SELECT {what} FROM com WHERE pk = 'b' AND sk = '1'"));
    assert_eq!(select("sk, pk"), json!([{ "pk": { "S": "b" }, "sk": { "S": "1" } }]));
    assert_eq!(select("info.city, pk"), json!([{ "city": { "S": "city 1" }, "pk": { "S": "b" } }]));
    assert_eq!(select("info.tags[1]"), json!([{ "tags[1]": { "S": "y" } }]));
    assert_eq!(select("gone"), json!([{}]));
}

#[test]
fn pages_follow_each_other() {
    let bench = with_items();
    for statement in [
        "SELECT * FROM com",
        "SELECT sk, pk FROM com WHERE pk IN ('a', 'b', 'c')",
        "SELECT * FROM com.by_kind WHERE kind = 'k' ORDER BY sk DESC",
    ] {
        let whole = keys(&bench, statement);
        let mut request = json!({ "Statement": statement, "Limit": 2 });
        let mut found = Vec::new();
        for _ in 0..10 {
            let reply = bench.ok("ExecuteStatement", &request);
            found.extend(keys_in(&reply));
            let Some(token) = reply["NextToken"].as_str() else { break };
            request["NextToken"] = json!(token);
        }
        assert_eq!(found, whole, "{statement}");
    }
}

#[test]
fn a_page_says_where_it_stopped() {
    let bench = with_items();
    let reply =
        bench.ok("ExecuteStatement", &json!({ "Statement": "SELECT * FROM com WHERE pk = 'a'", "Limit": 1 }));
    assert_eq!(reply["LastEvaluatedKey"], json!({ "pk": { "S": "a" }, "sk": { "S": "1" } }));
    let one = json!({ "Statement": "SELECT * FROM com WHERE pk = 'a' AND sk = '1'", "Limit": 1 });
    assert_eq!(bench.ok("ExecuteStatement", &one)["NextToken"], Value::Null);
}

#[test]
fn tokens_belong_to_their_statement() {
    let bench = with_items();
    let reply = bench.ok("ExecuteStatement", &json!({ "Statement": "SELECT * FROM com", "Limit": 1 }));
    let token = reply["NextToken"].as_str().unwrap().to_owned();
    let with = |statement: &str, token: &str| json!({ "Statement": statement, "NextToken": token });
    let other = with("SELECT * FROM com WHERE pk = 'a'", &token);
    bench.refuses("ExecuteStatement", &other, "NextToken does not match request");
    for text in ["zz", "00", "äö", &token[1..]] {
        bench.refuses("ExecuteStatement", &with("SELECT * FROM com", text), "Invalid NextToken");
    }
    // The place within the statement is forged.
    let forged = format!("{}ffffffff", &token[..32]);
    assert_eq!(bench.ok("ExecuteStatement", &with("SELECT * FROM com", &forged))["Items"], json!([]));
    let forged = format!("{}00000000ff", &token[..32]);
    bench.refuses(
        "ExecuteStatement",
        &with("SELECT * FROM com", &forged),
        "NextToken does not match request",
    );
    let write = with("DELETE FROM tab WHERE pk = 'a'", &token);
    bench.refuses("ExecuteStatement", &write, "NextToken is only valid on a SELECT statement");
}

#[test]
fn update_changes_an_item_that_is_there() {
    let bench = bench();
    let key = json!({ "pk": { "S": "u" } });
    assert_eq!(
        refusal(&bench, "UPDATE tab SET a = 1 WHERE pk = 'u'"),
        "ConditionalCheckFailedException: The conditional request failed"
    );
    run(&bench, "INSERT INTO tab VALUE {'pk': 'u', 'a': 1, 'l': [1], 's': <<'x'>>, 'm': {'k': 1}, 'z': 1}");
    run(
        &bench,
        "UPDATE tab SET a = a + 2, l = list_append(l, [2]) SET s = set_add(s, <<'y'>>), m.k = 5 - 1 REMOVE z WHERE pk = 'u' AND a = 1",
    );
    assert_eq!(
        item(&bench, "tab", &key),
        json!({
            "pk": { "S": "u" }, "a": { "N": "3" }, "l": { "L": [{ "N": "1" }, { "N": "2" }] },
            "s": { "SS": ["x", "y"] }, "m": { "M": { "k": { "N": "4" } } },
        })
    );
    assert_eq!(
        refusal(&bench, "UPDATE tab SET a = 9 WHERE pk = 'u' AND a = 1"),
        "ConditionalCheckFailedException: The conditional request failed"
    );
    run(&bench, "UPDATE tab SET s = set_delete(s, <<'x'>>), l[0] = 7, data = 'after' WHERE pk = 'u'");
    assert_eq!(item(&bench, "tab", &key)["s"], json!({ "SS": ["y"] }));
    assert_eq!(item(&bench, "tab", &key)["l"]["L"][0], json!({ "N": "7" }));
}

#[test]
fn update_answers_what_returning_asks_for() {
    let bench = bench();
    run(&bench, "INSERT INTO tab VALUE {'pk': 'u', 'a': 1, 'b': 1}");
    let update =
        |what: &str| items(&bench, &format!("UPDATE tab SET a = a + 1 WHERE pk = 'u' RETURNING {what} *"));
    let whole = |a: &str| json!([{ "pk": { "S": "u" }, "a": { "N": a }, "b": { "N": "1" } }]);
    assert_eq!(update("ALL OLD"), whole("1"));
    assert_eq!(update("ALL NEW"), whole("3"));
    assert_eq!(update("MODIFIED OLD"), json!([{ "a": { "N": "3" } }]));
    assert_eq!(update("MODIFIED NEW"), json!([{ "a": { "N": "5" } }]));
    assert_eq!(items(&bench, "UPDATE tab REMOVE b WHERE pk = 'u' RETURNING MODIFIED NEW *"), json!([]));
}

#[test]
fn delete_of_nothing_is_done() {
    let bench = bench();
    assert_eq!(items(&bench, "DELETE FROM tab WHERE pk = 'd' AND a = 1 RETURNING ALL OLD *"), json!([]));
    run(&bench, "INSERT INTO tab VALUE {'pk': 'd', 'a': 2}");
    assert_eq!(
        refusal(&bench, "DELETE FROM tab WHERE pk = 'd' AND a = 1"),
        "ConditionalCheckFailedException: The conditional request failed"
    );
    let deleted = items(&bench, "DELETE FROM tab WHERE pk = 'd' AND a = 2 RETURNING ALL OLD *");
    assert_eq!(deleted, json!([{ "pk": { "S": "d" }, "a": { "N": "2" } }]));
    assert!(bench.keys("tab", None).is_empty());
}

#[test]
fn a_failed_condition_shows_the_item_when_asked() {
    let bench = bench();
    run(&bench, "INSERT INTO tab VALUE {'pk': 'd'}");
    let request = json!({ "Statement": "DELETE FROM tab WHERE pk = 'd' AND a = 1", "ReturnValuesOnConditionCheckFailure": "ALL_OLD" });
    assert!(bench.run("ExecuteStatement", &request).unwrap_err().item.is_some());
}

#[test]
fn statements_are_refused_in_dynamodbs_words() {
    let bench = with_items();
    for (statement, words) in [
        ("SELECTT * FROMM t", "Statement wasn't well formed, can't be processed: Expected data manipulation"),
        (
            "UPDATE tab WHERE pk = 'a'",
            "Statement wasn't well formed, can't be processed: Expected data manipulation",
        ),
        ("SELECT * FROM tab WHERE", "Statement wasn't well formed, can't be processed: Unexpected term"),
        (
            "INSERT INTO tab VALUES {'pk': 'a'}",
            "Statement wasn't well formed, can't be processed: Unexpected keyword",
        ),
        ("SELECT COUNT(*) FROM tab", "Unexpected path component at 1:8:5"),
        ("SELECT *\n FROM \"\"", "Path component cannot be an empty string"),
        ("SELECT * FROM a.b.c", "A path may contain at most 2 components in the FROM clause"),
        (
            "INSERT INTO \"com\".\"by_kind\" VALUE {'pk': 'a'}",
            "FROM clause may only contain a single table name in data manipulation statements at 1:13:5",
        ),
        ("UPDATE gone.i SET a = 1 WHERE pk = 'a'", "This operation is not supported on an index"),
        ("DELETE FROM gone.i WHERE pk = 'a'", "This operation is not supported on an index"),
        (
            "UPDATE com SET a = 1 WHERE pk = 'a'",
            "Where clause does not contain a mandatory equality on all key attributes",
        ),
        ("DELETE FROM tab", "Where clause does not contain a mandatory equality on all key attributes"),
        (
            "DELETE FROM tab WHERE pk = 'a' RETURNING MODIFIED NEW *",
            "Invalid returning clause: RETURNING MODIFIED NEW *. Only RETURNING ALL OLD * is allowed in DELETE statements.",
        ),
        (
            "UPDATE tab SET pk = 'b' WHERE pk = 'a'",
            "One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key",
        ),
        (
            "SELECT * FROM gone WHERE a < true",
            "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL",
        ),
        (
            "SELECT * FROM com ORDER BY sk",
            "Must have WHERE clause in the statement when using ORDER BY clause.",
        ),
        (
            "SELECT * FROM com WHERE sk = '1' ORDER BY sk",
            "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.",
        ),
        (
            "SELECT * FROM com WHERE pk = 'a' ORDER BY info",
            "Variable reference info in ORDER BY clause must be part of the primary key",
        ),
        ("SELECT * FROM com.gone", "The table does not have the specified index"),
        (
            "SELECT info FROM com.by_kind WHERE kind = 'k'",
            "One or more parameter values were invalid: Global secondary index by_kind does not project [info]",
        ),
        (
            "SELECT * FROM com.by_rank WHERE pk = 'a' AND info = 1",
            "One or more parameter values were invalid: Secondary index by_rank does not project one or more filter attributes: [info]",
        ),
        (
            "SELECT * FROM com WHERE pk = 1 AND sk = '1'",
            "Key attribute's data type should match its data type in table's schema: Key pk",
        ),
    ] {
        bench.refuses("ExecuteStatement", &json!({ "Statement": statement }), words);
    }
    assert_eq!(
        refusal(&bench, "SELECT * FROM gone"),
        "ResourceNotFoundException: Requested resource not found"
    );
    let consistent = json!({ "Statement": "SELECT * FROM com.by_kind", "ConsistentRead": true });
    let words = "Strongly consistent read is not supported on Global Secondary Indexes";
    bench.refuses("ExecuteStatement", &consistent, words);
}

#[test]
fn statements_cost_what_the_operations_cost() {
    let bench = with_items();
    let cost = |statement: &str| {
        let request = json!({ "Statement": statement, "ReturnConsumedCapacity": "INDEXES" });
        bench.ok("ExecuteStatement", &request)["ConsumedCapacity"].clone()
    };
    assert_eq!(cost("SELECT * FROM com WHERE pk = 'a'")["CapacityUnits"], json!(0.5));
    assert_eq!(cost("SELECT * FROM com WHERE pk IN ('a', 'b')")["CapacityUnits"], json!(1.0));
    // Three entries, and three items that are looked up.
    let completed = cost("SELECT info FROM com.by_rank WHERE pk = 'a'");
    assert_eq!(completed["Table"]["CapacityUnits"], json!(1.5));
    assert_eq!(completed["LocalSecondaryIndexes"]["by_rank"]["CapacityUnits"], json!(0.5));
    let inserted = cost("INSERT INTO com VALUE {'pk': 'n', 'sk': 'n', 'kind': 'k', 'rank': 1}");
    assert_eq!(inserted["CapacityUnits"], json!(3.0));
}

fn batch(bench: &Bench, statements: &[&str]) -> Value {
    bench.ok("BatchExecuteStatement", &statements_request("Statements", statements))
}

fn statements_request(member: &str, statements: &[&str]) -> Value {
    let statements: Vec<_> = statements.iter().map(|statement| json!({ "Statement": statement })).collect();
    json!({ member: statements, "ReturnConsumedCapacity": "TOTAL" })
}

#[test]
fn a_batch_answers_each_statement_in_its_place() {
    let bench = with_items();
    let reply = batch(
        &bench,
        &[
            "SELECT sk FROM com WHERE pk = 'a' AND sk = '1'",
            "SELECT * FROM gone WHERE pk = 'a'",
            "SELECT * FROM com WHERE pk = 'a'",
            "SELECT * FROM tab WHERE pk = 'none'",
            "nonsense",
        ],
    );
    let error = |code: &str, words: &str| json!({ "Code": code, "Message": words });
    assert_eq!(
        reply["Responses"],
        json!([
            { "TableName": "com", "Item": { "sk": { "S": "1" } } },
            { "TableName": "gone", "Error": error("ResourceNotFound", "Requested resource not found") },
            { "Error": error(
                "ValidationError",
                "Select statements within BatchExecuteStatement must specify the primary key in the where clause.",
            ) },
            { "TableName": "tab" },
            { "Error": error(
                "ValidationError",
                "Statement wasn't well formed, can't be processed: Expected data manipulation",
            ) },
        ])
    );
    assert_eq!(reply["ConsumedCapacity"].as_array().unwrap().len(), 2);
}

#[test]
fn a_batch_writes_what_it_can() {
    let bench = bench();
    run(&bench, "INSERT INTO tab VALUE {'pk': 'old', 'a': 1}");
    let reply = batch(
        &bench,
        &[
            "INSERT INTO tab VALUE {'pk': 'new'}",
            "INSERT INTO tab VALUE {'pk': 'old'}",
            "UPDATE tab SET a = 1 WHERE pk = 'none'",
            "DELETE FROM tab WHERE pk = 'gone' RETURNING ALL OLD *",
        ],
    );
    let error =
        |code: &str, words: &str| json!({ "TableName": "tab", "Error": { "Code": code, "Message": words } });
    assert_eq!(
        reply["Responses"],
        json!([
            { "TableName": "tab" },
            error("DuplicateItem", "Duplicate primary key exists in table"),
            error("ConditionalCheckFailed", "The conditional request failed"),
            { "TableName": "tab" },
        ])
    );
    // Two that were done, and two that were refused.
    assert_eq!(reply["ConsumedCapacity"], json!([{ "TableName": "tab", "CapacityUnits": 4.0 }]));
    assert_eq!(bench.keys("tab", None), ["new", "old"]);
}

#[test]
fn a_batch_is_of_one_kind_and_of_different_items() {
    let bench = bench();
    let refuses = |statements: &[&str], words: &str| {
        bench.refuses("BatchExecuteStatement", &statements_request("Statements", statements), words);
    };
    refuses(
        &["SELECT * FROM tab WHERE pk = 'a'", "DELETE FROM tab WHERE pk = 'a'"],
        "Read and write requests together in the same batch is not supported.",
    );
    refuses(
        &["SELECT * FROM tab WHERE pk = 'a'", "SELECT pk FROM tab WHERE pk = 'a'"],
        "Provided list of item keys contains duplicates",
    );
}

#[test]
fn a_transaction_does_all_or_nothing() {
    let bench = bench();
    run(&bench, "INSERT INTO tab VALUE {'pk': 'old', 'a': 1}");
    let transaction = |statements: &[&str]| {
        bench.run("ExecuteTransaction", &statements_request("TransactStatements", statements))
    };
    let error = transaction(&[
        "INSERT INTO tab VALUE {'pk': 'new'}",
        "INSERT INTO tab VALUE {'pk': 'old'}",
        "EXISTS(SELECT * FROM tab WHERE pk = 'none' AND a = 1)",
    ])
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific reasons \
         [None, DuplicateItem, ConditionalCheckFailed]"
    );
    assert_eq!(bench.keys("tab", None), ["old"]);
    let reply = transaction(&[
        "INSERT INTO tab VALUE {'pk': 'new'}",
        "EXISTS(SELECT * FROM tab WHERE pk = 'old' AND a = 1)",
        "DELETE FROM tab WHERE pk = 'none'",
    ])
    .unwrap();
    assert_eq!(reply["Responses"], json!([]));
    assert_eq!(reply["ConsumedCapacity"][0]["WriteCapacityUnits"], json!(6.0));
    assert_eq!(bench.keys("tab", None), ["new", "old"]);
}

#[test]
fn a_transaction_reads_items_of_one_moment() {
    let bench = with_items();
    let statements =
        ["SELECT sk FROM com WHERE pk = 'a' AND sk = '1'", "SELECT * FROM tab WHERE pk = 'none'"];
    let reply = bench.ok("ExecuteTransaction", &statements_request("TransactStatements", &statements));
    assert_eq!(reply["Responses"], json!([{ "Item": { "sk": { "S": "1" } } }, {}]));
    assert_eq!(reply["ConsumedCapacity"][0]["ReadCapacityUnits"], json!(2.0));
}

#[test]
fn transactions_are_refused_in_dynamodbs_words() {
    let bench = bench();
    let refuses = |statements: &[&str], words: &str| {
        bench.refuses("ExecuteTransaction", &statements_request("TransactStatements", statements), words);
    };
    refuses(
        &["SELECT * FROM tab WHERE pk = 'a'", "DELETE FROM tab WHERE pk = 'b'"],
        "ExecuteTransaction API does not support both read and write operations in the same request.",
    );
    refuses(
        &["DELETE FROM tab WHERE pk = 'a'", "INSERT INTO tab VALUE {'pk': 'a'}"],
        "Transaction request cannot include multiple operations on one item",
    );
    refuses(
        &["DELETE FROM tab WHERE pk = 'a' RETURNING ALL OLD *"],
        "Validation failed in TransactStatements[0]: RETURNING clause is not supported in ExecuteTransaction.",
    );
    refuses(
        &["SELECT * FROM com.by_kind WHERE kind = 'a'"],
        "Validation failed in TransactStatements[0]: Reads on indices are not supported within transactions.",
    );
}

#[test]
fn a_transaction_with_a_token_is_done_once() {
    let bench = bench();
    run(&bench, "INSERT INTO tab VALUE {'pk': 'n', 'a': 1}");
    let mut request = statements_request("TransactStatements", &["UPDATE tab SET a = a + 1 WHERE pk = 'n'"]);
    request["ClientRequestToken"] = json!("token");
    bench.ok("ExecuteTransaction", &request);
    request["ReturnConsumedCapacity"] = json!("INDEXES");
    let again = bench.ok("ExecuteTransaction", &request);
    assert_eq!(again["ConsumedCapacity"][0]["ReadCapacityUnits"], json!(2.0));
    assert_eq!(item(&bench, "tab", &json!({ "pk": { "S": "n" } }))["a"], json!({ "N": "2" }));
    request["TransactStatements"][0]["Statement"] = json!("DELETE FROM tab WHERE pk = 'n'");
    assert!(
        bench.refusal("ExecuteTransaction", &request).starts_with("IdempotentParameterMismatchException")
    );
}

#[test]
fn deep_statements_are_refused() {
    let deep = |open: &str, close: &str, count: usize| open.repeat(count) + "a = 1" + &close.repeat(count);
    for condition in [deep("(", ")", 1000), deep("NOT ", "", 1000), format!("a = {}", "[".repeat(2000))] {
        assert!(parse(&format!("SELECT * FROM tab WHERE {condition}"), &[]).is_err());
    }
    let sum = "+ 1 ".repeat(1000);
    assert!(parse(&format!("UPDATE tab SET a = a {sum} WHERE pk = 1"), &[]).is_err());
    let wide = "a = 1 OR ".repeat(800) + "a = 1";
    assert!(parse(&format!("SELECT * FROM tab WHERE {wide}"), &[]).is_ok());
}

/// Words and signs of the language, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "SELECT",
        "*",
        "FROM",
        "tab",
        "\"com\"",
        "WHERE",
        "pk",
        "=",
        "'a'",
        "AND",
        "OR",
        "NOT",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<<",
        ">>",
        ",",
        ".",
        "?",
        "1",
        "-",
        "IN",
        "BETWEEN",
        "IS",
        "MISSING",
        "UPDATE",
        "SET",
        "REMOVE",
        "DELETE",
        "INSERT",
        "INTO",
        "VALUE",
        ":",
        "size(",
        "contains(",
        "begins_with(",
        "set_add(",
        "RETURNING",
        "ALL",
        "OLD",
        "ORDER",
        "BY",
        "EXISTS(",
        "sk",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(text in "\\PC{0,64}") {
        let _ = parse(&text, &[]);
        let _ = parse(&format!("SELECT * FROM tab WHERE {text}"), &[]);
    }

    #[test]
    fn any_words_are_parsed_or_refused(text in pieces(), start in prop::sample::select(vec!["", "SELECT * FROM tab WHERE ", "UPDATE tab SET "])) {
        let _ = parse(&(start.to_owned() + &text), &[dynamo::Value::Null]);
    }

    #[test]
    fn any_token_is_read_or_refused(token in "[0-9a-f]{1,80}") {
        let bench = with_items();
        let _ = bench.run("ExecuteStatement", &json!({ "Statement": "SELECT * FROM com", "NextToken": token }));
    }
}

#[test]
fn malformed_statements_are_refused_in_the_words_of_the_grammar() {
    let bench = bench();
    for (statement, words) in [
        ("SELECT key FROM tab", "Unexpected keyword"),
        ("SELECT info.size FROM tab", "Invalid path dot component"),
        ("SELECT * tab", "Expected FROM after SELECT list"),
        ("SELECT * FROM user", "Unexpected keyword"),
        ("SELECT * FROM tab WHERE pk = ", "Missing right-hand side expression of infix operator"),
        ("SELECT * FROM tab WHERE pk = 'a' nonsense", "Unexpected token after expression"),
        ("SELECT * FROM tab /* pk", ""),
        ("SELECT * FROM tab WHERE pk = 'a", ""),
        ("DELETE tab WHERE pk = 'a'", "Expected FROM after DELETE"),
        ("DELETE FROM user WHERE pk = 'a'", "Expected identifier for simple path"),
        ("UPDATE tab SET count = 1 WHERE pk = 'a'", "Expected identifier for simple path"),
        ("UPDATE tab REMOVE size WHERE pk = 'a'", "Expected identifier for simple path"),
        (
            "DELETE FROM tab WHERE pk = 'a' RETURNING OLD *",
            "Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element.",
        ),
    ] {
        let words = format!("Statement wasn't well formed, can't be processed: {words}");
        bench.refuses("ExecuteStatement", &json!({ "Statement": statement }), &words);
    }
    run(&bench, "INSERT INTO tab VALUE {'pk': 'a', 'count': 1, 'key': {'size': 2}}");
    let found = items(&bench, "SELECT \"count\", \"key\".\"size\" FROM tab WHERE pk = 'a'");
    assert_eq!(found, json!([{ "count": { "N": "1" }, "size": { "N": "2" } }]));
}

#[test]
fn comments_say_nothing() {
    let bench = with_items();
    let plain = items(&bench, "SELECT * FROM com WHERE pk = 'a'");
    for statement in [
        "SELECT * -- all of it\nFROM com WHERE pk = 'a'",
        "/* first */ SELECT * FROM com/**/WHERE pk = 'a' -- last",
        "SELECT * FROM com WHERE pk = 'a'; -- done\n /* * */",
    ] {
        assert_eq!(items(&bench, statement), plain, "{statement}");
    }
    assert_eq!(items(&bench, "SELECT * FROM com WHERE pk = '-- a'"), json!([]));
}

#[test]
fn order_by_the_partition_key_orders_the_partitions() {
    let bench = bench();
    for key in ["b", "c", "a"] {
        run(&bench, &format!("INSERT INTO tab VALUE {{'pk': '{key}'}}"));
    }
    let keys = |statement: &str| -> Vec<String> {
        let items = items(&bench, statement);
        items.as_array().unwrap().iter().map(|item| item["pk"]["S"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(keys("SELECT * FROM tab WHERE pk IN ['b', 'c', 'a']"), ["b", "c", "a"]);
    assert_eq!(keys("SELECT * FROM tab WHERE pk IN ['b', 'c', 'a'] ORDER BY pk"), ["a", "b", "c"]);
    assert_eq!(keys("SELECT * FROM tab WHERE pk IN ['b', 'c', 'a'] ORDER BY pk DESC"), ["c", "b", "a"]);
}
