//! Billing mode and throughput settings, checked.

use dynamo::ApiError;
use dynamo::operation::{BillingMode, Choice, OnDemandThroughput, ProvisionedThroughput};

use crate::schema::invalid;
use crate::table::{OnDemandLimits, Throughput};

/// The most units that can be provisioned.
const UNITS_MAX: i64 = 1_000_000_000_000;

/// Said of units for a table or index that has none.
pub(crate) const UNITS_ON_DEMAND: &str =
    "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST";

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

/// The limits of an on-demand table that is being made.
pub(crate) fn new_limits(
    request: Option<&OnDemandThroughput>,
    on_demand: bool,
) -> Result<OnDemandLimits, ApiError> {
    let Some(request) = request else { return Ok(OnDemandLimits::default()) };
    let members = limit_members(request);
    let first = members.iter().find(|(_, value)| value.is_some());
    if let (false, Some((member, _))) = (on_demand, first) {
        return Err(invalid(format!(
            "{member} for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED."
        )));
    }
    for (member, value) in members {
        if value.is_some_and(|value| value < 1) {
            return Err(limit_out_of_range(member));
        }
    }
    Ok(OnDemandLimits {
        read_units: request.max_read_request_units,
        write_units: request.max_write_request_units,
    })
}

/// The members of on-demand limits, in the order in which they are checked.
pub(crate) fn limit_members(request: &OnDemandThroughput) -> [(&'static str, Option<i64>); 2] {
    [
        ("MaxReadRequestUnits", request.max_read_request_units),
        ("MaxWriteRequestUnits", request.max_write_request_units),
    ]
}

/// Said of a limit below one.
pub(crate) fn limit_out_of_range(member: &str) -> ApiError {
    invalid(format!("Requested {member} for OnDemandThroughput for table is outside of valid range"))
}
