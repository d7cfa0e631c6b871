//! Bodies and headers of requests that write.

use bytes::Bytes;
use design::{Attribute, Problem, ProblemKind, Type};
use dynamo::{Item, Number};
use http::Request;
use http::header::{CONTENT_TYPE, HeaderMap, IF_MATCH};
use jiter::Peek;

use super::problem::ProblemDetails;
use super::{json, value};
use crate::answer::WriteOptions;

/// What one transaction of DynamoDB can hold. A larger body could not be written anyway.
const BODY_BYTES_MAX: usize = 4 << 20;
/// The longest idempotency key.
const KEY_BYTES_MAX: usize = 255;

/// The members of the object that a body is, as values of attributes; an empty body is an empty object. Null is absent; the names of those
/// are returned beside the values.
pub(crate) fn values<'a>(
    request: &Request<Bytes>,
    attribute: impl Fn(&str) -> Option<&'a Attribute>,
) -> Result<(Item, Vec<String>), ProblemDetails> {
    let body = request.body();
    if body.len() > BODY_BYTES_MAX {
        return Err(ProblemDetails::too_large(BODY_BYTES_MAX));
    }
    if body.is_empty() {
        return Ok((Item::new(), Vec::new()));
    }
    check_content_type(request.headers())?;
    let mut problems = Vec::new();
    let found = json::read(body, |jiter| {
        if jiter.peek()? != Peek::Object {
            // Whether it is JSON at all is told first.
            let peek = jiter.peek()?;
            value::read(&Type::Any, jiter, peek, 0, &mut |_| {})?;
            return Ok(None);
        }
        let members = value::members(
            jiter,
            |_, peek| peek == Peek::Null,
            |name, jiter, peek| {
                let kind = attribute(name).map_or(&Type::Any, |attribute| &attribute.kind);
                value::read(kind, jiter, peek, 1, &mut |message| problems.push(invalid(name, message)))
            },
        );
        members.map(Some)
    });
    match found {
        Err(reason) => Err(ProblemDetails::bad_request(format!("The body is not JSON: {reason}"))),
        Ok(None) => Err(ProblemDetails::bad_request("The body is not a JSON object")),
        Ok(Some(_)) if !problems.is_empty() => Err(ProblemDetails::invalid(problems)),
        Ok(Some(members)) => Ok(members),
    }
}

fn check_content_type(headers: &HeaderMap) -> Result<(), ProblemDetails> {
    let found = headers.get(CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
    let name = found.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    if name.eq_ignore_ascii_case(b"application/json") {
        return Ok(());
    }
    Err(ProblemDetails::wrong_content_type(&String::from_utf8_lossy(name)))
}

/// A value that is not what it must be.
pub(crate) fn invalid(name: &str, message: impl Into<String>) -> Problem {
    Problem { kind: ProblemKind::Invalid, name: name.to_owned(), message: message.into() }
}

/// What the headers say about a write.
pub(crate) fn options(headers: &HeaderMap) -> Result<WriteOptions, ProblemDetails> {
    Ok(WriteOptions {
        idempotency_key: idempotency_key(headers)?,
        expected_version: expected_version(headers)?,
    })
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ProblemDetails> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let key = value.to_str().ok().map(str::trim);
    match key.filter(|key| !key.is_empty() && key.len() <= KEY_BYTES_MAX) {
        Some(key) => Ok(Some(key.to_owned())),
        None => {
            let message = format!("is not 1 to {KEY_BYTES_MAX} visible ASCII characters");
            Err(ProblemDetails::invalid(vec![invalid("Idempotency-Key", message)]))
        }
    }
}

/// The version in If-Match, as ETag gave it: `"3"`. `*` matches any.
fn expected_version(headers: &HeaderMap) -> Result<Option<Number>, ProblemDetails> {
    let Some(value) = headers.get(IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let version = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    match version.and_then(|version| version.parse::<i64>().ok()) {
        Some(version) => Ok(Some(Number::from(version))),
        None => {
            let message = "is not a version as ETag gives it, such as \"3\"";
            Err(ProblemDetails::invalid(vec![invalid("If-Match", message)]))
        }
    }
}
