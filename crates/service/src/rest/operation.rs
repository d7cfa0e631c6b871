//! Operations: carried out with POST, inputs in the body.

use bytes::Bytes;
use design::Operation;
use http::{Request, StatusCode};

use super::entity::{mark_replay, without_parameters, write_entity};
use super::{Outcome, body, json, json_answer};
use crate::answer::Entity;
use crate::service::Service;

/// What was made and changed.
pub(crate) fn items_bytes(items: &[Entity]) -> Vec<u8> {
    let mut out = b"{\"items\":".to_vec();
    json::write_list(items, &mut out, write_entity);
    out.push(b'}');
    out
}

/// Carries out an operation and answers what it made and changed.
pub(crate) async fn operate(service: &Service, operation: &Operation, request: &Request<Bytes>) -> Outcome {
    without_parameters(request)?;
    let inputs = || operation.inputs.iter().map(|input| &input.attribute);
    let (input, _) = body::values(request, |name| inputs().find(|attribute| attribute.name.value == name))?;
    let options = body::options(request.headers())?;
    let written = service.operate(&operation.name.value, input, options).await?;
    let mut answer = json_answer(StatusCode::OK, items_bytes(&written.items));
    mark_replay(&mut answer, written.repeated);
    Ok(answer)
}
