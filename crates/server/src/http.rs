//! One HTTP request and its answer.
//!
//! The order of the checks is DynamoDB's: what is not a POST of JSON; JSON that does not parse; an unknown operation; a missing or
//! incomplete signature; a wrong one; a body of the wrong shape; then the rules of the operation.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use dynamo::{ApiError, ErrorKind};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Version};

use crate::body::{self, BodyError, RequestBody};
use crate::compression;
use crate::connection::Activity;
use crate::credentials::Access;
use crate::date::Moment;
use crate::limits::HEAD_BYTES_MAX;
use crate::origin::{self, Stranger};
use crate::service::{Service, error_json, reply_json};
use crate::target::Target;
use crate::{authentication, log, pages, request_id};

/// What hyper sends.
pub(crate) type Answer = Response<Full<Bytes>>;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");
const CRC32: HeaderName = HeaderName::from_static("x-amz-crc32");
const TARGET: HeaderName = HeaderName::from_static("x-amz-target");
const AMZ_JSON: HeaderValue = HeaderValue::from_static("application/x-amz-json-1.0");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Answers a request.
pub(crate) async fn respond(service: &Service, activity: &Activity, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    let request_id = request_id::next();
    let mut answer = match service.door.check(&head) {
        Err(stranger) => refuse(service, &stranger),
        Ok(origin) => {
            let mut answer = route(service, activity, &request_id, &head, body).await;
            if let Some(origin) = origin {
                origin::allow(&head.headers, answer.headers_mut(), origin);
            }
            answer
        }
    };
    answer.headers_mut().insert(REQUEST_ID, request_id);
    answer
}

async fn route(
    service: &Service,
    activity: &Activity,
    request_id: &HeaderValue,
    head: &Parts,
    body: Incoming,
) -> Answer {
    if head_bytes(head) > HEAD_BYTES_MAX {
        return closing(head, plain(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, Bytes::new()));
    }
    if pages::is_for_pages(service, head) {
        return pages::respond(service, activity, head, body).await;
    }
    match (&head.method, head.uri.path()) {
        (&Method::POST, _) if !service.dynamodb => not_found(),
        (&Method::POST, _) => operation(service, activity, request_id, head, body).await,
        (&Method::GET, "/health") => health(service),
        (&Method::GET, "/metrics") => metrics(service),
        // The space at the end is DynamoDB's.
        (&Method::GET, _) => plain(
            StatusCode::OK,
            format!("healthy: dynamodb.{}.amazonaws.com ", service.verifier.region).into(),
        ),
        (&Method::OPTIONS, _) if head.headers.contains_key(hyper::header::ORIGIN) => Response::default(),
        _ => not_found(),
    }
}

fn head_bytes(head: &Parts) -> usize {
    let headers = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    headers.sum::<usize>() + head.uri.path_and_query().map_or(0, |path| path.as_str().len())
}

/// A POST: reads the body and runs the operation.
async fn operation(
    service: &Service,
    activity: &Activity,
    request_id: &HeaderValue,
    head: &Parts,
    body: Incoming,
) -> Answer {
    let started = Instant::now();
    activity.reads_body();
    let body = body::read(body, &service.budget, service.limits.body).await;
    activity.works();
    let mut body = match body {
        Ok(body) => body,
        Err(error) => return refuse_body(service, head, error),
    };
    let content_type = match content_type(&head.headers) {
        Some(content_type) => content_type,
        None if body.bytes.is_empty() => JSON,
        None => return not_found(),
    };
    let inflated = match body::inflate(&head.headers, &mut body) {
        Ok(inflated) => inflated,
        Err(error) => return refuse_body(service, head, error),
    };
    let json = inflated.as_ref().unwrap_or(&body.bytes);
    let (target, outcome) = match admit(service, head, &body, json) {
        Err(error) => (None, Err(error)),
        Ok((target, access)) => (Some(target), run(service, target, access, json).await),
    };
    let time = started.elapsed();
    let reply_bytes = outcome.as_ref().map_or(0, Bytes::len);
    service.metrics.record(target, outcome.as_ref().err(), body.bytes.len(), reply_bytes, time);
    log::request(request_id, target, outcome.as_ref().err(), time);
    answer(head, content_type, outcome).await
}

/// The content type of the answer, if the request's is one of DynamoDB's.
fn content_type(headers: &HeaderMap) -> Option<HeaderValue> {
    let value = headers.get(CONTENT_TYPE)?.as_bytes();
    let name = value.split(|byte| *byte == b';').next().unwrap_or(value).trim_ascii();
    match name {
        b"application/x-amz-json-1.0" => Some(AMZ_JSON),
        b"application/json" => Some(JSON),
        _ => None,
    }
}

/// Names the operation and verifies the signature.
fn admit(
    service: &Service,
    head: &Parts,
    body: &RequestBody,
    json: &[u8],
) -> Result<(Target, Access), ApiError> {
    let admitted = target(head).and_then(|target| {
        let claim = authentication::claim(head)?;
        let access = service.verifier.verify(&claim, head, &body.bytes, now())?;
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

fn target(head: &Parts) -> Result<Target, ApiError> {
    let header = head.headers.get(TARGET).map_or(&b""[..], HeaderValue::as_bytes);
    Target::parse(header).ok_or_else(|| ApiError::new(ErrorKind::UnknownOperation, ""))
}

fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}

fn not_json() -> ApiError {
    ApiError::new(ErrorKind::Serialization, "")
}

async fn run(service: &Service, target: Target, access: Access, json: &[u8]) -> Result<Bytes, ApiError> {
    let reply = service.run(target, access, json).await?;
    reply_json(target, &reply)
}

/// The answer of an operation.
async fn answer(head: &Parts, content_type: HeaderValue, outcome: Result<Bytes, ApiError>) -> Answer {
    let (status, body) = match outcome {
        Ok(json) => (StatusCode::OK, json),
        Err(error) => (status_of(&error), error_json(&error)),
    };
    let (body, encoding) = compression::compress(&head.headers, body).await;
    let mut answer = with_crc(status, body);
    answer.headers_mut().insert(CONTENT_TYPE, content_type);
    if let Some(encoding) = encoding {
        answer.headers_mut().insert(hyper::header::CONTENT_ENCODING, encoding);
    }
    answer
}

fn status_of(error: &ApiError) -> StatusCode {
    StatusCode::from_u16(error.kind.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// An answer with its checksum, over the bytes as they are sent.
fn with_crc(status: StatusCode, body: Bytes) -> Answer {
    let crc = HeaderValue::from(crc32fast::hash(&body));
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CRC32, crc);
    answer
}

fn plain(status: StatusCode, body: Bytes) -> Answer {
    with_crc(status, body)
}

fn not_found() -> Answer {
    plain(StatusCode::NOT_FOUND, Bytes::from_static(b"<UnknownOperationException/>\n"))
}

fn error_answer(status: StatusCode, error: &ApiError) -> Answer {
    let mut answer = with_crc(status, error_json(error));
    answer.headers_mut().insert(CONTENT_TYPE, AMZ_JSON);
    answer
}

/// Also closes the connection: what follows on it cannot be trusted to be a request.
pub(crate) fn closing(head: &Parts, mut answer: Answer) -> Answer {
    if head.version < Version::HTTP_2 {
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}

fn refuse(service: &Service, stranger: &Stranger) -> Answer {
    service.metrics.refused();
    let error = ApiError::new(ErrorKind::AccessDenied, stranger.message());
    let status = if *stranger == Stranger::NoHost { StatusCode::BAD_REQUEST } else { StatusCode::FORBIDDEN };
    error_answer(status, &error)
}

fn refuse_body(service: &Service, head: &Parts, error: BodyError) -> Answer {
    service.metrics.refused();
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
    closing(head, error_answer(status, &ApiError::new(kind, message)))
}

fn health(service: &Service) -> Answer {
    let failure = service.engine.failure();
    let (status, body) = match &failure {
        None => (StatusCode::OK, serde_json::json!({ "status": "ok" })),
        Some(reason) => (
            StatusCode::SERVICE_UNAVAILABLE,
            serde_json::json!({ "status": "refusing writes", "reason": reason }),
        ),
    };
    let mut answer = plain(status, body.to_string().into());
    answer.headers_mut().insert(CONTENT_TYPE, JSON);
    answer
}

fn metrics(service: &Service) -> Answer {
    let text = service.metrics.text(&service.engine, service.more_metrics.as_deref());
    let mut answer = plain(StatusCode::OK, text.into());
    answer.headers_mut().insert(CONTENT_TYPE, TEXT);
    answer
}
