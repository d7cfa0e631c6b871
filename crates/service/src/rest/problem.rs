//! Problems as RFC 9457 has them: what kind, in one sentence, and everything that is wrong, each with its name.

use bytes::Bytes;
use design::Problem;
use dynamo::{ApiError, ErrorKind};
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Method, Response, StatusCode};
use serde_json::json;

use crate::refusal::Refusal;

/// A problem on its way to the caller.
#[derive(Debug)]
pub(crate) struct ProblemDetails {
    status: StatusCode,
    /// The last part of its type; callers tell problems apart by it.
    kind: &'static str,
    title: &'static str,
    detail: String,
    errors: Vec<Problem>,
    allow: Option<Box<HeaderValue>>,
}

impl ProblemDetails {
    fn new(
        status: StatusCode,
        kind: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> ProblemDetails {
        ProblemDetails { status, kind, title, detail: detail.into(), errors: Vec::new(), allow: None }
    }

    /// The request itself cannot be read.
    pub(crate) fn bad_request(detail: impl Into<String>) -> ProblemDetails {
        ProblemDetails::new(StatusCode::BAD_REQUEST, "bad-request", "The request cannot be read", detail)
    }

    /// Values are missing, unknown or not what they must be.
    pub(crate) fn invalid(errors: Vec<Problem>) -> ProblemDetails {
        let words = errors.iter().map(|problem| format!("{} {}", problem.name, problem.message));
        let detail = words.collect::<Vec<_>>().join("; ");
        let new = ProblemDetails::new(
            StatusCode::BAD_REQUEST,
            "invalid",
            "Some values are not what they must be",
            detail,
        );
        ProblemDetails { errors, ..new }
    }

    /// There is nothing at this path.
    pub(crate) fn no_route(detail: impl Into<String>) -> ProblemDetails {
        ProblemDetails::new(StatusCode::NOT_FOUND, "no-such-route", "There is nothing here", detail)
    }

    /// The item is not there.
    pub(crate) fn not_found(detail: impl Into<String>) -> ProblemDetails {
        ProblemDetails::new(StatusCode::NOT_FOUND, "not-found", "There is no such item", detail)
    }

    /// There is something, but not for this method.
    pub(crate) fn wrong_method(method: &Method, allowed: &[Method]) -> ProblemDetails {
        let names = allowed.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
        let detail = format!("{method} means nothing here; use one of {names}");
        let new = ProblemDetails::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "wrong-method",
            "Not with this method",
            detail,
        );
        ProblemDetails { allow: Some(Box::new(allow(allowed))), ..new }
    }

    pub(crate) fn too_large(most: usize) -> ProblemDetails {
        let detail = format!("The body has more than {most} bytes");
        ProblemDetails::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "The body is too large", detail)
    }

    pub(crate) fn wrong_content_type(found: &str) -> ProblemDetails {
        let detail = match found {
            "" => "The body has no Content-Type; send application/json".to_owned(),
            found => format!("The body is {found}; send application/json"),
        };
        ProblemDetails::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "wrong-content-type",
            "The body is not JSON",
            detail,
        )
    }

    /// As it is sent.
    pub(crate) fn into_response(self) -> Response<Bytes> {
        let mut body = json!({
            "type": format!("urn:monotable:problem:{}", self.kind),
            "title": self.title,
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        if let (false, Some(members)) = (self.errors.is_empty(), body.as_object_mut()) {
            let errors =
                self.errors.iter().map(|error| json!({ "name": error.name, "message": error.message }));
            members.insert("errors".to_owned(), errors.collect());
        }
        let mut answer = Response::new(Bytes::from(body.to_string()));
        *answer.status_mut() = self.status;
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Some(allow) = self.allow {
            headers.insert(ALLOW, *allow);
        }
        answer
    }
}

/// Methods as a header lists them. Where GET is, so is HEAD.
pub(crate) fn allow(methods: &[Method]) -> HeaderValue {
    let mut names = methods.iter().map(Method::as_str).collect::<Vec<_>>();
    if methods.contains(&Method::GET) {
        names.push("HEAD");
    }
    names.push("OPTIONS");
    HeaderValue::from_str(&names.join(", ")).unwrap_or_else(|_| HeaderValue::from_static(""))
}

impl From<Refusal> for ProblemDetails {
    fn from(refusal: Refusal) -> ProblemDetails {
        use StatusCode as S;
        let detail = refusal.to_string();
        match refusal {
            Refusal::Invalid(problems) => ProblemDetails::invalid(problems),
            Refusal::NotFound { .. } => ProblemDetails::not_found(detail),
            Refusal::Exists { .. } => {
                ProblemDetails::new(S::CONFLICT, "exists", "The item is there already", detail)
            }
            Refusal::Taken { attributes, .. } => {
                let new = ProblemDetails::new(S::CONFLICT, "taken", "Another item has this value", detail);
                let taken = |name| Problem {
                    kind: design::ProblemKind::Exists,
                    name,
                    message: "is taken".to_owned(),
                };
                ProblemDetails { errors: attributes.into_iter().map(taken).collect(), ..new }
            }
            Refusal::Condition { .. } => {
                ProblemDetails::new(S::CONFLICT, "condition", "A condition does not hold", detail)
            }
            Refusal::VersionMismatch { .. } => {
                ProblemDetails::new(S::PRECONDITION_FAILED, "changed", "The item has changed", detail)
            }
            Refusal::KeyReused => ProblemDetails::new(
                S::UNPROCESSABLE_ENTITY,
                "key-reused",
                "The idempotency key was used",
                detail,
            ),
            Refusal::Cursor => {
                ProblemDetails::new(S::BAD_REQUEST, "cursor", "The cursor is not one of ours", detail)
            }
            Refusal::Busy => {
                ProblemDetails::new(S::SERVICE_UNAVAILABLE, "busy", "Too many writes at once", detail)
            }
            // The words say how much was done; sent again with the same idempotency key, it goes on from there.
            Refusal::Partly { because, .. } => ProblemDetails { detail, ..ProblemDetails::from(*because) },
            Refusal::Backend(error) => of_backend(&error),
            other => internal(&other.to_string()),
        }
    }
}

/// What the database said. What a caller's values made it refuse is the caller's to know; the rest stands in the log.
fn of_backend(error: &ApiError) -> ProblemDetails {
    match error.kind {
        ErrorKind::Validation | ErrorKind::ItemCollectionSizeLimitExceeded => ProblemDetails::new(
            StatusCode::BAD_REQUEST,
            "refused",
            "The database refuses it",
            error.message.clone(),
        ),
        ErrorKind::ProvisionedThroughputExceeded
        | ErrorKind::ServiceUnavailable
        | ErrorKind::LimitExceeded
        | ErrorKind::TransactionConflict
        | ErrorKind::TransactionInProgress => {
            let detail = "The database is busy; try again";
            ProblemDetails::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "The database is busy", detail)
        }
        _ => internal(&error.to_string()),
    }
}

fn internal(reason: &str) -> ProblemDetails {
    tracing::error!(reason, "a request failed");
    let detail = "Something went wrong in the server; its log says more";
    ProblemDetails::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "Internal error", detail)
}
