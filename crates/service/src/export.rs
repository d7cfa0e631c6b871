//! Everything that a pattern finds, by entity: for files with one kind of row each.

use dynamo::Item;

use crate::answer::{Entity, PageRequest};
use crate::refusal::Refusal;
use crate::service::Service;

/// The items of one entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// The entity.
    pub entity: String,
    /// Its attributes in the order of the design: those that some item has.
    pub attributes: Vec<String>,
    /// The items, each once, in the order in which they were found.
    pub items: Vec<Item>,
}

impl Service {
    /// Everything that a pattern finds, to its end, by entity in the order of the design. An item that several parts of a collection find is
    /// there once.
    pub async fn export(&self, pattern: &str, parameters: Item) -> Result<Vec<Exported>, Refusal> {
        let mut found: Vec<Entity> = Vec::new();
        let limit = self.limits(pattern).map(|limits| limits.max);
        let mut cursor = None;
        loop {
            let answer = self.ask(pattern, parameters.clone(), PageRequest { limit, cursor }).await?;
            found.extend(answer.items);
            found.extend(answer.parts.into_iter().flat_map(|part| part.items));
            cursor = answer.cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(self.by_entity(found))
    }

    fn by_entity(&self, found: Vec<Entity>) -> Vec<Exported> {
        let mut groups = Vec::new();
        for entity in &self.design().entities {
            let identity = entity.identity();
            let mut seen = std::collections::BTreeSet::new();
            let mut items = Vec::new();
            for row in found.iter().filter(|row| row.name == entity.name.value) {
                let key: Item = identity
                    .iter()
                    .filter_map(|slot| Some(((*slot).to_owned(), design::at(&row.item, slot)?.clone())))
                    .collect();
                let mut bytes = Vec::new();
                dynamo::write_item(&key, &mut bytes);
                if seen.insert(bytes) {
                    items.push(row.item.clone());
                }
            }
            if items.is_empty() {
                continue;
            }
            let declared = entity.attributes.iter().map(|attribute| attribute.name.value.clone());
            let constants = entity.constants.iter().map(|(name, _)| name.value.clone());
            let mut attributes: Vec<String> = Vec::new();
            for name in declared.chain(constants) {
                if !attributes.contains(&name) && items.iter().any(|item| item.contains_key(&name)) {
                    attributes.push(name);
                }
            }
            groups.push(Exported { entity: entity.name.value.clone(), attributes, items });
        }
        groups
    }
}
