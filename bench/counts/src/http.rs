//! The same operations over HTTP: the server in this process, for valgrind to count, and a client in another, which is not counted.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;

use engine::{Durability, Engine, Options};
use server::{Server, Settings};

use crate::operations::{fill, request};

/// Those that are counted: a read, a write and a page. What the server adds is much the same for all.
pub const OPERATIONS: [&str; 3] = ["GetItem", "PutItem", "Query"];

/// Serves so many requests of an operation and ends.
pub fn serve(operation: &str, count: usize) {
    // What happens by itself would be counted, too.
    let options = Options { housekeeping: None, durability: Durability::InMemory, ..Options::default() };
    let engine = Engine::in_memory_with(options);
    fill(&engine);
    // One worker: threads that steal work from each other are counted differently each time.
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let server =
        Server::bind(engine, Settings { address, workers: 1, ..Settings::default() }).expect("a port");
    let (address, stopper) = (server.address(), server.stopper());
    let serving = std::thread::spawn(move || server.run());
    let myself = std::env::current_exe().expect("this program has a path");
    let arguments = ["client", &address.to_string(), operation, &count.to_string()].map(str::to_owned);
    let status = Command::new(myself).args(arguments).status().expect("a client");
    stopper.stop();
    serving.join().expect("the server does not panic");
    assert!(status.success(), "the client failed");
}

/// Sends so many requests of an operation over one connection.
pub fn client(address: &str, operation: &str, count: usize) {
    let stream = TcpStream::connect(address).expect("a server");
    stream.set_nodelay(true).expect("a socket");
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    for turn in 0..count {
        let (target, body) = request(operation, turn);
        let text = format!(
            "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\nx-amz-target: DynamoDB_20120810.{target}\r\n\
             x-amz-date: 20260101T000000Z\r\nauthorization: AWS4-HMAC-SHA256 Credential=counts/20260101/us-east-1/dynamodb/aws4_request, \
             SignedHeaders=host;x-amz-date;x-amz-target, Signature=00\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        (&stream).write_all(text.as_bytes()).expect("a request");
        read_answer(&mut reader);
    }
}

/// Reads an answer, which must be a good one.
fn read_answer(reader: &mut BufReader<TcpStream>) {
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line).expect("an answer");
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).expect("a header");
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    reader.read_exact(&mut vec![0; length]).expect("a body");
}
