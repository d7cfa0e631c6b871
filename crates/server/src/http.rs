//! One HTTP request that hyper read, and its answer: any request, on any path, in any form. Ordinary requests on HTTP/1.1 do not come here
//! (`connection/plain.rs`); both have their operation run by `operation.rs`, or their page answered by `pages.rs`.

use std::time::Instant;

use bytes::Bytes;
use dynamo::{ApiError, ErrorKind};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, SERVER};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Version};

use crate::body::{self, BodyError};
use crate::connection::Activity;
use crate::head::{Head, Headers};
use crate::limits::HEAD_BYTES_MAX;
use crate::operation::{self, AMZ_JSON, Answered, JSON};
use crate::origin::{self, Stranger};
use crate::request_id::{self, RequestId};
use crate::service::Service;
use crate::{buffers, pages};

/// What hyper sends.
pub(crate) type Answer = Response<Full<Bytes>>;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");
const CRC32: HeaderName = HeaderName::from_static("x-amz-crc32");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Answers a request.
pub(crate) async fn respond(service: &Service, activity: &Activity, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    let request_id = request_id::next();
    let mut answer = match service.door.check(&Head::from(&head)) {
        Err(stranger) => refuse(service, &stranger),
        Ok(origin) => {
            let mut answer = route(service, activity, &request_id, &head, body).await;
            if let Some(origin) = origin.and_then(|origin| HeaderValue::from_bytes(origin).ok()) {
                origin::allow(&head.headers, answer.headers_mut(), origin);
            }
            answer
        }
    };
    answer.headers_mut().insert(REQUEST_ID, request_id.into());
    answer.headers_mut().insert(SERVER, HeaderValue::from_static("Server"));
    answer
}

async fn route(
    service: &Service,
    activity: &Activity,
    request_id: &RequestId,
    head: &Parts,
    body: Incoming,
) -> Answer {
    if head_bytes(head) > HEAD_BYTES_MAX {
        return closing(head.version, plain(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, Bytes::new()));
    }
    if pages::is_for_pages(service, head) {
        return pages::respond(service, activity, head.clone(), body).await;
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
    request_id: &RequestId,
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
    let Some(content_type) = operation::content_type(Headers::Map(&head.headers), body.bytes.is_empty())
    else {
        return not_found();
    };
    let inflated = match body::inflate(&head.headers, &mut body) {
        Ok(inflated) => inflated,
        Err(error) => return refuse_body(service, head, error),
    };
    let json = inflated.as_ref().unwrap_or(&body.bytes);
    let (asked, outcome) =
        operation::ask(service, &Head::from(head), started, content_type, (&body.bytes, json), false);
    let outcome = operation::wait(outcome).await;
    let mut out = buffers::output();
    let written = operation::write(service, request_id, &asked, outcome, &mut out);
    let answered = operation::finish(written, &mut out, 0).await;
    whole(&answered, buffers::freeze(out))
}

fn whole(answered: &Answered, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = answered.status;
    let headers = answer.headers_mut();
    headers.insert(CRC32, HeaderValue::from(answered.crc32));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(answered.content_type));
    if let Some(encoding) = answered.encoding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    answer
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
    let mut body = Vec::new();
    error.write_json(&mut body);
    let mut answer = with_crc(status, body.into());
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(AMZ_JSON));
    answer
}

/// Also closes the connection: what follows on it cannot be trusted to be a request.
pub(crate) fn closing<B>(version: Version, mut answer: Response<B>) -> Response<B> {
    if version < Version::HTTP_2 {
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
    let mut out = buffers::output();
    let answered = operation::refuse(error, &mut out);
    closing(head.version, whole(&answered, buffers::freeze(out)))
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
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    answer
}

fn metrics(service: &Service) -> Answer {
    let text = service.metrics.text(&service.engine, service.more_metrics.as_deref());
    let mut answer = plain(StatusCode::OK, text.into());
    answer.headers_mut().insert(CONTENT_TYPE, TEXT);
    answer
}
