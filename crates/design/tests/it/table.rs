//! A table in memory, simple enough to be right: what DynamoDB does with the requests of plans.

use std::collections::BTreeMap;

use dynamo::operation::{GetItem, Operation, Query, TransactWriteItem};
use dynamo::{Item, KeyValue, StoredItem, Value};
use expression::Substitutions;
use monotable_design::{CheckedDesign, ItemKey, create_tables};

#[derive(Default)]
pub(crate) struct Tables {
    items: BTreeMap<(String, Vec<u8>), Item>,
    keys: BTreeMap<String, Vec<String>>,
    /// The sort attributes of tables ("name") and indexes ("name/index").
    sorts: BTreeMap<String, Vec<String>>,
}

fn encoded(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    KeyValue::from_value(value).unwrap().encode(&mut bytes);
    bytes
}

impl Tables {
    pub(crate) fn of(design: &CheckedDesign) -> Tables {
        let mut tables = Tables::default();
        for request in create_tables(design, &BTreeMap::new()) {
            request.check_fields().unwrap();
            let name = request.table_name.clone().unwrap();
            let names = |schema: &[dynamo::operation::KeySchemaElement]| {
                schema.iter().map(|element| element.attribute_name.clone().unwrap()).collect::<Vec<_>>()
            };
            let keys = names(request.key_schema.as_deref().unwrap());
            tables.sorts.insert(name.clone(), keys.iter().skip(1).cloned().collect());
            for index in request.global_secondary_indexes.iter().flatten() {
                let sorts = names(index.key_schema.as_deref().unwrap());
                tables.sorts.insert(format!("{name}/{}", index.index_name.clone().unwrap()), sorts);
            }
            for index in request.local_secondary_indexes.iter().flatten() {
                let sorts = names(index.key_schema.as_deref().unwrap());
                tables.sorts.insert(format!("{name}/{}", index.index_name.clone().unwrap()), sorts);
            }
            tables.keys.insert(name, keys);
        }
        tables
    }

    fn place(&self, table: &str, item: &Item) -> (String, Vec<u8>) {
        let names = &self.keys[table];
        (table.to_owned(), names.iter().flat_map(|name| encoded(&item[name])).collect())
    }

    pub(crate) fn get(&self, key: &ItemKey) -> Option<Item> {
        self.items.get(&self.place(&key.table, &key.key)).cloned()
    }

    /// Carries out a request that writes; the number of the action whose condition failed otherwise.
    pub(crate) fn write(&mut self, request: &Operation) -> Result<(), usize> {
        request.check_fields().unwrap();
        let actions = match request.clone() {
            Operation::TransactWriteItems(transaction) => transaction.transact_items.unwrap(),
            Operation::PutItem(put) => vec![TransactWriteItem {
                put: Some(dynamo::operation::Put {
                    item: put.item,
                    table_name: put.table_name,
                    condition_expression: put.condition_expression,
                    expression_attribute_names: put.expression_attribute_names,
                    expression_attribute_values: put.expression_attribute_values,
                    ..Default::default()
                }),
                ..Default::default()
            }],
            Operation::UpdateItem(update) => vec![TransactWriteItem {
                update: Some(dynamo::operation::Update {
                    key: update.key,
                    update_expression: update.update_expression,
                    table_name: update.table_name,
                    condition_expression: update.condition_expression,
                    expression_attribute_names: update.expression_attribute_names,
                    expression_attribute_values: update.expression_attribute_values,
                    ..Default::default()
                }),
                ..Default::default()
            }],
            Operation::DeleteItem(delete) => vec![TransactWriteItem {
                delete: Some(dynamo::operation::Delete {
                    key: delete.key,
                    table_name: delete.table_name,
                    condition_expression: delete.condition_expression,
                    expression_attribute_names: delete.expression_attribute_names,
                    expression_attribute_values: delete.expression_attribute_values,
                    ..Default::default()
                }),
                ..Default::default()
            }],
            other => panic!("{} does not write", other.name()),
        };
        assert!(actions.len() <= 100);
        let mut after = self.items.clone();
        let mut seen = Vec::new();
        for (number, action) in actions.iter().enumerate() {
            let (place, new) = self.action(action).map_err(|()| number)?;
            assert!(!seen.contains(&place), "an item is written twice");
            seen.push(place.clone());
            match new {
                Some(Some(item)) => {
                    after.insert(place, item);
                }
                Some(None) => {
                    after.remove(&place);
                }
                None => {}
            }
        }
        self.items = after;
        Ok(())
    }

    /// Where an action acts, and the item afterwards (`None`: not changed).
    #[expect(clippy::type_complexity)]
    fn action(&self, action: &TransactWriteItem) -> Result<((String, Vec<u8>), Option<Option<Item>>), ()> {
        let check = |table: &Option<String>,
                     key: &Item,
                     condition: &Option<String>,
                     update: Option<&String>,
                     names: &Option<BTreeMap<String, String>>,
                     values: &Option<BTreeMap<String, Value>>| {
            let place = self.place(table.as_ref().unwrap(), key);
            let old = self.items.get(&place).map(StoredItem::encode);
            let mut substitutions = Substitutions::new(names.as_ref(), values.as_ref()).unwrap();
            let update = update
                .map(|text| substitutions.update(text).unwrap_or_else(|error| panic!("{text}: {error:?}")));
            let condition = condition.as_ref().map(|text| {
                substitutions.condition(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
            });
            substitutions.finish().unwrap_or_else(|error| panic!("{error:?}"));
            if condition.is_some_and(|condition| !condition.matches(old.as_ref())) {
                return Err(());
            }
            let new = update.map(|update| {
                update
                    .apply(old.as_ref(), &self.key_of(table.as_ref().unwrap(), key))
                    .unwrap()
                    .map(|item| item.decode())
            });
            Ok((place, new))
        };
        if let Some(put) = &action.put {
            let item = put.item.as_ref().unwrap().decode();
            let (place, _) = check(
                &put.table_name,
                &item,
                &put.condition_expression,
                None,
                &put.expression_attribute_names,
                &put.expression_attribute_values,
            )?;
            return Ok((place, Some(Some(item))));
        }
        if let Some(update) = &action.update {
            let (place, new) = check(
                &update.table_name,
                update.key.as_ref().unwrap(),
                &update.condition_expression,
                update.update_expression.as_ref(),
                &update.expression_attribute_names,
                &update.expression_attribute_values,
            )?;
            return Ok((place, Some(new.unwrap())));
        }
        if let Some(delete) = &action.delete {
            let (place, _) = check(
                &delete.table_name,
                delete.key.as_ref().unwrap(),
                &delete.condition_expression,
                None,
                &delete.expression_attribute_names,
                &delete.expression_attribute_values,
            )?;
            return Ok((place, Some(None)));
        }
        let checked = action.condition_check.as_ref().unwrap();
        let (place, _) = check(
            &checked.table_name,
            checked.key.as_ref().unwrap(),
            &checked.condition_expression,
            None,
            &checked.expression_attribute_names,
            &checked.expression_attribute_values,
        )?;
        Ok((place, None))
    }

    fn key_of(&self, table: &str, key: &Item) -> Item {
        self.keys[table].iter().map(|name| (name.clone(), key[name].clone())).collect()
    }

    /// Carries out a request that reads.
    pub(crate) fn read(&self, request: &Operation) -> Vec<Item> {
        request.check_fields().unwrap();
        match request {
            Operation::GetItem(get) => self.get_item(get),
            Operation::BatchGetItem(batch) => {
                let tables = batch.request_items.iter().flatten();
                let keys =
                    tables.flat_map(|(table, keys)| keys.keys.iter().flatten().map(move |key| (table, key)));
                keys.filter_map(|(table, key)| self.items.get(&self.place(table, key)).cloned()).collect()
            }
            Operation::Query(query) => self.query(query),
            other => panic!("{} does not read", other.name()),
        }
    }

    fn get_item(&self, get: &GetItem) -> Vec<Item> {
        let place = self.place(get.table_name.as_ref().unwrap(), get.key.as_ref().unwrap());
        self.items.get(&place).cloned().into_iter().collect()
    }

    fn query(&self, query: &Query) -> Vec<Item> {
        let table = query.table_name.as_ref().unwrap();
        let names = query.expression_attribute_names.as_ref();
        let mut substitutions =
            Substitutions::new(names, query.expression_attribute_values.as_ref()).unwrap();
        let condition =
            substitutions.key_condition(query.key_condition_expression.as_ref().unwrap()).unwrap();
        let filter = query.filter_expression.as_ref().map(|text| substitutions.filter(text).unwrap());
        substitutions.finish().unwrap();
        let sorts = match &query.index_name {
            Some(index) => &self.sorts[&format!("{table}/{index}")],
            None => &self.sorts[table],
        };
        let mut found = self
            .items
            .iter()
            .filter(|((place, _), item)| place == table && condition.matches(Some(&StoredItem::encode(item))))
            .filter(|(_, item)| sorts.iter().all(|name| item.contains_key(name)))
            .map(|(_, item)| item.clone())
            .collect::<Vec<_>>();
        found.sort_by_key(|item| sorts.iter().flat_map(|name| encoded(&item[name])).collect::<Vec<_>>());
        if query.scan_index_forward == Some(false) {
            found.reverse();
        }
        found.truncate(query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap()));
        found.retain(|item| {
            filter.as_ref().is_none_or(|filter| filter.matches(Some(&StoredItem::encode(item))))
        });
        found
    }
}
