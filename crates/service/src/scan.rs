//! Reads tables from end to end.

use dynamo::operation::Scan;
use dynamo::{Item, Reply};

use crate::refusal::Refusal;
use crate::service::Service;

/// Calls `each` with every item of a table, a page at a time.
pub(crate) async fn pages(
    service: &Service,
    table: &str,
    mut each: impl FnMut(Vec<Item>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut scan = Scan { consistent_read: Some(true), ..Scan::new(table) };
    loop {
        let Reply::Scan(reply) = service.run(scan.clone()).await? else {
            return Err(Refusal::strange("Scan"));
        };
        each(reply.items.unwrap_or_default().iter().map(dynamo::StoredItem::decode).collect())?;
        match reply.last_evaluated_key {
            Some(last) => scan.exclusive_start_key = Some(last),
            None => return Ok(()),
        }
    }
}
