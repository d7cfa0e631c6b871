//! Tables as they were: restores to random moments against a model of all versions, and restores and backups that are killed.
//!
//! `MONOTABLE_RESTORES` asks for more moments, `MONOTABLE_RESTORE_KILLS` for more kills.

mod cost;
mod kills;
mod moments;

use dynamo::ApiError;
use dynamo::operation::{
    DeleteTable, PointInTimeRecoverySpecification, RestoreTableToPointInTime, Timestamp,
    UpdateContinuousBackups,
};
use monotable_engine::Engine;

use crate::crash::workload::TABLES;
use crate::design::TableDesign;

/// Switches recovery on for all tables, where it is not on yet.
fn switch_on(engine: &Engine) -> Result<(), ApiError> {
    TABLES.iter().try_for_each(|table| switch_on_for(engine, table.name))
}

pub(crate) fn switch_on_for(engine: &Engine, table: &str) -> Result<(), ApiError> {
    let request = UpdateContinuousBackups {
        table_name: Some(table.to_owned()),
        point_in_time_recovery_specification: Some(PointInTimeRecoverySpecification {
            point_in_time_recovery_enabled: Some(true),
            recovery_period_in_days: None,
        }),
    };
    engine.update_continuous_backups(request).map(drop)
}

fn restore(engine: &Engine, source: &str, target: &str, milliseconds: i64) -> Result<(), ApiError> {
    let request = RestoreTableToPointInTime {
        source_table_name: Some(source.to_owned()),
        target_table_name: Some(target.to_owned()),
        restore_date_time: Some(Timestamp::from_milliseconds(milliseconds)),
        ..RestoreTableToPointInTime::default()
    };
    engine.restore_table_to_point_in_time(request).map(drop)
}

fn delete(engine: &Engine, table: &str) {
    engine.delete_table(DeleteTable { table_name: Some(table.to_owned()) }).unwrap();
}

/// The design of a table that was restored from one of this design.
fn renamed(table: &TableDesign, name: &str) -> TableDesign {
    TableDesign {
        name: String::leak(name.to_owned()),
        partition: table.partition,
        sort: table.sort,
        indexes: table.indexes,
        later_indexes: table.later_indexes,
        stream: None,
        expiry: None,
        has_large_items: table.has_large_items,
    }
}

fn count(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}
