//! Steps on items: creates, updates, deletes and checks, one after the other, on what is known of the table.

use std::ops::Range;

use dynamo::{Item, Number, Value};

use super::consequence::{ItemChange, Wanted, follow};
use super::item::{item_key, logical_item, stored_item};
use super::placeholders::holds;
use super::time::{iso_milliseconds, lifetime_seconds};
use super::value::{at, check, coerced, fill, given, now, put_at, remove_at, validate, validate_key};
use super::write::{Body, Changes, Guard, ItemWrite, merged};
use super::{Bound, Context, ItemKey, Known, Problem, ProblemKind};
use crate::check::{CheckedDesign, cannot_recompute};
use crate::model::{Action, Attribute, EachOver, Entity, Given, Step, TimeRole, Type};

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
    let mut work = Work {
        design,
        known,
        context,
        touched: Vec::new(),
        needs: Vec::new(),
        ask: None,
        problems: Vec::new(),
        other: Vec::new(),
        ids: 0,
        part: None,
    };
    work.write(write);
    work.finish()
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
        for step in steps {
            let applies = step
                .when
                .as_ref()
                .is_none_or(|when| self.known.assumes || holds(&when.condition, &scope, &scope));
            if !applies {
                continue;
            }
            // Later steps may use what this one has not read yet: the rest is done when it is known.
            if step.name.is_some() {
                self.step(step, &mut scope);
                if self.needs.is_empty() {
                    continue;
                }
                return;
            }
            match &step.each {
                None if self.part.as_ref().is_some_and(|part| part.start > 0) => {}
                None => self.step(step, &mut scope),
                Some(each) => {
                    let Some(elements) = self.elements(&each.over, &scope) else { return };
                    let mut seen = Vec::new();
                    for element in elements {
                        let identity = each.distinct.as_ref().and_then(|path| match &element {
                            Value::M(item) => at(item, &path.value).cloned(),
                            _ => None,
                        });
                        if identity.is_some() && seen.contains(&identity) {
                            continue;
                        }
                        seen.push(identity);
                        let mut inner = scope.clone();
                        inner.insert(each.name.value.clone(), element);
                        self.step(step, &mut inner);
                    }
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

    fn step(&mut self, step: &Step, scope: &mut Item) {
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
        let wish = Self::wish(step, entity, scope);
        match step.action {
            Action::Get => {
                if let Some(item) = self.get(entity, &identity, step.otherwise.as_deref()) {
                    scope.extend(step.name.iter().map(|name| (name.value.clone(), Value::M(item.clone()))));
                }
            }
            Action::Create => {
                let mut attributes = Self::by_name(entity, scope);
                attributes.extend(identity);
                for (path, value) in wish.set.clone() {
                    put_at(&mut attributes, &path, value);
                }
                if let Some(item) = self.create(entity, attributes, wish) {
                    scope.extend(step.name.iter().map(|name| (name.value.clone(), Value::M(item.clone()))));
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

    /// The item with this identity as the steps so far have left it. None if it must be read first; the inner none if there is none.
    #[expect(clippy::option_option, reason = "not known and not there are different answers")]
    fn current(&mut self, entity: &Entity, identity: &Item) -> Option<Option<(ItemKey, Item)>> {
        let Some(key) = item_key(self.design, entity, identity, self.context) else {
            for slot in entity.identity().into_iter().filter(|slot| at(identity, slot).is_none()) {
                self.problems.push(Problem::invalid(slot, "is missing"));
            }
            return None;
        };
        if let Some(touched) = self.touched.iter().find(|touched| touched.key == key) {
            return Some(touched.new.clone().map(|item| (key, item)));
        }
        match self.known.find(&key) {
            Some(item) => {
                let logical = item.map(|item| logical_item(self.design, entity, item));
                Some(logical.map(|item| (key, item)))
            }
            None => {
                self.needs.push(key);
                None
            }
        }
    }

    fn get(&mut self, entity: &Entity, identity: &Item, otherwise: Option<&str>) -> Option<Item> {
        match self.current(entity, identity)? {
            Some((_, item)) => Some(item),
            None => {
                let message = otherwise
                    .map_or_else(|| format!("there is no such {}", entity.name.value), str::to_owned);
                self.problems.push(Problem::new(ProblemKind::NotFound, &entity.name.value, message));
                None
            }
        }
    }

    fn create(&mut self, entity: &'a Entity, attributes: Item, wish: Wish<'_>) -> Option<Item> {
        let item = self.completed(entity, attributes)?;
        let problems = validate(entity, &item, &self.design.delimiters);
        if !problems.is_empty() {
            self.problems.extend(problems);
            return None;
        }
        let key = item_key(self.design, entity, &item, self.context)?;
        let otherwise =
            wish.otherwise.or_else(|| Some(format!("there is such a {} already", entity.name.value)));
        // Made twice by one write, it would be stored once and counted twice.
        if self.touched.iter().any(|touched| touched.key == key && touched.new.is_some()) {
            let message = otherwise.unwrap_or_default();
            self.problems.push(Problem::new(ProblemKind::Exists, &entity.name.value, message));
            return None;
        }
        self.touched.push(Touched {
            entity: entity.name.value.clone(),
            key,
            old: None,
            new: Some(item.clone()),
            added: Vec::new(),
            guards: vec![Guard::NotExists],
            because: vec![wish.because],
            otherwise,
        });
        Some(item)
    }

    fn upsert(&mut self, entity: &'a Entity, identity: &Item, mut wish: Wish<'_>, scope: &Item) {
        let Some(current) = self.current(entity, identity) else { return };
        let mut named = Self::by_name(entity, scope);
        named.retain(|name, _| at(identity, name).is_none());
        let mut set = named.into_iter().collect::<Vec<_>>();
        set.append(&mut wish.set);
        if current.is_some() {
            set.retain(|(path, _)| at(identity, path).is_none());
            return self.update(entity, identity, Wish { set, ..wish });
        }
        let mut attributes = identity.clone();
        for (path, value) in set {
            put_at(&mut attributes, &path, value);
        }
        for (path, number) in &wish.add {
            put_at(&mut attributes, path, Value::N(*number));
        }
        self.create(entity, attributes, wish);
    }

    fn update(&mut self, entity: &'a Entity, identity: &Item, wish: Wish<'_>) {
        let Some(current) = self.current(entity, identity) else { return };
        let Some((key, old)) = current else {
            let message = wish.otherwise.unwrap_or_else(|| format!("there is no such {}", entity.name.value));
            self.problems.push(Problem::new(ProblemKind::NotFound, &entity.name.value, message));
            return;
        };
        if !self.permitted(entity, &old, &wish) {
            return;
        }
        let new = self.changed(entity, &old, &wish);
        let problems = validate(entity, &new, &self.design.delimiters);
        if !problems.is_empty() {
            self.problems.extend(problems);
            return;
        }
        let guards = self.guards(entity, &old, &new, &wish);
        self.touch(entity, key, old, Some(new), wish, guards);
    }

    fn delete(&mut self, entity: &'a Entity, identity: &Item, wish: Wish<'_>) {
        let Some(current) = self.current(entity, identity) else { return };
        let Some((key, old)) = current else {
            let message = wish.otherwise.unwrap_or_else(|| format!("there is no such {}", entity.name.value));
            self.problems.push(Problem::new(ProblemKind::NotFound, &entity.name.value, message));
            return;
        };
        if self.permitted(entity, &old, &wish) {
            let mut guards = vec![Guard::Exists];
            guards.extend(
                wish.condition
                    .iter()
                    .map(|(condition, scope)| Guard::Holds((*condition).clone(), scope.clone())),
            );
            guards.extend(self.unchanged(entity, &old));
            self.touch(entity, key, old, None, wish, guards);
        }
    }

    /// Whether the conditions of a step hold for the item as it was read.
    fn permitted(&mut self, entity: &Entity, old: &Item, wish: &Wish<'_>) -> bool {
        if self.known.assumes {
            return true;
        }
        let stored = stored_item(entity, old).unwrap_or_default();
        if let Some((condition, scope)) = &wish.condition
            && !holds(condition, &stored, scope)
        {
            let message = wish
                .otherwise
                .clone()
                .unwrap_or_else(|| "the condition of the step does not hold".to_owned());
            self.problems.push(Problem::new(ProblemKind::Condition, &entity.name.value, message));
            return false;
        }
        let version = entity.attributes.iter().find(|attribute| attribute.kind == Type::Version);
        if let (Some(seen), Some(version)) = (wish.version, version)
            && old.get(&version.name.value) != Some(&Value::N(seen))
        {
            let message = "the item has changed since it was read".to_owned();
            self.problems.push(Problem::new(ProblemKind::Condition, &version.name.value, message));
            return false;
        }
        true
    }

    fn changed(&self, entity: &Entity, old: &Item, wish: &Wish<'_>) -> Item {
        let mut new = old.clone();
        for (path, value) in &wish.set {
            let kind = entity.type_at(path).unwrap_or(Type::Any);
            put_at(&mut new, path, coerced(&kind, value.clone()));
        }
        for (path, number) in &wish.add {
            let before = match at(&new, path) {
                Some(Value::N(before)) => *before,
                _ => Number::ZERO,
            };
            put_at(&mut new, path, Value::N(before.plus(*number).unwrap_or(before)));
        }
        for (path, value) in &wish.append {
            let mut list = match at(&new, path) {
                Some(Value::L(list)) => list.clone(),
                _ => Vec::new(),
            };
            match value {
                Value::L(more) => list.extend(more.iter().cloned()),
                one => list.push(one.clone()),
            }
            put_at(&mut new, path, Value::L(list));
        }
        for path in &wish.remove {
            remove_at(&mut new, path);
        }
        for attribute in &entity.attributes {
            let name = &attribute.name.value;
            if matches!(attribute.kind, Type::Timestamp(_, TimeRole::Updated)) {
                new.insert(name.clone(), now(&attribute.kind, self.context));
            }
            if attribute.kind == Type::Version {
                let before = match old.get(name) {
                    Some(Value::N(number)) => *number,
                    _ => Number::ZERO,
                };
                new.insert(name.clone(), Value::N(before.plus(Number::from(1_i64)).unwrap_or(before)));
            }
        }
        new
    }

    fn guards(&self, entity: &Entity, old: &Item, new: &Item, wish: &Wish<'_>) -> Vec<Guard> {
        let mut guards = vec![Guard::Exists];
        guards.extend(
            wish.condition.iter().map(|(condition, scope)| Guard::Holds((*condition).clone(), scope.clone())),
        );
        let depended = cannot_recompute::depended_on(self.design, entity);
        let touches = depended.iter().any(|path| at(old, path) != at(new, path));
        let appends = !wish.append.is_empty();
        if touches {
            guards.extend(self.unchanged(entity, old));
        }
        for (path, _) in wish.append.iter().filter(|_| appends) {
            guards.push(Guard::Unchanged(path.clone(), at(old, path).cloned()));
        }
        let version = entity.attributes.iter().find(|attribute| attribute.kind == Type::Version);
        guards.extend(version.map(|version| {
            Guard::Unchanged(version.name.value.clone(), old.get(&version.name.value).cloned())
        }));
        guards
    }

    /// Everything that consequences were computed from still is as it was read.
    fn unchanged(&self, entity: &Entity, old: &Item) -> Vec<Guard> {
        let identity = entity.identity();
        let volatile = |path: &str| {
            let generated = entity.attribute(path).is_some_and(|attribute| {
                attribute.kind.is_generated() && !matches!(attribute.kind, Type::Version)
            });
            let stored = entity
                .attribute(path.split('.').next().unwrap_or(path))
                .is_some_and(|attribute| attribute.stored);
            let counted = entity.counters.iter().any(|counter| counter.attribute.value.starts_with(path));
            !identity.contains(&path) && !generated && stored && !counted
        };
        let depended = cannot_recompute::depended_on(self.design, entity);
        depended
            .into_iter()
            .filter(|path| volatile(path))
            .map(|path| Guard::Unchanged(path.clone(), at(old, &path).cloned()))
            .collect()
    }

    fn touch(
        &mut self,
        entity: &Entity,
        key: ItemKey,
        old: Item,
        new: Option<Item>,
        wish: Wish<'_>,
        guards: Vec<Guard>,
    ) {
        match self.touched.iter_mut().find(|touched| touched.key == key) {
            Some(touched) => {
                touched.new = new;
                touched.added.extend(wish.add);
                touched.because.push(wish.because);
                // Guards of later steps are about what earlier ones left, which no condition of DynamoDB can see.
                touched.otherwise = touched.otherwise.take().or(wish.otherwise);
            }
            None => self.touched.push(Touched {
                entity: entity.name.value.clone(),
                key,
                old: Some(old),
                new,
                added: wish.add,
                guards,
                because: vec![wish.because],
                otherwise: wish.otherwise,
            }),
        }
    }

    fn check(&mut self, step: &Step, entity: &Entity, identity: &Item, scope: &Item) {
        let Some(key) = item_key(self.design, entity, identity, self.context) else { return };
        let condition =
            step.condition.as_ref().map(|condition| Guard::Holds(condition.condition.clone(), scope.clone()));
        self.other.push(ItemWrite {
            key,
            entity: entity.name.value.clone(),
            because: vec![format!("check {}", entity.name.value)],
            otherwise: step.otherwise.clone(),
            guards: vec![condition.unwrap_or(Guard::Exists)],
            body: Body::Check,
            before: None,
        });
    }

    fn verbatim(&mut self, step: &Step, entity: &Entity, identity: &Item, scope: &Item) {
        let (Some(text), Some(key)) =
            (&step.expression, item_key(self.design, entity, identity, self.context))
        else {
            return;
        };
        let values = scope.iter().filter(|(name, _)| text.value.contains(&format!(":{name}")));
        let values = values.map(|(name, value)| (format!(":{name}"), value.clone())).collect();
        self.other.push(ItemWrite {
            key,
            entity: entity.name.value.clone(),
            because: vec![format!("update {}", entity.name.value)],
            otherwise: step.otherwise.clone(),
            guards: vec![Guard::Exists],
            body: Body::Verbatim(text.value.clone(), values),
            before: None,
        });
    }

    /// The attributes of a new item with everything that is made when it is absent. None if something must be read first.
    fn completed(&mut self, entity: &'a Entity, mut item: Item) -> Option<Item> {
        for attribute in &entity.attributes {
            let name = &attribute.name.value;
            let value = match item.remove(name) {
                Some(value) => Some(coerced(&attribute.kind, value)),
                None => self.made(attribute),
            };
            let value = match (&attribute.kind, value) {
                (Type::Map(map), value) if value.is_some() || !attribute.optional => {
                    Some(with_defaults(map, value))
                }
                (_, value) => value,
            };
            item.extend(value.map(|value| (name.clone(), value)));
        }
        let complete = self.denormalised(entity, &mut item) & self.lifetimes(entity, &mut item);
        complete.then_some(item)
    }

    fn made(&mut self, attribute: &Attribute) -> Option<Value> {
        match &attribute.kind {
            Type::Timestamp(_, TimeRole::Created | TimeRole::Updated) => {
                Some(now(&attribute.kind, self.context))
            }
            Type::Version => Some(Value::from(1)),
            kind if kind.is_generated() && !attribute.optional => Some(self.generated(kind)),
            _ => match attribute.default.as_ref().map(|default| &default.value) {
                Some(Given::Value(value)) => Some(coerced(&attribute.kind, value.clone())),
                Some(Given::Template(template)) => {
                    fill(template, &self.start()).map(|value| coerced(&attribute.kind, value))
                }
                _ => None,
            },
        }
    }

    fn generated(&mut self, kind: &Type) -> Value {
        if matches!(kind, Type::Timestamp(..)) {
            return now(kind, self.context);
        }
        let id = (self.context.new_id)(kind, self.ids);
        self.ids += 1;
        Value::S(id)
    }

    /// Copies attributes of other entities into a new item. False if one must be read first.
    fn denormalised(&mut self, entity: &'a Entity, item: &mut Item) -> bool {
        let mut complete = true;
        for attribute in &entity.attributes {
            let (Some(from), None) = (&attribute.from, item.get(&attribute.name.value)) else { continue };
            let Some(source) = self.entity(from.entity()) else { continue };
            let mut identity = Item::new();
            for slot in source.identity() {
                if let Some(value) = at(item, from.local(slot)) {
                    put_at(&mut identity, slot, value.clone());
                }
            }
            match self.current(source, &identity) {
                None => complete = false,
                Some(None) => {
                    let message = format!("there is no such {}", source.name.value);
                    self.problems.push(Problem::new(ProblemKind::NotFound, &source.name.value, message));
                }
                Some(Some((_, found))) => {
                    item.extend(
                        at(&found, from.attribute())
                            .map(|value| (attribute.name.value.clone(), value.clone())),
                    );
                }
            }
        }
        complete
    }

    /// Gives a new item its time to live: the first lifetime that there is. False if one must be read first.
    fn lifetimes(&mut self, entity: &'a Entity, item: &mut Item) -> bool {
        for attribute in entity.attributes.iter().filter(|attribute| !attribute.after.is_empty()) {
            if item.contains_key(&attribute.name.value) {
                continue;
            }
            for after in &attribute.after {
                let seconds = match lifetime_seconds(&after.value) {
                    Some(seconds) => Some(seconds),
                    None => match self.lifetime_of(&after.value, item) {
                        Ok(seconds) => seconds,
                        Err(NotRead) => return false,
                    },
                };
                if let Some(seconds) = seconds {
                    let expires = self.context.now_milliseconds.div_euclid(1_000).saturating_add(seconds);
                    item.insert(attribute.name.value.clone(), Value::from(expires));
                    break;
                }
            }
        }
        true
    }

    /// The lifetime that an attribute of another item gives: `InboxConfig.ttl.default`.
    fn lifetime_of(&mut self, reference: &str, item: &Item) -> Result<Option<i64>, NotRead> {
        let Some((entity, path)) = reference.split_once('.') else { return Ok(None) };
        let Some(source) = self.entity(entity) else { return Ok(None) };
        let found = self.current(source, item).ok_or(NotRead)?;
        Ok(found.and_then(|(_, found)| match at(&found, path) {
            Some(Value::S(text)) => lifetime_seconds(text),
            _ => None,
        }))
    }

    fn finish(mut self) -> Result<Bound, Vec<Problem>> {
        if let Some((pattern, parameters)) = self.ask.take() {
            return Ok(Bound::Ask { pattern, parameters });
        }
        if !self.needs.is_empty() && self.problems.is_empty() {
            return Ok(Bound::Read(distinct(self.needs)));
        }
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let mut writes = std::mem::take(&mut self.other);
        let mut needs = Vec::new();
        for touched in &self.touched {
            writes.extend(self.main_writes(touched));
            let change = ItemChange {
                entity: touched.entity.clone(),
                old: touched.old.clone(),
                new: touched.new.clone(),
            };
            writes.extend(follow(
                self.design,
                &change,
                Wanted::InTransaction,
                self.known,
                self.context,
                &mut needs,
            ));
        }
        needs.retain(|key| !self.touched.iter().any(|touched| touched.key == *key));
        if needs.is_empty() { Ok(Bound::Write(merged(writes))) } else { Ok(Bound::Read(distinct(needs))) }
    }

    /// The writes of the item itself.
    fn main_writes(&self, touched: &Touched) -> Vec<ItemWrite> {
        let Some(entity) = self.design.entity(&touched.entity) else { return Vec::new() };
        let write = |key: ItemKey, guards: Vec<Guard>, body: Body| ItemWrite {
            key,
            entity: touched.entity.clone(),
            because: touched.because.clone(),
            otherwise: touched.otherwise.clone(),
            guards,
            body,
            before: Some(touched.old.as_ref().and_then(|old| stored_item(entity, old)).unwrap_or_default()),
        };
        let stored = |item: &Option<Item>| item.as_ref().and_then(|item| stored_item(entity, item));
        let guards = touched.guards.clone();
        match (stored(&touched.old), stored(&touched.new)) {
            (None, None) => Vec::new(),
            (None, Some(new)) => vec![write(touched.key.clone(), guards, Body::Put(new))],
            (Some(_), None) => vec![write(touched.key.clone(), guards, Body::Delete)],
            (Some(old), Some(new)) => {
                let key =
                    touched.new.as_ref().and_then(|item| item_key(self.design, entity, item, self.context));
                match key {
                    Some(key) if key != touched.key => vec![
                        write(touched.key.clone(), guards, Body::Delete),
                        write(key, vec![Guard::NotExists], Body::Put(new)),
                    ],
                    _ => vec![write(
                        touched.key.clone(),
                        guards,
                        Body::Update(difference(&old, &new, &touched.added)),
                    )],
                }
            }
        }
    }
}

/// An item must be read first.
struct NotRead;

fn distinct(keys: Vec<ItemKey>) -> Vec<ItemKey> {
    let mut found: Vec<ItemKey> = Vec::new();
    for key in keys {
        if !found.contains(&key) {
            found.push(key);
        }
    }
    found
}

/// The defaults of a map's members, where they are absent.
fn with_defaults(map: &crate::model::MapType, value: Option<Value>) -> Value {
    let mut members = match value {
        Some(Value::M(members)) => members,
        Some(other) => return other,
        None => Item::new(),
    };
    for member in &map.members {
        if let (false, Some(Given::Value(default))) =
            (members.contains_key(&member.name.value), member.default.as_ref().map(|default| &default.value))
        {
            members.insert(member.name.value.clone(), default.clone());
        }
    }
    Value::M(members)
}

/// What must be set, added and removed to come from one stored item to another.
fn difference(old: &Item, new: &Item, added: &[(String, Number)]) -> Changes {
    let mut changes = Changes { add: added.to_vec(), ..Changes::default() };
    // What is added is added, not set: others may add at the same time.
    let mut expected = old.clone();
    for (path, number) in added {
        let before = match at(&expected, path) {
            Some(Value::N(before)) => *before,
            _ => Number::ZERO,
        };
        put_at(&mut expected, path, Value::N(before.plus(*number).unwrap_or(before)));
    }
    for (name, value) in new {
        if expected.get(name) != Some(value) {
            changes.set.push((name.clone(), value.clone()));
        }
    }
    changes.remove = old.keys().filter(|name| !new.contains_key(*name)).cloned().collect();
    changes
}
