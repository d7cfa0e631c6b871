//! Pages beside the protocol: who may ask for them, and what becomes of a request on its way.

use std::sync::Arc;

use base64::Engine as _;
use bytes::Bytes;
use hyper::header::HeaderValue;
use hyper::{Request, Response, StatusCode};
use monotable_server::{Access, Answering, Credentials, Pages, Settings};

use ring::{digest, hmac};

use crate::support::{Running, post};

/// Says what it was asked, with the status that the path asks for.
#[derive(Debug)]
pub(crate) struct Echo;

impl Pages for Echo {
    fn has(&self, path: &str) -> bool {
        path == "/" || path.starts_with("/v1/")
    }

    fn answer(&self, request: Request<Bytes>) -> Answering<'_> {
        Box::pin(async move {
            assert_ne!(request.uri().path(), "/v1/panic", "as it was asked to");
            let (status, text) = match request.uri().path() {
                "/v1/nothing" => (StatusCode::NO_CONTENT, String::new()),
                "/v1/same" => (StatusCode::NOT_MODIFIED, String::new()),
                "/v1/long" => (StatusCode::OK, "long ".repeat(40_000)),
                _ => {
                    let length = request.body().len();
                    (StatusCode::ACCEPTED, format!("{} {} {length}", request.method(), request.uri()))
                }
            };
            let mut answer = Response::new(Bytes::from(text));
            *answer.status_mut() = status;
            answer.headers_mut().insert("etag", HeaderValue::from_static("\"7\""));
            answer
        })
    }
}

pub(crate) fn server(credentials: Credentials) -> Running {
    Running::with(Settings { credentials, pages: Some(Arc::new(Echo)), ..Settings::default() })
}

pub(crate) fn request(method: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// A request to a page, signed as the documentation of Signature Version 4 says, and not as the server does it. The path comes as it is sent and
/// as it is signed: encoded once more. Headers are signed in the order given, after host and date.
fn signed(
    method: &str,
    (path, canonical_path): (&str, &str),
    query: &str,
    headers: &[(&str, &str)],
    body: &str,
    (id, secret): (&str, &str),
) -> Vec<u8> {
    let seconds = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let date = date(seconds);
    let scope = format!("{}/us-east-1/dynamodb/aws4_request", &date[..8]);
    let lines = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect::<Vec<_>>().concat();
    let names = headers.iter().map(|(name, _)| format!("{name};")).collect::<Vec<_>>().concat();
    let hash = |text: &str| hex(digest::digest(&digest::SHA256, text.as_bytes()).as_ref());
    let canonical = format!(
        "{method}\n{canonical_path}\n{query}\n{lines}host:localhost\nx-amz-date:{date}\n\n{names}host;x-amz-date\n{}",
        hash(body)
    );
    let to_sign = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{}", hash(&canonical));
    let mac = |key: &[u8], text: &str| {
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
    };
    let key = scope.split('/').fold(format!("AWS4{secret}").into_bytes(), |key, part| mac(&key, part));
    let signature = hex(&mac(&key, &to_sign));
    let sent =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect::<Vec<_>>().concat();
    let proof = format!(
        "{sent}X-Amz-Date: {date}\r\nAuthorization: AWS4-HMAC-SHA256 Credential={id}/{scope}, SignedHeaders={names}host;x-amz-date, Signature={signature}\r\n"
    );
    let target = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
    request(method, &target, &proof, body)
}

/// Seconds since 1970 as `20240601T120000Z`.
fn date(seconds: u64) -> String {
    let (days, time) = (i64::try_from(seconds / 86_400).unwrap(), seconds % 86_400);
    let mut year = 1970;
    let mut left = days;
    let length = |year: i64| if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) { 366 } else { 365 };
    while left >= length(year) {
        left -= length(year);
        year += 1;
    }
    let february = if length(year) == 366 { 29 } else { 28 };
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < days {
            break;
        }
        left -= days;
        month += 1;
    }
    format!("{year:04}{month:02}{:02}T{:02}{:02}{:02}Z", left + 1, time / 3_600, time / 60 % 60, time % 60)
}

#[test]
fn a_signed_request_reaches_a_page_and_any_other_than_the_signed_one_does_not() {
    let credentials = Credentials::default()
        .with("APP", "secret", Access::Full)
        .and_then(|credentials| credentials.with("REPORTS", "other", Access::ReadOnly))
        .unwrap();
    let server = server(credentials);
    let path = ("/v1/a/b%20c", "/v1/a/b%2520c");
    let good = signed("PATCH", path, "limit=2&user=ada", &[("if-match", "\"3\"")], "{}", ("APP", "secret"));
    assert_eq!(server.ask(&good).text(), "PATCH /v1/a/b%20c?limit=2&user=ada 2");
    let changed = |from: &str, to: &str| {
        let text = String::from_utf8(good.clone()).unwrap();
        assert!(text.contains(from), "{text}");
        server.ask(text.replacen(from, to, 1).as_bytes())
    };
    for (from, to) in [
        ("PATCH", "PUT"),
        ("/v1/a/b", "/v1/a/d"),
        ("limit=2", "limit=3"),
        ("if-match: \"3\"", "if-match: \"4\""),
        ("\r\n\r\n{}", "\r\n\r\n[]"),
        ("Credential=APP", "Credential=REPORTS"),
        ("Credential=APP", "Credential=NOBODY"),
    ] {
        let answer = changed(from, to);
        assert_eq!(answer.status, 401, "{from} -> {to}: {}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    }
    let wrong = signed("GET", path, "", &[], "", ("APP", "guessed"));
    assert_eq!(server.ask(&wrong).status, 401);
    let reports = |method| server.ask(&signed(method, path, "", &[], "", ("REPORTS", "other"))).status;
    assert_eq!((reports("GET"), reports("DELETE")), (202, 403));
}

#[test]
fn a_header_that_matters_must_be_signed() {
    let credentials = Credentials::default().with("APP", "secret", Access::Full).unwrap();
    let server = server(credentials);
    let text = signed("DELETE", ("/v1/a", "/v1/a"), "", &[], "", ("APP", "secret"));
    assert_eq!(server.ask(&text).status, 202);
    for header in ["If-Match: \"3\"", "If-None-Match: \"3\"", "Idempotency-Key: k"] {
        let added = String::from_utf8(text.clone()).unwrap();
        let added = added.replacen("X-Amz-Date", &format!("{header}\r\nX-Amz-Date"), 1);
        let answer = server.ask(added.as_bytes());
        assert_eq!(answer.status, 401, "{header}");
        assert!(answer.text().contains("must be signed"), "{}", answer.text());
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
