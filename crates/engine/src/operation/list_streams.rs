//! ListStreams.

use dynamo::ApiError;
use dynamo::operation::{ListStreams, ListStreamsReply, Stream};

use crate::arn::{self, Resource};
use crate::engine::Engine;
use crate::stream::{KnownStream, streams};

/// Streams on one page.
const STREAMS_PER_PAGE: usize = 100;

impl Engine {
    /// Lists streams by table, the oldest first; closed ones too while they can be read.
    pub fn list_streams(&self, request: ListStreams) -> Result<ListStreamsReply, ApiError> {
        request.check_fields()?;
        let view = self.view();
        let table = request.table_name.as_deref().map(arn::table_name);
        let wanted = |stream: &KnownStream| table.is_none_or(|table| stream.table_name == table);
        let listed = streams(&view.catalog).into_iter().filter(wanted).map(|stream| self.listed(&stream));
        let after = request.exclusive_start_stream_arn;
        let mut listed = listed.skip_while(|stream| after.is_some() && stream.stream_arn != after);
        if after.is_some() {
            listed.next();
        }
        let limit = request.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(STREAMS_PER_PAGE);
        let streams: Vec<Stream> = listed.by_ref().take(limit).collect();
        let last = streams.last().filter(|_| listed.next().is_some());
        let last_evaluated_stream_arn = last.and_then(|stream| stream.stream_arn.clone());
        Ok(ListStreamsReply { streams, last_evaluated_stream_arn })
    }

    fn listed(&self, stream: &KnownStream) -> Stream {
        let label = stream.label();
        Stream {
            stream_arn: Some(self.inner.arn(Resource::Stream(&stream.table_name, &label))),
            table_name: Some(stream.table_name.clone()),
            stream_label: Some(label),
        }
    }
}
