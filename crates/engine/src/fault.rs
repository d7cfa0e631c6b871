//! What stops an operation: the client's mistake, or a failure underneath.

use dynamo::{ApiError, ErrorKind};

use crate::store::StoreError;

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
        match fault {
            Fault::Api(error) => error,
            Fault::Store(error @ (StoreError::Full { .. } | StoreError::Failed { .. })) => {
                ApiError::new(ErrorKind::ServiceUnavailable, format!("No write was made: {error}"))
            }
            Fault::Store(error @ StoreError::Corrupt { .. }) => {
                ApiError::new(ErrorKind::InternalServerError, error.to_string())
            }
            Fault::Store(_) => ApiError::internal(),
        }
    }
}
