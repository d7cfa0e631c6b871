//! The load generator against small servers that do what a test wants.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Kind, Load, Numbers, Request, Timing, Workload, run, run_all};

/// A server with a thread for each connection; `answer` makes the answer to the request of this number.
fn serve(answer: impl Fn(u64) -> Vec<u8> + Send + Sync + 'static) -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicU64::new(0));
    let (counter, answer) = (count.clone(), Arc::new(answer));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (counter, answer) = (counter.clone(), answer.clone());
            std::thread::spawn(move || serve_one(&stream.unwrap(), &counter, &*answer));
        }
    });
    (address, count)
}

fn serve_one(mut stream: &TcpStream, counter: &AtomicU64, answer: &dyn Fn(u64) -> Vec<u8>) {
    let mut room = [0; 4096];
    // A request of the tests comes in one piece.
    while let Ok(1..) = stream.read(&mut room) {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        if stream.write_all(&answer(number)).is_err() {
            return;
        }
    }
}

fn fine() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}".to_vec()
}

fn workload() -> Workload {
    Workload::of_one("a test", Numbers::Uniform(10), Request::dynamodb("GetItem", r#"{"n":"<n:4>"}"#))
}

#[test]
fn as_many_operations_are_sent_as_were_asked_for() {
    let (server, count) = serve(|_| fine());
    let timing = Timing { warm_up: Duration::ZERO, time: Duration::from_secs(10), operations: 101 };
    for connections in [1, 7] {
        count.store(0, Ordering::SeqCst);
        let outcome = run(server, &mut workload(), connections, timing).unwrap();
        assert_eq!((outcome.count(), outcome.errors), (101, 0));
        assert_eq!(count.load(Ordering::SeqCst), 101);
    }
}

#[test]
fn an_operation_of_two_requests_counts_once() {
    let (server, count) = serve(|_| fine());
    let request = || Request::dynamodb("GetItem", "{}");
    let mut twice =
        Workload::new("twice", vec![Kind::new(100, Numbers::Uniform(1), vec![request(), request()])]);
    let timing = Timing { warm_up: Duration::ZERO, time: Duration::from_secs(10), operations: 20 };
    assert_eq!(run(server, &mut twice, 2, timing).unwrap().count(), 20);
    assert_eq!(count.load(Ordering::SeqCst), 40);
}

#[test]
fn refusals_and_lost_connections_are_errors() {
    let refuse = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
    let (server, _) = serve(move |number| match number % 10 {
        3 => refuse.to_vec(),
        7 => b"not HTTP at all\r\n\r\n".to_vec(),
        _ => fine(),
    });
    let timing = Timing { warm_up: Duration::ZERO, time: Duration::from_secs(10), operations: 100 };
    let outcome = run(server, &mut workload(), 4, timing).unwrap();
    assert_eq!((outcome.count(), outcome.errors), (80, 20));
}

#[test]
fn a_server_may_close_each_connection_after_its_answer() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let server = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}");
        }
    });
    let timing = Timing { warm_up: Duration::ZERO, time: Duration::from_secs(10), operations: 50 };
    for connections in [1, 4] {
        let outcome = run(server, &mut workload(), connections, timing).unwrap();
        assert_eq!((outcome.count(), outcome.errors), (50, 0), "{connections} connections");
    }
}

#[test]
fn a_stall_meets_every_request_that_was_due_in_it() {
    let (server, _) = serve(|number| {
        if number == 100 {
            std::thread::sleep(Duration::from_millis(300));
        }
        fine()
    });
    let mut workload = workload();
    let loads = Load { workload: &mut workload, connections: 1, rate: Some(500.0) };
    let timing = Timing::of(Duration::ZERO, Duration::from_secs(1));
    let outcome = run_all(server, &mut [loads], timing).unwrap().remove(0);
    // All that were due were sent, and of five hundred the hundred and fifty in the stall waited, on average half of it.
    assert_eq!(outcome.count(), 500);
    assert!(outcome.quantile_microseconds(0.85) > 100_000.0, "{}", outcome.quantile_microseconds(0.85));
}
