//! What stops an operation: the client's mistake, or a failure underneath.

use std::error::Error;

use dynamo::{ApiError, ErrorKind};

use crate::store::StoreError;
use crate::table_key::access_denied;

/// Why an operation was not carried out.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The client is told exactly this.
    Api(ApiError),
    /// The store failed; the client is told only what it can act on.
    Store(StoreError),
}

impl From<ApiError> for Fault {
    fn from(error: ApiError) -> Fault {
        Fault::Api(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        Fault::Store(error)
    }
}

impl From<Fault> for ApiError {
    /// A full or stopped disk is said plainly, since the operator of an embedded database is its user. Everything else is internal.
    fn from(fault: Fault) -> ApiError {
        let error = match fault {
            Fault::Api(error) => return error,
            Fault::Store(error) => error,
        };
        let said = match &error {
            StoreError::TableKey { reason } => access_denied(reason),
            StoreError::Full { .. } | StoreError::Failed { .. } => {
                ApiError::new(ErrorKind::ServiceUnavailable, format!("No write was made: {error}"))
            }
            StoreError::Corrupt { .. } => ApiError::new(ErrorKind::InternalServerError, error.to_string()),
            _ => ApiError::internal(),
        };
        said.because(with_sources(&error))
    }
}

/// An error and all that led to it.
fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let said = error.to_string();
        // Many an error repeats what it comes from.
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{io, sync::Arc};

    #[test]
    fn the_client_is_told_little_and_the_log_the_cause() {
        let source = Arc::new(io::Error::other("input/output error"));
        let error = ApiError::from(Fault::Store(StoreError::Io { doing: "reading", source }));
        assert_eq!(error.message, ApiError::internal().message);
        assert_eq!(error.cause.as_deref(), Some("reading failed: input/output error"));
        let source: Arc<dyn Error + Send + Sync> = Arc::new(io::Error::other("no such device"));
        let failed =
            StoreError::Failed { reason: "a sync failed".into(), disk_was_full: false, source: Some(source) };
        let error = ApiError::from(Fault::Store(failed));
        assert_eq!(error.cause.as_deref(), Some("writes are stopped: a sync failed: no such device"));
    }
}
