//! DynamoDB's limits that more than one place needs. 1 KB is 1,024 bytes.

/// The largest item, with its attribute names.
pub const ITEM_BYTES_MAX: usize = 400 * 1024;
/// The longest name of an attribute.
pub const ATTRIBUTE_NAME_BYTES_MAX: usize = 65_535;
/// The longest name of an attribute that is a key, or that an index projects by its name.
pub const KEY_NAME_BYTES_MAX: usize = 255;
/// How much a page of Query or Scan reads, before filtering.
pub const PAGE_BYTES_MAX: usize = 1024 * 1024;
/// How many items BatchGetItem reads.
pub const BATCH_GET_ITEMS_MAX: usize = 100;
/// How many items BatchWriteItem writes.
pub const BATCH_WRITE_ITEMS_MAX: usize = 25;
/// How much a batch reads or writes.
pub const BATCH_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How many actions a transaction has.
pub const TRANSACTION_ACTIONS_MAX: usize = 100;
/// How much a transaction reads or writes.
pub const TRANSACTION_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How many statements BatchExecuteStatement runs.
pub const BATCH_STATEMENTS_MAX: usize = 25;
/// The longest PartiQL statement, in characters.
pub const STATEMENT_LENGTH_MAX: usize = 8192;
/// How many names ListTables returns.
pub const LIST_TABLES_MAX: usize = 100;
/// How many records GetRecords returns.
pub const RECORDS_MAX: usize = 1000;
/// How many local indexes a table has.
pub const LOCAL_INDEXES_MAX: usize = 5;
/// How many global indexes a table has.
pub const GLOBAL_INDEXES_MAX: usize = 20;
/// How many attributes an index with INCLUDE names.
pub const INDEX_INCLUDED_ATTRIBUTES_MAX: usize = 20;
/// How many attributes all indexes with INCLUDE name together.
pub const TABLE_INCLUDED_ATTRIBUTES_MAX: usize = 100;
/// How deep lists and maps are nested, the attribute itself counted.
pub const NESTING_LEVELS_MAX: usize = 32;
