//! GetRecords: the records from a place in a shard on.

use super::{StreamViewType, Timestamp};
use crate::StoredItem;
use crate::rules::{RECORDS_LIMIT, SHARD_ITERATOR};

choices! {
    /// What a record tells.
    pub enum OperationType {
        Insert = "INSERT",
        Modify = "MODIFY",
        Remove = "REMOVE",
    }
}

shape! {
    /// Reads the records from a place in a shard on.
    pub struct GetRecords {
        shard_iterator: Option<String> = "ShardIterator" => SHARD_ITERATOR,
        limit: Option<i32> = "Limit" => RECORDS_LIMIT,
    }
}

shape! {
    /// Who made a change, when it was the service itself.
    pub struct Identity {
        principal_id: Option<String> = "PrincipalId",
        r#type: Option<String> = "Type",
    }
}

shape! {
    /// One change to one item.
    pub struct StreamRecord {
        approximate_creation_date_time: Option<Timestamp> = "ApproximateCreationDateTime",
        keys: Option<StoredItem> = "Keys",
        new_image: Option<StoredItem> = "NewImage",
        old_image: Option<StoredItem> = "OldImage",
        sequence_number: Option<String> = "SequenceNumber",
        size_bytes: Option<i64> = "SizeBytes",
        stream_view_type: Option<StreamViewType> = "StreamViewType",
    }
}

shape! {
    /// A change as a stream gives it.
    pub struct Record {
        event_id: Option<String> = "eventID",
        event_name: Option<OperationType> = "eventName",
        event_version: Option<String> = "eventVersion",
        event_source: Option<String> = "eventSource",
        aws_region: Option<String> = "awsRegion",
        dynamodb: Option<StreamRecord> = "dynamodb",
        user_identity: Option<Identity> = "userIdentity",
    }
}

shape! {
    /// Answers GetRecords.
    pub struct GetRecordsReply {
        records: Vec<Record> = "Records",
        next_shard_iterator: Option<String> = "NextShardIterator",
    }
}
