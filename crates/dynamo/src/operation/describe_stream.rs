//! DescribeStream: a stream and its shards.

use super::{Choice, KeySchemaElement, StreamViewType, Timestamp};
use crate::rules::{REQUIRED, REQUIRED_ARN, REQUIRED_SHARD_ID, SHARD_ID, STREAM_LIMIT};

choices! {
    /// Where a stream is in its life.
    pub enum StreamStatus {
        Enabling = "ENABLING",
        Enabled = "ENABLED",
        Disabling = "DISABLING",
        Disabled = "DISABLED",
    }
}

choices! {
    /// Which shards are asked for.
    pub enum ShardFilterType {
        ChildShards = "CHILD_SHARDS",
    }
}

shape! {
    /// Which shards are asked for.
    pub struct ShardFilter {
        r#type: Option<Choice<ShardFilterType>> = "Type" => REQUIRED,
        shard_id: Option<String> = "ShardId" => REQUIRED_SHARD_ID,
    }
}

shape! {
    /// Tells of a stream and its shards.
    pub struct DescribeStream {
        stream_arn: Option<String> = "StreamArn" => REQUIRED_ARN,
        limit: Option<i32> = "Limit" => STREAM_LIMIT,
        exclusive_start_shard_id: Option<String> = "ExclusiveStartShardId" => SHARD_ID,
        shard_filter: Option<ShardFilter> = "ShardFilter",
    }
}

shape! {
    /// The records a shard holds; open while there is no end.
    pub struct SequenceNumberRange {
        starting_sequence_number: Option<String> = "StartingSequenceNumber",
        ending_sequence_number: Option<String> = "EndingSequenceNumber",
    }
}

shape! {
    /// A part of a stream.
    pub struct Shard {
        shard_id: Option<String> = "ShardId",
        sequence_number_range: Option<SequenceNumberRange> = "SequenceNumberRange",
        parent_shard_id: Option<String> = "ParentShardId",
    }
}

shape! {
    /// A stream as it is.
    pub struct StreamDescription {
        stream_arn: Option<String> = "StreamArn",
        stream_label: Option<String> = "StreamLabel",
        stream_status: Option<StreamStatus> = "StreamStatus",
        stream_view_type: Option<StreamViewType> = "StreamViewType",
        creation_request_date_time: Option<Timestamp> = "CreationRequestDateTime",
        table_name: Option<String> = "TableName",
        key_schema: Option<Vec<KeySchemaElement>> = "KeySchema",
        shards: Option<Vec<Shard>> = "Shards",
        last_evaluated_shard_id: Option<String> = "LastEvaluatedShardId",
    }
}

shape! {
    /// Answers DescribeStream.
    pub struct DescribeStreamReply {
        stream_description: Option<StreamDescription> = "StreamDescription",
    }
}
