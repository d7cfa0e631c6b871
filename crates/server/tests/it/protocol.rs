//! DynamoDB's own refusals: status, body and checksum as DynamoDB gives them. The checksums were recorded against DynamoDB by
//! the tests of the open-source server dynalite.

use crate::support::{Answer, Running, SIGNED, post, post_with};

fn request(method: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("{method} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn assert_not_found(answer: &Answer) {
    assert_eq!(answer.status, 404);
    assert_eq!(answer.text(), "<UnknownOperationException/>\n");
    assert_eq!(answer.header("x-amz-crc32"), Some("3552371480"));
    assert_eq!(answer.header("content-length"), Some("29"));
    assert_id(answer);
}

fn assert_id(answer: &Answer) {
    assert_eq!(answer.header("server"), Some("Server"));
    let id = answer.header("x-amzn-requestid").unwrap();
    assert_eq!(id.len(), 52);
    assert!(id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()), "{id}");
}

fn assert_refused(answer: &Answer, exception: &str, crc: u32, content_type: &str) {
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert!(answer.text().contains(&format!("com.amazon.coral.service#{exception}")), "{}", answer.text());
    assert_eq!(answer.header("x-amz-crc32"), Some(crc.to_string().as_str()), "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some(content_type));
    assert_id(answer);
}

#[test]
fn a_get_is_healthy() {
    let server = Running::start();
    let answer = server.ask(&request("GET /", "", ""));
    assert_eq!((answer.status, answer.text().as_str()), (200, "healthy: dynamodb.us-east-1.amazonaws.com "));
    assert_eq!(answer.header("x-amz-crc32"), Some("3128867991"));
    assert_id(&answer);
}

#[test]
fn what_is_not_a_post_of_json_is_not_found() {
    let server = Running::start();
    for method in ["PUT /", "DELETE /", "OPTIONS /", "PATCH /"] {
        assert_not_found(&server.ask(&request(method, "", "")));
    }
    for content_type in [
        "",
        "Content-Type: whatever\r\n",
        "Content-Type: application/x-amz-json-1.1\r\n",
        "Content-Type: application/jsonasdf\r\n",
    ] {
        assert_not_found(&server.ask(&request("POST /", content_type, "hi")));
    }
}

#[test]
fn a_body_that_is_not_json_is_refused_before_anything_else() {
    let server = Running::start();
    for (sent, received) in [
        ("application/json", "application/json"),
        ("application/x-amz-json-1.0", "application/x-amz-json-1.0"),
        ("application/json;", "application/json"),
        ("  application/json  ;   asfd", "application/json"),
        ("application/x-amz-json-1.0;blahblah", "application/x-amz-json-1.0"),
    ] {
        let answer = server.ask(&request("POST /", &format!("Content-Type: {sent}\r\n"), "hi"));
        assert_refused(&answer, "SerializationException", 3_948_637_019, received);
    }
}

#[test]
fn an_unknown_operation_is_refused_before_its_signature_is_looked_at() {
    let server = Running::start();
    let json = "application/json";
    assert_refused(&server.ask(&request("POST /", "", "")), "UnknownOperationException", 1_368_724_161, json);
    for target in ["whatever", "DynamoDB_20120810.ListTable", "DynamoDB_20120810.GetRecords"] {
        let headers = format!("X-Amz-Target: {target}\r\n");
        let answer = server.ask(&request("POST /", &headers, ""));
        assert_refused(&answer, "UnknownOperationException", 1_368_724_161, json);
    }
    let answer = server.ask(&request("POST /", "Content-Type: application/x-amz-json-1.0\r\n", "{}"));
    assert_refused(&answer, "UnknownOperationException", 1_368_724_161, "application/x-amz-json-1.0");
}

#[test]
fn a_missing_signature_is_refused() {
    let server = Running::start();
    let ask = |path: &str, authorization: &str| {
        let headers = format!("X-Amz-Target: DynamoDB_20120810.ListTables\r\n{authorization}");
        server.ask(&request(&format!("POST {path}"), &headers, ""))
    };
    let json = "application/json";
    let missing = "MissingAuthenticationTokenException";
    assert_refused(&ask("/", ""), missing, 2_088_342_776, json);
    assert_refused(&ask("/", "Authorization: AWS4\r\n"), missing, 2_088_342_776, json);
    assert_refused(&ask("/?X-Amz-Algorith", "Authorization: X\r\n"), missing, 2_088_342_776, json);
    assert_refused(
        &ask("/?X-Amz-Algorithm", "Authorization: X\r\n"),
        "InvalidSignatureException",
        2_139_606_068,
        json,
    );
    let incomplete = "IncompleteSignatureException";
    assert_refused(&ask("/", "Authorization: AWS4-\r\n"), incomplete, 1_828_866_742, json);
    for (header, crc) in [
        ("AWS4- Signature=b Credential=a", 15_336_762),
        ("AWS4- Signature=b,Credential=a", 1_159_703_774),
        ("AWS4- Signature=b, Credential=a", 164_353_342),
    ] {
        assert_refused(&ask("/", &format!("Authorization: {header}\r\nDate: a\r\n")), incomplete, crc, json);
    }
    assert_refused(&ask("/?X-Amz-Algorithm", ""), incomplete, 2_900_502_663, json);
    let path = "/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d";
    assert_refused(&ask(path, ""), incomplete, 3_712_057_481, json);
}

#[test]
fn an_empty_body_is_not_json() {
    let server = Running::start();
    let answer = server.ask(&post("ListTables", ""));
    assert_refused(&answer, "SerializationException", 3_948_637_019, "application/x-amz-json-1.0");
}

#[test]
fn a_request_is_answered_by_the_engine() {
    let server = Running::start();
    let answer = server.ask(&post("ListTables", "{}"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.text(), r#"{"TableNames":[]}"#);
    assert_eq!(answer.header("content-type"), Some("application/x-amz-json-1.0"));
    assert_eq!(answer.header("x-amz-crc32"), Some("1315925753"));
}

#[test]
fn a_gzip_body_is_inflated() {
    use std::io::Write;
    let server = Running::start();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(b"{}").unwrap();
    let body = encoder.finish().unwrap();
    let headers = format!("{SIGNED}Content-Encoding: gzip\r\n");
    let answer = server.ask(&post_with("ListTables", &headers, &body));
    assert_eq!((answer.status, answer.text().as_str()), (200, r#"{"TableNames":[]}"#));
}

#[test]
fn health_and_metrics_are_told() {
    let server = Running::start();
    let health = server.ask(&request("GET /health", "", ""));
    assert_eq!((health.status, health.text().as_str()), (200, r#"{"status":"ok"}"#));
    server.ask(&post("ListTables", "{}"));
    let metrics = server.ask(&request("GET /metrics", "", ""));
    assert!(
        metrics.text().contains("monotable_requests_total{operation=\"ListTables\""),
        "{}",
        metrics.text()
    );
}
