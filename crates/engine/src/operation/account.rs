//! DescribeLimits and DescribeEndpoints: what is about the account and the service, not about a table.

use dynamo::ApiError;
use dynamo::operation::{
    DescribeEndpoints, DescribeEndpointsReply, DescribeLimits, DescribeLimitsReply, Endpoint,
};

use crate::engine::Engine;

/// Units of an account and a table, as a new account of DynamoDB has them. Nothing here is limited by them.
const ACCOUNT_UNITS: i64 = 80_000;
const TABLE_UNITS: i64 = 40_000;
/// How long an address is good for.
const ENDPOINT_MINUTES: i64 = 1440;

impl Engine {
    /// Tells the quotas of the account.
    pub fn describe_limits(&self, request: DescribeLimits) -> Result<DescribeLimitsReply, ApiError> {
        request.check_fields()?;
        Ok(DescribeLimitsReply {
            account_max_read_capacity_units: Some(ACCOUNT_UNITS),
            account_max_write_capacity_units: Some(ACCOUNT_UNITS),
            table_max_read_capacity_units: Some(TABLE_UNITS),
            table_max_write_capacity_units: Some(TABLE_UNITS),
        })
    }

    /// Tells where the service answers, see [`crate::Options::endpoint`].
    pub fn describe_endpoints(&self, request: DescribeEndpoints) -> Result<DescribeEndpointsReply, ApiError> {
        request.check_fields()?;
        let options = &self.inner.options;
        let address = options.endpoint.clone();
        let address = address.unwrap_or_else(|| format!("dynamodb.{}.amazonaws.com", options.region));
        let endpoint = Endpoint { address, cache_period_in_minutes: ENDPOINT_MINUTES };
        Ok(DescribeEndpointsReply { endpoints: vec![endpoint] })
    }
}
