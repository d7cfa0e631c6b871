//! Errors as DynamoDB names them. What a client did wrong, in the exact words of the wire.

use std::fmt;

use crate::{NumberError, StoredItem};

/// An error answer: what kind, in which words, and what DynamoDB attaches to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The exception.
    pub kind: ErrorKind,
    /// The words.
    pub message: String,
    /// ConditionalCheckFailedException: the item as it was, when the request asked for it.
    pub item: Option<StoredItem>,
    /// TransactionCanceledException: one reason for each action, in order.
    pub reasons: Vec<CancellationReason>,
    /// What failed underneath, for the log; it never goes over the wire.
    pub cause: Option<String>,
}

/// The exceptions of DynamoDB and DynamoDB Streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request breaks a rule.
    Validation,
    /// The body is not the JSON that the operation expects.
    Serialization,
    /// A condition was not met.
    ConditionalCheckFailed,
    /// A transaction was not carried out; the reasons say why.
    TransactionCanceled,
    /// Another transaction holds the item.
    TransactionConflict,
    /// A transaction with this token is being carried out.
    TransactionInProgress,
    /// The token was used with other parameters.
    IdempotentParameterMismatch,
    /// The table, index, stream or backup does not exist.
    ResourceNotFound,
    /// The table exists, or is being created, changed or deleted.
    ResourceInUse,
    /// TableNotFoundException: a backup operation on a table that does not exist.
    TableNotFound,
    /// A restore into a table that exists.
    TableAlreadyExists,
    /// A backup operation on a table that is being changed.
    TableInUse,
    /// The backup does not exist.
    BackupNotFound,
    /// The backup is being made or used.
    BackupInUse,
    /// Continuous backups cannot be switched on yet.
    ContinuousBackupsUnavailable,
    /// Point-in-time recovery is not on for the table.
    PointInTimeRecoveryUnavailable,
    /// The table cannot be restored to this moment.
    InvalidRestoreTime,
    /// The export does not exist.
    ExportNotFound,
    /// Another export has this token.
    ExportConflict,
    /// The table cannot be exported as of this moment.
    InvalidExportTime,
    /// An item collection with local indexes is over 10 GB.
    ItemCollectionSizeLimitExceeded,
    /// Too many tables or indexes are being changed.
    LimitExceeded,
    /// The records were trimmed.
    TrimmedDataAccess,
    /// The shard iterator is older than 15 minutes.
    ExpiredIterator,
    /// PartiQL: an item with this key exists.
    DuplicateItem,
    /// The credentials may not do this.
    AccessDenied,
    /// The credentials are unknown or malformed.
    UnrecognizedClient,
    /// The signature does not match.
    InvalidSignature,
    /// The signature lacks a part.
    IncompleteSignature,
    /// There is no signature.
    MissingAuthenticationToken,
    /// There is no such operation.
    UnknownOperation,
    /// The request is larger than the server reads.
    RequestTooLarge,
    /// Too many requests.
    ProvisionedThroughputExceeded,
    /// The server cannot take writes now: its disk is full, or failed.
    ServiceUnavailable,
    /// Something failed that is not the client's doing.
    InternalServerError,
}

impl ErrorKind {
    /// The name of the exception, without its namespace.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Validation => "ValidationException",
            ErrorKind::Serialization => "SerializationException",
            ErrorKind::ConditionalCheckFailed => "ConditionalCheckFailedException",
            ErrorKind::TransactionCanceled => "TransactionCanceledException",
            ErrorKind::TransactionConflict => "TransactionConflictException",
            ErrorKind::TransactionInProgress => "TransactionInProgressException",
            ErrorKind::IdempotentParameterMismatch => "IdempotentParameterMismatchException",
            ErrorKind::ResourceNotFound => "ResourceNotFoundException",
            ErrorKind::ResourceInUse => "ResourceInUseException",
            ErrorKind::TableNotFound => "TableNotFoundException",
            ErrorKind::TableAlreadyExists => "TableAlreadyExistsException",
            ErrorKind::TableInUse => "TableInUseException",
            ErrorKind::BackupNotFound => "BackupNotFoundException",
            ErrorKind::BackupInUse => "BackupInUseException",
            ErrorKind::ContinuousBackupsUnavailable => "ContinuousBackupsUnavailableException",
            ErrorKind::PointInTimeRecoveryUnavailable => "PointInTimeRecoveryUnavailableException",
            ErrorKind::InvalidRestoreTime => "InvalidRestoreTimeException",
            ErrorKind::ExportNotFound => "ExportNotFoundException",
            ErrorKind::ExportConflict => "ExportConflictException",
            ErrorKind::InvalidExportTime => "InvalidExportTimeException",
            ErrorKind::ItemCollectionSizeLimitExceeded => "ItemCollectionSizeLimitExceededException",
            ErrorKind::LimitExceeded => "LimitExceededException",
            ErrorKind::TrimmedDataAccess => "TrimmedDataAccessException",
            ErrorKind::ExpiredIterator => "ExpiredIteratorException",
            ErrorKind::DuplicateItem => "DuplicateItemException",
            ErrorKind::AccessDenied => "AccessDeniedException",
            ErrorKind::UnrecognizedClient => "UnrecognizedClientException",
            ErrorKind::InvalidSignature => "InvalidSignatureException",
            ErrorKind::IncompleteSignature => "IncompleteSignatureException",
            ErrorKind::MissingAuthenticationToken => "MissingAuthenticationTokenException",
            ErrorKind::UnknownOperation => "UnknownOperationException",
            ErrorKind::RequestTooLarge => "RequestEntityTooLargeException",
            ErrorKind::ProvisionedThroughputExceeded => "ProvisionedThroughputExceededException",
            ErrorKind::ServiceUnavailable => "ServiceUnavailableException",
            ErrorKind::InternalServerError => "InternalServerError",
        }
    }
}

/// Why one action of a transaction was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancellationReason {
    /// Such as `None`, `ConditionalCheckFailed`, `ValidationError`.
    pub code: &'static str,
    /// The words, absent for `None`.
    pub message: Option<String>,
    /// The item as it was, when the action asked for it.
    pub item: Option<StoredItem>,
}

impl CancellationReason {
    /// This action was not the reason.
    pub const NONE: CancellationReason = CancellationReason { code: "None", message: None, item: None };
}

impl ApiError {
    /// An error of this kind in these words.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> ApiError {
        ApiError { kind, message: message.into(), item: None, reasons: Vec::new(), cause: None }
    }

    /// A ValidationException in these words.
    pub fn validation(message: impl Into<String>) -> ApiError {
        ApiError::new(ErrorKind::Validation, message)
    }

    /// An InternalServerError; what failed is in the log, not in the answer.
    pub fn internal() -> ApiError {
        ApiError::new(
            ErrorKind::InternalServerError,
            "The request could not be completed because of an internal failure",
        )
    }
}

impl ApiError {
    /// The same error with what failed underneath.
    #[must_use]
    pub fn because(self, cause: impl Into<String>) -> ApiError {
        ApiError { cause: Some(cause.into()), ..self }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.kind.name(), self.message)
    }
}

impl std::error::Error for ApiError {}

impl From<NumberError> for ApiError {
    fn from(error: NumberError) -> ApiError {
        ApiError::validation(match error {
            NumberError::NotANumber => "The parameter cannot be converted to a numeric value",
            NumberError::TooManyDigits => "Attempting to store more than 38 significant digits in a Number",
            NumberError::TooLarge => {
                "Number overflow. Attempting to store a number with magnitude larger than supported range"
            }
            NumberError::TooSmall => {
                "Number underflow. Attempting to store a number with magnitude smaller than supported range"
            }
        })
    }
}
