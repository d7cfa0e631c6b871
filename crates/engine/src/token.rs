//! Idempotency tokens: a transaction that is sent again with its token is not carried out again.
//!
//! A token is stored in the batch of its transaction, with a fingerprint of the request, so it survives a restart; it is valid for ten minutes.

use bytes::{Buf, Bytes};
use dynamo::operation::{ExecuteTransaction, TransactWriteItems};
use dynamo::{ApiError, ErrorKind};
use xxhash_rust::xxh3::xxh3_128;

use crate::commit::{Changes, Latest};
use crate::fault::Fault;
use crate::meta::{self, MetaKey};
use crate::store::Space;

/// How long a token is valid after its transaction was carried out.
pub(crate) const TOKEN_MILLISECONDS: i64 = 10 * 60 * 1000;

/// A client's token and the request it came with.
pub(crate) struct Token {
    text: String,
    fingerprint: u128,
}

impl Token {
    /// The token of a request, if it has one. Only what the request does counts: it may ask for other details of its cost when it is
    /// sent again.
    pub(crate) fn of(request: &mut TransactWriteItems) -> Option<Token> {
        let text = request.client_request_token.clone()?;
        let actions =
            TransactWriteItems { transact_items: request.transact_items.take(), ..Default::default() };
        let mut json = Vec::with_capacity(1024);
        actions.write_json(&mut json);
        request.transact_items = actions.transact_items;
        Some(Token { text, fingerprint: xxh3_128(&json) })
    }

    /// The token of statements, if they have one. What they cost may be asked differently the next time.
    pub(crate) fn of_statements(request: &ExecuteTransaction) -> Option<Token> {
        let text = request.client_request_token.clone()?;
        let request = ExecuteTransaction { return_consumed_capacity: None, ..request.clone() };
        let mut json = Vec::with_capacity(1024);
        request.write_json(&mut json);
        Some(Token { text, fingerprint: xxh3_128(&json) })
    }

    fn key(&self) -> Bytes {
        meta::key(MetaKey::TOKEN, self.text.as_bytes())
    }

    /// True if this request was carried out already; an error if another request had this token.
    pub(crate) fn was_used(&self, latest: &Latest<'_>) -> Result<bool, Fault> {
        let Some(mut stored) = latest.get(Space::Meta, &self.key())? else { return Ok(false) };
        let (Ok(expiry), Ok(fingerprint)) = (stored.try_get_i64(), stored.try_get_u128()) else {
            return Ok(false);
        };
        if expiry <= latest.now_milliseconds {
            return Ok(false);
        }
        if fingerprint != self.fingerprint {
            return Err(Fault::Api(ApiError::new(
                ErrorKind::IdempotentParameterMismatch,
                "The request uses the same client token as a previous, but non-identical request. Do not reuse a \
                 client token with different requests, unless the requests are identical",
            )));
        }
        Ok(true)
    }

    /// Records that the request was carried out.
    pub(crate) fn add_to(&self, changes: &mut Changes, latest: &Latest<'_>) {
        let expiry = latest.now_milliseconds + TOKEN_MILLISECONDS;
        let mut value = Vec::with_capacity(24);
        value.extend_from_slice(&expiry.to_be_bytes());
        value.extend_from_slice(&self.fingerprint.to_be_bytes());
        changes.batch.put(Space::Meta, self.key(), value);
        let mut due = expiry.to_be_bytes().to_vec();
        due.extend_from_slice(self.text.as_bytes());
        changes.batch.put(Space::Meta, meta::key(MetaKey::TOKEN_EXPIRY, &due), Bytes::new());
    }
}
