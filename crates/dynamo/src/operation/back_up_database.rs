//! BackUpDatabase: a server that backs itself up makes a whole backup now. It is Monotable's own; DynamoDB has no such operation.

use super::Timestamp;

shape! {
    /// Asks what became of the last whole backup that somebody asked for, and asks for one if wanted.
    pub struct BackUpDatabase {
        start: Option<bool> = "Start",
    }
}

choices! {
    /// Where a whole backup is that was asked for.
    pub enum DatabaseBackupStatus {
        NotStarted = "NOT_STARTED",
        Running = "RUNNING",
        Done = "DONE",
        Failed = "FAILED",
    }
}

shape! {
    /// Answers BackUpDatabase.
    pub struct BackUpDatabaseReply {
        status: Option<DatabaseBackupStatus> = "Status",
        destination: Option<String> = "Destination",
        backup_id: Option<String> = "BackupId",
        backup_date_time: Option<Timestamp> = "BackupDateTime",
        failure_message: Option<String> = "FailureMessage",
    }
}
