use serde_json::{Value, json};

use crate::testing::Bench;

const ARN: &str = "arn:aws:dynamodb:us-east-1:123456789012:table/Orders";

fn tag(key: &str, value: &str) -> Value {
    json!({ "Key": key, "Value": value })
}

#[test]
fn tags_are_set_replaced_and_removed() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    bench.ok("TagResource", &json!({ "ResourceArn": ARN, "Tags": [tag("a", "1"), tag("b", "")] }));
    bench.ok("TagResource", &json!({ "ResourceArn": ARN, "Tags": [tag("a", "2")] }));
    bench.ok("UntagResource", &json!({ "ResourceArn": ARN, "TagKeys": ["b", "unknown"] }));
    let reply = bench.ok("ListTagsOfResource", &json!({ "ResourceArn": ARN }));
    assert_eq!(reply, json!({ "Tags": [tag("a", "2")] }));
}

#[test]
fn all_tags_come_on_one_page() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    let tags: Vec<Value> = (0..25).map(|number| tag(&format!("k{number:02}"), "v")).collect();
    bench.ok("TagResource", &json!({ "ResourceArn": ARN, "Tags": tags }));
    let reply = bench.ok("ListTagsOfResource", &json!({ "ResourceArn": ARN }));
    assert_eq!(reply, json!({ "Tags": tags }));
    let after = bench.ok("ListTagsOfResource", &json!({ "ResourceArn": ARN, "NextToken": "k23" }));
    assert_eq!(after, json!({ "Tags": [tag("k24", "v")] }));
}

#[test]
fn wrong_tags_are_refused() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    let rows = [
        (json!([]), "Atleast one Tag needs to be provided as Input."),
        (json!([tag("aws:x", "1")]), "Tag Key cannot be prefixed with aws:, Key: aws:x"),
        (
            json!([tag("a", "1"), tag("a", "1")]),
            "Duplicate Tag Keys provided as input: Duplicate Tag Key found a",
        ),
        (json!([tag("a", "*")]), "The Tag Value provided is invalid, Value: *"),
        (json!([tag("*", "a")]), "The Tag Key provided is invalid, Key: *"),
        (
            (0..51).map(|number| tag(&format!("k{number}"), "v")).collect(),
            "Number of Tags exceed the current limit for the provided ResourceArn",
        ),
    ];
    for (tags, words) in rows {
        bench.refuses("TagResource", &json!({ "ResourceArn": ARN, "Tags": tags }), words);
    }
    bench.refuses(
        "UntagResource",
        &json!({ "ResourceArn": ARN, "TagKeys": [] }),
        "Atleast one Tag Key needs to be provided as Input.",
    );
}

#[test]
fn only_tables_of_the_account_have_tags() {
    let bench = Bench::in_memory();
    let list = |arn: &str| bench.refusal("ListTagsOfResource", &json!({ "ResourceArn": arn }));
    let invalid = "ValidationException: One or more parameter values were invalid: ";
    assert_eq!(list("Orders"), format!("{invalid}ARNs must start with 'arn:': Orders"));
    assert_eq!(
        list(&format!("{ARN}/index/global")),
        format!(
            "{invalid}Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {ARN}/index/global"
        )
    );
    let unknown = "arn:aws:dynamodb:us-east-1:123456789012:backup/x";
    assert_eq!(list(unknown), format!("{invalid}Provided Arn is not a DynamoDB resource arn: {unknown}"));
    let elsewhere = "arn:aws:dynamodb:eu-west-1:123456789012:table/Orders";
    assert_eq!(
        list(elsewhere),
        format!("ValidationException: Invalid TableArn: Invalid ResourceArn provided as input {elsewhere}")
    );
    assert_eq!(
        list(ARN),
        format!("ResourceNotFoundException: Requested resource not found: ResourcArn: {ARN} not found")
    );
    for other in ["arn:aws:dynamodb:eu-west-1:111122223333:table/Orders", "arn:aws:s3:::bucket"] {
        assert_eq!(
            list(other),
            format!(
                "AccessDeniedException: User: arn:aws:iam::123456789012:root is not authorized to perform: \
                 dynamodb:ListTagsOfResource on resource: {other}"
            )
        );
    }
}
