//! A server with one design, a client for it, and a clock that the story moves.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use bytes::Bytes;
use design::{Source, check};
use engine::{Engine, ManualClock};
use monotable_service::{
    Backend, Embedded, HttpPoster, Options, Posted, Poster, Posting, Prefixed, Remote, RemoteSettings, Rest,
    Service,
};
use serde_json::Value;
use server::{Answering, Pages, Server, Settings, Stopper};
use tokio::runtime::Runtime;

/// When stories begin: 2024-06-01T12:00:00Z.
const START: i64 = 1_717_243_200_000;

#[derive(Debug)]
struct Designs(Rest);

impl Pages for Designs {
    fn has(&self, path: &str) -> bool {
        Rest::has(path)
    }

    fn answer(&self, request: http::Request<Bytes>) -> Answering<'_> {
        Box::pin(self.0.answer(request))
    }
}

/// A server with one design.
pub(crate) struct World {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) engine: Engine,
    pub(crate) service: Service,
    runtime: Runtime,
    base: String,
    server: Listening,
    /// What a remote backend talks to.
    _database: Option<Listening>,
}

/// Somebody who hears of everything.
#[derive(Default)]
struct Bus {
    got: Mutex<Vec<Value>>,
}

impl Poster for Bus {
    fn post(&self, _: &str, _: Vec<(String, String)>, body: Vec<u8>) -> Posting<'_> {
        self.got.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
        Box::pin(std::future::ready(Posted::Delivered))
    }
}

/// A server that stops when it is dropped.
struct Listening {
    address: SocketAddr,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    fn start(engine: &Engine, pages: Option<Arc<dyn Pages>>) -> Listening {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let server =
            Server::bind(engine.clone(), Settings { address, pages, ..Settings::default() }).unwrap();
        let (address, stopper) = (server.address(), server.stopper());
        Listening { address, stopper, thread: Some(std::thread::spawn(move || server.run())) }
    }
}

impl World {
    /// A server with this design and its seed data, on the embedded engine.
    pub(crate) fn of(name: &str) -> World {
        World::new(name, |engine, _| (Arc::new(Embedded::new(engine.clone())), None))
    }

    /// The same on a backend that is reached through the AWS SDK: another server of ours.
    pub(crate) fn remote(name: &str) -> World {
        World::new(name, |engine, runtime| {
            let database = Listening::start(engine, None);
            let backend = connected(runtime, format!("http://{}", database.address));
            (Arc::new(backend), Some(database))
        })
    }

    /// The same on Amazon's DynamoDB Local, which somebody has started and whose endpoint stands in the environment. Worlds share it, so each has
    /// tables of its own.
    pub(crate) fn dynamodb_local(name: &str) -> World {
        static WORLDS: AtomicUsize = AtomicUsize::new(0);
        let endpoint = std::env::var("MONOTABLE_DYNAMODB_LOCAL");
        let endpoint = endpoint.expect("MONOTABLE_DYNAMODB_LOCAL is the endpoint of DynamoDB Local");
        World::new(name, |_, runtime| {
            let number = WORLDS.fetch_add(1, Ordering::SeqCst);
            let prefix = format!("w{}-{number}-", std::process::id());
            (Arc::new(Prefixed::new(Arc::new(connected(runtime, endpoint)), prefix)), None)
        })
    }

    fn new(
        name: &str,
        backend: impl FnOnce(&Engine, &Runtime) -> (Arc<dyn Backend>, Option<Listening>),
    ) -> World {
        let path = format!("{}/../../designs/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let design = check(&Source::new(name, std::fs::read_to_string(path).unwrap())).design.unwrap();
        let clock = Arc::new(ManualClock::at_milliseconds(START));
        let options =
            engine::Options { clock: clock.clone(), housekeeping: None, ..engine::Options::default() };
        let engine = Engine::in_memory_with(options);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (backend, database) = backend(&engine, &runtime);
        let options = Options { clock: clock.clone(), ..Options::default() };
        let service = Service::new(design, backend, options);
        runtime.block_on(service.prepare()).unwrap();
        runtime.block_on(service.seed()).unwrap();
        let pages = Arc::new(Designs(Rest::new(vec![service.clone()])));
        let server = Listening::start(&engine, Some(pages));
        World { clock, engine, service, runtime, base: format!("/v1/{name}"), server, _database: database }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// Moves the clock.
    pub(crate) fn days_pass(&self, days: i64) {
        self.clock.advance_seconds(days * 24 * 60 * 60);
    }

    /// What happens by itself happens: expired items go, and reactions follow what was written.
    pub(crate) fn things_happen(&self) {
        self.engine.keep_house().unwrap();
        let reactions = self.service.reactions(Arc::new(HttpPoster));
        // A reaction may be the cause of another.
        for _ in 0..3 {
            self.runtime.block_on(reactions.catch_up()).unwrap();
        }
        let status = self.runtime.block_on(reactions.status()).unwrap();
        assert!(status.dead_letters.is_empty(), "{:#?}", status.dead_letters);
    }

    /// The same, and what goes to web hooks arrives: the events.
    pub(crate) fn things_happen_and_are_told(&self) -> Vec<Value> {
        let bus = Arc::new(Bus::default());
        let reactions = self.service.reactions(bus.clone());
        self.runtime.block_on(reactions.catch_up()).unwrap();
        self.runtime.block_on(reactions.deliver()).unwrap();
        std::mem::take(&mut bus.got.lock().unwrap())
    }

    /// What nobody has done by hand is as the items imply.
    pub(crate) fn assert_sound(&self) {
        let found = self.runtime.block_on(self.service.verify(&mut |_| {})).unwrap();
        assert!(found.findings.is_empty(), "{:#?}", found.findings);
    }

    /// Asks a pattern and gives its items.
    pub(crate) fn ask(&self, pattern: &str, parameters: &[(&str, &str)]) -> Vec<Value> {
        let answer = self.answer(pattern, parameters);
        answer.body["items"].as_array().unwrap_or_else(|| panic!("{answer:?}")).clone()
    }

    /// Asks a pattern.
    pub(crate) fn answer(&self, pattern: &str, parameters: &[(&str, &str)]) -> Reply {
        let query =
            parameters.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect::<Vec<_>>();
        self.get(&format!("patterns/{pattern}?{}", query.join("&")))
    }

    /// Asks a pattern page by page, doing something after each page.
    pub(crate) fn pages(
        &self,
        pattern: &str,
        parameters: &[(&str, &str)],
        mut after_each: impl FnMut(usize),
    ) -> Vec<Vec<Value>> {
        let mut pages = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut parameters = parameters.to_vec();
            parameters.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page = self.answer(pattern, &parameters).body;
            pages.push(page["items"].as_array().unwrap().clone());
            after_each(pages.len());
            cursor = page["cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                return pages;
            }
        }
    }

    /// Does an operation, which must work, and gives what it made and changed.
    pub(crate) fn does(&self, operation: &str, input: Value) -> Vec<Value> {
        let reply = self.tries(operation, input);
        assert_eq!(reply.status, 200, "{operation}: {reply:?}");
        reply.body["items"].as_array().unwrap().clone()
    }

    /// Tries an operation.
    pub(crate) fn tries(&self, operation: &str, input: Value) -> Reply {
        self.send("POST", &format!("operations/{operation}"), &[], Some(&input.to_string()))
    }

    /// Makes an item, which must work.
    pub(crate) fn makes(&self, entity: &str, item: Value) -> Value {
        let reply = self.post(entity, item);
        assert_eq!(reply.status, 201, "{entity}: {reply:?}");
        reply.body
    }

    pub(crate) fn post(&self, entity: &str, item: Value) -> Reply {
        self.send("POST", &format!("entities/{entity}"), &[], Some(&item.to_string()))
    }

    /// Changes an item.
    pub(crate) fn patch(&self, path: &str, changes: Value) -> Reply {
        self.send("PATCH", &format!("entities/{path}"), &[], Some(&changes.to_string()))
    }

    pub(crate) fn delete(&self, path: &str) -> Reply {
        self.send("DELETE", &format!("entities/{path}"), &[], None)
    }

    /// The item at a path, which must be there.
    pub(crate) fn item(&self, path: &str) -> Value {
        let reply = self.get(&format!("entities/{path}"));
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.body
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], None)
    }

    /// Sends a request, on a connection of its own.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> Reply {
        let path = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.base) };
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        let has_type = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if let Some(body) = body {
            head.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
            if !has_type {
                head.push_str("Content-Type: application/json\r\n");
            }
        }
        for (name, value) in headers {
            head.extend([*name, ": ", *value, "\r\n"]);
        }
        let mut stream = TcpStream::connect(self.server.address).unwrap();
        stream.write_all(format!("{head}\r\n{}", body.unwrap_or_default()).as_bytes()).unwrap();
        Reply::read(stream)
    }
}

/// A backend at an endpoint.
fn connected(runtime: &Runtime, endpoint_url: String) -> Remote {
    let settings = RemoteSettings {
        endpoint_url: Some(endpoint_url),
        region: Some("us-east-1".to_owned()),
        access_key: Some(("test".to_owned(), "test".to_owned())),
        ..RemoteSettings::default()
    };
    runtime.block_on(Remote::connect(settings)).unwrap()
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the server answered.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
    pub(crate) text: String,
}

impl Reply {
    fn read(stream: TcpStream) -> Reply {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        Reply { status, headers, body: serde_json::from_str(&text).unwrap_or_default(), text }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// It was refused so, with these words somewhere.
    #[track_caller]
    pub(crate) fn is_refused(&self, status: u16, words: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        assert!(self.text.contains(words), "no `{words}` in {}", self.text);
    }
}

/// The values of one attribute, in order.
pub(crate) fn all<'a>(items: &'a [Value], name: &str) -> Vec<&'a str> {
    items.iter().map(|item| item[name].as_str().unwrap_or_default()).collect()
}

pub(crate) fn encode(text: &str) -> String {
    text.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}
