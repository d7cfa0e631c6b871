//! Pages for people: what a design offers, with a request to try for each thing; and the list of designs.
//!
//! Always true: a page is whole in itself (no scripts, nothing from elsewhere), and every text of a design in it is escaped.

use std::fmt::Write as _;

use bytes::Bytes;
use design::{Attribute, Entity, Operation, Pattern};
use http::header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue};
use http::{Request, Response, StatusCode};
use serde_json::json;

use super::route::{identity, is_writable};
use super::{Rest, json_answer, query};
use crate::openapi;
use crate::service::Service;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}\
h1{margin-bottom:0}h2{margin-top:2.5rem;border-bottom:1px solid #8886}h3{margin-bottom:.2rem}\
code,pre{font:14px/1.45 ui-monospace,monospace}\
pre{background:#8882;padding:.6rem .8rem;border-radius:.4rem;overflow-x:auto}\
table{border-collapse:collapse;width:100%;margin:.5rem 0}td,th{text-align:left;padding:.15rem .8rem .15rem 0;vertical-align:top}\
th{font-weight:600;opacity:.7}.method{display:inline-block;min-width:4.5rem;font-weight:600}\
nav a{margin-right:1rem}";

/// A page as it is sent.
pub(crate) fn html(page: Bytes) -> Response<Bytes> {
    let mut answer = Response::new(page);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
    );
    answer
}

/// The designs that are served: a page for browsers, JSON for everybody else.
pub(crate) fn index(rest: &Rest, request: &Request<Bytes>) -> Response<Bytes> {
    let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.contains("text/html") { html(index_html(rest).into()) } else { index_json(rest) }
}

fn index_json(rest: &Rest) -> Response<Bytes> {
    let designs = rest.services().map(|service| {
        let name = &service.design().name;
        let path = format!("/v1/{}", query::encode(name));
        json!({ "name": name, "about": service.design().about, "documentation": path, "openapi": format!("{path}/openapi.json") })
    });
    json_answer(StatusCode::OK, json!({ "designs": designs.collect::<Vec<_>>() }).to_string())
}

fn index_html(rest: &Rest) -> String {
    let mut body = String::from("<h1>Monotable</h1><p>The designs that are served here.</p><table>");
    for service in rest.services() {
        let design = service.design();
        let path = query::encode(&design.name);
        let _ = write!(
            body,
            "<tr><td><a href=\"/v1/{path}\">{}</a><td>{}<td><a href=\"/v1/{path}/openapi.json\">OpenAPI</a>",
            escaped(&design.name),
            escaped(&design.about)
        );
    }
    body.push_str("</table>");
    whole("Monotable", &body)
}

/// The documentation of a design.
pub(crate) fn of_design(service: &Service) -> String {
    let design = service.design();
    let name = escaped(&design.name);
    let path = query::encode(&design.name);
    let mut body = format!(
        "<nav><a href=\"/\">all designs</a> <a href=\"#patterns\">patterns</a> <a href=\"#operations\">operations</a> \
         <a href=\"#entities\">entities</a> <a href=\"/v1/{path}/openapi.json\">OpenAPI</a></nav><h1>{name}</h1><p>{}</p>",
        escaped(&design.about)
    );
    body.push_str("<h2 id=\"patterns\">Patterns: what may be asked</h2>");
    for pattern in &design.patterns {
        add_pattern(&mut body, service, pattern);
    }
    body.push_str("<h2 id=\"operations\">Operations: what may be done</h2>");
    for operation in &design.operations {
        add_operation(&mut body, service, operation);
    }
    body.push_str("<h2 id=\"entities\">Entities: what is kept</h2>");
    for entity in &design.entities {
        add_entity(&mut body, service, entity);
    }
    whole(&name, &body)
}

fn whole(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style>{body}</html>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A heading, a path and words about it.
fn add_head(body: &mut String, name: &str, about: &str, routes: &[(&str, String)]) {
    let _ = write!(body, "<h3 id=\"{0}\">{0}</h3>", escaped(name));
    for (method, path) in routes {
        let _ =
            write!(body, "<div><span class=\"method\">{method}</span><code>{}</code></div>", escaped(path));
    }
    if !about.is_empty() {
        let _ = write!(body, "<p>{}</p>", escaped(about));
    }
}

fn add_rows(body: &mut String, rows: impl Iterator<Item = (String, String, String)>) {
    let rows = rows.collect::<Vec<_>>();
    if rows.is_empty() {
        return;
    }
    body.push_str("<table>");
    for (name, kind, words) in rows {
        let _ = write!(
            body,
            "<tr><td><code>{}</code><td>{}<td>{}",
            escaped(&name),
            escaped(&kind),
            escaped(&words)
        );
    }
    body.push_str("</table>");
}

fn add_example(body: &mut String, command: &str) {
    let _ = write!(body, "<pre>{}</pre>", escaped(command));
}

fn add_pattern(body: &mut String, service: &Service, pattern: &Pattern) {
    let design = service.design();
    let name = &pattern.name.value;
    let path = format!("/v1/{}/patterns/{name}", query::encode(&design.name));
    add_head(body, name, &pattern.about, &[("GET", path.clone())]);
    let parameters = design::parameters(design, name);
    let rows = parameters.iter().map(|parameter| {
        let words = if parameter.optional { "may be left out" } else { "" };
        (parameter.name.clone(), parameter.kind.name(), words.to_owned())
    });
    let limits = service.limits(name).filter(|_| openapi::is_paged(pattern));
    let limit = limits.map(|limits| {
        (
            "limit, cursor".to_owned(),
            "paging".to_owned(),
            format!("{} items in a page, at most {}", limits.default, limits.max),
        )
    });
    add_rows(body, rows.chain(limit));
    let given = parameters.iter().filter_map(|parameter| {
        let text = openapi::parameter_text(design, pattern, &parameter.name)?;
        Some(format!("{}={}", query::encode(&parameter.name), query::encode(&text)))
    });
    let given = given.collect::<Vec<_>>().join("&");
    add_example(body, &format!("curl '{BASE}{path}?{given}'"));
}

/// Where the examples go until it is known where the page is read.
const BASE: &str = "http://127.0.0.1:8000";

/// A page whose examples go to where it was asked for.
pub(crate) fn addressed(page: &Bytes, request: &Request<Bytes>) -> Bytes {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let is_plain =
        |host: &&str| host.chars().all(|char| char.is_ascii_alphanumeric() || ".:-[]".contains(char));
    match (host.filter(is_plain), std::str::from_utf8(page)) {
        (Some(host), Ok(text)) => text.replace(BASE, &format!("http://{host}")).into(),
        _ => page.clone(),
    }
}

fn add_operation(body: &mut String, service: &Service, operation: &Operation) {
    let design = service.design();
    let name = &operation.name.value;
    let path = format!("/v1/{}/operations/{name}", query::encode(&design.name));
    add_head(body, name, &operation.about, &[("POST", path.clone())]);
    add_rows(body, operation.inputs.iter().map(|input| attribute_row(&input.attribute)));
    if let Some(example) = openapi::operation_body(design, operation) {
        add_example(body, &post(&path, &example));
    }
}

fn post(path: &str, json: &serde_json::Value) -> String {
    let json = json.to_string().replace('\'', "'\\''");
    format!("curl '{BASE}{path}' -H 'content-type: application/json' \\\n  -d '{json}'")
}

fn attribute_row(attribute: &Attribute) -> (String, String, String) {
    let mut words = Vec::new();
    if attribute.optional {
        words.push("may be absent".to_owned());
    }
    if attribute.kind.is_generated() {
        words.push("made when absent".to_owned());
    }
    if attribute.default.is_some() {
        words.push("has a default".to_owned());
    }
    if let Some(from) = &attribute.from {
        words.push(format!("follows from {}", from.source.value));
    }
    if attribute.secret {
        words.push("never answered".to_owned());
    }
    if !attribute.about.is_empty() {
        words.push(attribute.about.clone());
    }
    (attribute.name.value.clone(), attribute.kind.name(), words.join("; "))
}

fn add_entity(body: &mut String, service: &Service, entity: &Entity) {
    let design = service.design();
    let name = &entity.name.value;
    let base = format!("/v1/{}/entities/{name}", query::encode(&design.name));
    let item = identity(entity).iter().fold(base.clone(), |path, part| format!("{path}/{{{part}}}"));
    let mut routes = vec![("GET", item.clone())];
    if is_writable(entity) {
        routes.extend([("POST", base.clone()), ("PATCH", item.clone()), ("DELETE", item)]);
    }
    let follows =
        entity.copy.as_ref().map(|copy| format!("A copy of {}: it follows by itself.", copy.source.value));
    let about = [entity.about.clone(), follows.unwrap_or_default()].join(" ");
    add_head(body, name, about.trim(), &routes);
    add_rows(body, entity.attributes.iter().map(attribute_row));
    if let Some(example) = openapi::create_body(design, entity).filter(|_| is_writable(entity)) {
        add_example(body, &post(&base, &example));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_go_to_where_the_page_was_asked_for() {
        let page = Bytes::from(format!("curl '{BASE}/v1'"));
        let asked = |host: &str| {
            let request = Request::builder().header(HOST, host).body(Bytes::new()).unwrap();
            addressed(&page, &request)
        };
        assert_eq!(asked("db.internal:9000"), "curl 'http://db.internal:9000/v1'");
        assert_eq!(asked("<b>"), page);
    }
}
