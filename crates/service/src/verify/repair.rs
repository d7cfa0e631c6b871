//! Puts right what verifying found. Each item is changed only if it still is as it was found.

use std::collections::BTreeMap;

use dynamo::operation::{DeleteItem, PutItem, UpdateItem};
use dynamo::{ErrorKind, Item, Number, Operation, Value};

use super::{Finding, Mend, Verification};
use crate::ids::Ids;
use crate::refusal::Refusal;
use crate::service::Service;

impl Service {
    /// Verifies, and puts right what can be put right. What changed in the meantime is left alone: verifying again tells.
    pub async fn repair(&self, progress: &mut (dyn FnMut(u64) + Send)) -> Result<Verification, Refusal> {
        let mut found = self.verify(progress).await?;
        for finding in &found.findings {
            if self.mend(finding).await? {
                found.repaired += 1;
            }
        }
        Ok(found)
    }

    async fn mend(&self, finding: &Finding) -> Result<bool, Refusal> {
        let request = match &finding.mend {
            Mend::Nothing => return Ok(false),
            Mend::Become { old, new } => become_item(finding, old.as_ref(), new.as_ref()),
            Mend::CopyOf { source, old } => {
                let found = crate::read::items(self, std::slice::from_ref(source), true).await?;
                let Some(copy) = found
                    .into_iter()
                    .flatten()
                    .next()
                    .and_then(|item| self.copy_of(finding, &source.table, &item))
                else {
                    return Ok(false);
                };
                become_item(finding, old.as_ref(), Some(&copy))
            }
            Mend::Count { attribute, old, new, initial } => {
                count(finding, attribute, old.as_ref(), *new, initial.as_ref())
            }
        };
        match self.run(request).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind == ErrorKind::ConditionalCheckFailed => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The copy that a source implies at the place of a finding.
    fn copy_of(&self, finding: &Finding, table: &str, source: &Item) -> Option<Item> {
        let entity = self.inner.shapes.recognise(self.design(), table, source)?;
        let logical = design::logical_item(self.design(), entity, source);
        let implied = self.with_context(&Ids::none(), |context| {
            design::implied(self.design(), &entity.name.value, &logical, context)
        });
        implied.copies.into_iter().find(|copy| copy.key == finding.key).map(|copy| copy.stored)
    }
}

/// The condition that an item still has the attributes that it had.
fn as_found(old: Option<&Item>, key: &Item) -> (String, BTreeMap<String, String>, Item) {
    let Some(old) = old else {
        let name = key.keys().next().cloned().unwrap_or_default();
        return ("attribute_not_exists(#k)".to_owned(), [("#k".to_owned(), name)].into(), Item::new());
    };
    let (mut parts, mut names, mut values) = (Vec::new(), BTreeMap::new(), Item::new());
    for (number, (name, value)) in old.iter().enumerate() {
        parts.push(format!("#a{number} = :a{number}"));
        names.insert(format!("#a{number}"), name.clone());
        values.insert(format!(":a{number}"), value.clone());
    }
    (parts.join(" AND "), names, values)
}

fn become_item(finding: &Finding, old: Option<&Item>, new: Option<&Item>) -> Operation {
    let (condition, names, values) = as_found(old, &finding.key.key);
    let values = (!values.is_empty()).then_some(values);
    match new {
        Some(item) => PutItem {
            condition_expression: Some(condition),
            expression_attribute_names: Some(names),
            expression_attribute_values: values,
            ..PutItem::new(finding.key.table.clone(), item.clone())
        }
        .into(),
        None => DeleteItem {
            key: Some(finding.key.key.clone()),
            table_name: Some(finding.key.table.clone()),
            condition_expression: Some(condition),
            expression_attribute_names: Some(names),
            expression_attribute_values: values,
            ..DeleteItem::default()
        }
        .into(),
    }
}

fn count(
    finding: &Finding,
    attribute: &str,
    old: Option<&Value>,
    new: Number,
    initial: Option<&Item>,
) -> Operation {
    let mut names = BTreeMap::new();
    let path = attribute.split('.').enumerate().map(|(number, name)| {
        names.insert(format!("#p{number}"), name.to_owned());
        format!("#p{number}")
    });
    let path = path.collect::<Vec<_>>().join(".");
    let mut values = Item::from([(":new".to_owned(), Value::N(new))]);
    let mut sets = vec![format!("{path} = :new")];
    let own = initial.into_iter().flatten().filter(|(name, _)| !finding.key.key.contains_key(*name));
    for (number, (name, value)) in own.enumerate() {
        names.insert(format!("#i{number}"), name.clone());
        values.insert(format!(":i{number}"), value.clone());
        sets.push(format!("#i{number} = if_not_exists(#i{number}, :i{number})"));
    }
    let condition = match old {
        Some(value) => {
            values.insert(":old".to_owned(), value.clone());
            format!("{path} = :old")
        }
        None => format!("attribute_not_exists({path})"),
    };
    UpdateItem {
        key: Some(finding.key.key.clone()),
        table_name: Some(finding.key.table.clone()),
        update_expression: Some(format!("SET {}", sets.join(", "))),
        condition_expression: Some(condition),
        expression_attribute_names: Some(names),
        expression_attribute_values: Some(values),
        ..UpdateItem::default()
    }
    .into()
}
