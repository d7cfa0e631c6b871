//! Where the next page of a SELECT starts, as text for the client.
//!
//! A token is bound to its statement, parameters and table. What it says is only ever compared with the ranges that the statement reads, so a
//! forged one finds nothing that the statement would not.

use bytes::Bytes;
use dynamo::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::error::StatementError;
use crate::layout::{CollectionId, hex, parse_hex};

/// Where a page starts: in which of the ranges of the statement, and after which key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NextToken {
    pub(super) part: usize,
    pub(super) after: Option<Bytes>,
}

const FINGERPRINT_BYTES: usize = 16;
const PART_BYTES: usize = 4;

impl NextToken {
    /// The text for a client that has this statement.
    pub(crate) fn encode(&self, fingerprint: u128) -> String {
        let part = u32::try_from(self.part).unwrap_or(u32::MAX);
        let mut bytes = fingerprint.to_be_bytes().to_vec();
        bytes.extend_from_slice(&part.to_be_bytes());
        bytes.extend_from_slice(self.after.as_deref().unwrap_or_default());
        hex(&bytes)
    }

    /// Reads a text that was given for the same statement.
    pub(crate) fn decode(text: &str, fingerprint: u128) -> Result<NextToken, StatementError> {
        let bytes = parse_hex(text).ok_or(StatementError::InvalidToken)?;
        let (head, rest) =
            bytes.split_first_chunk::<FINGERPRINT_BYTES>().ok_or(StatementError::InvalidToken)?;
        let (part, after) = rest.split_first_chunk::<PART_BYTES>().ok_or(StatementError::InvalidToken)?;
        if u128::from_be_bytes(*head) != fingerprint {
            return Err(StatementError::OtherToken);
        }
        let part = usize::try_from(u32::from_be_bytes(*part)).map_err(|_| StatementError::InvalidToken)?;
        Ok(NextToken { part, after: (!after.is_empty()).then(|| Bytes::copy_from_slice(after)) })
    }
}

/// What a token is bound to.
pub(crate) fn fingerprint(statement: &str, parameters: &[Value], collection: CollectionId) -> u128 {
    let mut bytes = collection.0.to_be_bytes().to_vec();
    bytes.extend_from_slice(statement.as_bytes());
    for parameter in parameters {
        bytes.push(0);
        dynamo::write_value(parameter, &mut bytes);
    }
    xxh3_128(&bytes)
}
