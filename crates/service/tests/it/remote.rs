//! The same on a remote backend: through the AWS SDK, against the project's own server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

use dynamo::Value;
use engine::{Engine, ManualClock};
use monotable_service::{
    Backend, Capabilities, HttpPoster, Options, Prefixed, Refusal, Remote, RemoteSettings, Running, Service,
    WriteOptions, test_examples,
};

use crate::support::{DESIGNS, NOW, assert_sound, design, engine, texts};

/// A server of DynamoDB's protocol that stops with the test.
struct Server {
    url: String,
    engine: Engine,
    clock: Arc<ManualClock>,
    stopper: server::Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start() -> Server {
        let (engine, clock) = engine();
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let settings = server::Settings { address, workers: 1, ..server::Settings::default() };
        let server = server::Server::bind(engine.clone(), settings).unwrap();
        let (address, stopper) = (server.address(), server.stopper());
        let thread = Some(std::thread::spawn(move || server.run()));
        Server { url: format!("http://{address}"), engine, clock, stopper, thread }
    }

    async fn backend(&self) -> Arc<dyn Backend> {
        let settings = RemoteSettings {
            endpoint_url: Some(self.url.clone()),
            region: Some("us-east-1".to_owned()),
            access_key: Some(("test".to_owned(), "test".to_owned())),
            ..RemoteSettings::default()
        };
        Arc::new(Remote::connect(settings).await.unwrap())
    }

    async fn service(&self, name: &str) -> Service {
        let options = Options { clock: self.clock.clone(), ..Options::default() };
        let service = Service::new(design(name), self.backend().await, options);
        service.prepare().await.unwrap();
        service.seed().await.unwrap();
        service
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

#[tokio::test]
async fn all_examples_hold_remotely_and_leave_nothing_behind() {
    let server = Server::start();
    let backend = server.backend().await;
    let number = AtomicU32::new(0);
    for name in DESIGNS {
        let fresh = || {
            let prefix = format!("try{}-", number.fetch_add(1, Ordering::SeqCst));
            let backend = Arc::new(Prefixed::new(backend.clone(), prefix));
            let options = Options { clock: server.clock.clone(), ..Options::default() };
            let service = Service::new(design(name), backend, options);
            async move {
                service.prepare().await?;
                Ok::<_, Refusal>(service)
            }
        };
        let outcomes = test_examples(&design(name), fresh).await;
        let failed = outcomes.iter().filter(|outcome| outcome.problem.is_some()).collect::<Vec<_>>();
        assert!(failed.is_empty(), "{name}: {failed:#?}");
    }
    let service = server.service("kefir").await;
    service.delete_tables().await.unwrap();
    assert!(service.seed().await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn races_are_won_once_remotely() {
    let server = Server::start();
    let service = server.service("stak-inbox").await;
    let tasks = (0..16).map(|_| {
        let service = service.clone();
        tokio::spawn(async move {
            let input = texts([
                ("tenant_key", "acme"),
                ("inbox_key", "main"),
                ("uid", "ada"),
                ("id", "lrg51000000000000001"),
            ]);
            service.operate("read-message", input, WriteOptions::default()).await
        })
    });
    let mut read = 0;
    for task in tasks.collect::<Vec<_>>() {
        read += usize::from(task.await.unwrap().is_ok());
    }
    assert_eq!(read, 1);
    assert_sound(&service).await;
}

#[tokio::test]
async fn expiry_is_corrected_remotely() {
    let server = Server::start();
    let service = server.service("stak-inbox").await;
    let mut input = texts([("tenant_key", "acme"), ("inbox_key", "main"), ("sender", "s")]);
    input.insert("uids".to_owned(), Value::L(vec![Value::from("ada"), Value::from("ben")]));
    input.insert("message".to_owned(), Value::M(texts([("title", "t"), ("body", "b")])));
    input.insert("expiredat".to_owned(), Value::from(NOW / 1_000 + 60));
    service.operate("publish-to-users", input, WriteOptions::default()).await.unwrap();
    server.clock.advance_seconds(3_600);
    server.engine.keep_house().unwrap();
    let reactions = service.reactions(Arc::new(HttpPoster));
    assert!(reactions.catch_up().await.unwrap() > 0);
    assert_sound(&service).await;
    assert_eq!(reactions.catch_up().await.unwrap(), 0);
}

/// A server that knows no transactions.
struct Plain(Arc<dyn Backend>);

impl Backend for Plain {
    fn run(&self, operation: dynamo::Operation) -> Running<'_> {
        self.0.run(operation)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { transactions: false, streams: true, transaction_actions: 0 }
    }

    fn name(&self) -> String {
        "http://plain.example".to_owned()
    }
}

#[tokio::test]
async fn a_backend_without_transactions_is_refused_where_they_are_needed() {
    let server = Server::start();
    let service =
        Service::new(design("wavy-blog"), Arc::new(Plain(server.backend().await)), Options::default());
    let refused = service.prepare().await;
    let Err(refusal @ Refusal::Unsupported { .. }) = refused else { panic!("{refused:?}") };
    let words = refusal.to_string();
    assert!(
        words.starts_with(
            "http://plain.example has no transactions, which the design needs for entity UserEmail"
        ),
        "{words}"
    );
}
