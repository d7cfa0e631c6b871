//! Errors from the wire, with what DynamoDB attaches to them.

use dynamo::{ApiError, CancellationReason, ErrorKind, StoredItem};
use serde_json::Value as Json;

/// The exceptions that something is done about. Others are told as they came.
const KINDS: [ErrorKind; 19] = [
    ErrorKind::Validation,
    ErrorKind::Serialization,
    ErrorKind::ConditionalCheckFailed,
    ErrorKind::TransactionCanceled,
    ErrorKind::TransactionConflict,
    ErrorKind::TransactionInProgress,
    ErrorKind::IdempotentParameterMismatch,
    ErrorKind::ResourceNotFound,
    ErrorKind::ResourceInUse,
    ErrorKind::ItemCollectionSizeLimitExceeded,
    ErrorKind::LimitExceeded,
    ErrorKind::TrimmedDataAccess,
    ErrorKind::ExpiredIterator,
    ErrorKind::AccessDenied,
    ErrorKind::UnrecognizedClient,
    ErrorKind::InvalidSignature,
    ErrorKind::MissingAuthenticationToken,
    ErrorKind::UnknownOperation,
    ErrorKind::ProvisionedThroughputExceeded,
];

/// The codes of cancellation reasons.
const REASONS: [&str; 8] = [
    "None",
    "ConditionalCheckFailed",
    "TransactionConflict",
    "ValidationError",
    "ThrottlingError",
    "ProvisionedThroughputExceeded",
    "ItemCollectionSizeLimitExceeded",
    "DuplicateItem",
];

/// The error in the body of an answer, with the code and words that the SDK found.
pub(super) fn read(body: &[u8], code: &str, message: &str) -> ApiError {
    let json = serde_json::from_slice::<Json>(body).unwrap_or_default();
    let kind = match code {
        "ThrottlingException" | "RequestLimitExceeded" => Some(ErrorKind::ProvisionedThroughputExceeded),
        _ => KINDS.into_iter().find(|kind| kind.name() == code),
    };
    let words = json.get("message").or_else(|| json.get("Message")).and_then(Json::as_str).unwrap_or(message);
    let mut error = match kind {
        Some(kind) => ApiError::new(kind, words),
        None => ApiError::new(ErrorKind::InternalServerError, format!("{code}: {words}")),
    };
    error.item = item(&json);
    let reasons = json.get("CancellationReasons").and_then(Json::as_array);
    error.reasons = reasons.into_iter().flatten().map(reason).collect();
    error
}

fn reason(json: &Json) -> CancellationReason {
    let code = json.get("Code").and_then(Json::as_str).unwrap_or("None");
    CancellationReason {
        code: REASONS.into_iter().find(|known| *known == code).unwrap_or("ValidationError"),
        message: json.get("Message").and_then(Json::as_str).map(str::to_owned),
        item: item(json),
    }
}

fn item(json: &Json) -> Option<StoredItem> {
    let text = json.get("Item")?.to_string();
    dynamo::read_item(text.as_bytes()).ok().map(|item| StoredItem::encode(&item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_read_with_its_reasons_and_items() {
        let body = br#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"cancelled",
            "CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed","Message":"x","Item":{"a":{"N":"1"}}}]}"#;
        let error = read(body, "TransactionCanceledException", "");
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::TransactionCanceled, "cancelled"));
        assert_eq!(error.reasons[0].code, "None");
        assert_eq!(error.reasons[1].code, "ConditionalCheckFailed");
        assert_eq!(error.reasons[1].item.as_ref().unwrap().decode()["a"], dynamo::Value::from(1));
        assert_eq!(
            read(b"<html>", "ThrottlingException", "slow").kind,
            ErrorKind::ProvisionedThroughputExceeded
        );
    }
}
