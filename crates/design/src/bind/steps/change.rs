//! What one step changes, and the conditions under which it may.

use dynamo::{Item, Number, Value};

use super::{Touched, Wish, Work};
use crate::bind::item::{item_key, stored_item};
use crate::bind::placeholders::holds;
use crate::bind::value::{at, coerced, now, put_at, remove_at, validate};
use crate::bind::write::{Body, Guard, ItemWrite};
use crate::bind::{ItemKey, Problem, ProblemKind};
use crate::check::cannot_recompute;
use crate::model::{Entity, Step, TimeRole, Type};

impl<'a> Work<'a> {
    /// Makes an item; none if it cannot be made, or not yet.
    pub(super) fn create(&mut self, entity: &'a Entity, attributes: Item, wish: Wish<'_>) -> Option<()> {
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
            new: Some(item),
            added: Vec::new(),
            guards: vec![Guard::NotExists],
            because: vec![wish.because],
            otherwise,
        });
        Some(())
    }

    pub(super) fn upsert(&mut self, entity: &'a Entity, identity: &Item, mut wish: Wish<'_>, scope: &Item) {
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

    pub(super) fn update(&mut self, entity: &'a Entity, identity: &Item, wish: Wish<'_>) {
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

    pub(super) fn delete(&mut self, entity: &'a Entity, identity: &Item, wish: Wish<'_>) {
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
            .iter()
            .filter(|path| volatile(path))
            .map(|path| Guard::Unchanged(path.clone(), at(old, path).cloned()))
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

    pub(super) fn check(&mut self, step: &Step, entity: &Entity, identity: &Item, scope: &Item) {
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

    pub(super) fn verbatim(&mut self, step: &Step, entity: &Entity, identity: &Item, scope: &Item) {
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
}
