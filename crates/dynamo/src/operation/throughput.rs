//! Throughput settings of tables and indexes.

use super::{IndexStatus, TableStatus, Timestamp};
use crate::rules::UNITS;

shape! {
    /// Capacity units per second.
    pub struct ProvisionedThroughput {
        write_capacity_units: Option<i64> = "WriteCapacityUnits" => UNITS,
        read_capacity_units: Option<i64> = "ReadCapacityUnits" => UNITS,
    }
}

shape! {
    /// Capacity units per second, and when they changed.
    pub struct ProvisionedThroughputDescription {
        last_increase_date_time: Option<Timestamp> = "LastIncreaseDateTime",
        last_decrease_date_time: Option<Timestamp> = "LastDecreaseDateTime",
        number_of_decreases_today: i64 = "NumberOfDecreasesToday",
        read_capacity_units: i64 = "ReadCapacityUnits",
        write_capacity_units: i64 = "WriteCapacityUnits",
    }
}

shape! {
    /// The most that an on-demand table takes.
    pub struct OnDemandThroughput {
        max_read_request_units: Option<i64> = "MaxReadRequestUnits",
        max_write_request_units: Option<i64> = "MaxWriteRequestUnits",
    }
}

shape! {
    /// What a table can take at once.
    pub struct WarmThroughput {
        read_units_per_second: Option<i64> = "ReadUnitsPerSecond",
        write_units_per_second: Option<i64> = "WriteUnitsPerSecond",
    }
}

shape! {
    /// What a table can take at once.
    pub struct TableWarmThroughputDescription {
        read_units_per_second: Option<i64> = "ReadUnitsPerSecond",
        write_units_per_second: Option<i64> = "WriteUnitsPerSecond",
        status: Option<TableStatus> = "Status",
    }
}

shape! {
    /// What an index can take at once.
    pub struct GlobalSecondaryIndexWarmThroughputDescription {
        read_units_per_second: Option<i64> = "ReadUnitsPerSecond",
        write_units_per_second: Option<i64> = "WriteUnitsPerSecond",
        status: Option<IndexStatus> = "Status",
    }
}
