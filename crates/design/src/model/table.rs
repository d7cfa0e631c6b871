//! Tables and indexes.

use dynamo::KeyType;

use crate::source::{Placed, Span};
use crate::template::Template;

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name in the design.
    pub name: Placed<String>,
    /// What it is for.
    pub about: String,
    /// Its name in DynamoDB; slots are variables.
    pub physical_name: Placed<Template>,
    /// The partition key.
    pub partition_key: KeyAttribute,
    /// The sort key.
    pub sort_key: Option<KeyAttribute>,
    /// What its stream carries, if it has one.
    pub stream: Option<Placed<StreamView>>,
    /// Whether it can be restored to any second.
    pub point_in_time_recovery: Option<Placed<bool>>,
    /// How it is paid for.
    pub billing: Billing,
    /// The key that encrypts it, in the words of the design; none for the default.
    pub encryption_key: Option<String>,
    /// Where it is declared.
    pub span: Span,
}

/// An attribute of a key.
#[derive(Clone, Debug)]
pub struct KeyAttribute {
    /// Its name.
    pub name: Placed<String>,
    /// Its type.
    pub key_type: KeyType,
}

/// What a stream carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamView {
    /// Keys.
    KeysOnly,
    /// The item after the change.
    NewImage,
    /// The item before the change.
    OldImage,
    /// Both.
    NewAndOldImages,
}

impl StreamView {
    /// All of them, as a design writes them.
    pub const ALL: [(&'static str, StreamView); 4] = [
        ("keys-only", StreamView::KeysOnly),
        ("new-image", StreamView::NewImage),
        ("old-image", StreamView::OldImage),
        ("new-and-old-images", StreamView::NewAndOldImages),
    ];

    /// As DynamoDB writes it.
    pub fn dynamo_name(self) -> &'static str {
        match self {
            StreamView::KeysOnly => "KEYS_ONLY",
            StreamView::NewImage => "NEW_IMAGE",
            StreamView::OldImage => "OLD_IMAGE",
            StreamView::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        }
    }
}

/// How a table is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Billing {
    /// By request.
    OnDemand,
    /// So many units a second.
    Provisioned {
        /// Read units.
        read: u32,
        /// Write units.
        write: u32,
    },
}

/// An index.
#[derive(Clone, Debug)]
pub struct Index {
    /// Its name.
    pub name: Placed<String>,
    /// What it is for.
    pub about: String,
    /// The table it belongs to.
    pub table: Placed<String>,
    /// True for a local index: same partition key as the table.
    pub local: bool,
    /// The attributes of its partition key, up to four.
    pub partition_key: Vec<KeyAttribute>,
    /// The attributes of its sort key, up to four; may be none.
    pub sort_key: Vec<KeyAttribute>,
    /// What it carries beside keys.
    pub projection: Projection,
    /// Where it is declared.
    pub span: Span,
}

impl Index {
    /// The attributes of its key, partition first.
    pub fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        self.partition_key.iter().chain(&self.sort_key)
    }
}

impl Table {
    /// The attributes of its key, partition first.
    pub fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        std::iter::once(&self.partition_key).chain(&self.sort_key)
    }
}

/// What an index carries beside the keys of table and index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projection {
    /// All attributes.
    All,
    /// Nothing else.
    KeysOnly,
    /// These attributes.
    Include(Vec<Placed<String>>),
}
