//! One write as an operation of its own: the write, what the client wants to know about it, and the answer's common parts.

use dynamo::operation::{
    ConsumedCapacity, ItemCollectionMetrics, ReturnConsumedCapacity, ReturnItemCollectionMetrics,
    ReturnValues, ReturnValuesOnConditionCheckFailure,
};
use dynamo::{ApiError, Choice};

use crate::capacity::{Detail, Units, consumed, is_asked};
use crate::collection::item_collection_metrics;
use crate::commit::{Changes, Latest};
use crate::fault::Fault;
use crate::write::{ItemWrite, Written};

/// A write and what the client wants to know about it.
pub(crate) struct SingleWrite {
    pub(crate) write: ItemWrite,
    pub(crate) asked: Asked,
}

/// What the client wants to know.
#[derive(Default)]
pub(crate) struct Asked {
    pub(crate) return_values: ReturnValuesAsked,
    pub(crate) on_failure: Option<Choice<ReturnValuesOnConditionCheckFailure>>,
    pub(crate) capacity: Option<Choice<ReturnConsumedCapacity>>,
    pub(crate) metrics: Option<Choice<ReturnItemCollectionMetrics>>,
}

/// ReturnValues after its check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReturnValuesAsked(pub(crate) Option<ReturnValues>);

impl ReturnValuesAsked {
    /// For operations that know only the old item.
    pub(crate) fn old_or_none(asked: Option<&Choice<ReturnValues>>) -> Result<ReturnValuesAsked, ApiError> {
        match asked.and_then(Choice::known) {
            known @ (None | Some(ReturnValues::AllOld | ReturnValues::None)) => Ok(ReturnValuesAsked(known)),
            Some(_) => Err(ApiError::validation("ReturnValues can only be ALL_OLD or NONE")),
        }
    }

    /// True if the item as it was is wanted.
    pub(crate) fn wants_old(self) -> bool {
        self.0 == Some(ReturnValues::AllOld)
    }
}

/// A write that was made, and what it cost.
pub(crate) struct Done {
    pub(crate) written: Written,
    pub(crate) consumed_capacity: Option<ConsumedCapacity>,
    pub(crate) item_collection_metrics: Option<ItemCollectionMetrics>,
}

impl SingleWrite {
    /// Decides against the latest state.
    pub(crate) fn decide(&self, latest: &Latest<'_>) -> Result<(Done, Changes), Fault> {
        let asked = &self.asked;
        let with_item = asked.on_failure.as_ref();
        let with_item =
            with_item.is_some_and(|wanted| *wanted == ReturnValuesOnConditionCheckFailure::AllOld);
        let written = self.write.decide(latest).map_err(|refusal| refusal.into_fault(with_item))?;
        let mut changes = Changes::default();
        written.add_to(&mut changes, latest)?;
        let capacity = asked.capacity.as_ref();
        let consumed_capacity = is_asked(capacity)
            .then(|| Units::of_write(&written.change(), 1.0))
            .and_then(|units| consumed(capacity, &written.table, &units, Detail::Plain));
        let item_collection_metrics =
            item_collection_metrics(asked.metrics.as_ref(), &written, &changes, latest)?;
        Ok((Done { written, consumed_capacity, item_collection_metrics }, changes))
    }
}
