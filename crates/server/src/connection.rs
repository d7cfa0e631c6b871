//! One connection: its protocol, its requests, and the watch over it.
//!
//! Always true: a connection can be told to finish or to close at any time, whatever its client does; nobody needs a timer for
//! each request to do so, because the registry looks at all connections now and then (`registry.rs`).
//!
//! Path of a connection: socket -> TLS handshake where there is TLS -> `plain.rs` while its requests are ordinary -> hyper from the first
//! that is not, for HTTP/2 as for HTTP/1.1 -> `http::respond` for each request.

mod plain;
mod registry;
mod reread;
mod watched;

use std::cell::Cell;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

pub(crate) use registry::{Activity, Entry, Registry};

use crate::http::{self, Answer};
use crate::limits::{READ_BUFFER_BYTES, STREAMS_MAX};
use crate::service::Service;
use crate::tls::Tls;
use plain::Handover;
use registry::Order;
use reread::Reread;
use watched::Watched;

/// What the requests of one connection need; made once for each connection.
struct Shared {
    service: Arc<Service>,
    activity: Arc<Activity>,
}

/// Serves a connection until its client, or the registry, ends it.
pub(crate) async fn serve(stream: TcpStream, service: Arc<Service>, tls: Option<Tls>, entry: Entry) {
    // Answers are whole when they are written: waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    let _here = Here::new();
    let activity = entry.activity().clone();
    let work = async move {
        match tls {
            None => open(stream, service, activity).await,
            Some(tls) => secure(stream, &tls, service, activity).await,
        }
    };
    Ended { work: Box::pin(work), entry: &entry }.await;
}

thread_local! {
    /// How many connections this thread serves.
    static HERE: Cell<usize> = const { Cell::new(0) };
}

/// A connection that this thread serves.
struct Here(());

impl Here {
    fn new() -> Here {
        HERE.set(HERE.get() + 1);
        Here(())
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        HERE.set(HERE.get().saturating_sub(1));
    }
}

/// Whether this thread serves one connection and no other.
fn is_alone() -> bool {
    HERE.get() == 1
}

/// What HTTP/2 with prior knowledge begins with, and no request of HTTP/1.1.
const HTTP2: &[u8] = b"PRI ";

async fn open(stream: TcpStream, service: Arc<Service>, activity: Arc<Activity>) {
    let stream = Watched::new(stream, activity.clone());
    let Some(Handover { read, stream }) = plain::serve(stream, &service, &activity).await else { return };
    let is_http2 = read.starts_with(HTTP2);
    let stream = Reread::new(read, stream);
    // In boxes of their own, so that ordinary connections do without their room.
    if is_http2 {
        Box::pin(serve_http2(stream, service, activity)).await;
    } else {
        Box::pin(serve_http1(stream, service, activity)).await;
    }
}

async fn secure(stream: TcpStream, tls: &Tls, service: Arc<Service>, activity: Arc<Activity>) {
    activity.reads_head();
    let Ok(stream) = tls.accept(stream).await else { return };
    let speaks_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let stream = Watched::new(stream, activity.clone());
    if speaks_http2 {
        return Box::pin(serve_http2(stream, service, activity)).await;
    }
    let Some(Handover { read, stream }) = plain::serve(stream, &service, &activity).await else { return };
    Box::pin(serve_http1(Reread::new(read, stream), service, activity)).await;
}

async fn serve_http1(stream: impl Stream, service: Arc<Service>, activity: Arc<Activity>) {
    let context = Arc::new(Shared { service, activity: activity.clone() });
    let connection = http1::Builder::new()
        // The registry keeps the time for all connections at once.
        .header_read_timeout(None)
        .max_buf_size(READ_BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service_fn(move |request| respond(context.clone(), request)));
    Draining { connection, activity, told: false }.await;
}

async fn serve_http2(stream: impl Stream, service: Arc<Service>, activity: Arc<Activity>) {
    activity.speaks_http2();
    let context = Arc::new(Shared { service, activity: activity.clone() });
    let connection = http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(u32::try_from(crate::limits::HEAD_BYTES_MAX).unwrap_or(u32::MAX))
        .serve_connection(TokioIo::new(stream), service_fn(move |request| respond(context.clone(), request)));
    Draining { connection, activity, told: false }.await;
}

async fn respond(context: Arc<Shared>, request: Request<Incoming>) -> Result<Answer, Infallible> {
    let _busy = context.activity.begin();
    Ok::<Response<_>, _>(http::respond(&context.service, &context.activity, request).await)
}

/// What a connection is read from and written to.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

/// A connection that can be told to finish: it answers what it has begun and takes no more.
trait Finish: Future {
    fn finish(self: Pin<&mut Self>);
}

impl<S, I, B> Finish for http1::Connection<I, S>
where
    http1::Connection<I, S>: Future,
    S: hyper::service::HttpService<Incoming, ResBody = B>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    I: hyper::rt::Read + hyper::rt::Write + Unpin,
    B: hyper::body::Body + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    fn finish(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl<S, I, B, E> Finish for http2::Connection<I, S, E>
where
    http2::Connection<I, S, E>: Future,
    S: hyper::service::HttpService<Incoming, ResBody = B>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    I: hyper::rt::Read + hyper::rt::Write + Unpin,
    B: hyper::body::Body + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    E: hyper::rt::bounds::Http2ServerConnExec<S::Future, B>,
{
    fn finish(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

/// Passes the order to finish on to hyper.
struct Draining<C> {
    connection: C,
    activity: Arc<Activity>,
    told: bool,
}

impl<C: Finish + Unpin> Future for Draining<C> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if !this.told && this.activity.order() == Order::Finish {
            this.told = true;
            Pin::new(&mut this.connection).finish();
        }
        Pin::new(&mut this.connection).poll(context).map(drop)
    }
}

/// Ends a connection when it is told to close, wherever it stands.
struct Ended<'a, F> {
    work: Pin<Box<F>>,
    entry: &'a Entry,
}

impl<F: Future<Output = ()>> Future for Ended<'_, F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.entry.wake_by(context.waker());
        if self.entry.activity().order() == Order::Close {
            return Poll::Ready(());
        }
        self.work.as_mut().poll(context)
    }
}
