//! DeleteTable.

use std::sync::Arc;

use dynamo::operation::{DeleteTable, DeleteTableReply, TableDescription, TableStatus};
use dynamo::{ApiError, ErrorKind};

use crate::catalog::{CatalogChange, ClosedStream, find_named_table};
use crate::commit::{Changes, Latest};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::table::{IndexState, Table};

impl Engine {
    /// Removes a table and all its items; its name is free at once. Its stream stays readable for 24 hours.
    pub fn delete_table(&self, request: DeleteTable) -> Result<DeleteTableReply, ApiError> {
        request.check_fields()?;
        let table = self.inner.committer.run(move |latest| write(&request, latest))?;
        self.inner.wake_housekeeper();
        Ok(DeleteTableReply { table_description: Some(reply(self, &table)) })
    }
}

fn write(request: &DeleteTable, latest: &Latest<'_>) -> Result<(Arc<Table>, Changes), Fault> {
    let table = find_named_table(latest.catalog, request.table_name.as_deref())?;
    if table.settings.deletion_protection {
        return Err(ApiError::validation(
            "Resource cannot be deleted as it is currently protected against deletion. Disable deletion \
             protection first.",
        )
        .into());
    }
    if table.indexes.iter().any(|index| index.state != IndexState::Active) {
        let message = "Attempt to change a resource which is still in use: Cannot delete table while indexes are \
                       being created, updated, or deleted.";
        return Err(ApiError::new(ErrorKind::ResourceInUse, message).into());
    }
    let closed = table.stream.clone().map(|stream| {
        CatalogChange::CloseStream(Arc::new(ClosedStream {
            stream,
            table: Table::clone(&table),
            closed_milliseconds: latest.now_milliseconds,
        }))
    });
    let catalog = closed.into_iter().chain([CatalogChange::Remove(table.clone())]).collect();
    Ok((table, Changes { catalog, ..Changes::default() }))
}

/// DynamoDB tells of the table and what its keys are, and no longer of its global indexes.
fn reply(engine: &Engine, table: &Table) -> TableDescription {
    let description = engine.inner.describe(table, TableStatus::Deleting);
    TableDescription { global_secondary_indexes: None, ..description }
}
