//! Operations: carried out with POST, inputs in the body.

use bytes::Bytes;
use design::Operation;
use http::{Request, StatusCode};

use super::entity::{mark_replay, without_parameters, write_entity};
use super::{Outcome, body, json, json_answer};
use crate::service::Service;
use crate::write::Left;

/// What was made and changed.
pub(crate) fn items_bytes<T>(items: &[T], write: impl Fn(&T, &mut Vec<u8>)) -> Vec<u8> {
    let mut out = b"{\"items\":".to_vec();
    json::write_list(items, &mut out, write);
    out.push(b'}');
    out
}

fn write_left(left: &Left<'_>, out: &mut Vec<u8>) {
    match left {
        Left::Stored(found) => found.write_json(&[], out),
        Left::Told(entity) => write_entity(entity, out),
    }
}

/// Carries out an operation and answers what it made and changed.
pub(crate) async fn operate(service: &Service, operation: &Operation, request: &Request<Bytes>) -> Outcome {
    without_parameters(request)?;
    let inputs = || operation.inputs.iter().map(|input| &input.attribute);
    let (input, _) = body::values(request, |name| inputs().find(|attribute| attribute.name.value == name))?;
    let options = body::options(request.headers())?;
    let done = service.carry_out(&operation.name.value, input, options).await?;
    let mut answer = json_answer(StatusCode::OK, items_bytes(&done.items, write_left));
    mark_replay(&mut answer, done.repeated);
    Ok(answer)
}
