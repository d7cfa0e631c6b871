//! What may stand together in one UpdateTable: hardly anything.
//!
//! Seen on DynamoDB in October 2026: of the pairs of settings only a switch to on-demand with limits or with a stream, and
//! index changes with a switch of the billing mode, are taken. When several settings want to be alone, the one that is named first below is reported.

use dynamo::ApiError;
use dynamo::operation::{BillingMode, UpdateTable};

use crate::schema::invalid;

pub(super) fn check(request: &UpdateTable) -> Result<(), ApiError> {
    let given = Given::of(request);
    if given.count() == 0 {
        return Err(ApiError::validation(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, \
             SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, \
             MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is \
             required",
        ));
    }
    if request.global_secondary_index_updates.as_ref().is_some_and(Vec::is_empty) {
        return Err(invalid("List of GlobalSecondaryIndexUpdates is empty"));
    }
    given.check_alone()?;
    given.check_pairs()
}

/// Which settings a request has.
struct Given {
    encryption: bool,
    class: bool,
    protection: bool,
    warmth: bool,
    limits: bool,
    stream: bool,
    units: bool,
    mode: Option<BillingMode>,
    index_updates: bool,
    index_creates: bool,
    index_deletes: bool,
}

impl Given {
    fn of(request: &UpdateTable) -> Given {
        let updates = request.global_secondary_index_updates.as_deref().unwrap_or_default();
        Given {
            encryption: request.sse_specification.is_some(),
            class: request.table_class.is_some(),
            protection: request.deletion_protection_enabled.is_some(),
            warmth: request.warm_throughput.is_some(),
            limits: request.on_demand_throughput.is_some(),
            stream: request.stream_specification.is_some(),
            units: request.provisioned_throughput.is_some(),
            mode: request.billing_mode.as_ref().and_then(|mode| mode.known()),
            index_updates: !updates.is_empty(),
            index_creates: updates.iter().any(|update| update.create.is_some()),
            index_deletes: updates.iter().any(|update| update.delete.is_some()),
        }
    }

    fn count(&self) -> usize {
        let given = [
            self.encryption,
            self.class,
            self.protection,
            self.warmth,
            self.limits,
            self.stream,
            self.units,
            self.mode.is_some(),
            self.index_updates,
        ];
        given.into_iter().filter(|given| *given).count()
    }

    fn check_alone(&self) -> Result<(), ApiError> {
        let alone = [
            (
                self.encryption,
                "Server-Side Encryption modification must be the only operation in the request",
            ),
            (self.class, "TableClass modification must be the only operation in the request"),
            (self.protection, "DeletionProtection modification must be the only operation in the request"),
            (
                self.warmth && self.index_creates,
                "Create global secondary index cannot be specified when updating WarmThroughput",
            ),
            (self.limits && self.warmth, LIMITS),
            (self.warmth, "WarmThroughput must be the only operation in the request"),
        ];
        match alone.into_iter().find(|(given, _)| *given && self.count() > 1) {
            Some((_, words)) => Err(invalid(words)),
            None => Ok(()),
        }
    }

    fn check_pairs(&self) -> Result<(), ApiError> {
        let only_with_mode = self.count() > 1 + usize::from(self.mode.is_some());
        let pairs = [
            (self.limits && only_with_mode, LIMITS),
            (
                self.stream && (self.units || self.mode == Some(BillingMode::Provisioned)),
                "You cannot modify stream status while updating table IOPS",
            ),
            (
                self.units && (self.index_creates || self.index_deletes),
                "You cannot create or delete index while updating table IOPS",
            ),
            (
                self.stream && (self.index_creates || self.index_deletes),
                "You cannot create or delete index while changing stream status",
            ),
        ];
        match pairs.into_iter().find(|(given, _)| *given) {
            Some((_, words)) => Err(invalid(words)),
            None => Ok(()),
        }
    }
}

const LIMITS: &str = "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request";
