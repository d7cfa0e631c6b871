//! CheckData: compares everything that is stored with itself. It is Monotable's own; DynamoDB has no such operation.

shape! {
    /// Asks how a check of the data is going, and begins one if wanted.
    pub struct CheckData {
        start: Option<bool> = "Start",
    }
}

choices! {
    /// Where a check is.
    pub enum CheckStatus {
        NotStarted = "NOT_STARTED",
        Running = "RUNNING",
        Done = "DONE",
    }
}

shape! {
    /// Answers CheckData.
    pub struct CheckDataReply {
        status: Option<CheckStatus> = "Status",
        checked_entries: i64 = "CheckedEntries",
        expected_entries: i64 = "ExpectedEntries",
        finding_count: i64 = "FindingCount",
        findings: Vec<String> = "Findings",
    }
}
