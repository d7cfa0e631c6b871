//! Item collections: the items of one partition in a table with local indexes.

use dynamo::Choice;
use dynamo::operation::{ItemCollectionMetrics, ReturnItemCollectionMetrics};

use crate::page::key_attributes;
use crate::write::Written;

/// The answer to ReturnItemCollectionMetrics: only tables with local indexes have item collections.
pub(crate) fn item_collection_metrics(
    wanted: Option<&Choice<ReturnItemCollectionMetrics>>,
    written: &Written,
) -> Option<ItemCollectionMetrics> {
    let is_wanted = wanted.is_some_and(|wanted| *wanted == ReturnItemCollectionMetrics::Size);
    if !is_wanted || written.table.local_indexes().next().is_none() {
        return None;
    }
    let item = written.new.as_ref().or(written.old.as_ref())?;
    let names = written.table.schema.partition.iter().map(|attribute| attribute.name.as_str());
    Some(ItemCollectionMetrics {
        item_collection_key: Some(key_attributes(item, names)),
        size_estimate_range_gb: Some(vec![0.0, 1.0]),
    })
}
