//! Billing mode and throughput settings, checked.

use dynamo::ApiError;
use dynamo::operation::{BillingMode, Choice, OnDemandThroughput, ProvisionedThroughput, WarmThroughput};

use crate::schema::invalid;
use crate::table::{OnDemandLimits, Throughput};

/// The most units that can be provisioned.
const UNITS_MAX: i64 = 1_000_000_000_000;

/// Said of units for a table or index that has none.
pub(crate) const UNITS_ON_DEMAND: &str =
    "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST";

/// Said of a provisioned table without units.
pub(crate) const NO_UNITS: &str =
    "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED";

/// Said of units for an index of an on-demand table.
pub(crate) fn index_units_on_demand(index: &str) -> String {
    format!(
        "ProvisionedThroughput should not be specified for index: {index} when BillingMode is PAY_PER_REQUEST"
    )
}

/// Said of an index of a provisioned table without units.
pub(crate) fn no_index_units(index: &str) -> String {
    format!("ProvisionedThroughput is not specified for index: {index}")
}

/// Whether a request asks for on-demand capacity; provisioned is the default.
pub(crate) fn is_on_demand(mode: Option<&Choice<BillingMode>>) -> bool {
    mode.is_some_and(|mode| *mode == BillingMode::PayPerRequest)
}

/// The provisioned units of a request.
pub(crate) fn provisioned(request: &ProvisionedThroughput) -> Result<Throughput, ApiError> {
    let units = |name: &str, value: Option<i64>| {
        let value = value.unwrap_or_default();
        if value > UNITS_MAX {
            return Err(ApiError::validation(format!("Given value {value} for {name} is out of bounds")));
        }
        Ok(value)
    };
    Ok(Throughput {
        read_units: units("ReadCapacityUnits", request.read_capacity_units)?,
        write_units: units("WriteCapacityUnits", request.write_capacity_units)?,
        ..Throughput::default()
    })
}

/// What a setting belongs to; messages name it in their own ways.
#[derive(Clone, Copy)]
pub(crate) enum Of<'a> {
    Table,
    Index(&'a str),
}

/// The limits of an on-demand table or index that is being made.
pub(crate) fn new_limits(
    request: Option<&OnDemandThroughput>,
    on_demand: bool,
    of: Of<'_>,
) -> Result<OnDemandLimits, ApiError> {
    let Some(request) = request else { return Ok(OnDemandLimits::default()) };
    let members = limit_members(request);
    if let (false, Some((member, _))) = (on_demand, members.iter().find(|(_, value)| value.is_some())) {
        let of_index = match of {
            Of::Table => String::new(),
            Of::Index(name) => format!(" for index: {name}"),
        };
        return Err(invalid(format!(
            "{member} for OnDemandThroughput{of_index} cannot be specified when table BillingMode is PROVISIONED."
        )));
    }
    for (member, value) in members {
        if value.is_some_and(|value| value < 1) {
            return Err(limit_out_of_range(member, of));
        }
    }
    Ok(OnDemandLimits {
        read_units: request.max_read_request_units,
        write_units: request.max_write_request_units,
    })
}

/// The limits after a change: a member that is not given stays, and -1 removes one. `Ok(None)` where the request says nothing.
pub(crate) fn changed_limits(
    request: Option<&OnDemandThroughput>,
    current: OnDemandLimits,
    on_demand: bool,
    of: Of<'_>,
) -> Result<Option<OnDemandLimits>, ApiError> {
    let Some(request) = request else { return Ok(None) };
    let members = limit_members(request);
    if let (false, Some((member, _))) = (on_demand, members.iter().find(|(_, value)| value.is_some())) {
        let of_index = match of {
            Of::Table => String::new(),
            Of::Index(name) => format!(" for index : {name}"),
        };
        return Err(invalid(format!(
            "{member} for OnDemandThroughput{of_index} cannot be specified when the table BillingMode is PROVISIONED"
        )));
    }
    for (member, value) in members {
        if value.is_some_and(|value| value == 0 || value < NO_LIMIT) {
            return Err(limit_out_of_range(member, of));
        }
    }
    let changed = |new: Option<i64>, old: Option<i64>| new.or(old).filter(|units| *units != NO_LIMIT);
    Ok(Some(OnDemandLimits {
        read_units: changed(request.max_read_request_units, current.read_units),
        write_units: changed(request.max_write_request_units, current.write_units),
    }))
}

/// Removes a limit.
const NO_LIMIT: i64 = -1;

fn limit_members(request: &OnDemandThroughput) -> [(&'static str, Option<i64>); 2] {
    [
        ("MaxReadRequestUnits", request.max_read_request_units),
        ("MaxWriteRequestUnits", request.max_write_request_units),
    ]
}

fn limit_out_of_range(member: &str, of: Of<'_>) -> ApiError {
    let of = match of {
        Of::Table => "table".to_owned(),
        Of::Index(name) => format!("index : {name}"),
    };
    invalid(format!("Requested {member} for OnDemandThroughput for {of} is outside of valid range"))
}

/// What an on-demand table takes at once from the start: reads, writes.
pub(crate) const ON_DEMAND_WARM_UNITS: (i64, i64) = (12_000, 4_000);

/// What a new table or index is to take at once; at least what its mode gives.
pub(crate) fn new_warmth(
    request: Option<&WarmThroughput>,
    on_demand: bool,
    units: &Throughput,
    of: Of<'_>,
) -> Result<Option<(i64, i64)>, ApiError> {
    let Some(request) = request else { return Ok(None) };
    let least = mode_warmth(on_demand, units);
    for (member, value, least) in warm_members(request, least) {
        if value.is_some_and(|value| value < least) {
            let than = if on_demand {
                "initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/\
                 developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
            } else if member == "ReadUnitsPerSecond" {
                "ReadCapacityUnits of ProvisionedThroughput"
            } else {
                "WriteCapacityUnits of ProvisionedThroughput"
            };
            return Err(too_cold(member, of, than));
        }
    }
    Ok(Some(merged_warmth(request, least)))
}

/// What a table or index is to take at once from now on; never less than before. `Ok(None)` where the request says nothing.
pub(crate) fn changed_warmth(
    request: Option<&WarmThroughput>,
    current: (i64, i64),
    of: Of<'_>,
) -> Result<Option<(i64, i64)>, ApiError> {
    let Some(request) = request else { return Ok(None) };
    for (member, value, current) in warm_members(request, current) {
        if value.is_some_and(|value| value < current) {
            let than = "current WarmThroughput, decreasing WarmThroughput is not supported";
            return Err(too_cold(member, of, than));
        }
    }
    Ok(Some(merged_warmth(request, current)))
}

/// What a table or index takes at once because of its mode alone.
pub(crate) fn mode_warmth(on_demand: bool, units: &Throughput) -> (i64, i64) {
    if on_demand { ON_DEMAND_WARM_UNITS } else { (units.read_units, units.write_units) }
}

fn warm_members(request: &WarmThroughput, least: (i64, i64)) -> [(&'static str, Option<i64>, i64); 2] {
    [
        ("ReadUnitsPerSecond", request.read_units_per_second, least.0),
        ("WriteUnitsPerSecond", request.write_units_per_second, least.1),
    ]
}

fn merged_warmth(request: &WarmThroughput, current: (i64, i64)) -> (i64, i64) {
    (request.read_units_per_second.unwrap_or(current.0), request.write_units_per_second.unwrap_or(current.1))
}

fn too_cold(member: &str, of: Of<'_>, than: &str) -> ApiError {
    let of = match of {
        Of::Table => "table".to_owned(),
        Of::Index(name) => format!("index {name}"),
    };
    invalid(format!("Requested {member} for WarmThroughput for {of} is lower than {than}"))
}
