//! One request of the DynamoDB protocols, whichever road it came by: from its head and body to the bytes of its answer.
//!
//! The order of the checks is DynamoDB's: JSON that does not parse; an unknown operation; a missing or incomplete signature; a wrong
//! one; a body of the wrong shape; then the rules of the operation.
//!
//! Path of a request: [`ask`] (while the head is at hand) -> the engine -> [`write()`] (the JSON, where the road wants it) -> [`finish`]
//! (compressed for whoever asks, with its checksum).

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use dynamo::{ApiError, ErrorKind, Reply};
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderName};

use crate::body::BodyError;
use crate::compression::{self, Coding};
use crate::credentials::Access;
use crate::date::Moment;
use crate::head::{Head, Headers};
use crate::request_id::RequestId;
use crate::service::{Outcome, Service, sheltered};
use crate::target::Target;
use crate::{authentication, log};

const TARGET: HeaderName = HeaderName::from_static("x-amz-target");
pub(crate) const AMZ_JSON: &str = "application/x-amz-json-1.0";
pub(crate) const JSON: &str = "application/json";

/// What is known of a request once it was given to the engine, or refused.
pub(crate) struct Asked {
    started: Instant,
    request_bytes: usize,
    target: Option<Target>,
    content_type: &'static str,
    coding: Option<Coding>,
}

/// An answer whose JSON is written.
pub(crate) struct Written {
    status: StatusCode,
    content_type: &'static str,
    coding: Option<Coding>,
    ended: Instant,
}

/// What is said of an answer before its body.
pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) content_type: &'static str,
    pub(crate) encoding: Option<&'static str>,
    /// Over the body as it is sent.
    pub(crate) crc32: u32,
    /// When it was ready.
    pub(crate) ended: Instant,
}

/// The content type of the answer, if the request's is one of DynamoDB's.
pub(crate) fn content_type(headers: Headers<'_>, is_empty: bool) -> Option<&'static str> {
    let value = headers.get(&CONTENT_TYPE).unwrap_or_default();
    let name = value.split(|byte| *byte == b';').next().unwrap_or(value).trim_ascii();
    match name {
        b"application/x-amz-json-1.0" => Some(AMZ_JSON),
        b"application/json" => Some(JSON),
        _ if is_empty => Some(JSON),
        _ => None,
    }
}

/// Lets a request in and gives it to the engine. `sent` is the body as it was sent, `json` the same inflated.
pub(crate) fn ask(
    service: &Service,
    head: &Head<'_>,
    started: Instant,
    content_type: &'static str,
    (sent, json): (&[u8], &[u8]),
    waits: bool,
) -> (Asked, Outcome) {
    let (target, outcome) = match admit(service, head, sent, json) {
        Err(error) => (None, Outcome::Now(Err(error))),
        Ok((target, access)) => (Some(target), service.start(target, access, json, waits)),
    };
    let coding = compression::wanted(head.headers);
    (Asked { started, request_bytes: sent.len(), target, content_type, coding }, outcome)
}

/// Names the operation and verifies the signature.
fn admit(service: &Service, head: &Head<'_>, sent: &[u8], json: &[u8]) -> Result<(Target, Access), ApiError> {
    let admitted = target(head).and_then(|target| {
        let claim = authentication::claim(head)?;
        let access = service.verifier.verify(&claim, head, sent, now)?;
        Ok((target, access))
    });
    match admitted {
        // DynamoDB complains about the text of the body before anything else.
        Err(_) if !json.is_empty() && !is_json(json) => Err(not_json()),
        Ok(_) if json.is_empty() => Err(not_json()),
        admitted => admitted,
    }
}

pub(crate) fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

fn target(head: &Head<'_>) -> Result<Target, ApiError> {
    let header = head.headers.get(&TARGET).unwrap_or_default();
    Target::parse(header).ok_or_else(|| ApiError::new(ErrorKind::UnknownOperation, ""))
}

fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}

fn not_json() -> ApiError {
    ApiError::new(ErrorKind::Serialization, "")
}

/// Appends the JSON of an answer, and counts it.
pub(crate) fn write(
    service: &Service,
    request_id: &RequestId,
    asked: &Asked,
    outcome: Result<Reply, ApiError>,
    out: &mut Vec<u8>,
) -> Written {
    let start = out.len();
    let outcome = outcome.and_then(|reply| {
        let name = asked.target.map_or("unknown", |target| target.name);
        sheltered(name, || {
            if !says_nothing(&reply) {
                reply.write_json(out);
            }
            Ok(())
        })
    });
    if outcome.is_err() {
        out.truncate(start);
    }
    let (error, reply_bytes) = (outcome.err(), out.len() - start);
    let ended = Instant::now();
    let time = ended.saturating_duration_since(asked.started);
    service.metrics.record(asked.target, error.as_ref(), asked.request_bytes, reply_bytes, time);
    log::request(request_id, asked.target, error.as_ref(), time);
    let status = match error {
        None => StatusCode::OK,
        Some(error) => {
            error.write_json(out);
            status_of(&error)
        }
    };
    Written { status, content_type: asked.content_type, coding: asked.coding, ended }
}

/// Whether DynamoDB answers with an empty body, which is not even an empty object.
fn says_nothing(reply: &Reply) -> bool {
    matches!(reply, Reply::TagResource(_) | Reply::UntagResource(_))
}

/// Makes an answer, which begins at `start`, ready to be sent.
pub(crate) async fn finish(written: Written, out: &mut Vec<u8>, start: usize) -> Answered {
    let Written { status, content_type, coding, ended } = written;
    let encoding = compression::compress(coding, out, start).await;
    let crc32 = crc32fast::hash(out.get(start..).unwrap_or_default());
    Answered { status, content_type, encoding, crc32, ended }
}

/// Waits for an answer that comes from another thread.
pub(crate) async fn wait(outcome: Outcome) -> Result<Reply, ApiError> {
    match outcome {
        Outcome::Now(outcome) => outcome,
        Outcome::Later(answer) => answer.await.unwrap_or_else(|_| Err(dropped())),
    }
}

fn dropped() -> ApiError {
    ApiError::internal().because("the engine dropped the request")
}

fn status_of(error: &ApiError) -> StatusCode {
    StatusCode::from_u16(error.kind.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Answers a request whose body could not be read.
pub(crate) fn refuse(error: BodyError, out: &mut Vec<u8>) -> Answered {
    let start = out.len();
    let (status, error) = body_refusal(error);
    error.write_json(out);
    let crc32 = crc32fast::hash(out.get(start..).unwrap_or_default());
    Answered { status, content_type: AMZ_JSON, encoding: None, crc32, ended: Instant::now() }
}

fn body_refusal(error: BodyError) -> (StatusCode, ApiError) {
    let (status, kind, message) = match error {
        BodyError::TooLarge => (
            StatusCode::PAYLOAD_TOO_LARGE,
            ErrorKind::RequestTooLarge,
            "The request is larger than 16777216 bytes",
        ),
        BodyError::TooSlow => {
            (StatusCode::REQUEST_TIMEOUT, ErrorKind::Serialization, "The request did not arrive in time")
        }
        BodyError::NoMemory => (
            StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::ServiceUnavailable,
            "The server is busy with other large requests; try again",
        ),
        BodyError::Broken => (StatusCode::BAD_REQUEST, ErrorKind::Serialization, ""),
        BodyError::NotCompressed => (StatusCode::BAD_REQUEST, ErrorKind::Serialization, ""),
        BodyError::UnknownEncoding => (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorKind::Serialization,
            "The Content-Encoding must be gzip, deflate or identity",
        ),
    };
    (status, ApiError::new(kind, message))
}
