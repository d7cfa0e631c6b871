//! A server with credentials verifies what its clients sign.

use std::time::{SystemTime, UNIX_EPOCH};

use monotable_server::{Access, Credentials, Server, Settings, StartError, sign};

use crate::support::{Answer, Running, SIGNED, post};

const BODY: &str = r#"{"Limit":1}"#;

fn server() -> Running {
    let credentials = Credentials::default()
        .with("APP", "secret", Access::Full)
        .and_then(|credentials| credentials.with("REPORTS", "other", Access::ReadOnly))
        .unwrap();
    Running::with(Settings { credentials, ..Settings::default() })
}

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

fn signed(id: &str, secret: &str, operation: &str, body: &str) -> String {
    let target = format!("DynamoDB_20120810.{operation}");
    let signed = sign("localhost", &target, body.as_bytes(), "us-east-1", (id, secret), now());
    format!("X-Amz-Date: {}\r\nAuthorization: {}\r\n", signed.date, signed.authorization)
}

fn ask(server: &Running, headers: &str, operation: &str, body: &str) -> Answer {
    server.ask(&crate::support::post_with(operation, headers, body.as_bytes()))
}

#[test]
fn a_signed_request_is_answered_and_any_flipped_bit_is_refused() {
    let server = server();
    let headers = signed("APP", "secret", "ListTables", BODY);
    assert_eq!(ask(&server, &headers, "ListTables", BODY).status, 200);
    let signature = headers.find("Signature=").unwrap() + "Signature=".len();
    for place in signature..signature + 64 {
        let mut flipped = headers.clone().into_bytes();
        flipped[place] ^= 1;
        let answer = ask(&server, std::str::from_utf8(&flipped).unwrap(), "ListTables", BODY);
        assert_eq!(answer.status, 400);
        assert!(answer.text().contains("InvalidSignatureException"), "{}", answer.text());
    }
    for (operation, body) in [("DeleteTable", BODY), ("ListTables", r#"{"Limit":2}"#)] {
        let answer = ask(&server, &headers, operation, body);
        assert!(answer.text().contains("InvalidSignatureException"), "{}", answer.text());
    }
}

#[test]
fn unknown_keys_and_wrong_secrets_are_refused() {
    let server = server();
    let answer = ask(&server, &signed("APP", "wrong", "ListTables", BODY), "ListTables", BODY);
    assert!(answer.text().contains("InvalidSignatureException"), "{}", answer.text());
    let answer = ask(&server, &signed("NOBODY", "secret", "ListTables", BODY), "ListTables", BODY);
    assert!(answer.text().contains("UnrecognizedClientException"), "{}", answer.text());
    assert_eq!(ask(&server, SIGNED, "ListTables", BODY).status, 400);
    assert!(server.ask(&post("ListTables", BODY)).text().contains("Signature expired"));
}

#[test]
fn a_read_only_key_reads_and_does_not_write() {
    let server = server();
    assert_eq!(ask(&server, &signed("REPORTS", "other", "ListTables", BODY), "ListTables", BODY).status, 200);
    let body = r#"{"TableName":"table"}"#;
    let answer = ask(&server, &signed("REPORTS", "other", "DeleteTable", body), "DeleteTable", body);
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("AccessDeniedException"), "{}", answer.text());
    assert!(answer.text().contains("dynamodb:DeleteTable"), "{}", answer.text());
}

#[test]
fn without_credentials_only_loopback_is_bound() {
    let settings = Settings { address: "0.0.0.0:0".parse().unwrap(), ..Settings::default() };
    let refused = Server::bind(engine::Engine::in_memory(), settings).err().unwrap();
    assert!(matches!(refused, StartError::Open(_)));
}
