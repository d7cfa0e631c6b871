//! DescribeStream.

use dynamo::ApiError;
use dynamo::operation::{
    DescribeStream, DescribeStreamReply, SequenceNumberRange, Shard, StreamDescription, StreamStatus,
    Timestamp,
};

use crate::commit::View;
use crate::describe::{key_schema_elements, view_type};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::stream::{KnownStream, ShardBounds, find_stream, sequence_text};

impl Engine {
    /// Tells of a stream and its shard.
    pub fn describe_stream(&self, request: DescribeStream) -> Result<DescribeStreamReply, ApiError> {
        request.check_fields()?;
        let view = self.view();
        let arn = request.stream_arn.as_deref().unwrap_or_default();
        let stream = find_stream(&view.catalog, arn)?;
        let shards = self.read(&view, |view| read(&request, &stream, view))?;
        Ok(DescribeStreamReply { stream_description: Some(reply(arn, &stream, shards)) })
    }
}

/// The only shard, unless the request starts after it or asks for the children of one: there are none.
fn read(request: &DescribeStream, stream: &KnownStream, view: &View) -> Result<Vec<Shard>, Fault> {
    let shard_id = stream.shard_id();
    let is_after = request.exclusive_start_shard_id.as_ref().is_some_and(|after| *after >= shard_id);
    if is_after || request.shard_filter.is_some() {
        return Ok(Vec::new());
    }
    let ShardBounds { start, end } = stream.bounds(&view.snapshot)?;
    let ending = stream.is_closed.then(|| sequence_text(end.saturating_sub(1).max(start)));
    Ok(vec![Shard {
        shard_id: Some(shard_id),
        sequence_number_range: Some(SequenceNumberRange {
            starting_sequence_number: Some(sequence_text(start)),
            ending_sequence_number: ending,
        }),
        parent_shard_id: None,
    }])
}

fn reply(arn: &str, stream: &KnownStream, shards: Vec<Shard>) -> StreamDescription {
    StreamDescription {
        stream_arn: Some(arn.to_owned()),
        stream_label: Some(stream.label()),
        stream_status: Some(if stream.is_closed { StreamStatus::Disabled } else { StreamStatus::Enabled }),
        stream_view_type: Some(view_type(stream.stream.view)),
        creation_request_date_time: Some(Timestamp::from_milliseconds(stream.stream.created_milliseconds)),
        table_name: Some(stream.table_name.clone()),
        key_schema: Some(key_schema_elements(&stream.schema)),
        shards: Some(shards),
        last_evaluated_shard_id: None,
    }
}
