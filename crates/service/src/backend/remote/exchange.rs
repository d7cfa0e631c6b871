//! What one call sends and gets: puts the operation into the SDK's request before it is signed, and keeps the answer.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_dynamodb::config::interceptors::{
    AfterDeserializationInterceptorContextRef, BeforeTransmitInterceptorContextMut,
};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use dynamo::Operation;

/// One call.
#[derive(Clone)]
pub(super) struct Exchange {
    name: &'static str,
    request: Arc<[u8]>,
    answer: Arc<Mutex<Vec<u8>>>,
}

impl Exchange {
    pub(super) fn new(operation: &Operation) -> Exchange {
        let mut request = Vec::new();
        operation.write_json(&mut request);
        Exchange { name: operation.name(), request: request.into(), answer: Arc::default() }
    }

    /// The body of the last answer.
    pub(super) fn answer(&self) -> Vec<u8> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Exchange({})", self.name)
    }
}

impl Intercept for Exchange {
    fn name(&self) -> &'static str {
        "Exchange"
    }

    /// Before each attempt: the request is signed as it goes out.
    fn modify_before_signing(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = context.request_mut();
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let service = target.split('.').next().unwrap_or_default().to_owned();
        *request.body_mut() = self.request.to_vec().into();
        request.headers_mut().insert("content-length", self.request.len().to_string());
        request.headers_mut().insert("x-amz-target", format!("{service}.{}", self.name));
        Ok(())
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let body = context.response().body().bytes().unwrap_or_default();
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = body.to_vec();
        Ok(())
    }
}
