//! Ordinary requests have a road of their own: it must not show, whatever comes before, between or after them.

use std::net::Shutdown;
use std::sync::Arc;
use std::time::{Duration, Instant};

use monotable_server::{Access, Credentials, Limits, Settings};

use crate::pages;
use crate::support::{Answer, Running, SIGNED, post, post_with};

/// The same request in a form that only hyper takes.
fn by_hyper(request: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(request.to_vec()).unwrap();
    text.replacen("POST / HTTP", "POST /? HTTP", 1).into_bytes()
}

/// An answer without what differs between any two.
fn comparable(answer: Answer) -> (u16, Vec<(String, String)>, String) {
    let text = answer.text();
    let headers = answer.headers.into_iter().map(|(name, value)| match name.as_str() {
        "x-amzn-requestid" | "date" => (name, value.len().to_string()),
        _ => (name, value),
    });
    (answer.status, headers.collect(), text)
}

#[test]
fn both_roads_answer_alike() {
    let server = Running::start();
    let table = r#"{"TableName":"Things","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}"#;
    assert_eq!(server.ask(&post("CreateTable", table)).status, 200);
    let put = format!(
        r#"{{"TableName":"Things","Item":{{"pk":{{"S":"a"}},"text":{{"S":"{}"}}}}}}"#,
        "x".repeat(6000)
    );
    assert_eq!(server.ask(&post("PutItem", &put)).status, 200);
    let get = r#"{"TableName":"Things","Key":{"pk":{"S":"a"}}}"#;
    let mut requests = vec![
        post("GetItem", get),
        post("PutItem", &put),
        post("ListTables", "{}"),
        post("GetItem", r#"{"TableName":"None","Key":{"pk":{"S":"a"}}}"#),
        post("GetItem", r#"{"TableName":"Things"}"#),
        post("GetItem", r#"{"TableName":["#),
        post("Nothing", "{}"),
        post("GetItem", ""),
        post_with("GetItem", "", get.as_bytes()),
        post_with("GetItem", "Authorization: AWS4-HMAC-SHA256 Credential=a\r\n", get.as_bytes()),
    ];
    for headers in [
        "Accept-Encoding: gzip, deflate\r\n",
        "Accept-Encoding: identity\r\n",
        "Connection: Keep-Alive\r\n",
        "Content-Encoding: identity\r\n",
        "Origin: http://localhost:3000\r\n",
        "Host: evil.com\r\n",
    ] {
        requests.push(post_with("GetItem", &format!("{SIGNED}{headers}"), get.as_bytes()));
    }
    let text = |request: &[u8]| String::from_utf8_lossy(request).into_owned();
    let whatever = text(&post("GetItem", get)).replace("x-amz-json-1.0", "whatever").into_bytes();
    let plain_json = text(&post("GetItem", get)).replace("x-amz-json-1.0", "json").into_bytes();
    let stranger = text(&post("GetItem", get)).replace("localhost", "evil.com").into_bytes();
    requests.extend([whatever, plain_json, stranger]);
    for request in requests {
        let (plain, hyper) = (server.ask(&request), server.ask(&by_hyper(&request)));
        assert_eq!(comparable(plain), comparable(hyper), "{}", text(&request));
    }
}

#[test]
fn both_roads_answer_pages_alike() {
    for credentials in
        [Credentials::default(), Credentials::default().with("id", "secret", Access::Full).unwrap()]
    {
        let server = pages::server(credentials);
        let mut requests = Vec::new();
        for (method, body) in [("GET", ""), ("POST", "{\"a\":1}"), ("PATCH", "x"), ("DELETE", "")] {
            for path in
                ["/v1/a?b=c%20d&e", "/v1/nothing", "/v1/same", "/v1/long", "/v1/panic", "/v1/%zz/\u{e9}"]
            {
                requests.push(pages::request(method, path, "", body));
            }
        }
        for headers in [
            "Accept-Encoding: gzip\r\n",
            "Accept: a\r\nAccept: b\r\n",
            "Host: evil.com\r\n",
            "Authorization: Basic aWQ6c2VjcmV0\r\n",
            "Authorization: Basic aWQ6d3Jvbmc=\r\n",
        ] {
            requests.push(pages::request("GET", "/v1/long", headers, ""));
        }
        for request in requests {
            let request = String::from_utf8(request).unwrap();
            // Only hyper reads encoded bodies.
            let by_hyper = request.replacen("\r\n", "\r\nContent-Encoding: identity\r\n", 1);
            let (plain, hyper) = (server.ask(request.as_bytes()), server.ask(by_hyper.as_bytes()));
            assert_eq!(comparable(plain), comparable(hyper), "{request}");
        }
    }
}

#[test]
fn pages_and_operations_take_turns_on_a_connection() {
    let server = pages::server(Credentials::default());
    let (operation, page) = (post("ListTables", "{}"), pages::request("POST", "/v1/a", "", "12345"));
    let bare = b"GET /v1/b HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut client = server.connect();
    client.send(&[&page[..], &operation, bare, &page, bare].concat());
    for expected in ["POST /v1/a 5", r#"{"TableNames":[]}"#, "GET /v1/b 0", "POST /v1/a 5", "GET /v1/b 0"] {
        assert_eq!(client.answer().text(), expected);
    }
    for at in 1..page.len() {
        let (first, second) = page.split_at(at);
        client.send(first);
        std::thread::sleep(Duration::from_micros(300));
        client.send(second);
        assert_eq!(client.answer().text(), "POST /v1/a 5", "split at {at}");
    }
}

#[test]
fn a_page_whose_body_does_not_come_is_told_so() {
    let limits = Limits { body: Duration::from_millis(100), ..Limits::default() };
    let server =
        Running::with(Settings { limits, pages: Some(Arc::new(pages::Echo)), ..Settings::default() });
    let mut client = server.connect();
    client.send(b"POST /v1/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n123");
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("content-type")), (408, Some("application/problem+json")));
    assert!(client.is_closed());
}

#[test]
fn a_request_in_two_parts_is_one_request() {
    let server = Running::start();
    let request = post("ListTables", "{ }");
    let mut client = server.connect();
    for at in 1..request.len() {
        let (first, second) = request.split_at(at);
        client.send(first);
        std::thread::sleep(Duration::from_micros(300));
        client.send(second);
        let answer = client.answer();
        assert_eq!((answer.status, answer.text().as_str()), (200, r#"{"TableNames":[]}"#), "split at {at}");
    }
}

#[test]
fn what_is_not_ordinary_is_answered_in_its_turn() {
    let server = Running::start();
    let ordinary = post("ListTables", "{}");
    let others: [Vec<u8>; 4] = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        post_with("ListTables", &format!("{SIGNED}Content-Length: 2\r\n"), b"{}"),
        by_hyper(&ordinary),
        post_with("ListTables", SIGNED, &[&vec![b' '; 100 << 10][..], b"{}"].concat()),
    ];
    for other in others {
        let mut client = server.connect();
        client.send(&[&ordinary[..], &ordinary, &other, &ordinary].concat());
        for turn in 0..4 {
            let answer = client.answer();
            assert_eq!(answer.status, 200, "{turn}: {}", answer.text());
            let is_health = answer.text().starts_with("healthy");
            assert_eq!(is_health, turn == 2 && other.starts_with(b"GET"), "{turn}: {}", answer.text());
        }
    }
}

#[test]
fn an_ordinary_request_does_not_open_the_door_to_a_smuggled_one() {
    let server = Running::start();
    let smuggled = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let length = smuggled.len();
    for headers in [
        format!("Content-Length: {length}\r\nContent-Length: 0\r\n"),
        format!("Content-Length: 0\r\nContent-Length: {length}\r\n"),
        format!("Content-Length: {length}, {length}\r\n"),
        format!("Content-Length: +{length}\r\n"),
        format!("Content-Length: 0x{length}\r\n"),
        format!("Content-Length: {length} 0\r\n"),
        "Content-Length: -1\r\n".to_owned(),
        "Content-Length:\r\n".to_owned(),
        "Content-Length: 99999999999999999999\r\n".to_owned(),
        format!("Content-Length : {length}\r\n"),
        format!(" Content-Length: {length}\r\n"),
        format!("Content-Length: 0\r\n {length}\r\n"),
        format!("X-Other: a\r\n b\r\nContent-Length: {length}\r\n"),
        format!("X-Other: a\rContent-Length: {length}\r\n"),
        format!("X-Other: \0\r\nContent-Length: {length}\r\n"),
        format!("Content-Length: {length}\r\nTransfer-Encoding: identity\r\n"),
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked, identity\r\n"),
    ] {
        let mut client = server.connect();
        client.send(&post("ListTables", "{}"));
        assert_eq!(client.answer().status, 200);
        let head = format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n\
             X-Amz-Target: DynamoDB_20120810.ListTables\r\n{SIGNED}{headers}\r\n"
        );
        client.send(head.as_bytes());
        // The server may have closed the connection by now.
        let _ = std::io::Write::write_all(&mut client.stream, smuggled.as_bytes());
        if let Some(answer) = client.try_answer() {
            assert_eq!(answer.status, 400, "{headers:?}: {}", answer.text());
            assert!(client.is_closed(), "{headers:?}");
        }
    }
    assert!(server.is_well());
}

#[test]
fn a_client_that_says_no_more_is_still_answered() {
    let server = Running::start();
    let mut client = server.connect();
    client.send(&post("ListTables", "{}"));
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.answer().status, 200);
    assert!(client.is_closed());
}

#[test]
fn a_slow_body_after_other_requests_is_answered_with_a_timeout() {
    let server = Running::with_limits(Limits { body: Duration::from_millis(200), ..Limits::default() });
    let request = post("ListTables", "{   }");
    let mut client = server.connect();
    client.send(&request);
    assert_eq!(client.answer().status, 200);
    client.send(&request[..request.len() - 1]);
    let answer = client.answer();
    assert_eq!(answer.status, 408);
    assert_eq!(answer.header("connection"), Some("close"));
    assert!(answer.text().contains("The request did not arrive in time"), "{}", answer.text());
    assert!(client.is_closed());
}

#[test]
fn a_head_that_begins_with_the_last_request_must_be_whole_in_time() {
    let server = Running::with_limits(Limits { head: Duration::from_millis(200), ..Limits::default() });
    let mut client = server.connect();
    client.send(&[&post("ListTables", "{}")[..], b"POST / HTTP/1.1\r\nHost"].concat());
    assert_eq!(client.answer().status, 200);
    let started = Instant::now();
    assert!(client.is_closed());
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn a_connection_between_two_requests_may_be_idle() {
    let server = Running::with_limits(Limits { head: Duration::from_millis(100), ..Limits::default() });
    let mut client = server.connect();
    for _ in 0..3 {
        client.send(&post("ListTables", "{}"));
        assert_eq!(client.answer().status, 200);
        std::thread::sleep(Duration::from_millis(400));
    }
}

#[test]
fn a_client_that_does_not_read_its_answers_is_closed() {
    let server = Running::with_limits(Limits { unread: Duration::from_millis(300), ..Limits::default() });
    let mut client = server.connect();
    client.stream.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
    let many = post("ListTables", "{}").repeat(1000);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(20) {
        if std::io::Write::write_all(&mut client.stream, &many).is_err() {
            break;
        }
    }
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(server.is_well());
}

#[test]
fn connections_that_never_said_anything_do_not_delay_the_end() {
    let mut server = Running::start();
    let clients: Vec<_> = (0..20).map(|_| server.connect()).collect();
    assert!(server.is_well());
    let started = Instant::now();
    server.stop_and_wait();
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    drop(clients);
}

#[test]
fn a_request_that_is_begun_when_the_server_stops_is_the_last_of_its_connection() {
    let mut server = Running::start();
    let mut client = server.connect();
    client.send(&post("ListTables", "{}"));
    assert_eq!(client.answer().status, 200);
    let request = post("ListTables", "{}");
    let (begun, rest) = request.split_at(30);
    client.send(begun);
    std::thread::sleep(Duration::from_millis(200));
    server.stopper.stop();
    std::thread::sleep(Duration::from_millis(200));
    client.send(rest);
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    assert!(client.is_closed());
    server.stop_and_wait();
}
