//! Designs as pages of the server.

use bytes::Bytes;
use http::Request;
use server::{Answering, Pages};
use service::Rest;

/// Designs over HTTP, beside the DynamoDB protocol.
#[derive(Debug)]
pub(crate) struct Designs(pub(crate) Rest);

impl Pages for Designs {
    fn has(&self, path: &str) -> bool {
        Rest::has(path)
    }

    fn answer(&self, request: Request<Bytes>) -> Answering<'_> {
        Box::pin(self.0.answer(request))
    }
}
