use super::*;
use crate::operation::{GetItem, PutItem, Query};
use crate::testing::{any_item, any_value};
use crate::{ApiError, ErrorKind, Item, Operation, StoredItem, StoredValue, Value};
use proptest::prelude::*;

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

fn parse(name: &str, body: &str) -> Result<Operation, ApiError> {
    Operation::parse(name, body.as_bytes())
}

fn put_item(body: &str) -> PutItem {
    match parse("PutItem", body).unwrap() {
        Operation::PutItem(request) => request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_value_is_written_as_dynamodb_writes_it() {
    let item = read_item(
        br#"{"a":{"S":"x\"\\\n\u0001\u00e9"},"b":{"N":"1e3"},"c":{"B":"AQI="},"d":{"BOOL":false},"e":{"NULL":true},
             "f":{"SS":["b","a"]},"g":{"NS":["2","-1.50"]},"h":{"BS":["Ag==","AQ=="]},"i":{"L":[{"S":""},{"L":[]}]},
             "j":{"M":{"k":{"M":{}}}}}"#,
    )
    .unwrap();
    let expected = concat!(
        r#"{"a":{"S":"x\"\\\n\u0001é"},"b":{"N":"1000"},"c":{"B":"AQI="},"d":{"BOOL":false},"e":{"NULL":true},"#,
        r#""f":{"SS":["a","b"]},"g":{"NS":["-1.5","2"]},"h":{"BS":["AQ==","Ag=="]},"i":{"L":[{"S":""},{"L":[]}]},"#,
        r#""j":{"M":{"k":{"M":{}}}}}"#
    );
    assert_eq!(text(|out| write_item(&item, out)), expected);
    assert_eq!(text(|out| write_stored_item(&StoredItem::encode(&item), out)), expected);
}

#[test]
fn a_repeated_key_counts_once_and_the_last_one_wins() {
    let item = read_item(br#"{"a":{"S":"x","S":"y"},"a":{"S":"z","S":"w"}}"#).unwrap();
    assert_eq!(item, Item::from([("a".to_owned(), Value::from("w"))]));
}

#[test]
fn unknown_members_and_null_members_are_passed_over() {
    let request = put_item(r#"{"Other":[{"a":[1,null]}],"TableName":"abc","Item":null,"ReturnValues":null}"#);
    assert_eq!(request, PutItem { table_name: Some("abc".to_owned()), ..PutItem::default() });
}

#[test]
fn a_wrong_json_type_is_refused_in_dynamodbs_words() {
    let rows: &[(&str, &str, &str)] = &[
        ("PutItem", r#"{"TableName":23}"#, "NUMBER_VALUE cannot be converted to String"),
        ("PutItem", r#"{"TableName":2.5}"#, "DECIMAL_VALUE cannot be converted to String"),
        ("PutItem", r#"{"TableName":true}"#, "TRUE_VALUE cannot be converted to String"),
        ("PutItem", r#"{"TableName":false}"#, "FALSE_VALUE cannot be converted to String"),
        ("PutItem", r#"{"TableName":["abc"]}"#, "Unrecognized collection type class java.lang.String"),
        ("PutItem", r#"{"TableName":{}}"#, "Start of structure or map found where not expected"),
        ("PutItem", r#"{"ReturnValues":1}"#, "NUMBER_VALUE cannot be converted to String"),
        ("PutItem", r#"{"Item":"x"}"#, "Unexpected field type"),
        (
            "PutItem",
            r#"{"Item":[]}"#,
            "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>",
        ),
        ("PutItem", r#"{"Item":{"a":"x"}}"#, "Unexpected value type in payload"),
        (
            "PutItem",
            r#"{"Item":{"a":[]}}"#,
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
        ),
        ("PutItem", r#"{"Item":{"a":{"S":1}}}"#, "NUMBER_VALUE cannot be converted to String"),
        ("PutItem", r#"{"Item":{"a":{"N":1}}}"#, "NUMBER_VALUE cannot be converted to String"),
        ("PutItem", r#"{"Item":{"a":{"B":1}}}"#, "only base-64-encoded strings are convertible to bytes"),
        ("PutItem", r#"{"Item":{"a":{"B":[]}}}"#, "Unrecognized collection type class java.nio.ByteBuffer"),
        (
            "PutItem",
            r#"{"Item":{"a":{"B":"abc"}}}"#,
            "Base64 encoded length is expected a multiple of 4 bytes but found: 3",
        ),
        (
            "PutItem",
            r#"{"Item":{"a":{"B":"abc+="}}}"#,
            "Base64 encoded length is expected a multiple of 4 bytes but found: 5",
        ),
        ("PutItem", r#"{"Item":{"a":{"B":"AB=="}}}"#, "Invalid last non-pad Base64 character dectected"),
        ("PutItem", r#"{"Item":{"a":{"BOOL":"x"}}}"#, "Unexpected token received from parser"),
        ("PutItem", r#"{"Item":{"a":{"BOOL":1}}}"#, "NUMBER_VALUE cannot be converted to Boolean"),
        ("PutItem", r#"{"Item":{"a":{"NULL":[]}}}"#, "Unrecognized collection type class java.lang.Boolean"),
        ("PutItem", r#"{"Item":{"a":{"SS":"x"}}}"#, "Unexpected field type"),
        ("PutItem", r#"{"Item":{"a":{"SS":{}}}}"#, "Start of structure or map found where not expected"),
        ("PutItem", r#"{"Item":{"a":{"SS":[1]}}}"#, "NUMBER_VALUE cannot be converted to String"),
        ("PutItem", r#"{"Item":{"a":{"L":[1]}}}"#, "Unexpected value type in payload"),
        ("PutItem", r#"{"Item":{"a":{"M":1}}}"#, "Unexpected field type"),
        ("PutItem", r#"{"Expected":{"a":1}}"#, "Unexpected value type in payload"),
        ("PutItem", r#"{"Expected":{"a":{"Exists":1}}}"#, "NUMBER_VALUE cannot be converted to Boolean"),
        ("PutItem", r#"{"Expected":{"a":{"Value":1}}}"#, "Unexpected field type"),
        (
            "PutItem",
            r#"{"ExpressionAttributeNames":[]}"#,
            "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>",
        ),
        ("Query", r#"{"Limit":"1"}"#, "STRING_VALUE cannot be converted to Integer"),
        ("Query", r#"{"Limit":true}"#, "TRUE_VALUE cannot be converted to Integer"),
        ("Query", r#"{"Limit":[]}"#, "Unrecognized collection type class java.lang.Integer"),
        ("Query", r#"{"Limit":{}}"#, "Start of structure or map found where not expected"),
        ("Query", r#"{"AttributesToGet":"a"}"#, "Unexpected field type"),
        ("Query", r#"{"AttributesToGet":[1]}"#, "NUMBER_VALUE cannot be converted to String"),
        (
            "BatchGetItem",
            r#"{"RequestItems":[]}"#,
            "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.KeysAndAttributes>",
        ),
        ("BatchGetItem", r#"{"RequestItems":{"a":{"Keys":[1]}}}"#, PARAMETERIZED),
        ("BatchWriteItem", r#"{"RequestItems":{"a":1}}"#, PARAMETERIZED),
        (
            "BatchWriteItem",
            r#"{"RequestItems":[]}"#,
            "Unrecognized collection type java.util.Map<java.lang.String, java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>>",
        ),
        (
            "BatchWriteItem",
            r#"{"RequestItems":{"a":[[]]}}"#,
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.WriteRequest",
        ),
        (
            "CreateTable",
            r#"{"ProvisionedThroughput":{"ReadCapacityUnits":"1"}}"#,
            "STRING_VALUE cannot be converted to Long",
        ),
        (
            "CreateTable",
            r#"{"ProvisionedThroughput":[]}"#,
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.ProvisionedThroughput",
        ),
    ];
    for (name, body, message) in rows {
        let error = parse(name, body).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Serialization, *message), "{body}");
    }
}

const PARAMETERIZED: &str = "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')";

#[test]
fn malformed_json_is_refused_without_words() {
    let bodies = [
        "",
        " ",
        "{",
        "[]",
        "1",
        "null",
        "\"x\"",
        "{\"TableName\":}",
        "{\"TableName\":\"a\"} x",
        "{\"Item\":{\"a\":x}}",
        "{\"a\":NaN}",
    ];
    for body in bodies {
        let error = parse("PutItem", body).unwrap_err();
        assert_eq!(error, ApiError::new(ErrorKind::Serialization, ""), "{body}");
    }
}

#[test]
fn numbers_become_whole_and_stay_within_their_type() {
    let limit = |text: &str| match parse("Query", &format!("{{\"Limit\":{text}}}")).unwrap() {
        Operation::Query(Query { limit, .. }) => limit.unwrap(),
        other => panic!("{other:?}"),
    };
    let rows = [
        ("1", 1),
        ("-1", -1),
        ("1.9", 1),
        ("1e1", 10),
        ("9999999999999999999999", i32::MAX),
        ("-99999999999", i32::MIN),
    ];
    for (text, expected) in rows {
        assert_eq!(limit(text), expected, "{text}");
    }
}

#[test]
fn a_refused_value_is_remembered_and_reported_later() {
    const INVALID: &str = "One or more parameter values were invalid: ";
    let rows: &[(&str, &str)] = &[
        ("{}", "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
        ("null", "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
        (
            r#"{"S":null}"#,
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        ),
        (
            r#"{"X":"a"}"#,
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        ),
        (
            r#"{"S":"a","N":"1"}"#,
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
        ),
        (r#"{"N":""}"#, "The parameter cannot be converted to a numeric value"),
        (r#"{"N":"b"}"#, "The parameter cannot be converted to a numeric value: b"),
        (r#"{"S":"a","N":"b"}"#, "The parameter cannot be converted to a numeric value: b"),
        (
            r#"{"N":"1e126"}"#,
            "Number overflow. Attempting to store a number with magnitude larger than supported range",
        ),
        (
            r#"{"N":"1e-131"}"#,
            "Number underflow. Attempting to store a number with magnitude smaller than supported range",
        ),
        (
            r#"{"N":"123456789012345678901234567890123456789"}"#,
            "Attempting to store more than 38 significant digits in a Number",
        ),
        (r#"{"NULL":false}"#, &format!("{INVALID}Null attribute value types must have the value of true")),
        (r#"{"SS":[]}"#, &format!("{INVALID}An string set  may not be empty")),
        (r#"{"NS":[]}"#, &format!("{INVALID}An number set  may not be empty")),
        (r#"{"BS":[]}"#, &format!("{INVALID}Binary sets should not be empty")),
        (r#"{"SS":["a","b","a"]}"#, &format!("{INVALID}Input collection [a, b, a] contains duplicates.")),
        (r#"{"NS":["1","1.0"]}"#, "Input collection contains duplicates"),
        (r#"{"NS":["1","b"]}"#, "The parameter cannot be converted to a numeric value: b"),
        (
            r#"{"BS":["AQ==","AQ=="]}"#,
            &format!("{INVALID}Input collection [AQ==, AQ==]of type BS contains duplicates."),
        ),
        (r#"{"L":[{"S":"a"},{"N":"b"}]}"#, "The parameter cannot be converted to a numeric value: b"),
        (
            r#"{"M":{"x":{}}}"#,
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        ),
    ];
    for (value, message) in rows {
        let request =
            put_item(&format!(r#"{{"TableName":"abc","Item":{{"ok":{{"S":"a"}},"bad":{value}}}}}"#));
        assert_eq!(request.check_fields(), Ok(()));
        assert_eq!(request.faults.check("Item"), Err(ApiError::validation(*message)), "{value}");
        assert_eq!(request.faults.of("Item").unwrap().key.as_deref(), Some("bad"));
        assert_eq!(request.faults.of("ExpressionAttributeValues"), None);
    }
}

#[test]
fn a_fault_tells_its_place() {
    let request =
        put_item(r#"{"Item":{"a":{"N":"x"}},"ExpressionAttributeValues":{":a":{"S":"a"},":v":{"SS":[]}}}"#);
    assert_eq!(
        request.faults.check_expression_attribute_values().unwrap_err().message,
        "ExpressionAttributeValues contains invalid value: One or more parameter values were invalid: An string set  may not be empty for key :v"
    );
    let Ok(Operation::BatchGetItem(request)) =
        parse("BatchGetItem", r#"{"RequestItems":{"t":{"Keys":[{"a":{"S":"a"}},{"a":{}}]}}}"#)
    else {
        panic!("a batch")
    };
    let fault = request.request_items.as_ref().unwrap()["t"].faults.of("Keys").unwrap();
    assert_eq!((fault.index, fault.key.as_deref()), (Some(1), Some("a")));
}

#[test]
fn the_fault_of_a_condition_reaches_the_request() {
    let Ok(Operation::Query(request)) = parse(
        "Query",
        r#"{"QueryFilter":{"a":{"AttributeValueList":[{"S":"x"},{}],"ComparisonOperator":"EQ"}}}"#,
    ) else {
        panic!("a query")
    };
    let fault = request.faults.of("QueryFilter").unwrap();
    assert_eq!((fault.key.as_deref(), fault.index, &fault.kind), (Some("a"), Some(1), &ValueFault::Empty));
}

#[test]
fn the_fault_of_a_starting_key_says_so_unless_it_is_about_a_number() {
    let message = |value: &str| match parse("Scan", &format!(r#"{{"ExclusiveStartKey":{{"a":{value}}}}}"#)) {
        Ok(Operation::Scan(request)) => request.faults.check_exclusive_start_key().unwrap_err().message,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        message("{}"),
        "The provided starting key is invalid: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
    );
    assert_eq!(message(r#"{"N":"b"}"#), "The parameter cannot be converted to a numeric value: b");
}

fn nested(levels: usize) -> String {
    format!(r#"{{"a":{}{{"S":"x"}}{}}}"#, r#"{"L":["#.repeat(levels), "]}".repeat(levels))
}

#[test]
fn values_are_nested_up_to_32_levels() {
    assert!(read_item(nested(31).as_bytes()).is_ok());
    let error = read_item(nested(32).as_bytes()).unwrap_err();
    assert_eq!(error, ApiError::from(ValueFault::TooDeep));
}

#[test]
fn json_however_deep_is_refused_without_overflowing_the_stack() {
    for open in ["[", "{\"a\":", r#"{"L":["#, r#"{"M":{"a":"#] {
        for body in [open.repeat(200_000), format!("{{\"Item\":{{\"a\":{}", open.repeat(200_000))] {
            assert_eq!(parse("PutItem", &body).unwrap_err().kind, ErrorKind::Serialization);
        }
    }
}

#[test]
fn errors_are_written_as_dynamodb_writes_them() {
    let written = |error: &ApiError| text(|out| error.write_json(out));
    assert_eq!(
        written(&ApiError::validation("no \"x\"")),
        r#"{"__type":"com.amazon.coral.validate#ValidationException","message":"no \"x\""}"#
    );
    assert_eq!(
        written(&ApiError::new(ErrorKind::Serialization, "")),
        r#"{"__type":"com.amazon.coral.service#SerializationException"}"#
    );
    assert_eq!(
        written(&ApiError::new(ErrorKind::Serialization, "x")),
        r#"{"__type":"com.amazon.coral.service#SerializationException","Message":"x"}"#
    );
    let item = StoredItem::encode(&Item::from([("a".to_owned(), Value::from(1))]));
    let mut error = ApiError::new(ErrorKind::ConditionalCheckFailed, "The conditional request failed");
    error.item = Some(item.clone());
    assert_eq!(
        written(&error),
        r#"{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","Item":{"a":{"N":"1"}},"message":"The conditional request failed"}"#
    );
    let mut error = ApiError::new(ErrorKind::TransactionCanceled, "cancelled");
    error.reasons = vec![
        crate::CancellationReason::NONE,
        crate::CancellationReason {
            code: "ConditionalCheckFailed",
            message: Some("x".to_owned()),
            item: Some(item),
        },
    ];
    assert_eq!(
        written(&error),
        r#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed","Item":{"a":{"N":"1"}},"Message":"x"}],"Message":"cancelled"}"#
    );
    assert_eq!(
        (ErrorKind::Validation.http_status(), ErrorKind::InternalServerError.http_status()),
        (400, 500)
    );
}

#[test]
fn a_character_to_escape_is_found_wherever_it_stands() {
    for length in 0..100 {
        let clean = "a".repeat(length);
        assert_eq!(text(|out| write_text(&clean, out)), format!("\"{clean}\""));
        for at in 0..length {
            for (character, escaped) in [('"', "\\\""), ('\\', "\\\\"), ('\n', "\\n"), ('\u{1f}', "\\u001f")]
            {
                let (before, after) = ("a".repeat(at), "a".repeat(length - at - 1));
                let content = format!("{before}{character}{after}");
                assert_eq!(text(|out| write_text(&content, out)), format!("\"{before}{escaped}{after}\""));
            }
        }
    }
}

proptest! {
    #[test]
    fn items_round_trip(item in any_item()) {
        let json = text(|out| write_item(&item, out));
        prop_assert_eq!(read_item(json.as_bytes()), Ok(item.clone()));
        prop_assert_eq!(text(|out| write_stored_item(&StoredItem::encode(&item), out)), json);
    }

    #[test]
    fn values_are_written_alike_from_tree_and_store(value in any_value()) {
        let stored = StoredValue::encode(&value);
        prop_assert_eq!(text(|out| write_value(&value, out)), text(|out| write_stored_value(stored.as_ref(), out)));
    }

    #[test]
    fn any_text_round_trips(content in "(\\PC|[\\x00-\\x1f\"\\\\/\\u{2028}]){0,40}") {
        let mut json = Vec::new();
        write_text(&content, &mut json);
        let mut reader = Reader::new(&json);
        prop_assert_eq!(reader.member::<String>(), Ok(content));
        prop_assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn requests_round_trip(key in any_item(), values in any_item(), limit in any::<i32>()) {
        let request = Operation::from(Query {
            exclusive_start_key: Some(key),
            expression_attribute_values: Some(values),
            limit: Some(limit),
            ..Query::new("t", "a = :a")
        });
        let json = text(|out| request.write_json(out));
        prop_assert_eq!(parse("Query", &json), Ok(request));
    }

    #[test]
    fn foreign_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = (Operation::parse("PutItem", &bytes), Operation::parse("CreateTable", &bytes), read_item(&bytes));
    }

    #[test]
    fn damaged_requests_never_panic(item in any_item(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut json = Vec::new();
        Operation::from(GetItem::new("t", item)).write_json(&mut json);
        let index = at.index(json.len());
        json[index] = byte;
        if let Ok(request) = Operation::parse("GetItem", &json) {
            let _ = request.check_fields();
        }
    }
}
