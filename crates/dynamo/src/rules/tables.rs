//! The rules of members, by what the members are. The shapes name them; each shape's list is the table.

use super::Rule::{self, *};
use crate::limits::{
    BATCH_GET_ITEMS_MAX, BATCH_STATEMENTS_MAX, BATCH_WRITE_ITEMS_MAX, INDEX_INCLUDED_ATTRIBUTES_MAX,
    STATEMENT_LENGTH_MAX, TRANSACTION_ACTIONS_MAX,
};

/// The first of a shape member's rule lists; the last one is [`NONE`].
pub(crate) const fn first(lists: &[&'static [Rule]]) -> &'static [Rule] {
    match lists {
        [first, ..] => first,
        [] => NONE,
    }
}

pub(crate) const NONE: &[Rule] = &[];
pub(crate) const REQUIRED: &[Rule] = &[Required];

const NO_TABLE: &str = "The parameter 'TableName' is required but was not present in the request";
const TABLE_LENGTH: &str = "TableName must be at least 3 characters long and at most 255 characters long";

// Names. Operations on items take table names of one character; those on tables do not.
pub(crate) const TABLE: &[Rule] = &[Required, Table];
pub(crate) const OPTIONAL_TABLE: &[Rule] = &[Table];
pub(crate) const NEW_TABLE: &[Rule] = &[Demanded(NO_TABLE), NewTable];
pub(crate) const CONTROL_TABLE: &[Rule] = &[Demanded(NO_TABLE), TableLength(TABLE_LENGTH), Table];
pub(crate) const NAME: &[Rule] = &[Name, LengthAtLeast(3), LengthAtMost(255)];
pub(crate) const REQUIRED_NAME: &[Rule] = &[Required, Name, LengthAtLeast(3), LengthAtMost(255)];
pub(crate) const ATTRIBUTE_NAME: &[Rule] = &[Required, LengthAtLeast(1), LengthAtMost(255)];
pub(crate) const RESOURCE_ARN: &[Rule] = &[Demanded("Invalid TableArn")];
pub(crate) const ARN: &[Rule] = &[LengthAtLeast(37), LengthAtMost(1024)];
pub(crate) const REQUIRED_ARN: &[Rule] = &[Required, LengthAtLeast(37), LengthAtMost(1024)];

// Reading items.
pub(crate) const ATTRIBUTES_TO_GET: &[Rule] = &[LengthAtLeast(1), LengthAtMost(255)];
pub(crate) const LIMIT: &[Rule] = &[AtLeast(1)];
pub(crate) const LIMIT_100: &[Rule] = &[AtLeast(1), AtMost(100)];
pub(crate) const QUERY_LIMIT: &[Rule] = &[Plainly(&AtLeast(1))];
pub(crate) const TOTAL_SEGMENTS: &[Rule] = &[AtLeast(1), AtMost(1_000_000)];
pub(crate) const SEGMENT: &[Rule] = &[AtLeast(0), AtMost(999_999)];

// Batches and transactions.
pub(crate) const BATCH_KEYS: &[Rule] =
    &[Required, LengthAtLeast(1), Plainly(&LengthAtMost(BATCH_GET_ITEMS_MAX))];
pub(crate) const BATCH_GET_ITEMS: &[Rule] = &[Required, TableKeys];
pub(crate) const BATCH_WRITE_ITEMS: &[Rule] = &[Required, TableKeys, ValueLengths(1, BATCH_WRITE_ITEMS_MAX)];
pub(crate) const ACTIONS: &[Rule] = &[Required, LengthAtLeast(1), LengthAtMost(TRANSACTION_ACTIONS_MAX)];
pub(crate) const TOKEN: &[Rule] = &[LengthAtLeast(1), LengthAtMost(36)];

// PartiQL.
pub(crate) const STATEMENT: &[Rule] = &[Required, LengthAtLeast(1), LengthAtMost(STATEMENT_LENGTH_MAX)];
pub(crate) const STATEMENTS: &[Rule] = &[Required, LengthAtLeast(1), LengthAtMost(BATCH_STATEMENTS_MAX)];
pub(crate) const PARAMETERS: &[Rule] = &[LengthAtLeast(1)];
pub(crate) const NEXT_TOKEN: &[Rule] = &[LengthAtLeast(1), LengthAtMost(32_768)];

// Tables and indexes. Keys of global indexes may have four attributes of each kind.
pub(crate) const KEY_SCHEMA: &[Rule] = &[Required, LengthAtLeast(1), LengthAtMost(2)];
pub(crate) const INDEX_KEY_SCHEMA: &[Rule] = &[Required, LengthAtLeast(1), LengthAtMost(8)];
pub(crate) const NON_KEY_ATTRIBUTES: &[Rule] =
    &[LengthAtLeast(1), LengthAtMost(INDEX_INCLUDED_ATTRIBUTES_MAX)];
pub(crate) const UNITS: &[Rule] = &[Required, AtLeast(1)];
pub(crate) const TAG_KEY: &[Rule] = &[Required, LengthAtLeast(1), LengthAtMost(128)];
pub(crate) const TAG_VALUE: &[Rule] = &[Required, LengthAtMost(256)];
pub(crate) const RECOVERY_DAYS: &[Rule] = &[AtLeast(1), AtMost(35)];

// Exports. A bucket's name is looked at again where it becomes a folder.
pub(crate) const BUCKET: &[Rule] = &[Required, LengthAtMost(255)];
pub(crate) const PREFIX: &[Rule] = &[LengthAtMost(1024)];
pub(crate) const EXPORTS_LIMIT: &[Rule] = &[AtLeast(1), AtMost(25)];

// Streams.
pub(crate) const STREAM_LIMIT: &[Rule] = &[AtLeast(1), AtMost(100)];
pub(crate) const RECORDS_LIMIT: &[Rule] = &[AtLeast(1), AtMost(1000)];
pub(crate) const SHARD_ID: &[Rule] = &[LengthAtLeast(28), LengthAtMost(65)];
pub(crate) const REQUIRED_SHARD_ID: &[Rule] = &[Required, LengthAtLeast(28), LengthAtMost(65)];
pub(crate) const SEQUENCE_NUMBER: &[Rule] = &[LengthAtLeast(21), LengthAtMost(40)];
pub(crate) const SHARD_ITERATOR: &[Rule] = &[Required, LengthAtLeast(1), LengthAtMost(2048)];
