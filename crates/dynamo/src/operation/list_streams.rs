//! ListStreams: the streams of a table, or of all.

use crate::rules::{ARN, NAME, STREAM_LIMIT};

shape! {
    /// The streams of a table, or of all.
    pub struct ListStreams {
        table_name: Option<String> = "TableName" => NAME,
        limit: Option<i32> = "Limit" => STREAM_LIMIT,
        exclusive_start_stream_arn: Option<String> = "ExclusiveStartStreamArn" => ARN,
    }
}

shape! {
    /// A stream.
    pub struct Stream {
        stream_arn: Option<String> = "StreamArn",
        table_name: Option<String> = "TableName",
        stream_label: Option<String> = "StreamLabel",
    }
}

shape! {
    /// Answers ListStreams.
    pub struct ListStreamsReply {
        streams: Vec<Stream> = "Streams",
        last_evaluated_stream_arn: Option<String> = "LastEvaluatedStreamArn",
    }
}
