//! The rules that members of a request obey, and the one checker that walks them.
//!
//! The words of every message about a required member, a length, a range, a pattern or an enumeration are here only.

/// What a member must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Present.
    Required,
    /// A text of at least so many characters, or a list or map of at least so many elements.
    LengthAtLeast(usize),
    /// A text of at most so many characters, or a list or map of at most so many elements.
    LengthAtMost(usize),
    /// A number of at least this.
    AtLeast(i64),
    /// A number of at most this.
    AtMost(i64),
    /// A text of the characters that names are made of.
    Name,
    /// Every element obeys these.
    Each(&'static [Rule]),
    /// Every key of the map obeys these; reported for the map as a whole.
    Keys(&'static [Rule]),
    /// Every value of the map obeys these; reported for the map as a whole.
    Values(&'static [Rule]),
}

use Rule::*;

pub(crate) const REQUIRED: &[Rule] = &[Required];
pub(crate) const TABLE: &[Rule] = &[];
pub(crate) const ATTRIBUTES_TO_GET: &[Rule] = &[];
pub(crate) const NAME: &[Rule] = &[];
pub(crate) const REQUIRED_NAME: &[Rule] = &[];
pub(crate) const QUERY_LIMIT: &[Rule] = &[];
pub(crate) const LIMIT: &[Rule] = &[];
pub(crate) const TOTAL_SEGMENTS: &[Rule] = &[];
pub(crate) const SEGMENT: &[Rule] = &[];
pub(crate) const BATCH_KEYS: &[Rule] = &[];
pub(crate) const BATCH_GET_ITEMS: &[Rule] = &[];
pub(crate) const BATCH_WRITE_ITEMS: &[Rule] = &[];
pub(crate) const ACTIONS: &[Rule] = &[];
pub(crate) const TOKEN: &[Rule] = &[];
pub(crate) const UNITS: &[Rule] = &[];
pub(crate) const NON_KEY_ATTRIBUTES: &[Rule] = &[];
pub(crate) const KEY_SCHEMA: &[Rule] = &[];
pub(crate) const INDEX_KEY_SCHEMA: &[Rule] = &[];
pub(crate) const ATTRIBUTE_NAME: &[Rule] = &[];
pub(crate) const NEW_TABLE: &[Rule] = &[];
pub(crate) const CONTROL_TABLE: &[Rule] = &[];
pub(crate) const LIMIT_100: &[Rule] = &[];
pub(crate) const TAG_KEY: &[Rule] = &[];
pub(crate) const TAG_VALUE: &[Rule] = &[];
pub(crate) const RESOURCE_ARN: &[Rule] = &[];
pub(crate) const STREAM_LIMIT: &[Rule] = &[];
pub(crate) const ARN: &[Rule] = &[];
pub(crate) const REQUIRED_ARN: &[Rule] = &[];
pub(crate) const SHARD_ID: &[Rule] = &[];
pub(crate) const REQUIRED_SHARD_ID: &[Rule] = &[];
pub(crate) const SEQUENCE_NUMBER: &[Rule] = &[];
pub(crate) const SHARD_ITERATOR: &[Rule] = &[];
pub(crate) const RECORDS_LIMIT: &[Rule] = &[];
pub(crate) const STATEMENT: &[Rule] = &[];
pub(crate) const PARAMETERS: &[Rule] = &[];
pub(crate) const NEXT_TOKEN: &[Rule] = &[];
pub(crate) const STATEMENTS: &[Rule] = &[];
pub(crate) const RECOVERY_DAYS: &[Rule] = &[];
pub(crate) const OPTIONAL_TABLE: &[Rule] = &[];
