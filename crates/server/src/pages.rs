//! Other pages than the DynamoDB protocol, on paths of their own: whoever starts the server brings them.
//!
//! Always true: a page is asked only for requests that were let in (`origin.rs`), whose body is within the limits, and whose sender has
//! proved who they are: with a signature, or with HTTP Basic, the access key as the user and its secret as the password. A read-only
//! key reaches a page with GET and HEAD only.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    ALLOW, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, ORIGIN, VARY, WWW_AUTHENTICATE,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Version};

use crate::authentication;
use crate::body::{self, BodyError, RequestBody};
use crate::compression::{self, Coding};
use crate::connection::Activity;
use crate::credentials::Access;
use crate::head::{Head, Headers};
use crate::http::{Answer, closing};
use crate::operation::now;
use crate::service::Service;

/// An answer that is being made.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Response<Bytes>> + Send + 'a>>;

/// Pages beside the DynamoDB protocol.
pub trait Pages: Send + Sync + fmt::Debug {
    /// Whether requests for this path are for these pages. `/` is asked about for GET only: a POST to it is DynamoDB's.
    fn has(&self, path: &str) -> bool;

    /// Answers a request. Its body is inflated already.
    fn answer(&self, request: Request<Bytes>) -> Answering<'_>;
}

/// Headers that change what a request does. A signature that does not cover them could be sent again with others.
const MATTERING: [&str; 3] = ["if-match", "if-none-match", "idempotency-key"];

/// Whether a request is for the pages.
pub(crate) fn is_for_pages(service: &Service, head: &Parts) -> bool {
    let path = head.uri.path();
    let is_read = matches!(head.method, Method::GET | Method::HEAD);
    // What a browser asks before it sends a request comes without credentials.
    if head.method == Method::OPTIONS && head.headers.contains_key(ORIGIN) {
        return false;
    }
    (path != "/" || is_read) && has(service, path)
}

/// Whether there are pages on a path.
pub(crate) fn has(service: &Service, path: &str) -> bool {
    service.pages.as_ref().is_some_and(|pages| pages.has(path))
}

/// Reads the body of a request for a page, and answers it.
pub(crate) async fn respond(service: &Service, activity: &Activity, head: Parts, body: Incoming) -> Answer {
    let started = Instant::now();
    activity.reads_body();
    let body = body::read(body, &service.budget, service.limits.body).await;
    activity.works();
    answer(service, head, body, started).await.map(Full::new)
}

/// Answers a request for a page whose body was read, or could not be.
pub(crate) async fn answer(
    service: &Service,
    head: Parts,
    body: Result<RequestBody, BodyError>,
    started: Instant,
) -> Response<Bytes> {
    let (method, uri, version) = (head.method.clone(), head.uri.clone(), head.version);
    let coding = compression::wanted(Headers::Map(&head.headers));
    let answer = match admitted(service, head, body) {
        Ok(request) => finished(coding, answered(service, request).await).await,
        Err(Refused::Body(error)) => closing(version, body_problem(error)),
        Err(Refused::Sender(problem)) => *problem,
    };
    let (status, time) = (answer.status().as_u16(), started.elapsed());
    service.metrics.page(status);
    if status >= 500 {
        tracing::warn!(%method, path = uri.path(), status, ?time, "page failed");
    } else {
        tracing::debug!(%method, path = uri.path(), status, ?time, "page");
    }
    answer
}

/// The answer to a request whose body did not arrive in time. Nothing may follow it.
pub(crate) fn too_slow(service: &Service) -> Response<Bytes> {
    let answer = closing(Version::HTTP_11, body_problem(BodyError::TooSlow));
    service.metrics.page(answer.status().as_u16());
    answer
}

/// Why a request does not reach the pages.
enum Refused {
    Body(BodyError),
    Sender(Box<Response<Bytes>>),
}

/// The request as the pages get it, if its sender may ask for it.
fn admitted(
    service: &Service,
    head: Parts,
    body: Result<RequestBody, BodyError>,
) -> Result<Request<Bytes>, Refused> {
    let mut body = body.map_err(Refused::Body)?;
    let access = access(service, &head, &body.bytes).map_err(Refused::Sender)?;
    if access == Access::ReadOnly && !matches!(head.method, Method::GET | Method::HEAD) {
        return Err(Refused::Sender(Box::new(read_only())));
    }
    let inflated = body::inflate(&head.headers, &mut body).map_err(Refused::Body)?;
    Ok(Request::from_parts(head, inflated.unwrap_or(body.bytes)))
}

/// What the sender of a request may do.
fn access(service: &Service, head: &Parts, body: &[u8]) -> Result<Access, Box<Response<Bytes>>> {
    let credentials = &service.verifier.credentials;
    if credentials.is_empty() {
        return Ok(Access::Full);
    }
    if let Some((id, secret)) = basic(head) {
        return credentials
            .verify(&id, &secret)
            .ok_or_else(|| unauthorized("The access key or its secret is wrong"));
    }
    let claim = authentication::claim(&Head::from(head)).map_err(|error| unauthorized(&error.message))?;
    let is_signed =
        |name: &str| claim.signed_headers.split(';').any(|signed| signed.eq_ignore_ascii_case(name));
    if let Some(name) = MATTERING.iter().find(|name| head.headers.contains_key(**name) && !is_signed(name)) {
        return Err(unauthorized(&format!("The header {name} must be signed")));
    }
    service
        .verifier
        .verify(&claim, &Head::from(head), body, now)
        .map_err(|error| unauthorized(&error.message))
}

/// User and password of HTTP Basic.
fn basic(head: &Parts) -> Option<(String, String)> {
    let header = head.headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    text.split_once(':').map(|(id, secret)| (id.to_owned(), secret.to_owned()))
}

/// Asks the pages. A panic in them fails one request, not its connection and the others on its thread.
async fn answered(service: &Service, request: Request<Bytes>) -> Response<Bytes> {
    let Some(pages) = &service.pages else { return problem(StatusCode::NOT_FOUND, "Not found", "") };
    let Ok(mut answering) = catch_unwind(AssertUnwindSafe(|| pages.answer(request))) else { return failed() };
    std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(context)));
        polled.unwrap_or_else(|_| Poll::Ready(failed()))
    })
    .await
}

fn failed() -> Response<Bytes> {
    tracing::error!("a page failed with a panic");
    problem(
        StatusCode::INTERNAL_SERVER_ERROR,
        "Internal error",
        "Something went wrong in the server; its log says more",
    )
}

/// The answer as it is sent: compressed for whoever asks, and not cached by those in between.
async fn finished(coding: Option<Coding>, answer: Response<Bytes>) -> Response<Bytes> {
    if coding.is_none() {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let mut body = Vec::from(body);
    if let Some(encoding) = compression::compress(coding, &mut body, 0).await {
        parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        parts.headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    }
    Response::from_parts(parts, body.into())
}

fn unauthorized(detail: &str) -> Box<Response<Bytes>> {
    let mut answer = problem(StatusCode::UNAUTHORIZED, "Not authenticated", detail);
    answer
        .headers_mut()
        .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"monotable\", charset=\"UTF-8\""));
    Box::new(answer)
}

fn read_only() -> Response<Bytes> {
    let mut answer = problem(StatusCode::FORBIDDEN, "Read only", "This access key may read and not write");
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    answer
}

fn body_problem(error: BodyError) -> Response<Bytes> {
    let (status, title, detail) = match error {
        BodyError::TooLarge => {
            (StatusCode::PAYLOAD_TOO_LARGE, "Too large", "The body is larger than 16777216 bytes")
        }
        BodyError::TooSlow => (StatusCode::REQUEST_TIMEOUT, "Too slow", "The request did not arrive in time"),
        BodyError::NoMemory => (
            StatusCode::SERVICE_UNAVAILABLE,
            "Busy",
            "The server is busy with other large requests; try again",
        ),
        BodyError::Broken => (StatusCode::BAD_REQUEST, "Broken", "The body did not arrive whole"),
        BodyError::NotCompressed => {
            (StatusCode::BAD_REQUEST, "Not compressed", "The body is not what its Content-Encoding says")
        }
        BodyError::UnknownEncoding => (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Unknown encoding",
            "The Content-Encoding must be gzip, deflate or identity",
        ),
    };
    problem(status, title, detail)
}

/// A problem as RFC 9457 has it.
fn problem(status: StatusCode, title: &str, detail: &str) -> Response<Bytes> {
    let body = serde_json::json!({ "title": title, "status": status.as_u16(), "detail": detail });
    let mut answer = Response::new(Bytes::from(body.to_string()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    answer
}
