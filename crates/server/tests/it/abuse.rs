//! Hostile requests: clear errors, bounded memory, others unaffected.

use std::io::Write;
use std::time::{Duration, Instant};

use monotable_server::{BODY_BYTES_MAX, Limits};

use crate::support::{Running, SIGNED, post, post_with};

const TOO_LARGE: &str = "com.amazon.coral.service#RequestEntityTooLargeException";

#[test]
fn a_body_of_17_mb_is_too_large() {
    let server = Running::start();
    let answer = server.ask(&post_with("ListTables", SIGNED, &vec![b' '; 17 << 20]));
    assert_eq!(answer.status, 413);
    assert!(answer.text().contains(TOO_LARGE), "{}", answer.text());
    assert!(server.is_well());
}

#[test]
fn a_body_of_16_mb_is_not_too_large() {
    let server = Running::start();
    let mut body = vec![b' '; BODY_BYTES_MAX - 2];
    body.extend_from_slice(b"{}");
    let answer = server.ask(&post_with("ListTables", SIGNED, &body));
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[test]
fn a_chunked_body_of_17_mb_is_too_large() {
    let server = Running::start();
    let mut client = server.connect();
    client.send(
        format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n\
             X-Amz-Target: DynamoDB_20120810.ListTables\r\nTransfer-Encoding: chunked\r\n{SIGNED}\r\n"
        )
        .as_bytes(),
    );
    let chunk = [&b"100000\r\n"[..], &vec![b' '; 1 << 20], b"\r\n"].concat();
    for _ in 0..17 {
        client.send(&chunk);
    }
    client.send(b"0\r\n\r\n");
    let answer = client.answer();
    assert_eq!(answer.status, 413);
    assert!(answer.text().contains(TOO_LARGE), "{}", answer.text());
}

#[test]
fn a_chunked_body_is_read() {
    let server = Running::start();
    let answer = server.ask(
        format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n\
             X-Amz-Target: DynamoDB_20120810.ListTables\r\nTransfer-Encoding: chunked\r\n{SIGNED}\r\n\
             1\r\n{{\r\n1\r\n}}\r\n0\r\n\r\n"
        )
        .as_bytes(),
    );
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[test]
fn a_gzip_bomb_stops_at_the_limit() {
    let server = Running::start();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let megabyte = vec![b' '; 1 << 20];
    for _ in 0..256 {
        encoder.write_all(&megabyte).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    let headers = format!("{SIGNED}Content-Encoding: gzip\r\n");
    let answer = server.ask(&post_with("ListTables", &headers, &bomb));
    assert_eq!(answer.status, 413, "{}", answer.text());
    let answer = server.ask(&post_with("ListTables", &headers, b"{}"));
    assert_eq!(answer.status, 400, "{}", answer.text());
}

#[test]
fn json_of_200_000_levels_is_refused() {
    let server = Running::start();
    let depth = 200_000;
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        for body in [
            deep.clone(),
            format!(r#"{{"TableName":{deep}}}"#),
            format!(r#"{{"TableName":"t","Unknown":{deep}}}"#),
            format!(r#"{{"TableName":"t","Item":{{"a":{deep}}}}}"#),
            open.repeat(depth),
        ] {
            let answer = server.ask(&post("PutItem", &body));
            assert_eq!(answer.status, 400, "{}", answer.text());
        }
        // Without a known operation the text is still looked at.
        assert_eq!(server.ask(&post("Nothing", &deep)).status, 400);
    }
    let value = r#"{"L":["#.repeat(depth);
    assert_eq!(
        server.ask(&post("PutItem", &format!(r#"{{"TableName":"ttt","Item":{{"a":{value}"#))).status,
        400
    );
    let closed = format!("{value}{}", "]}".repeat(depth));
    let body = format!(r#"{{"TableName":"ttt","Item":{{"a":{closed}}}}}"#);
    assert_eq!(server.ask(&post("PutItem", &body)).status, 400);
    assert!(server.is_well());
}

#[test]
fn smuggled_requests_are_refused() {
    let server = Running::start();
    for head in [
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n{}{}",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked, identity\r\n\r\n{}{}",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: +4\r\n\r\n{}{}",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n{}{}",
        "POST / HTTP/1.1\r\nHost : localhost\r\nContent-Length: 2\r\n\r\n{}",
        "POST / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
        "\x16\x03\x01\x02\x00\x01\x00\x01\x7c\x03\x03\r\n\r\n",
        "hello there\r\n\r\n",
    ] {
        let mut client = server.connect();
        client.send(head.as_bytes());
        if let Some(answer) = client.try_answer() {
            assert!(answer.status == 400 || answer.status == 403, "{head}: {answer:?}");
        }
    }
    assert!(server.is_well());
}

#[test]
fn a_body_with_both_lengths_is_one_request_only() {
    let server = Running::start();
    let mut client = server.connect();
    // RFC 9112: the chunked coding wins, and the connection does not go on.
    client.send(
        format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n\
             X-Amz-Target: DynamoDB_20120810.ListTables\r\nContent-Length: 60\r\nTransfer-Encoding: chunked\r\n{SIGNED}\r\n\
             2\r\n{{}}\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        .as_bytes(),
    );
    let first = client.try_answer();
    if first.is_some_and(|answer| answer.status == 200) {
        // Whatever follows must not have been read as part of the first body.
        if let Some(second) = client.try_answer() {
            assert_eq!(second.status, 200);
        }
    }
    assert!(server.is_well());
}

#[test]
fn truncated_requests_hurt_nobody() {
    let server = Running::start();
    let whole = post("ListTables", "{}");
    for length in (0..whole.len()).step_by(7) {
        let mut client = server.connect();
        client.send(&whole[..length]);
        client.stream.shutdown(std::net::Shutdown::Both).unwrap();
    }
    assert!(server.is_well());
}

#[test]
fn large_heads_are_refused() {
    let server = Running::start();
    let headers = format!("{SIGNED}X-Large: {}\r\n", "a".repeat(17 << 10));
    assert_eq!(server.ask(&post_with("ListTables", &headers, b"{}")).status, 431);
    let headers = format!("{SIGNED}X-Large: {}\r\n", "a".repeat(15 << 10));
    assert_eq!(server.ask(&post_with("ListTables", &headers, b"{}")).status, 200);
    let mut client = server.connect();
    // The server may close before all of it is sent.
    let _ = client.stream.write_all(&post_with(
        "ListTables",
        &format!("X-Huge: {}\r\n", "a".repeat(1 << 20)),
        b"{}",
    ));
    if let Some(answer) = client.try_answer() {
        assert_eq!(answer.status, 431);
    }
    assert!(server.is_well());
}

#[test]
fn a_slow_head_is_closed_and_others_are_served() {
    let server = Running::with_limits(Limits { head: Duration::from_millis(300), ..Limits::default() });
    let mut slow: Vec<_> = (0..100).map(|_| server.connect()).collect();
    let started = Instant::now();
    let drip = std::thread::spawn(move || {
        let request = post("ListTables", "{}");
        for byte in request.iter().take(40) {
            for client in &mut slow {
                let _ = client.stream.write_all(&[*byte]);
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        slow
    });
    while started.elapsed() < Duration::from_millis(800) {
        assert!(server.is_well());
        std::thread::sleep(Duration::from_millis(50));
    }
    for client in &mut drip.join().unwrap() {
        assert!(client.is_closed());
    }
}

#[test]
fn a_slow_body_is_answered_with_a_timeout() {
    let server = Running::with_limits(Limits { body: Duration::from_millis(200), ..Limits::default() });
    let request = post("ListTables", "{   }");
    let mut client = server.connect();
    client.send(&request[..request.len() - 1]);
    let answer = client.answer();
    assert_eq!(answer.status, 408);
    assert!(client.is_closed());
}

#[test]
fn large_bodies_share_a_budget() {
    let limits = Limits { bodies_bytes: 20 << 20, body: Duration::from_secs(20), ..Limits::default() };
    let server = Running::with_limits(limits);
    let request = post_with("ListTables", SIGNED, &vec![b' '; 12 << 20]);
    let mut first = server.connect();
    first.send(&request[..request.len() - 10]);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.ask(&request).status, 503);
    // Small requests need no budget.
    assert_eq!(server.ask(&post("ListTables", "{}")).status, 200);
    first.send(&request[request.len() - 10..]);
    assert_eq!(first.answer().status, 400);
}

#[test]
fn a_client_that_does_not_read_its_answers_is_closed() {
    let server = Running::with_limits(Limits { unread: Duration::from_millis(300), ..Limits::default() });
    let mut client = server.connect();
    client.stream.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
    let many = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1000);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(20) {
        if client.stream.write_all(&many).is_err() {
            break;
        }
    }
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(server.is_well());
}

#[test]
fn expressions_that_lie_within_themselves_are_answered() {
    let server = Running::start();
    let nested = format!("a < b{}{}", " or (a < b".repeat(149), ")".repeat(149));
    for condition in ["(".repeat(4096), "not ".repeat(1024), nested] {
        let body = format!(
            r#"{{"TableName":"None","Key":{{"pk":{{"S":"a"}}}},"ConditionExpression":"{condition}"}}"#
        );
        let answer = server.ask(&post_with("DeleteItem", SIGNED, body.as_bytes()));
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
    assert!(server.is_well());
}
