//! UpdateTimeToLive and DescribeTimeToLive.

use std::sync::Arc;

use dynamo::ApiError;
use dynamo::operation::{
    DescribeTimeToLive, DescribeTimeToLiveReply, TimeToLiveDescription, TimeToLiveStatus, UpdateTimeToLive,
    UpdateTimeToLiveReply,
};

use crate::catalog::{CatalogChange, find_changeable_table, find_named_table};
use crate::commit::{Changes, Latest};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::layout::CollectionId;
use crate::table::{Table, TimeToLive};

impl Engine {
    /// Says which attribute tells when an item expires, or that items expire no more.
    ///
    /// Items that are there already are looked at in the background; new ones expire from now on.
    pub fn update_time_to_live(&self, request: UpdateTimeToLive) -> Result<UpdateTimeToLiveReply, ApiError> {
        request.check_fields()?;
        let specification = request.time_to_live_specification.clone();
        self.inner.committer.run(move |latest| write(&request, latest))?;
        self.wake_housekeeper();
        Ok(UpdateTimeToLiveReply { time_to_live_specification: specification })
    }

    /// Tells by which attribute items expire, if they do.
    pub fn describe_time_to_live(
        &self,
        request: DescribeTimeToLive,
    ) -> Result<DescribeTimeToLiveReply, ApiError> {
        request.check_fields()?;
        let table = find_named_table(&self.catalog(), request.table_name.as_deref())?;
        let status = match table.time_to_live {
            Some(_) => TimeToLiveStatus::Enabled,
            None => TimeToLiveStatus::Disabled,
        };
        let description = TimeToLiveDescription {
            time_to_live_status: Some(status),
            attribute_name: table.time_to_live.as_ref().map(|ttl| ttl.attribute.clone()),
        };
        Ok(DescribeTimeToLiveReply { time_to_live_description: Some(description) })
    }
}

fn write(request: &UpdateTimeToLive, latest: &Latest<'_>) -> Result<((), Changes), Fault> {
    let table = find_changeable_table(latest.catalog, request.table_name.as_deref())?;
    let specification = request.time_to_live_specification.clone().unwrap_or_default();
    let attribute = specification.attribute_name.unwrap_or_default();
    let enable = specification.enabled.unwrap_or_default();
    check_change(table.time_to_live.as_ref(), enable, &attribute)?;
    let mut catalog = Vec::new();
    let mut next = Table::clone(&table);
    let id = latest.catalog.next_id();
    next.time_to_live = enable.then(|| TimeToLive {
        attribute,
        id: CollectionId(id),
        filling: true,
        filled_to: None,
        changed_milliseconds: latest.now_milliseconds,
    });
    if enable {
        catalog.push(CatalogChange::TakeIds(id));
    }
    catalog.extend(table.time_to_live.as_ref().map(|ttl| CatalogChange::Discard(ttl.id)));
    catalog.push(CatalogChange::Put(Arc::new(next)));
    Ok(((), Changes { catalog, ..Changes::default() }))
}

fn check_change(current: Option<&TimeToLive>, enable: bool, attribute: &str) -> Result<(), ApiError> {
    match current {
        Some(current) if current.attribute != attribute => Err(ApiError::validation(format!(
            "TimeToLive is active on a different AttributeName: current AttributeName is {}",
            current.attribute
        ))),
        Some(_) if enable => Err(ApiError::validation("TimeToLive is already enabled")),
        None if !enable => Err(ApiError::validation("TimeToLive is already disabled")),
        _ => Ok(()),
    }
}
