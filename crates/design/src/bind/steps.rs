//! Steps on items: creates, updates, deletes and checks, one after the other, on what is known of the table.
//!
//! Path of a step: its key and values from the scope (here) -> the item as earlier steps left it (`read`) -> what it changes (`change`), a
//! new item with all that is made for it (`complete`) -> the writes of all items at the end (`finish`).

mod change;
pub(super) mod complete;
mod finish;
mod read;

use std::ops::Range;

use dynamo::{Item, Number, Value};

use super::consequence::ItemChange;
use super::placeholders::holds;
use super::time::iso_milliseconds;
use super::value::{at, check, coerced, given, put_at, validate, validate_key};
use super::write::{Guard, ItemWrite};
use super::{Bound, Context, ItemKey, Known, Problem, ProblemKind};
use crate::check::CheckedDesign;
use crate::model::{Action, EachOver, Entity, Given, Step, Type};

/// What is to be done.
#[derive(Clone, Debug)]
pub enum Write<'a> {
    /// Create an item.
    Create {
        /// The entity.
        entity: &'a str,
        /// Its attributes; generated ones and those with defaults may be absent.
        attributes: Item,
    },
    /// Change attributes of an item that exists.
    Update {
        /// The entity.
        entity: &'a str,
        /// The slots of its key.
        key: Item,
        /// Attributes to set; dots reach into maps.
        set: Item,
        /// Attributes to remove.
        remove: Vec<String>,
        /// The version that the caller has seen.
        version: Option<Number>,
    },
    /// Delete an item.
    Delete {
        /// The entity.
        entity: &'a str,
        /// The slots of its key.
        key: Item,
        /// The version that the caller has seen.
        version: Option<Number>,
    },
    /// Carry out an operation.
    Operation {
        /// The operation.
        name: &'a str,
        /// What the caller gives.
        inputs: Item,
        /// Which elements of the lists it repeats over, for an operation in chunks; none for all of them.
        part: Option<Range<usize>>,
    },
    /// Carry out the steps of a reaction.
    Reaction {
        /// The reaction.
        name: &'a str,
        /// The change it follows.
        change: &'a ItemChange,
    },
}

/// Carries out a write on what is known, or says what must be known first.
pub fn bind_write(
    design: &CheckedDesign,
    write: &Write<'_>,
    known: &Known,
    context: &Context<'_>,
) -> Result<Bound, Vec<Problem>> {
    let mut work = Work::new(design, known, context);
    work.write(write);
    work.finish()
}

/// A new item with everything that is made for it, where nothing must be read for that; or everything that is wrong with it.
pub(super) fn new_item(
    design: &CheckedDesign,
    entity: &Entity,
    attributes: Item,
    context: &Context<'_>,
) -> Result<Item, Vec<Problem>> {
    let known = Known::default();
    let mut work = Work::new(design, &known, context);
    match work.completed(entity, attributes) {
        Some(item) => {
            let problems = validate(entity, &item, &design.delimiters);
            if problems.is_empty() { Ok(item) } else { Err(problems) }
        }
        None => Err(work.problems),
    }
}

/// An item that a step has read or changed.
struct Touched {
    entity: String,
    key: ItemKey,
    old: Option<Item>,
    new: Option<Item>,
    /// Numbers that are added to without looking at them.
    added: Vec<(String, Number)>,
    guards: Vec<Guard>,
    because: Vec<String>,
    otherwise: Option<String>,
}

struct Work<'a> {
    design: &'a CheckedDesign,
    known: &'a Known,
    context: &'a Context<'a>,
    touched: Vec<Touched>,
    needs: Vec<ItemKey>,
    ask: Option<(String, Item)>,
    problems: Vec<Problem>,
    /// Checks and verbatim updates.
    other: Vec<ItemWrite>,
    /// What was read and must not have changed.
    read: Vec<ItemWrite>,
    ids: usize,
    /// The elements of lists that are done now. Steps that repeat over no list are done with the first ones.
    part: Option<Range<usize>>,
}

/// What a step changes in an item.
#[derive(Default)]
struct Wish<'s> {
    set: Vec<(String, Value)>,
    add: Vec<(String, Number)>,
    append: Vec<(String, Value)>,
    remove: Vec<String>,
    condition: Option<(&'s crate::condition::Condition, Item)>,
    version: Option<Number>,
    otherwise: Option<String>,
    because: String,
}

impl<'a> Work<'a> {
    fn new(design: &'a CheckedDesign, known: &'a Known, context: &'a Context<'a>) -> Work<'a> {
        Work {
            design,
            known,
            context,
            touched: Vec::new(),
            needs: Vec::new(),
            ask: None,
            problems: Vec::new(),
            other: Vec::new(),
            read: Vec::new(),
            ids: 0,
            part: None,
        }
    }

    fn write(&mut self, write: &Write<'_>) {
        match write {
            Write::Create { entity, attributes } => {
                let Some(entity) = self.entity(entity) else { return };
                let because = format!("create {}", entity.name.value);
                self.create(entity, attributes.clone(), Wish { because, ..Wish::default() });
            }
            Write::Update { entity, key, set, remove, version } => {
                let Some(entity) = self.entity(entity) else { return };
                self.identified(entity, key);
                let set = set.iter().map(|(path, value)| (path.clone(), value.clone())).collect();
                let because = format!("update {}", entity.name.value);
                self.update(
                    entity,
                    key,
                    Wish { set, remove: remove.clone(), version: *version, because, ..Wish::default() },
                );
            }
            Write::Delete { entity, key, version } => {
                let Some(entity) = self.entity(entity) else { return };
                self.identified(entity, key);
                let because = format!("delete {}", entity.name.value);
                self.delete(entity, key, Wish { version: *version, because, ..Wish::default() });
            }
            Write::Operation { name, inputs, part } => {
                self.part.clone_from(part);
                self.operation(name, inputs);
            }
            Write::Reaction { name, change } => self.reaction(name, change),
        }
    }

    fn entity(&mut self, name: &str) -> Option<&'a Entity> {
        let design = self.design;
        let found = design.entity(name);
        if found.is_none() {
            self.problems.push(Problem::new(ProblemKind::NotFound, name, "there is no such entity"));
        }
        found
    }

    fn operation(&mut self, name: &str, inputs: &Item) {
        let design = self.design;
        let Some(operation) = design.operation(name) else {
            self.problems.push(Problem::new(ProblemKind::NotFound, name, "there is no such operation"));
            return;
        };
        let mut scope = self.start();
        for input in &operation.inputs {
            let attribute = &input.attribute;
            let name = &attribute.name.value;
            match inputs.get(name) {
                Some(value) => {
                    let value = coerced(&attribute.kind, value.clone());
                    check(attribute, name, &value, &design.delimiters, &mut self.problems);
                    scope.insert(name.clone(), value);
                }
                // An id that is not given is made once for the whole operation.
                None if attribute.kind.is_generated() && attribute.optional => {
                    let id = self.generated(&attribute.kind);
                    scope.insert(name.clone(), id);
                }
                None if attribute.optional => {}
                None => self.problems.push(Problem::invalid(name, "is missing")),
            }
        }
        for name in inputs.keys() {
            if !operation.inputs.iter().any(|input| input.attribute.name.value == *name) {
                self.problems
                    .push(Problem::invalid(name, format!("is not an input of {}", operation.name.value)));
            }
        }
        // Values that do not fit could stand for another item than the caller means.
        if self.problems.is_empty() {
            self.steps(&operation.steps, scope);
        }
    }

    /// Reports what is wrong with the slots of a key, which could otherwise stand for another item.
    fn identified(&mut self, entity: &Entity, key: &Item) {
        self.problems.extend(validate_key(entity, key, &self.design.delimiters));
    }

    fn reaction(&mut self, name: &str, change: &ItemChange) {
        let design = self.design;
        let Some(reaction) = design.reactions.iter().find(|reaction| reaction.name.value == name) else {
            return;
        };
        let mut scope = self.start();
        let current = change.new.as_ref().or(change.old.as_ref());
        scope.extend(current.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
        for (name, item) in [("old", &change.old), ("new", &change.new)] {
            scope.extend(item.clone().map(|item| (name.to_owned(), Value::M(item))));
        }
        self.steps(&reaction.steps, scope);
    }

    fn start(&self) -> Item {
        Item::from([("now".to_owned(), Value::S(iso_milliseconds(self.context.now_milliseconds)))])
    }

    fn steps(&mut self, steps: &[Step], mut scope: Item) {
        for (number, step) in steps.iter().enumerate() {
            let later = steps.get(number + 1..).unwrap_or_default();
            let applies = step
                .when
                .as_ref()
                .is_none_or(|when| self.known.assumes || holds(&when.condition, &scope, &scope));
            if !applies {
                continue;
            }
            // Later steps may use what this one has not read yet, or could not: the rest is done when it is known.
            if step.name.is_some() {
                self.step(step, later, &mut scope);
                if self.needs.is_empty() && self.problems.is_empty() {
                    continue;
                }
                return;
            }
            match &step.each {
                None if self.part.as_ref().is_some_and(|part| part.start > 0) => {}
                None => self.step(step, later, &mut scope),
                Some(each) => {
                    let Some(elements) = self.elements(&each.over, &scope) else { return };
                    let mut seen = Vec::new();
                    let name = &each.name.value;
                    let shadowed = scope.remove(name);
                    for element in elements {
                        let identity = each.distinct.as_ref().and_then(|path| match &element {
                            Value::M(item) => at(item, &path.value).cloned(),
                            _ => None,
                        });
                        if identity.is_some() && seen.contains(&identity) {
                            continue;
                        }
                        seen.push(identity);
                        scope.insert(name.clone(), element);
                        self.step(step, later, &mut scope);
                    }
                    scope.remove(name);
                    scope.extend(shadowed.map(|value| (name.clone(), value)));
                }
            }
        }
    }

    /// What a step repeats over; none if a pattern must be asked first.
    fn elements(&mut self, over: &EachOver, scope: &Item) -> Option<Vec<Value>> {
        match over {
            EachOver::Input(list) => match scope.get(&list.value) {
                Some(Value::L(list)) => match &self.part {
                    None => Some(list.clone()),
                    Some(part) => Some(list.iter().skip(part.start).take(part.len()).cloned().collect()),
                },
                _ => Some(Vec::new()),
            },
            EachOver::Pattern(pattern) => {
                let names = crate::plan::parameters(self.design, &pattern.value);
                let parameters = names.iter().filter_map(|parameter| {
                    Some((parameter.name.clone(), scope.get(&parameter.name)?.clone()))
                });
                let parameters = parameters.collect::<Item>();
                match self.known.find_answer(&pattern.value, &parameters) {
                    Some(items) => Some(items.iter().cloned().map(Value::M).collect()),
                    None => {
                        self.ask = Some((pattern.value.clone(), parameters));
                        None
                    }
                }
            }
        }
    }

    fn step(&mut self, step: &Step, later: &[Step], scope: &mut Item) {
        let Some(entity) = self.entity(&step.entity.value) else { return };
        let mut identity = Item::new();
        for slot in entity.identity() {
            let named = step.key.iter().chain(&step.with).find(|entry| entry.name.value == slot);
            let value = match named {
                Some(entry) => given(&entry.value.value, scope),
                None => at(scope, slot).cloned(),
            };
            if let (Some(value), Some(kind)) = (value, entity.type_at(slot)) {
                put_at(&mut identity, slot, coerced(&kind, value));
            }
        }
        let mut wish = Self::wish(step, entity, scope);
        match step.action {
            Action::Get => {
                let item = self.get(step, later, entity, &identity);
                if let (Some(name), Some(item)) = (&step.name, item) {
                    scope.insert(name.value.clone(), Value::M(item));
                }
            }
            Action::Create => {
                let mut attributes = Self::by_name(entity, scope);
                attributes.extend(identity);
                for (path, value) in std::mem::take(&mut wish.set) {
                    put_at(&mut attributes, &path, value);
                }
                let made =
                    self.create(entity, attributes, wish).and_then(|()| self.touched.last()?.new.as_ref());
                if let (Some(name), Some(item)) = (&step.name, made) {
                    scope.insert(name.value.clone(), Value::M(item.clone()));
                }
            }
            Action::Upsert => self.upsert(entity, &identity, wish, scope),
            Action::Update if step.expression.is_some() => self.verbatim(step, entity, &identity, scope),
            Action::Update => self.update(entity, &identity, wish),
            Action::Delete => self.delete(entity, &identity, wish),
            Action::Check => self.check(step, entity, &identity, scope),
        }
    }

    fn wish<'s>(step: &'s Step, entity: &Entity, scope: &Item) -> Wish<'s> {
        let value = |name: &str, value: &Given| {
            let kind = entity.type_at(name).unwrap_or(Type::Any);
            given(value, scope).map(|value| coerced(&kind, value))
        };
        let values = |entries: &[crate::model::GivenEntry]| {
            let values = entries.iter().filter_map(|entry| {
                Some((entry.name.value.clone(), value(&entry.name.value, &entry.value.value)?))
            });
            values.collect::<Vec<_>>()
        };
        let numbers = values(&step.add).into_iter().filter_map(|(path, value)| match value {
            Value::N(number) => Some((path, number)),
            _ => None,
        });
        let mut set = values(&step.with);
        set.extend(values(&step.set));
        Wish {
            set,
            add: numbers.collect(),
            append: values(&step.append),
            remove: step.remove.iter().map(|name| name.value.clone()).collect(),
            condition: step.condition.as_ref().map(|condition| (&condition.condition, scope.clone())),
            version: None,
            otherwise: step.otherwise.clone(),
            because: format!("{} {}", step.action.name(), entity.name.value),
        }
    }

    /// The inputs that have the names of attributes.
    fn by_name(entity: &Entity, scope: &Item) -> Item {
        let named = entity.attributes.iter().filter_map(|attribute| {
            let value = scope.get(&attribute.name.value)?;
            Some((attribute.name.value.clone(), coerced(&attribute.kind, value.clone())))
        });
        named.collect()
    }
}
