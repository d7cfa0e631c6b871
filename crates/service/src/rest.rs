//! Designs over HTTP: exactly the declared entities, patterns and operations, as JSON.
//!
//! Path of a request: [`Rest::answer`] -> `route` (which design, which thing of it) -> `entity`, `pattern` or `operation` (typed values from path,
//! query and body: `value`, `json`) -> [`Service`] -> the answer as JSON, or a problem as RFC 9457 has it (`problem`).
//!
//! Always true: a request that is refused has changed nothing, and its answer names every problem; a request that means nothing
//! (unknown members, parameters, routes) is refused and not guessed at. What the routes are and why: docs/decisions/0040.

mod body;
mod entity;
mod json;
mod operation;
mod page;
mod pattern;
mod problem;
mod query;
mod route;
mod text;
mod value;

use std::fmt;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};

pub(crate) use entity::{ENTITY_MEMBER, write_entity};
pub(crate) use json::{json_of, write_stored_value, write_text, write_value as write_plain_value};
pub(crate) use route::{identity, is_writable};
pub use text::{answer_json, items_json, value_from_argument, value_json};

use crate::openapi;
use crate::service::Service;
use problem::ProblemDetails;
use route::Route;

/// Answers a caller who repeats a request with the same key: nothing was done again.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Designs over HTTP.
pub struct Rest {
    mounted: Vec<Mounted>,
}

/// A design with what is made once for it.
struct Mounted {
    service: Service,
    openapi: Bytes,
    page: Bytes,
}

impl fmt::Debug for Rest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.mounted.iter().map(|mounted| &mounted.service.design().name);
        formatter.debug_set().entries(names).finish()
    }
}

/// What a handler gives: an answer, or a problem.
type Outcome = Result<Response<Bytes>, ProblemDetails>;

impl Rest {
    /// Serves these designs, each under its name.
    pub fn new(services: Vec<Service>) -> Rest {
        let mount = |service: Service| {
            let openapi = openapi::document(&service).to_string().into();
            let page = page::of_design(&service).into();
            Mounted { service, openapi, page }
        };
        Rest { mounted: services.into_iter().map(mount).collect() }
    }

    /// The designs that are served.
    pub fn services(&self) -> impl Iterator<Item = &Service> {
        self.mounted.iter().map(|mounted| &mounted.service)
    }

    /// Whether a path is one of ours: `/`, and everything under `/v1`.
    pub fn has(path: &str) -> bool {
        path == "/" || path == "/v1" || path.starts_with("/v1/")
    }

    /// Answers a request.
    pub async fn answer(&self, request: Request<Bytes>) -> Response<Bytes> {
        let outcome = match route::find(self, request.uri().path()) {
            Ok(route) => self.dispatch(route, &request).await,
            Err(problem) => Err(problem),
        };
        let mut answer = outcome.unwrap_or_else(ProblemDetails::into_response);
        let headers = answer.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(http::header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        answer
    }

    async fn dispatch(&self, route: Route<'_>, request: &Request<Bytes>) -> Outcome {
        let allowed = route.methods();
        let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
        if method == Method::OPTIONS {
            return Ok(options(&allowed));
        }
        if !allowed.contains(method) {
            return Err(ProblemDetails::wrong_method(request.method(), &allowed));
        }
        match route {
            Route::Index => Ok(page::index(self, request)),
            Route::Page(mounted) => Ok(page::html(page::addressed(&mounted.page, request))),
            Route::OpenApi(mounted) => Ok(json_answer(StatusCode::OK, mounted.openapi.clone())),
            Route::Pattern(service, pattern) => pattern::ask(service, pattern, request).await,
            Route::Operation(service, operation) => operation::operate(service, operation, request).await,
            Route::Entity(place) => entity::handle(&place, method, request).await,
        }
    }
}

/// What may be done here.
fn options(allowed: &[Method]) -> Response<Bytes> {
    let mut answer = Response::new(Bytes::new());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    answer.headers_mut().insert(ALLOW, problem::allow(allowed));
    answer
}

fn json_answer(status: StatusCode, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
