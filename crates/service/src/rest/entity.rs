//! Entities as resources: made with POST, read, changed and deleted at the path of their key.

use bytes::Bytes;
use dynamo::{Item, Number};
use http::header::{ETAG, HeaderValue, IF_NONE_MATCH, LOCATION};
use http::{Method, Request, Response, StatusCode};

use super::problem::ProblemDetails;
use super::route::{EntityPlace, identity};
use super::{Outcome, REPLAYED, body, json, json_answer, query, value};
use crate::answer::{Changes, Entity};
use crate::write::{Done, Left};

/// The member of an answered item that says which entity it is.
pub(crate) const ENTITY_MEMBER: &str = "_entity";

/// Does what a method means for an entity or for one item of it.
pub(crate) async fn handle(place: &EntityPlace<'_>, method: &Method, request: &Request<Bytes>) -> Outcome {
    match *method {
        Method::GET => read(place, request).await,
        Method::POST => create(place, request).await,
        Method::PATCH => change(place, request).await,
        _ => delete(place, request).await,
    }
}

async fn read(place: &EntityPlace<'_>, request: &Request<Bytes>) -> Outcome {
    let consistent = is_consistent(request)?;
    let found = place.service.find(place.entity, &place.key_item(), consistent).await?;
    let found = found.ok_or_else(|| place.not_found())?;
    let tag = found.version().and_then(etag);
    let seen = request.headers().get(IF_NONE_MATCH);
    let mut answer = if tag.is_some() && tag.as_ref() == seen {
        let mut answer = Response::new(Bytes::new());
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
        answer
    } else {
        let mut body = Vec::new();
        found.write_json(&[], &mut body);
        json_answer(StatusCode::OK, body)
    };
    if let Some(tag) = tag {
        answer.headers_mut().insert(ETAG, tag);
    }
    Ok(answer)
}

/// Reads `?consistent=true`, the one parameter there is.
fn is_consistent(request: &Request<Bytes>) -> Result<bool, ProblemDetails> {
    let mut consistent = false;
    let mut problems = Vec::new();
    for (name, text) in query::parameters(request.uri().query())? {
        match (name.as_str(), text.as_str()) {
            ("consistent", "true") => consistent = true,
            ("consistent", "false") => consistent = false,
            ("consistent", _) => problems.push(body::invalid(&name, "is not true or false")),
            _ => problems.push(body::invalid(&name, "is not a parameter here")),
        }
    }
    if problems.is_empty() { Ok(consistent) } else { Err(ProblemDetails::invalid(problems)) }
}

async fn create(place: &EntityPlace<'_>, request: &Request<Bytes>) -> Outcome {
    without_parameters(request)?;
    let (item, _) = body::values(request, |name| place.entity.attribute(name))?;
    let options = body::options(request.headers())?;
    let done = place.service.make(place.name(), item, options).await?;
    let mut answer = place.done(&done, StatusCode::CREATED)?;
    if let Some(location) = place.location(&done) {
        answer.headers_mut().insert(LOCATION, location);
    }
    Ok(answer)
}

async fn change(place: &EntityPlace<'_>, request: &Request<Bytes>) -> Outcome {
    without_parameters(request)?;
    let (set, remove) = body::values(request, |name| place.entity.attribute(name))?;
    let options = body::options(request.headers())?;
    let changes = Changes { set, remove };
    let done = place.service.change(place.name(), place.key_item(), changes, options).await?;
    place.done(&done, StatusCode::OK)
}

async fn delete(place: &EntityPlace<'_>, request: &Request<Bytes>) -> Outcome {
    without_parameters(request)?;
    let options = body::options(request.headers())?;
    let written = place.service.delete(place.name(), place.key_item(), options).await?;
    let mut answer = Response::new(Bytes::new());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    mark_replay(&mut answer, written.repeated);
    Ok(answer)
}

/// Refuses a query string where there are no parameters.
pub(crate) fn without_parameters(request: &Request<Bytes>) -> Result<(), ProblemDetails> {
    let given = query::parameters(request.uri().query())?;
    let problems = given.iter().map(|(name, _)| body::invalid(name, "is not a parameter here"));
    let problems = problems.collect::<Vec<_>>();
    if problems.is_empty() { Ok(()) } else { Err(ProblemDetails::invalid(problems)) }
}

impl EntityPlace<'_> {
    fn name(&self) -> &str {
        &self.entity.name.value
    }

    /// The key of the item at this path.
    fn key_item(&self) -> Item {
        let mut item = Item::new();
        let given = self.key.iter().flatten();
        for (name, text) in identity(self.entity).into_iter().zip(given) {
            let kind = self.entity.type_at(name).unwrap_or(design::Type::Key);
            design::put_at(&mut item, name, value::from_text(&kind, text));
        }
        item
    }

    fn not_found(&self) -> ProblemDetails {
        ProblemDetails::not_found(format!("There is no {} with this key", self.name()))
    }

    /// The item as it is after a write.
    fn done(&self, done: &Done<'_>, status: StatusCode) -> Outcome {
        let left = self.left(done).ok_or_else(|| self.not_found())?;
        let mut body = Vec::new();
        let version = match left {
            Left::Stored(found) => {
                found.write_json(&[], &mut body);
                found.version()
            }
            Left::Told(entity) => {
                write_entity(entity, &mut body);
                entity.version
            }
        };
        let mut answer = json_answer(status, body);
        if let Some(tag) = version.and_then(etag) {
            answer.headers_mut().insert(ETAG, tag);
        }
        mark_replay(&mut answer, done.repeated);
        Ok(answer)
    }

    /// What a write left of the item that it was about.
    fn left<'d, 's>(&self, done: &'d Done<'s>) -> Option<&'d Left<'s>> {
        done.items.iter().find(|left| match left {
            Left::Stored(found) => found.entity.name.value == self.name(),
            Left::Told(entity) => entity.name == self.name(),
        })
    }

    /// Where the item that was made is.
    fn location(&self, done: &Done<'_>) -> Option<HeaderValue> {
        let left = self.left(done)?;
        let mut path = "/v1/".to_owned();
        query::encode_into(&self.service.design().name, &mut path);
        path.push_str("/entities/");
        query::encode_into(self.name(), &mut path);
        for name in identity(self.entity) {
            path.push('/');
            let value = match left {
                Left::Stored(found) => found.at(name)?,
                Left::Told(entity) => design::at(&entity.item, name)?.clone(),
            };
            query::encode_into(&value::to_text(value), &mut path);
        }
        HeaderValue::try_from(path).ok()
    }
}

/// Says whether a write had been done before, with the same idempotency key.
pub(crate) fn mark_replay(answer: &mut Response<Bytes>, is_repeated: bool) {
    if is_repeated {
        answer.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
}

fn etag(version: Number) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("\"{version}\"")).ok()
}

/// Writes an item with the name of its entity.
pub(crate) fn write_entity(entity: &Entity, out: &mut Vec<u8>) {
    out.push(b'{');
    let mut is_first = true;
    let mut member = |name: &str, out: &mut Vec<u8>| {
        if !std::mem::take(&mut is_first) {
            out.push(b',');
        }
        json::write_text(name, out);
        out.push(b':');
    };
    if !entity.item.contains_key(ENTITY_MEMBER) {
        member(ENTITY_MEMBER, out);
        json::write_text(&entity.name, out);
    }
    for (name, value) in &entity.item {
        member(name, out);
        json::write_value(value, out);
    }
    out.push(b'}');
}
