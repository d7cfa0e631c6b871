//! Whether what was read is an ordinary request.
//!
//! Always true: where a request ends is beyond doubt. It has exactly one Content-Length of digits only and nothing else that says how
//! long it is; everything else is for hyper, which refuses what two servers could read in two ways.

use std::mem::MaybeUninit;
use std::time::Instant;

use bytes::Bytes;
use dynamo::{ApiError, Reply};
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Uri};
use tokio::sync::oneshot;

use super::super::is_alone;
use super::super::registry::Activity;
use super::Answer;
use crate::head::{Head, Headers};
use crate::limits::{HEAD_BYTES_MAX, SMALL_BODY_BYTES};
use crate::operation::{self, Asked};
use crate::pages;
use crate::service::{Outcome, Service};

/// No SDK sends as many headers.
const HEADERS_MAX: usize = 48;

/// What was read.
pub(super) enum Look {
    /// Perhaps an ordinary request: its head is not whole.
    Partial,
    /// The head of an ordinary request that takes so many bytes with its body.
    Head { total: usize, kind: Kind },
    /// A request of so many bytes, and its answer.
    Answered { answer: Answer, total: usize },
    /// A request of so many bytes that the engine answers later.
    Asked { asked: Asked, answer: Later, total: usize },
    /// A request of so many bytes that the pages answer.
    Page { head: Box<Parts>, body: Bytes, total: usize },
    /// Something else.
    Other,
}

/// What an ordinary request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An operation of DynamoDB.
    Operation,
    /// A page.
    Page,
}

/// Where the answer to a write comes from.
type Later = oneshot::Receiver<Result<Reply, ApiError>>;

/// Looks at what was read; a whole request is carried out on the spot, or given to the engine.
pub(super) fn look(bytes: &[u8], service: &Service, activity: &Activity) -> Look {
    if bytes.is_empty() {
        return Look::Partial;
    }
    let mut room = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut []);
    let head_bytes = match request.parse_with_uninit_headers(bytes, &mut room) {
        Ok(httparse::Status::Complete(head_bytes)) if head_bytes <= HEAD_BYTES_MAX => head_bytes,
        Ok(httparse::Status::Partial) if bytes.len() <= HEAD_BYTES_MAX => return Look::Partial,
        _ => return Look::Other,
    };
    let Some((method, kind)) = kind(&request, service) else { return Look::Other };
    let Some(body_bytes) = body_bytes(request.headers, kind) else { return Look::Other };
    let total = head_bytes + body_bytes;
    let Some(body) = bytes.get(head_bytes..total) else { return Look::Head { total, kind } };
    let target = request.path.unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let head =
        Head { method: &method, path, query, authority: None, headers: Headers::List(request.headers) };
    let look = match kind {
        Kind::Operation => carry_out(&head, body, total, service, activity),
        Kind::Page => page(&head, target, body, total, service, activity),
    };
    look.unwrap_or(Look::Other)
}

/// The method of a request and what it is for. `None` for what this road does not take.
fn kind(request: &httparse::Request<'_, '_>, service: &Service) -> Option<(Method, Kind)> {
    let (method, target) = (request.method?, request.path?);
    if request.version != Some(1) {
        return None;
    }
    if target == "/" {
        return (method == "POST" && service.dynamodb).then_some((Method::POST, Kind::Operation));
    }
    let method = match method {
        "GET" => Method::GET,
        "POST" => Method::POST,
        "PATCH" => Method::PATCH,
        "DELETE" => Method::DELETE,
        _ => return None,
    };
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    (path.starts_with('/') && path != "/" && pages::has(service, path)).then_some((method, Kind::Page))
}

/// Makes a request for a page of what was read. `None` for a stranger, and for what is no request.
fn page(
    head: &Head<'_>,
    target: &str,
    body: &[u8],
    total: usize,
    service: &Service,
    activity: &Activity,
) -> Option<Look> {
    if service.door.check(head) != Ok(None) {
        return None;
    }
    let Headers::List(headers) = head.headers else { return None };
    let mut parts = Request::new(()).into_parts().0;
    parts.method = head.method.clone();
    parts.uri = Uri::try_from(target).ok()?;
    parts.headers.reserve(headers.len());
    for header in headers {
        let name = HeaderName::from_bytes(header.name.as_bytes()).ok()?;
        parts.headers.append(name, HeaderValue::from_bytes(header.value).ok()?);
    }
    activity.works();
    Some(Look::Page { head: Box::new(parts), body: Bytes::copy_from_slice(body), total })
}

/// Has the engine carry out a request. `None` for what is answered in another way: a stranger, another content type.
fn carry_out(
    head: &Head<'_>,
    body: &[u8],
    total: usize,
    service: &Service,
    activity: &Activity,
) -> Option<Look> {
    let started = Instant::now();
    if service.door.check(head) != Ok(None) {
        return None;
    }
    let content_type = operation::content_type(head.headers, body.is_empty())?;
    activity.works();
    // On this road a connection has one request at a time: the only one of its thread keeps nobody waiting.
    let waits = is_alone();
    Some(match operation::ask(service, head, started, content_type, (body, body), waits) {
        (asked, Outcome::Now(outcome)) => {
            Look::Answered { answer: Answer::new(service, &asked, outcome), total }
        }
        (asked, Outcome::Later(answer)) => Look::Asked { asked, answer, total },
    })
}

/// How long the body is, if the headers leave no doubt and ask for nothing out of the ordinary.
///
/// Without a length there is no body; every SDK says so all the same.
fn body_bytes(headers: &[httparse::Header<'_>], kind: Kind) -> Option<usize> {
    let mut length = None;
    for header in headers {
        match Meaning::of(header.name) {
            Meaning::ContentLength if length.is_none() => length = Some(digits(header.value)?),
            Meaning::Connection if header.value.eq_ignore_ascii_case(b"keep-alive") => {}
            Meaning::None => {}
            Meaning::ContentLength | Meaning::Connection | Meaning::Extraordinary => return None,
        }
    }
    match (length, kind) {
        (None, Kind::Page) => Some(0),
        _ => length.filter(|length| *length <= SMALL_BODY_BYTES),
    }
}

/// What a header means for the road.
enum Meaning {
    ContentLength,
    Connection,
    /// It asks for something that only hyper does.
    Extraordinary,
    None,
}

impl Meaning {
    fn of(name: &str) -> Meaning {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        match name.len() {
            14 if is("content-length") => Meaning::ContentLength,
            10 if is("connection") => Meaning::Connection,
            17 if is("transfer-encoding") => Meaning::Extraordinary,
            16 if is("content-encoding") => Meaning::Extraordinary,
            7 if is("upgrade") => Meaning::Extraordinary,
            6 if is("expect") || is("origin") => Meaning::Extraordinary,
            _ => Meaning::None,
        }
    }
}

/// A number of few digits and nothing else.
fn digits(value: &[u8]) -> Option<usize> {
    let is_number = (1..=7).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    is_number.then(|| value.iter().fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length_for(kind: Kind, headers: &[(&str, &str)]) -> Option<usize> {
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| httparse::Header { name, value: value.as_bytes() }).collect();
        body_bytes(&headers, kind)
    }

    fn length_of(headers: &[(&str, &str)]) -> Option<usize> {
        let length = length_for(Kind::Operation, headers);
        if !headers.is_empty() {
            assert_eq!(length_for(Kind::Page, headers), length, "{headers:?}");
        }
        length
    }

    #[test]
    fn a_page_may_be_asked_for_without_a_body() {
        assert_eq!(length_for(Kind::Page, &[]), Some(0));
        assert_eq!(length_for(Kind::Page, &[("transfer-encoding", "chunked")]), None);
    }

    #[test]
    fn one_length_of_digits_leaves_no_doubt() {
        assert_eq!(length_of(&[("Content-Length", "0")]), Some(0));
        assert_eq!(length_of(&[("Host", "a"), ("CONTENT-LENGTH", "65536")]), Some(65_536));
        assert_eq!(length_of(&[("content-length", "007"), ("connection", "Keep-Alive")]), Some(7));
    }

    #[test]
    fn every_other_length_is_for_hyper() {
        for value in ["", "+1", "-1", "1 ", "1,1", "0x1", "65537", "99999999999999999999", "1.0", "\u{663}"] {
            assert_eq!(length_of(&[("content-length", value)]), None, "{value}");
        }
        assert_eq!(length_of(&[]), None);
        assert_eq!(length_of(&[("content-length", "1"), ("content-length", "1")]), None);
    }

    #[test]
    fn what_asks_for_more_is_for_hyper() {
        for (name, value) in [
            ("Transfer-Encoding", "chunked"),
            ("transfer-encoding", ""),
            ("Expect", "100-continue"),
            ("Upgrade", "h2c"),
            ("Connection", "close"),
            ("Connection", "keep-alive, upgrade"),
            ("Origin", "null"),
            ("Content-Encoding", "gzip"),
        ] {
            assert_eq!(length_of(&[("content-length", "1"), (name, value)]), None, "{name}: {value}");
        }
    }
}
