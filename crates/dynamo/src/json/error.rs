//! Errors on the wire: their type with its namespace, their words and their HTTP status.

use super::{write_comma, write_stored_item, write_text};
use crate::{ApiError, CancellationReason, ErrorKind};

impl ErrorKind {
    /// The HTTP status of the answer.
    pub fn http_status(self) -> u16 {
        match self {
            ErrorKind::InternalServerError => 500,
            ErrorKind::ServiceUnavailable => 503,
            ErrorKind::RequestTooLarge => 413,
            _ => 400,
        }
    }

    /// What stands before the name in `__type`.
    fn namespace(self) -> &'static str {
        match self {
            ErrorKind::Validation => "com.amazon.coral.validate#",
            ErrorKind::Serialization
            | ErrorKind::UnknownOperation
            | ErrorKind::AccessDenied
            | ErrorKind::UnrecognizedClient
            | ErrorKind::InvalidSignature
            | ErrorKind::IncompleteSignature
            | ErrorKind::MissingAuthenticationToken
            | ErrorKind::RequestTooLarge
            | ErrorKind::ServiceUnavailable => "com.amazon.coral.service#",
            _ => "com.amazonaws.dynamodb.v20120810#",
        }
    }

    /// The member that holds the words: most spell it with a small letter.
    fn message_member(self) -> &'static str {
        match self {
            ErrorKind::Serialization
            | ErrorKind::AccessDenied
            | ErrorKind::TransactionCanceled
            | ErrorKind::TransactionInProgress
            | ErrorKind::IdempotentParameterMismatch => "Message",
            _ => "message",
        }
    }
}

impl ApiError {
    /// Appends the error as DynamoDB answers it. An error without words has no message.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"__type\":\"");
        out.extend_from_slice(self.kind.namespace().as_bytes());
        out.extend_from_slice(self.kind.name().as_bytes());
        out.push(b'"');
        if !self.reasons.is_empty() {
            write_member("CancellationReasons", out);
            write_reasons(&self.reasons, out);
        }
        if let Some(item) = &self.item {
            write_member("Item", out);
            write_stored_item(item, out);
        }
        if !self.message.is_empty() {
            write_member(self.kind.message_member(), out);
            write_text(&self.message, out);
        }
        out.push(b'}');
    }
}

fn write_member(name: &str, out: &mut Vec<u8>) {
    write_comma(out);
    write_text(name, out);
    out.push(b':');
}

fn write_reasons(reasons: &[CancellationReason], out: &mut Vec<u8>) {
    out.push(b'[');
    for reason in reasons {
        write_comma(out);
        out.push(b'{');
        write_member("Code", out);
        write_text(reason.code, out);
        if let Some(item) = &reason.item {
            write_member("Item", out);
            write_stored_item(item, out);
        }
        if let Some(message) = &reason.message {
            write_member("Message", out);
            write_text(message, out);
        }
        out.push(b'}');
    }
    out.push(b']');
}
