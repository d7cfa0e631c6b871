//! DescribeLimits: the quotas of the account.

shape! {
    /// Tells the quotas of the account.
    pub struct DescribeLimits {
    }
}

shape! {
    /// Answers DescribeLimits.
    pub struct DescribeLimitsReply {
        account_max_read_capacity_units: Option<i64> = "AccountMaxReadCapacityUnits",
        account_max_write_capacity_units: Option<i64> = "AccountMaxWriteCapacityUnits",
        table_max_read_capacity_units: Option<i64> = "TableMaxReadCapacityUnits",
        table_max_write_capacity_units: Option<i64> = "TableMaxWriteCapacityUnits",
    }
}
