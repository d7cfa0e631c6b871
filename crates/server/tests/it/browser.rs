//! A page in a browser cannot use the server unless its origin was allowed.

use monotable_server::Settings;

use crate::support::{Running, SIGNED, post_with};

#[test]
fn a_page_is_refused_by_its_origin_and_by_a_rebound_host() {
    let server = Running::start();
    let page = post_with("ListTables", &format!("{SIGNED}Origin: http://localhost:3000\r\n"), b"{}");
    let answer = server.ask(&page);
    assert_eq!(answer.status, 403);
    assert!(answer.text().contains("--cors http://localhost:3000"), "{}", answer.text());
    let rebound = server.ask(b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert_eq!(rebound.status, 403);
    assert!(rebound.text().contains("--allowed-host evil.example"), "{}", rebound.text());
    let preflight = b"OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\nAccess-Control-Request-Method: POST\r\n\r\n";
    let answer = server.ask(preflight);
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (403, None));
}

#[test]
fn an_allowed_origin_is_let_in() {
    let server =
        Running::with(Settings { cors_origins: vec!["http://app.test".into()], ..Settings::default() });
    let preflight = b"OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://app.test\r\n\
                      Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: x-amz-target\r\n\r\n";
    let answer = server.ask(preflight);
    assert_eq!((answer.status, answer.header("content-length")), (200, Some("0")));
    assert_eq!(answer.header("access-control-allow-origin"), Some("http://app.test"));
    assert_eq!(answer.header("access-control-allow-headers"), Some("x-amz-target"));
    assert_eq!(answer.header("access-control-max-age"), Some("172800"));
    let answer = server.ask(&post_with("ListTables", &format!("{SIGNED}Origin: http://app.test\r\n"), b"{}"));
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, Some("http://app.test")));
    let other =
        server.ask(&post_with("ListTables", &format!("{SIGNED}Origin: http://other.test\r\n"), b"{}"));
    assert_eq!(other.status, 403);
}
