//! BackUpDatabase: asks whoever backs the database up for a whole backup, and tells what became of it.

use dynamo::ApiError;
use dynamo::operation::{BackUpDatabase, BackUpDatabaseReply, DatabaseBackupStatus, Timestamp};

use crate::backup_order::Order;
use crate::engine::Engine;

const NOBODY: &str = "This database is not backed up by its server: start the server with --backup-to DEST, or stop it and \
                      use monotable backup DEST --data DIR.";

impl Engine {
    /// Tells what became of the last whole backup that was asked for; with `Start`, asks for one unless one is awaited. Whoever ships
    /// the database makes it.
    pub fn back_up_database(&self, request: &BackUpDatabase) -> Result<BackUpDatabaseReply, ApiError> {
        request.check_fields()?;
        let orders = &self.inner.backup_orders;
        let place = orders.place().ok_or_else(|| ApiError::validation(NOBODY))?;
        if request.start.unwrap_or_default() {
            orders.ask();
        }
        let reply = BackUpDatabaseReply { destination: Some(place), ..BackUpDatabaseReply::default() };
        Ok(match orders.order() {
            Order::None => BackUpDatabaseReply { status: Some(DatabaseBackupStatus::NotStarted), ..reply },
            Order::Awaited => BackUpDatabaseReply { status: Some(DatabaseBackupStatus::Running), ..reply },
            Order::Made { id, time_milliseconds } => BackUpDatabaseReply {
                status: Some(DatabaseBackupStatus::Done),
                backup_id: Some(id),
                backup_date_time: Some(Timestamp::from_milliseconds(time_milliseconds)),
                ..reply
            },
            Order::Failed { reason } => BackUpDatabaseReply {
                status: Some(DatabaseBackupStatus::Failed),
                failure_message: Some(reason),
                ..reply
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Bench;

    #[test]
    fn a_backup_that_is_asked_for_is_made_by_whoever_backs_up() {
        let bench = Bench::in_memory();
        let refused = bench.refusal("BackUpDatabase", &json!({ "Start": true }));
        assert!(refused.contains("--backup-to DEST"), "{refused}");
        let engine = &bench.engine;
        engine.offer_backups(Some("/mnt/backups"));
        let ask = |start: bool| bench.ok("BackUpDatabase", &json!({ "Start": start }));
        assert_eq!(ask(false), json!({ "Status": "NOT_STARTED", "Destination": "/mnt/backups" }));
        assert!(!engine.is_backup_wanted());
        assert_eq!(ask(true)["Status"], "RUNNING");
        assert!(engine.is_backup_wanted());
        engine.backup_ended(Err("no room".to_owned()));
        let failed = ask(false);
        assert_eq!((&failed["Status"], &failed["FailureMessage"]), (&json!("FAILED"), &json!("no room")));
        ask(true);
        engine.backup_ended(Ok(("some-id".to_owned(), 5_000)));
        let made = json!({
            "Status": "DONE", "Destination": "/mnt/backups", "BackupId": "some-id", "BackupDateTime": 5.0,
        });
        assert_eq!(ask(false), made);
        assert!(!engine.is_backup_wanted());
        // Whoever waits when shipping ends is told so.
        ask(true);
        engine.offer_backups(None);
        assert!(!engine.is_backup_wanted());
        bench.refusal("BackUpDatabase", &json!({}));
    }
}
