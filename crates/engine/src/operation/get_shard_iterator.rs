//! GetShardIterator.

use dynamo::operation::{GetShardIterator, GetShardIteratorReply, ShardIteratorType};
use dynamo::{ApiError, Choice, ErrorKind};

use crate::commit::View;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::stream::{KnownStream, ShardIterator, find_stream, parse_sequence, trimmed};

impl Engine {
    /// Gives a place in a shard to read from; it can be used for 15 minutes.
    pub fn get_shard_iterator(&self, request: GetShardIterator) -> Result<GetShardIteratorReply, ApiError> {
        let sequence = check(&request)?;
        let view = self.view();
        let stream = bind(&request, &view)?;
        let place = self.read(&view, |view| read(&request, sequence, &stream, view))?;
        let iterator = ShardIterator {
            stream_arn: request.stream_arn.unwrap_or_default(),
            place,
            issued_milliseconds: self.inner.committer.now_milliseconds(),
        };
        Ok(GetShardIteratorReply { shard_iterator: Some(iterator.to_text()) })
    }
}

/// The sequence number, where the type needs one.
fn check(request: &GetShardIterator) -> Result<Option<u64>, ApiError> {
    request.check_fields()?;
    let kind = kind_of(request);
    match (kind, &request.sequence_number) {
        (ShardIteratorType::AtSequenceNumber | ShardIteratorType::AfterSequenceNumber, None) => {
            let kind = kind.name();
            Err(ApiError::validation(format!(
                "SequenceNumber must be specified for ShardIteratorType {kind}"
            )))
        }
        (ShardIteratorType::AtSequenceNumber | ShardIteratorType::AfterSequenceNumber, Some(text)) => {
            let sequence = parse_sequence(text);
            let sequence = sequence.ok_or_else(|| ApiError::validation("Invalid SequenceNumber"))?;
            Ok(Some(sequence))
        }
        (ShardIteratorType::TrimHorizon | ShardIteratorType::Latest, Some(_)) => Err(ApiError::validation(
            "One or more parameter values were invalid: SequenceNumber should not be passed for this iterator type",
        )),
        (ShardIteratorType::AtTimestamp, _) if request.timestamp.is_none() => {
            Err(ApiError::validation("Timestamp must be specified for ShardIteratorType AT_TIMESTAMP"))
        }
        _ => Ok(None),
    }
}

fn kind_of(request: &GetShardIterator) -> ShardIteratorType {
    let kind = request.shard_iterator_type.as_ref().and_then(Choice::known);
    kind.unwrap_or(ShardIteratorType::TrimHorizon)
}

fn bind(request: &GetShardIterator, view: &View) -> Result<KnownStream, ApiError> {
    let stream = find_stream(&view.catalog, request.stream_arn.as_deref().unwrap_or_default())?;
    if request.shard_id.as_ref() != Some(&stream.shard_id()) {
        let message = "Requested resource not found: Shard does not exist";
        return Err(ApiError::new(ErrorKind::ResourceNotFound, message));
    }
    Ok(stream)
}

fn read(
    request: &GetShardIterator,
    sequence: Option<u64>,
    stream: &KnownStream,
    view: &View,
) -> Result<u64, Fault> {
    let bounds = stream.bounds(&view.snapshot)?;
    let sequence = sequence.unwrap_or_default();
    let place = match kind_of(request) {
        ShardIteratorType::TrimHorizon => return Ok(bounds.start),
        ShardIteratorType::Latest => return Ok(bounds.end),
        ShardIteratorType::AtTimestamp => {
            let time = request.timestamp.map_or(0, |timestamp| timestamp.milliseconds);
            return Ok(stream.place_at(time, &view.snapshot)?);
        }
        ShardIteratorType::AtSequenceNumber => sequence,
        ShardIteratorType::AfterSequenceNumber => sequence.saturating_add(1),
    };
    if sequence < bounds.start { Err(trimmed().into()) } else { Ok(place) }
}
