//! A server in this process, and a client that says exactly what it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::Engine;
use monotable_server::{Limits, Server, Settings, Stopper};

/// A server that stops when it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start() -> Running {
        Running::with(Settings::default())
    }

    pub(crate) fn with_limits(limits: Limits) -> Running {
        Running::with(Settings { limits, ..Settings::default() })
    }

    pub(crate) fn with(settings: Settings) -> Running {
        let address = SocketAddr::new(settings.address.ip(), 0);
        let server = Server::bind(Engine::in_memory(), Settings { address, ..settings }).unwrap();
        let (address, stopper) = (server.address(), server.stopper());
        let thread = std::thread::spawn(move || server.run());
        Running { address, stopper, thread: Some(thread) }
    }

    pub(crate) fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { reader: BufReader::new(stream.try_clone().unwrap()), stream }
    }

    /// Sends a request on a connection of its own.
    pub(crate) fn ask(&self, request: &[u8]) -> Answer {
        let mut client = self.connect();
        client.send(request);
        client.answer()
    }

    /// True if a new client is answered.
    pub(crate) fn is_well(&self) -> bool {
        self.ask(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 200
    }

    pub(crate) fn stop_and_wait(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    reader: BufReader<TcpStream>,
}

/// What the server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Client {
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next answer on this connection.
    pub(crate) fn answer(&mut self) -> Answer {
        self.try_answer().expect("an answer")
    }

    /// The next answer, or nothing if the server closed the connection.
    pub(crate) fn try_answer(&mut self) -> Option<Answer> {
        let mut line = String::new();
        if self.reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).ok()?;
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(": ")?;
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let length = headers
            .iter()
            .find(|(name, _)| name == "content-length")
            .map_or(0, |(_, length)| length.parse().unwrap());
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).ok()?;
        Some(Answer { status, headers, body })
    }

    /// True once the server has closed the connection.
    pub(crate) fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        // A reset is closed as well; a timeout is not.
        match self.reader.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => {
                !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
            }
        }
    }
}

/// Headers of a request that any server without credentials believes.
pub(crate) const SIGNED: &str = "Authorization: AWS4-HMAC-SHA256 Credential=a/20150830/us-east-1/dynamodb/aws4_request, \
                                 SignedHeaders=host;x-amz-date;x-amz-target, Signature=b\r\nX-Amz-Date: 20150830T123600Z\r\n";

/// A POST of JSON to an operation.
pub(crate) fn post(operation: &str, body: &str) -> Vec<u8> {
    post_with(operation, SIGNED, body.as_bytes())
}

pub(crate) fn post_with(operation: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut request = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n\
         X-Amz-Target: DynamoDB_20120810.{operation}\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    )
    .into_bytes();
    request.extend_from_slice(body);
    request
}
