//! TagResource, UntagResource and ListTagsOfResource.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use dynamo::operation::{
    ListTagsOfResource, ListTagsOfResourceReply, Tag, TagResource, TagResourceReply, UntagResource,
    UntagResourceReply,
};
use dynamo::{ApiError, ErrorKind};

use crate::arn::{Arn, Resource};
use crate::catalog::{Catalog, CatalogChange};
use crate::commit::{Changes, Latest};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::schema::invalid;
use crate::table::Table;
use crate::tags::{check_count, checked_tags};

/// Tags on one page: as many as a table may have.
const TAGS_PER_PAGE: usize = 50;

impl Engine {
    /// Sets tags of a table, which is named by its ARN.
    pub fn tag_resource(&self, request: TagResource) -> Result<TagResourceReply, ApiError> {
        request.check_fields()?;
        let name = self.table_of(request.resource_arn.as_deref(), "TagResource")?;
        let tags = request.tags.unwrap_or_default();
        if tags.is_empty() {
            return Err(ApiError::validation("Atleast one Tag needs to be provided as Input."));
        }
        let tags = checked_tags(&tags)?;
        self.change_tags(name, request.resource_arn, move |current| {
            current.extend(tags);
            check_count(current)
        })?;
        Ok(TagResourceReply {})
    }

    /// Removes tags from a table; keys that it does not have are no mistake.
    pub fn untag_resource(&self, request: UntagResource) -> Result<UntagResourceReply, ApiError> {
        request.check_fields()?;
        let name = self.table_of(request.resource_arn.as_deref(), "UntagResource")?;
        let keys = request.tag_keys.unwrap_or_default();
        if keys.is_empty() {
            return Err(ApiError::validation("Atleast one Tag Key needs to be provided as Input."));
        }
        self.change_tags(name, request.resource_arn, move |current| {
            current.retain(|key, _| !keys.contains(key));
            Ok(())
        })?;
        Ok(UntagResourceReply {})
    }

    /// Lists the tags of a table by key, ten at a time.
    pub fn list_tags_of_resource(
        &self,
        request: ListTagsOfResource,
    ) -> Result<ListTagsOfResourceReply, ApiError> {
        request.check_fields()?;
        let name = self.table_of(request.resource_arn.as_deref(), "ListTagsOfResource")?;
        let view = self.view();
        let table = find_tagged(&view.catalog, &name, request.resource_arn.as_deref())?;
        let after = request.next_token.as_deref();
        let mut tags =
            table.tags.iter().skip_while(|(key, _)| after.is_some_and(|after| key.as_str() <= after));
        let page: Vec<Tag> = tags.by_ref().take(TAGS_PER_PAGE).map(tag).collect();
        let next_token = page.last().filter(|_| tags.next().is_some()).and_then(|tag| tag.key.clone());
        Ok(ListTagsOfResourceReply { tags: page, next_token })
    }

    /// The name in the ARN of a table of this account.
    fn table_of(&self, arn: Option<&str>, operation: &str) -> Result<String, ApiError> {
        let text = arn.unwrap_or_default();
        let account = &self.inner.options.account;
        match Arn::parse(text) {
            Some(arn) if arn.account != account => Err(denied(operation, account, text)),
            // The account comes first: who may not ask learns nothing about regions.
            Some(arn) if arn.region != self.inner.options.region => Err(ApiError::validation(format!(
                "Invalid TableArn: Invalid ResourceArn provided as input {text}"
            ))),
            Some(Arn { resource: Resource::Table(name), .. }) => Ok(name.to_owned()),
            Some(_) => Err(invalid(format!(
                "Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {text}"
            ))),
            None if !text.starts_with("arn:") => Err(invalid(format!("ARNs must start with 'arn:': {text}"))),
            None if text.split(':').nth(2) != Some("dynamodb") => Err(denied(operation, account, text)),
            None => Err(invalid(format!("Provided Arn is not a DynamoDB resource arn: {text}"))),
        }
    }

    fn change_tags(
        &self,
        name: String,
        arn: Option<String>,
        change: impl FnOnce(&mut BTreeMap<String, String>) -> Result<(), ApiError> + Send + 'static,
    ) -> Result<(), ApiError> {
        let write = move |latest: &Latest<'_>| -> Result<((), Changes), Fault> {
            let mut table = Table::clone(&*find_tagged(latest.catalog, &name, arn.as_deref())?);
            change(&mut table.tags)?;
            let catalog = vec![CatalogChange::Put(Arc::new(table))];
            Ok(((), Changes { catalog, ..Changes::default() }))
        };
        Ok(self.inner.committer.run(write)?)
    }
}

fn denied(operation: &str, account: &str, arn: &str) -> ApiError {
    let message = format!(
        "User: arn:aws:iam::{account}:root is not authorized to perform: dynamodb:{operation} on resource: {arn}"
    );
    ApiError::new(ErrorKind::AccessDenied, message)
}

fn tag((key, value): (&String, &String)) -> Tag {
    Tag { key: Some(key.clone()), value: Some(value.clone()) }
}

fn find_tagged(catalog: &Catalog, name: &str, arn: Option<&str>) -> Result<Arc<Table>, ApiError> {
    catalog.table(name).cloned().ok_or_else(|| {
        let arn = arn.unwrap_or_default();
        let message = format!("Requested resource not found: ResourcArn: {arn} not found");
        ApiError::new(ErrorKind::ResourceNotFound, message)
    })
}
