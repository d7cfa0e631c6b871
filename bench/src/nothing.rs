//! A server that does nothing: the ceiling of what HTTP can give with hyper, which our server stands on. It reads each request to its end and
//! answers `{}`. Where our server reads plain requests on a road of its own, it can come nearer to this ceiling than hyper would let it.

use std::convert::Infallible;
use std::net::TcpListener;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// One thread with an event loop for each core, as in our server.
pub fn serve(port: u16) -> Result<(), String> {
    let listener = TcpListener::bind(("127.0.0.1", port)).map_err(|error| format!("port {port}: {error}"))?;
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let (sender, receiver) = unbounded_channel();
            std::thread::spawn(move || work(receiver));
            sender
        })
        .collect();
    for (number, connection) in listener.incoming().enumerate() {
        let connection = connection.expect("a connection");
        workers[number % workers.len()].send(connection).expect("a worker");
    }
    Ok(())
}

fn work(mut connections: UnboundedReceiver<std::net::TcpStream>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async move {
        while let Some(connection) = connections.recv().await {
            connection.set_nonblocking(true).expect("a socket");
            connection.set_nodelay(true).expect("a socket");
            let stream = tokio::net::TcpStream::from_std(connection).expect("a socket");
            let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer));
            tokio::task::spawn_local(serving);
        }
    });
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    // A client that goes away in the middle gets an answer it does not read.
    let _ = request.into_body().collect().await;
    Ok(Response::new(Full::new(Bytes::from_static(b"{}"))))
}
