//! The tables of the model: every key type, local and global indexes with every projection, every stream view, expiry.

use dynamo::operation::StreamViewType;

use crate::design::{IndexDesign, Key, Projected, TableDesign, b, n, s};

/// The tables.
pub(crate) static TABLES: [TableDesign; 6] = [
    TableDesign {
        name: "people",
        partition: s("pk"),
        sort: None,
        indexes: &[global("by-group", &[s("g")], &[], Projected::All)],
        later_indexes: &[],
        stream: Some(StreamViewType::NewAndOldImages),
        expiry: None,
        has_large_items: false,
    },
    TableDesign {
        name: "orders",
        partition: s("pk"),
        sort: Some(n("sk")),
        indexes: &[
            local("by-amount", &[s("pk")], &[n("n")], Projected::All),
            local("by-group", &[s("pk")], &[s("g")], Projected::KeysOnly),
            local("by-bytes", &[s("pk")], &[b("h")], Projected::Include(&["a", "m"])),
            global("groups", &[s("g")], &[n("n")], Projected::All),
        ],
        later_indexes: &[
            global("later-groups", &[s("g")], &[b("h")], Projected::Include(&["a", "tags"])),
            global("later-amounts", &[n("n")], &[], Projected::KeysOnly),
        ],
        stream: Some(StreamViewType::NewAndOldImages),
        expiry: Some("ttl"),
        has_large_items: false,
    },
    TableDesign {
        name: "events",
        partition: n("pk"),
        sort: Some(s("sk")),
        indexes: &[
            local("by-amount", &[n("pk")], &[n("n")], Projected::Include(&["list"])),
            global("groups", &[s("g")], &[s("sk")], Projected::KeysOnly),
            global(
                "composite",
                &[s("g"), n("n")],
                &[b("h"), s("sk"), n("pk")],
                Projected::Include(&["a", "list", "ttl"]),
            ),
        ],
        later_indexes: &[global("later-all", &[b("h"), s("g")], &[n("n"), n("ttl")], Projected::All)],
        stream: Some(StreamViewType::NewImage),
        expiry: Some("ttl"),
        has_large_items: false,
    },
    TableDesign {
        name: "edges",
        partition: b("pk"),
        sort: Some(b("sk")),
        indexes: &[global("inverted", &[b("sk")], &[b("pk")], Projected::All)],
        later_indexes: &[global("later-amounts", &[b("pk")], &[n("n")], Projected::All)],
        stream: Some(StreamViewType::KeysOnly),
        expiry: None,
        has_large_items: false,
    },
    TableDesign {
        name: "counters",
        partition: n("pk"),
        sort: None,
        indexes: &[],
        later_indexes: &[global("later-groups", &[s("g")], &[n("pk")], Projected::KeysOnly)],
        stream: Some(StreamViewType::OldImage),
        expiry: Some("n"),
        has_large_items: false,
    },
    TableDesign {
        name: "documents",
        partition: s("pk"),
        sort: Some(n("sk")),
        indexes: &[global("groups", &[s("g")], &[n("sk")], Projected::All)],
        // Some texts are too long for a key.
        later_indexes: &[global("later-texts", &[s("pk")], &[s("a")], Projected::KeysOnly)],
        stream: None,
        expiry: None,
        has_large_items: true,
    },
];

const fn local(
    name: &'static str,
    partition: &'static [Key],
    sort: &'static [Key],
    projected: Projected,
) -> IndexDesign {
    IndexDesign { name, is_local: true, partition, sort, projected }
}

const fn global(
    name: &'static str,
    partition: &'static [Key],
    sort: &'static [Key],
    projected: Projected,
) -> IndexDesign {
    IndexDesign { name, is_local: false, partition, sort, projected }
}
