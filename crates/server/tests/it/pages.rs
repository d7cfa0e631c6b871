//! Pages beside the protocol: who may ask for them, and what becomes of a request on its way.

use std::sync::Arc;

use base64::Engine as _;
use bytes::Bytes;
use hyper::{Request, Response, StatusCode};
use monotable_server::{Access, Answering, Credentials, Pages, Settings};

use crate::support::{Running, post};

/// Says what it was asked.
#[derive(Debug)]
struct Echo;

impl Pages for Echo {
    fn has(&self, path: &str) -> bool {
        path == "/" || path.starts_with("/v1/")
    }

    fn answer(&self, request: Request<Bytes>) -> Answering<'_> {
        Box::pin(async move {
            assert_ne!(request.uri().path(), "/v1/panic", "as it was asked to");
            let text = format!("{} {} {}", request.method(), request.uri(), request.body().len());
            let mut answer = Response::new(Bytes::from(text));
            *answer.status_mut() = StatusCode::ACCEPTED;
            answer
        })
    }
}

fn server(credentials: Credentials) -> Running {
    Running::with(Settings { credentials, pages: Some(Arc::new(Echo)), ..Settings::default() })
}

fn request(method: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
        .into_bytes()
}

fn basic(id: &str, secret: &str) -> String {
    let encoded = base64::engine::general_purpose::STANDARD.encode(format!("{id}:{secret}"));
    format!("Authorization: Basic {encoded}\r\n")
}

#[test]
fn paths_of_pages_go_to_them_and_others_to_the_protocol() {
    let server = server(Credentials::default());
    assert_eq!(server.ask(&request("PATCH", "/v1/a?b=c", "", "12345")).text(), "PATCH /v1/a?b=c 5");
    assert_eq!(server.ask(&request("GET", "/", "", "")).text(), "GET / 0");
    assert_eq!(server.ask(&post("ListTables", "{}")).text(), r#"{"TableNames":[]}"#);
    assert!(server.ask(&request("GET", "/other", "", "")).text().starts_with("healthy"));
    assert_eq!(server.ask(&request("GET", "/health", "", "")).text(), r#"{"status":"ok"}"#);
}

#[test]
fn a_page_of_a_stranger_and_a_body_over_the_limit_do_not_arrive() {
    let server = server(Credentials::default());
    assert_eq!(server.ask(&request("GET", "/v1/a", "Origin: http://evil.com\r\n", "")).status, 403);
    let large = b"POST /v1/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n";
    let answer = server.ask(large);
    assert_eq!((answer.status, answer.header("content-type")), (413, Some("application/problem+json")));
}

#[test]
fn whoever_asks_proves_who_they_are() {
    let credentials = Credentials::default()
        .with("APP", "secret", Access::Full)
        .and_then(|credentials| credentials.with("REPORTS", "other", Access::ReadOnly))
        .unwrap();
    let server = server(credentials);
    let status = |method: &str, headers: &str| server.ask(&request(method, "/v1/a", headers, "")).status;
    assert_eq!(status("POST", &basic("APP", "secret")), 202);
    assert_eq!(status("GET", &basic("REPORTS", "other")), 202);
    assert_eq!(status("POST", &basic("REPORTS", "other")), 403);
    assert_eq!(status("DELETE", &basic("REPORTS", "other")), 403);
    for headers in
        ["", &basic("APP", "other"), &basic("APP", ""), &basic("NOBODY", ""), "Authorization: Basic ?\r\n"]
    {
        let answer = server.ask(&request("GET", "/v1/a", headers, ""));
        assert_eq!(answer.status, 401, "{headers}");
        assert!(answer.header("www-authenticate").unwrap().starts_with("Basic"));
    }
}

#[test]
fn a_panic_in_a_page_fails_one_request() {
    let server = server(Credentials::default());
    let mut client = server.connect();
    client.send(&request("GET", "/v1/panic", "", ""));
    assert_eq!(client.answer().status, 500);
    client.send(&request("GET", "/v1/a", "", ""));
    assert_eq!(client.answer().status, 202);
}

#[test]
fn pages_alone_leave_no_protocol() {
    let server =
        Running::with(Settings { pages: Some(Arc::new(Echo)), dynamodb: false, ..Settings::default() });
    assert_eq!(server.ask(&post("ListTables", "{}")).status, 404);
    assert_eq!(server.ask(&request("GET", "/v1/a", "", "")).status, 202);
}
