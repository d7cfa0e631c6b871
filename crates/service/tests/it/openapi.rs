//! The documents of the five designs say what is accepted: no more, and no less.

use bytes::Bytes;
use http::Request;
use monotable_service::Rest;
use serde_json::{Value, json};

use crate::support::{DESIGNS, seeded};

async fn sent(rest: &Rest, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    let body = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let answer = rest.answer(request.body(body).unwrap()).await;
    (answer.status().as_u16(), serde_json::from_slice(answer.body()).unwrap_or_default())
}

/// Whether an answer complains about a member, or about something in it, with these words.
fn complains(answer: &Value, name: &str, words: &str) -> bool {
    let errors = answer["errors"].as_array().cloned().unwrap_or_default();
    let is_it =
        |found: &str| found.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    errors.iter().any(|error| {
        is_it(error["name"].as_str().unwrap()) && error["message"].as_str().unwrap().contains(words)
    })
}

/// The schemas of all bodies of POST requests, with their paths.
fn posted(document: &Value) -> Vec<(String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let bodies = paths.iter().filter_map(|(path, item)| {
        let schema = &item.get("post")?["requestBody"]["content"]["application/json"]["schema"];
        Some((path.clone(), schema.clone()))
    });
    bodies.collect()
}

#[tokio::test]
async fn what_is_required_is_missed_and_what_is_not_is_not() {
    for name in DESIGNS {
        let rest = Rest::new(vec![seeded(name).await]);
        let (status, document) = sent(&rest, "GET", &format!("/v1/{name}/openapi.json"), None).await;
        assert_eq!(status, 200);
        for (path, schema) in posted(&document) {
            let (_, answer) = sent(&rest, "POST", &path, Some(&json!({}))).await;
            let required = schema["required"].as_array().unwrap();
            for member in schema["properties"].as_object().unwrap().keys() {
                let is_required = required.iter().any(|required| required == member);
                assert_eq!(
                    complains(&answer, member, "is missing"),
                    is_required,
                    "{path} {member}: {answer}"
                );
            }
        }
    }
}

/// The schemas inside one that is there or null.
fn schema_of(schema: &Value) -> &Value {
    schema["anyOf"].as_array().and_then(|any| any.first()).unwrap_or(schema)
}

#[tokio::test]
async fn numbers_and_texts_beyond_the_limits_are_refused_by_both() {
    let rest = Rest::new(vec![seeded("kefir").await]);
    let (_, document) = sent(&rest, "GET", "/v1/kefir/openapi.json", None).await;
    let bodies = posted(&document).into_iter().collect::<std::collections::BTreeMap<_, _>>();
    let batch = &bodies["/v1/kefir/entities/Batch"]["properties"];
    assert_eq!(schema_of(&batch["sugarGrams"])["exclusiveMaximum"], json!(1e126));
    let user = schema_of(&batch["userId"]);
    // USER# is in the key as well.
    assert_eq!((&user["maxLength"], &user["minLength"]), (&json!(2043), &json!(1)));
    let item = |more: Value| {
        let mut item = json!({ "userId": "ada", "name": "n", "waterVolumeMl": 1, "sugarGrams": 1, "temperatureC": 1, "startTime": "2024-02-29T10:30:00.000Z", "targetHoursStage1": 1 });
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        item
    };
    let (status, answer) = sent(&rest, "POST", "/v1/kefir/entities/Batch", Some(&item(json!({})))).await;
    assert_eq!(status, 201, "{answer}");
    for wrong in [
        json!({ "sugarGrams": 1e126 }),
        json!({ "startTime": "2023-02-29T10:30:00.000Z" }),
        json!({ "userId": "u".repeat(2044) }),
    ] {
        let (status, answer) = sent(&rest, "POST", "/v1/kefir/entities/Batch", Some(&item(wrong))).await;
        assert!((400..500).contains(&status), "{status} {answer}");
    }
    let longest = item(json!({ "userId": "u".repeat(2043) }));
    let (status, answer) = sent(&rest, "POST", "/v1/kefir/entities/Batch", Some(&longest)).await;
    assert_eq!(status, 201, "{answer}");
}

#[tokio::test]
async fn every_operation_has_a_name_of_its_own_and_every_list_says_what_is_in_it() {
    fn check_lists(value: &Value, place: &str) {
        let is_list = value["type"] == "array";
        assert!(!is_list || value.get("items").is_some(), "{place}: {value}");
        let inner = value.as_object().into_iter().flatten().map(|(_, inner)| inner);
        inner.chain(value.as_array().into_iter().flatten()).for_each(|inner| check_lists(inner, place));
    }
    for name in DESIGNS {
        let rest = Rest::new(vec![seeded(name).await]);
        let (_, document) = sent(&rest, "GET", &format!("/v1/{name}/openapi.json"), None).await;
        let methods =
            document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap());
        let mut names =
            methods.filter_map(|(_, operation)| operation["operationId"].as_str()).collect::<Vec<_>>();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "{name}: {names:?}");
        check_lists(&document["components"], name);
    }
}
