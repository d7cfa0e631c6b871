//! Keep-alive, pipelining, many connections, and the end of a server.

use std::time::{Duration, Instant};

use monotable_server::Limits;

use crate::support::{Running, post};

#[test]
fn one_connection_serves_many_requests() {
    let server = Running::start();
    let mut client = server.connect();
    for _ in 0..100 {
        client.send(&post("ListTables", "{}"));
        assert_eq!(client.answer().status, 200);
    }
}

#[test]
fn requests_sent_at_once_are_answered_in_order() {
    let server = Running::start();
    let mut client = server.connect();
    let mut all = Vec::new();
    for index in 0..50 {
        all.extend(post("DescribeTable", &format!(r#"{{"TableName":"table-{index}"}}"#)));
    }
    client.send(&all);
    for index in 0..50 {
        let answer = client.answer();
        assert!(answer.text().contains(&format!("table-{index} ")), "{}", answer.text());
    }
}

#[test]
fn two_thousand_idle_connections_hold_nobody_up() {
    let server = Running::start();
    let mut idle = Vec::new();
    for _ in 0..2000 {
        idle.push(server.connect());
    }
    let started = Instant::now();
    assert!(server.is_well());
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    // They are still connected, and served when they ask.
    for client in idle.iter_mut().step_by(100) {
        client.send(&post("ListTables", "{}"));
        assert_eq!(client.answer().status, 200);
    }
}

#[test]
fn beyond_the_limit_the_connection_that_is_idle_for_longest_makes_room() {
    let server = Running::with_limits(Limits { connections: 4, ..Limits::default() });
    let mut first = server.connect();
    first.send(&post("ListTables", "{}"));
    assert_eq!(first.answer().status, 200);
    let others: Vec<_> = (0..12).map(|_| server.connect()).collect();
    assert!(server.is_well());
    assert!(first.is_closed());
    drop(others);
}

#[test]
fn a_stopped_server_answers_what_it_has_begun() {
    let mut server = Running::start();
    let mut client = server.connect();
    let request = post("ListTables", "{}");
    let (begun, rest) = request.split_at(request.len() - 1);
    client.send(begun);
    std::thread::sleep(Duration::from_millis(200));
    server.stopper.stop();
    std::thread::sleep(Duration::from_millis(200));
    client.send(rest);
    assert_eq!(client.answer().status, 200);
    assert!(client.is_closed());
    server.stop_and_wait();
}

#[test]
fn idle_connections_do_not_delay_the_end() {
    let mut server = Running::start();
    let clients: Vec<_> = (0..50)
        .map(|_| {
            let mut client = server.connect();
            client.send(&post("ListTables", "{}"));
            client.answer();
            client
        })
        .collect();
    let started = Instant::now();
    server.stop_and_wait();
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    drop(clients);
}

#[test]
fn http2_with_prior_knowledge_is_spoken() {
    let server = Running::start();
    let mut client = server.connect();
    // The preface and an empty SETTINGS frame; the server answers with its own SETTINGS (type 4).
    client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00");
    let mut head = [0; 9];
    std::io::Read::read_exact(&mut client.stream, &mut head).unwrap();
    assert_eq!(head[3], 4);
}
