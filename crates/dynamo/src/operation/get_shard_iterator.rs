//! GetShardIterator: a place in a shard to read from.

use super::{Choice, Timestamp};
use crate::rules::{REQUIRED, REQUIRED_ARN, REQUIRED_SHARD_ID, SEQUENCE_NUMBER};

choices! {
    /// Where reading starts.
    pub enum ShardIteratorType {
        TrimHorizon = "TRIM_HORIZON",
        Latest = "LATEST",
        AtSequenceNumber = "AT_SEQUENCE_NUMBER",
        AfterSequenceNumber = "AFTER_SEQUENCE_NUMBER",
        AtTimestamp = "AT_TIMESTAMP",
    }
}

shape! {
    /// Gives a place in a shard to read from.
    pub struct GetShardIterator {
        stream_arn: Option<String> = "StreamArn" => REQUIRED_ARN,
        shard_id: Option<String> = "ShardId" => REQUIRED_SHARD_ID,
        shard_iterator_type: Option<Choice<ShardIteratorType>> = "ShardIteratorType" => REQUIRED,
        sequence_number: Option<String> = "SequenceNumber" => SEQUENCE_NUMBER,
        timestamp: Option<Timestamp> = "Timestamp",
    }
}

shape! {
    /// Answers GetShardIterator.
    pub struct GetShardIteratorReply {
        shard_iterator: Option<String> = "ShardIterator",
    }
}
