//! The road of ordinary requests on HTTP/1.1: POST / with a Content-Length, as every AWS SDK sends them, and pages of designs. One read, one
//! write, nothing allocated that lasts.
//!
//! Always true: what this road takes, hyper would have taken for the same request, since both use the same parser and this one refuses
//! nothing. Whatever is not ordinary goes to hyper with all bytes that were read of it, and hyper keeps the connection (docs/decisions/0016).
//!
//! Path of a request: socket -> [`Input`] -> `request.rs` (is it ordinary? then `operation.rs`, or `pages.rs`) -> `answer.rs` (the
//! head before the body, in one piece) -> socket.

mod answer;
mod input;
mod request;

use std::io;
use std::pin::Pin;
use std::time::Instant;

use bytes::Bytes;
use dynamo::{ApiError, Reply};
use hyper::Response;
use hyper::header::CONNECTION;
use tokio::io::AsyncWriteExt as _;

use super::Stream;
use super::registry::{Activity, Order};
use crate::body::{BodyError, RequestBody};
use crate::operation::{self, Asked, Written};
use crate::request_id::{self, RequestId};
use crate::service::{Outcome, Service};
use crate::{buffers, pages};
use answer::{Head, ROOM};
use input::{Input, Read};
use request::{Kind, Look};

/// A larger page is sent in two pieces, its head and its body, rather than copied.
const JOINED_BYTES_MAX: usize = 64 << 10;

/// A connection that is not ordinary any more: what was read of it and not answered, and the rest.
pub(super) struct Handover<S> {
    pub(super) read: Vec<u8>,
    pub(super) stream: S,
}

/// An answer whose JSON is written, behind the room for its head.
struct Answer {
    request_id: RequestId,
    written: Written,
    out: Vec<u8>,
}

impl Answer {
    fn new(service: &Service, asked: &Asked, outcome: Result<Reply, ApiError>) -> Answer {
        let request_id = request_id::next();
        let mut out = buffers::output();
        out.resize(ROOM, 0);
        let written = operation::write(service, &request_id, asked, outcome, &mut out);
        Answer { request_id, written, out }
    }
}

/// Serves a connection while its requests are ordinary.
pub(super) async fn serve<S: Stream>(
    mut stream: S,
    service: &Service,
    activity: &Activity,
) -> Option<Handover<S>> {
    let mut input = Input::default();
    loop {
        let read = match request::look(input.unread(), service, activity) {
            Look::Other => Read::Strange,
            Look::Partial => input.read(&mut stream, activity).await,
            Look::Head { total, kind } => {
                activity.reads_body();
                let filling = input.fill(&mut stream, activity, total);
                let Ok(read) = tokio::time::timeout(service.limits.body, filling).await else {
                    // The client is gone, or is told.
                    let _ = refuse_slow_body(&mut stream, service, activity, kind).await;
                    return None;
                };
                read
            }
            Look::Answered { answer, total } => {
                input.consume(total);
                match respond(&mut stream, activity, answer).await {
                    Ok(true) => Read::Some,
                    Ok(false) | Err(_) => return None,
                }
            }
            Look::Asked { asked, answer, total } => {
                input.consume(total);
                let outcome = operation::wait(Outcome::Later(answer)).await;
                match respond(&mut stream, activity, Answer::new(service, &asked, outcome)).await {
                    Ok(true) => Read::Some,
                    Ok(false) | Err(_) => return None,
                }
            }
            Look::Page { head, body, total } => {
                input.consume(total);
                let body = RequestBody::small(body, &service.budget);
                // In a box of its own, so that other requests do without its room.
                let answer = Box::pin(pages::answer(service, *head, Ok(body), Instant::now())).await;
                match show(&mut stream, activity, answer).await {
                    Ok(true) => Read::Some,
                    Ok(false) | Err(_) => return None,
                }
            }
        };
        match read {
            Read::Some => {}
            Read::Nothing => return None,
            Read::Strange => return Some(Handover { read: input.into_unread(), stream }),
        }
    }
}

/// Sends an answer. False if nothing may follow on the connection.
async fn respond<S: Stream>(stream: &mut S, activity: &Activity, answer: Answer) -> io::Result<bool> {
    let Answer { request_id, written, mut out } = answer;
    let answered = operation::finish(written, &mut out, ROOM).await;
    let closes = activity.order() != Order::Serve;
    let head = Head { answered: &answered, request_id: &request_id, closes };
    let start = head.write_before(&mut out);
    send(stream, out.get(start..).unwrap_or_default()).await?;
    buffers::give_output(out);
    if closes {
        stream.shutdown().await?;
    }
    Ok(!closes)
}

/// Sends a page. False if nothing may follow on the connection.
async fn show<S: Stream>(stream: &mut S, activity: &Activity, mut page: Response<Bytes>) -> io::Result<bool> {
    let is_last = page.headers_mut().remove(CONNECTION).is_some() || activity.order() != Order::Serve;
    let mut out = buffers::output();
    answer::write_page(&page, &request_id::next(), is_last, &mut out);
    let body = page.body();
    if body.len() <= JOINED_BYTES_MAX {
        out.extend_from_slice(body);
        send(stream, &out).await?;
    } else {
        send(stream, &out).await?;
        send(stream, body).await?;
    }
    buffers::give_output(out);
    if is_last {
        stream.shutdown().await?;
    }
    Ok(!is_last)
}

/// Sends all of it: nearly always in one go.
async fn send<S: Stream>(stream: &mut S, mut data: &[u8]) -> io::Result<()> {
    while !data.is_empty() {
        let count = std::future::poll_fn(|context| Pin::new(&mut *stream).poll_write(context, data)).await?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        data = data.get(count..).unwrap_or_default();
    }
    // TLS keeps what it could not send yet.
    std::future::poll_fn(|context| Pin::new(&mut *stream).poll_flush(context)).await
}

async fn refuse_slow_body<S: Stream>(
    stream: &mut S,
    service: &Service,
    activity: &Activity,
    kind: Kind,
) -> io::Result<()> {
    activity.works();
    if kind == Kind::Page {
        return show(stream, activity, pages::too_slow(service)).await.map(drop);
    }
    service.metrics.refused();
    let mut out = vec![0; ROOM];
    let answered = operation::refuse(BodyError::TooSlow, &mut out);
    let head = Head { answered: &answered, request_id: &request_id::next(), closes: true };
    let start = head.write_before(&mut out);
    send(stream, out.get(start..).unwrap_or_default()).await?;
    stream.shutdown().await
}
