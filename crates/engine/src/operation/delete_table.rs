//! DeleteTable.

use std::sync::Arc;

use dynamo::operation::{DeleteTable, DeleteTableReply, TableDescription, TableStatus};
use dynamo::{ApiError, ErrorKind};

use crate::backup::Backup;
use crate::catalog::{CatalogChange, ClosedStream, find_named_table};
use crate::commit::{Changes, Latest};
use crate::copying::end_history;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::table::{IndexState, Table};

impl Engine {
    /// Removes a table and all its items; its name is free at once. Its stream stays readable for 24 hours, and of a table with
    /// point-in-time recovery a backup is left for 35 days.
    pub fn delete_table(&self, request: DeleteTable) -> Result<DeleteTableReply, ApiError> {
        request.check_fields()?;
        let table = self.inner.committer.run(move |latest| write(&request, latest))?;
        self.wake_housekeeper();
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
    let now = latest.now_milliseconds;
    let left =
        table.recovery.as_ref().map(|_| CatalogChange::PutBackup(Arc::new(Backup::of_deleted(&table, now))));
    let mut catalog: Vec<CatalogChange> = closed.into_iter().chain(left).collect();
    catalog.push(CatalogChange::Remove(table.clone()));
    // A table that goes while it is being restored takes the history with it that was kept for it alone.
    catalog.extend(table.copying().map(|copying| end_history(latest.catalog, copying)).into_iter().flatten());
    Ok((table, Changes { catalog, ..Changes::default() }))
}

/// DynamoDB tells of the table, and no longer of its keys and indexes.
fn reply(engine: &Engine, table: &Table) -> TableDescription {
    let description = engine.inner.describe(table, TableStatus::Deleting);
    TableDescription {
        attribute_definitions: None,
        key_schema: None,
        creation_date_time: None,
        global_secondary_indexes: None,
        local_secondary_indexes: None,
        ..description
    }
}
