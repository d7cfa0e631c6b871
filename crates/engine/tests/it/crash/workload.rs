//! What the child writes. An item follows from its key and its version, so whoever knows the version knows the whole item.

use std::collections::BTreeMap;

use dynamo::operation::{
    Delete, DeleteItem, Put, PutItem, StreamViewType, TransactWriteItem, TransactWriteItems, Update,
    UpdateItem,
};
use dynamo::{Item, Operation, Value};

use crate::design::{IndexDesign, Projected, TableDesign, n, s};

/// Accounts, which hold counters and what expires, and a ledger.
pub(crate) static TABLES: [TableDesign; 2] = [
    TableDesign {
        name: "accounts",
        partition: s("pk"),
        sort: Some(n("sk")),
        indexes: &[IndexDesign {
            name: "by-owner",
            is_local: false,
            partition: &[s("owner")],
            sort: &[n("amount")],
            projected: Projected::All,
        }],
        later_indexes: &[],
        stream: Some(StreamViewType::NewAndOldImages),
        expiry: Some("ttl"),
        has_large_items: false,
    },
    TableDesign {
        name: "ledger",
        partition: s("pk"),
        sort: Some(n("sk")),
        indexes: &[
            IndexDesign {
                name: "by-amount",
                is_local: true,
                partition: &[s("pk")],
                sort: &[n("amount")],
                projected: Projected::KeysOnly,
            },
            IndexDesign {
                name: "by-owner",
                is_local: false,
                partition: &[s("owner")],
                sort: &[n("amount")],
                projected: Projected::Include(&["pad"]),
            },
        ],
        later_indexes: &[IndexDesign {
            name: "later",
            is_local: false,
            partition: &[n("amount")],
            sort: &[s("owner")],
            projected: Projected::All,
        }],
        stream: Some(StreamViewType::NewAndOldImages),
        expiry: None,
        has_large_items: false,
    },
];

pub(crate) const ACCOUNTS: usize = 0;
pub(crate) const LEDGER: usize = 1;

/// The account that counts all transactions.
pub(crate) const TOTAL: &str = "total";

/// Where an item is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) table: usize,
    pub(crate) partition: String,
    pub(crate) sort: u64,
}

impl Place {
    pub(crate) fn new(table: usize, partition: impl Into<String>, sort: u64) -> Place {
        Place { table, partition: partition.into(), sort }
    }

    /// The key as a request gives it.
    pub(crate) fn key(&self) -> Item {
        Item::from([
            ("pk".to_owned(), Value::from(self.partition.as_str())),
            ("sk".to_owned(), Value::from(signed(self.sort))),
        ])
    }

    /// True for an item that expired before it was written.
    pub(crate) fn expires(&self) -> bool {
        self.partition.starts_with("expires")
    }

    /// True for a counter: its version is what it has counted.
    pub(crate) fn counts(&self) -> bool {
        self.partition.starts_with("counter")
    }

    /// The item that is here in this version.
    pub(crate) fn item(&self, version: u64, expiry_seconds: u64) -> Item {
        let mut item = self.key();
        let mut put = |name: &str, value: Value| item.insert(name.to_owned(), value);
        if self.counts() {
            put("count", Value::from(signed(version)));
            return item;
        }
        put("version", Value::from(signed(version)));
        put("amount", Value::from(signed(version % 11)));
        put("pad", Value::from("p".repeat(pad_bytes(version))));
        if !version.is_multiple_of(5) {
            put("owner", Value::from(format!("owner-{}", version % 7)));
        }
        if self.expires() {
            put("ttl", Value::from(signed(expiry_seconds)));
        }
        item
    }
}

/// Some items are large, so that the storage engine flushes and merges while it is killed.
fn pad_bytes(version: u64) -> usize {
    usize::try_from(if version.is_multiple_of(10) { 40_000 } else { version % 300 }).unwrap()
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap()
}

/// A write to one item: a new version, or its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) place: Place,
    pub(crate) version: Option<u64>,
}

/// Writes that are one: a single one, or a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Writes {
    pub(crate) writes: Vec<Write>,
    /// The token of a transaction, which also adds one to the total.
    pub(crate) token: Option<u64>,
}

impl Writes {
    pub(crate) fn single(place: Place, version: Option<u64>) -> Writes {
        Writes { writes: vec![Write { place, version }], token: None }
    }

    /// Writes as a word of a report.
    pub(crate) fn to_text(&self) -> String {
        let write = |write: &Write| {
            let Place { table, partition, sort } = &write.place;
            format!("{table}:{partition}:{sort}:{}", write.version.unwrap_or(0))
        };
        let writes: Vec<String> = self.writes.iter().map(write).collect();
        format!("{};{}", self.token.unwrap_or(0), writes.join(","))
    }

    /// Reads what [`Writes::to_text`] wrote.
    pub(crate) fn parse(text: &str) -> Writes {
        let some = |number: &str| Some(number.parse::<u64>().unwrap()).filter(|&number| number > 0);
        let (token, writes) = text.split_once(';').unwrap();
        let write = |text: &str| {
            let parts: Vec<&str> = text.split(':').collect();
            let place = Place::new(parts[0].parse().unwrap(), parts[1], parts[2].parse().unwrap());
            Write { place, version: some(parts[3]) }
        };
        Writes { writes: writes.split(',').map(write).collect(), token: some(token) }
    }

    /// The request.
    pub(crate) fn request(&self, expiry_seconds: u64) -> Operation {
        match (self.token, &*self.writes) {
            (None, [write]) => write.request(expiry_seconds),
            (token, writes) => {
                let mut actions: Vec<_> = writes.iter().map(|write| write.action(expiry_seconds)).collect();
                actions.push(add_to_total());
                Operation::TransactWriteItems(TransactWriteItems {
                    transact_items: Some(actions),
                    client_request_token: token.map(|token| token.to_string()),
                    ..TransactWriteItems::default()
                })
            }
        }
    }
}

const ADD_ONE: &str = "ADD #count :one";

fn count_name() -> BTreeMap<String, String> {
    [("#count".to_owned(), "count".to_owned())].into()
}

fn one() -> BTreeMap<String, Value> {
    [(":one".to_owned(), Value::from(1_i64))].into()
}

fn add_to_total() -> TransactWriteItem {
    TransactWriteItem {
        update: Some(Update {
            table_name: Some(TABLES[ACCOUNTS].name.to_owned()),
            key: Some(Place::new(ACCOUNTS, TOTAL, 0).key()),
            update_expression: Some(ADD_ONE.to_owned()),
            expression_attribute_names: Some(count_name()),
            expression_attribute_values: Some(one()),
            ..Update::default()
        }),
        ..TransactWriteItem::default()
    }
}

impl Write {
    fn request(&self, expiry_seconds: u64) -> Operation {
        let table_name = Some(TABLES[self.place.table].name.to_owned());
        match self.version {
            None => Operation::DeleteItem(DeleteItem {
                table_name,
                key: Some(self.place.key()),
                ..DeleteItem::default()
            }),
            Some(_) if self.place.counts() => Operation::UpdateItem(UpdateItem {
                table_name,
                key: Some(self.place.key()),
                update_expression: Some(ADD_ONE.to_owned()),
                expression_attribute_names: Some(count_name()),
                expression_attribute_values: Some(one()),
                ..UpdateItem::default()
            }),
            Some(version) => Operation::PutItem(PutItem {
                table_name,
                item: Some(self.place.item(version, expiry_seconds).into()),
                ..PutItem::default()
            }),
        }
    }

    fn action(&self, expiry_seconds: u64) -> TransactWriteItem {
        let table_name = Some(TABLES[self.place.table].name.to_owned());
        let mut action = TransactWriteItem::default();
        match self.version {
            None => {
                action.delete = Some(Delete { table_name, key: Some(self.place.key()), ..Delete::default() });
            }
            Some(version) => {
                let item = Some(self.place.item(version, expiry_seconds).into());
                action.put = Some(Put { table_name, item, ..Put::default() });
            }
        }
        action
    }
}
