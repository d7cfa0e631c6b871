//! Reports the names that mean nothing.

use crate::check::{taken_name, undefined_name};
use crate::condition::Path;
use crate::diagnostic::Finding;
use crate::model::{
    Action, Design, EachOver, Entity, ExampleKind, GivenEntry, Operation, PatternKind, PlacedCondition,
    Reaction, Seed, Step,
};
use crate::resolve::{condition_span, names_in, slot_span};
use crate::source::{Placed, Source, Span};
use crate::template::Template;

pub(super) fn undefined(source: &Source, design: &Design) -> Vec<Finding> {
    let mut lookup = Lookup { source, design, findings: Vec::new() };
    lookup.tables_and_indexes();
    for entity in &design.entities {
        lookup.entity(entity);
    }
    lookup.patterns();
    for operation in &design.operations {
        lookup.operation(operation);
    }
    for reaction in &design.reactions {
        lookup.reaction(reaction);
    }
    lookup.examples();
    lookup.findings
}

struct Lookup<'a> {
    source: &'a Source,
    design: &'a Design,
    findings: Vec<Finding>,
}

impl<'a> Lookup<'a> {
    fn entity_named(&mut self, name: &Placed<String>) -> Option<&'a Entity> {
        let found = self.design.entity(&name.value);
        if found.is_none() {
            let known =
                self.design.entities.iter().map(|entity| entity.name.value.as_str()).collect::<Vec<_>>();
            self.findings.push(undefined_name::finding(name, "entity", "", &known));
        }
        found
    }

    fn pattern_named(&mut self, name: &Placed<String>) {
        if self.design.pattern(&name.value).is_none() {
            let known =
                self.design.patterns.iter().map(|pattern| pattern.name.value.as_str()).collect::<Vec<_>>();
            self.findings.push(undefined_name::finding(name, "pattern", "", &known));
        }
    }

    fn table_named(&mut self, name: &Placed<String>) {
        if self.design.table(&name.value).is_none() {
            let known = self.design.tables.iter().map(|table| table.name.value.as_str()).collect::<Vec<_>>();
            self.findings.push(undefined_name::finding(name, "table", "", &known));
        }
    }

    fn tables_and_indexes(&mut self) {
        let variables =
            self.design.variables.iter().map(|variable| variable.name.value.as_str()).collect::<Vec<_>>();
        for table in &self.design.tables {
            self.slots_among(&table.physical_name, &variables, "variable");
        }
        for index in &self.design.indexes {
            self.table_named(&index.table);
            if crate::read::ENTITY_WORDS.contains(&index.name.value.as_str()) {
                self.findings.push(taken_name::finding(&index.name, "index"));
            }
        }
    }

    fn slots_among(&mut self, template: &Placed<Template>, known: &[&str], kind: &str) {
        for slot in template.value.slots() {
            if !known.contains(&slot.path.as_str()) {
                let name = Placed::new(slot.path.clone(), slot_span(self.source, template, slot));
                self.findings.push(undefined_name::finding(&name, kind, "", known));
            }
        }
    }

    fn attribute_in(&mut self, entity: &Entity, path: &str, span: Span) {
        if entity.type_at(path).is_none() {
            let known = names_in(entity);
            let known = known.iter().map(String::as_str).collect::<Vec<_>>();
            let name = Placed::new(path.to_owned(), span);
            let of = format!("of entity `{}`", entity.name.value);
            self.findings.push(undefined_name::finding(&name, "attribute", &of, &known));
        }
    }

    fn condition_in(&mut self, entity: &Entity, condition: &PlacedCondition) {
        for path in condition.condition.paths() {
            let span = condition_span(self.source, condition, path.at);
            self.attribute_in(entity, &path.dotted(), span);
        }
    }

    fn entity(&mut self, entity: &Entity) {
        let table = Placed::new(entity.table.clone(), entity.name.span);
        if entity.copy.is_none() || !entity.table.is_empty() {
            self.table_named(&table);
        }
        for key in entity.keys() {
            let own = key.parts.iter().filter(|part| !part.implied).flat_map(|part| &part.choices);
            for choice in own {
                for slot in choice.template.value.slots() {
                    let span = slot_span(self.source, &choice.template, slot);
                    self.attribute_in(entity, &slot.path, span);
                }
                choice.when.iter().for_each(|when| self.condition_in(entity, when));
            }
            key.when.iter().for_each(|when| self.condition_in(entity, when));
        }
        if let Some(copy) = &entity.copy
            && let Some(source) = self.design.entity(&copy.source.value)
        {
            copy.when.iter().for_each(|when| self.condition_in(source, when));
            for name in copy.attributes.iter().flatten() {
                self.attribute_in(source, &name.value, name.span);
            }
        }
        for name in &entity.shares_key_with {
            self.entity_named(name);
        }
        self.counters(entity);
        self.denormalised(entity);
    }

    fn counters(&mut self, entity: &Entity) {
        for counter in &entity.counters {
            self.attribute_in(entity, &counter.attribute.value, counter.attribute.span);
            for tally in &counter.tallies {
                let Some(counted) = self.entity_named(&tally.entity) else { continue };
                tally.sum.iter().for_each(|sum| self.attribute_in(counted, &sum.value, sum.span));
                tally.when.iter().for_each(|when| self.condition_in(counted, when));
                for (slot, from) in &tally.by {
                    self.key_slot_of(entity, slot);
                    self.attribute_in(counted, &from.value, from.span);
                }
                for slot in entity.identity() {
                    let from = tally.source(slot);
                    if from == slot && counted.type_at(from).is_none() {
                        let name = Placed::new(slot.to_owned(), tally.entity.span);
                        self.findings.push(undefined_name::unmapped(
                            &name,
                            &entity.name.value,
                            &counted.name.value,
                        ));
                    }
                }
            }
        }
    }

    fn key_slot_of(&mut self, entity: &Entity, slot: &Placed<String>) {
        let known = entity.identity();
        if !known.contains(&slot.value.as_str()) {
            let of = format!("in the key of entity `{}`", entity.name.value);
            self.findings.push(undefined_name::finding(slot, "slot", &of, &known));
        }
    }

    fn denormalised(&mut self, entity: &Entity) {
        if entity.copy.is_some() {
            return;
        }
        for attribute in &entity.attributes {
            let Some(from) = &attribute.from else { continue };
            let name = Placed::new(from.entity().to_owned(), from.source.span);
            let Some(source) = self.entity_named(&name) else { continue };
            self.attribute_in(source, from.attribute(), from.source.span);
            for (slot, local) in &from.by {
                self.key_slot_of(source, slot);
                self.attribute_in(entity, &local.value, local.span);
            }
            for slot in source.identity() {
                let local = from.local(slot);
                if local == slot && entity.type_at(local).is_none() {
                    let name = Placed::new(slot.to_owned(), from.source.span);
                    self.findings.push(undefined_name::unmapped(
                        &name,
                        &source.name.value,
                        &entity.name.value,
                    ));
                }
            }
        }
    }

    fn patterns(&mut self) {
        for pattern in &self.design.patterns {
            match &pattern.kind {
                PatternKind::Get { entity, .. } => {
                    self.entity_named(entity);
                }
                PatternKind::Query { table, index, .. } => match index {
                    Some(index) if self.design.index(&index.value).is_none() => {
                        let known = self
                            .design
                            .indexes
                            .iter()
                            .map(|index| index.name.value.as_str())
                            .collect::<Vec<_>>();
                        self.findings.push(undefined_name::finding(index, "index", "", &known));
                    }
                    _ => self.table_named(table),
                },
                PatternKind::Merge { patterns, apply, .. } => {
                    for name in patterns {
                        self.pattern_named(name);
                    }
                    if let Some(apply) = apply {
                        let from = self.entity_named(&apply.entity);
                        let to = self.entity_named(&apply.to);
                        for entity in [from, to].into_iter().flatten() {
                            self.attribute_in(entity, &apply.on.value, apply.on.span);
                        }
                        if let Some(entity) = from {
                            apply
                                .take
                                .iter()
                                .for_each(|name| self.attribute_in(entity, &name.value, name.span));
                        }
                    }
                }
                PatternKind::Collect(parts) => {
                    for (index, part) in parts.iter().enumerate() {
                        self.pattern_named(&part.pattern);
                        let earlier =
                            parts.iter().take(index).map(|part| part.name.value.as_str()).collect::<Vec<_>>();
                        self.references(&part.with, &earlier);
                    }
                }
            }
            for name in &pattern.returns {
                self.entity_named(name);
            }
        }
    }

    /// `{part.attribute}` names an earlier part; a name without a dot is a parameter.
    fn references(&mut self, with: &[GivenEntry], earlier: &[&str]) {
        for entry in with {
            for (template, span) in entry.value.value.templates(entry.value.span) {
                for slot in template.slots() {
                    let Some((part, _)) = slot.path.split_once('.') else { continue };
                    if !earlier.contains(&part) {
                        let name = Placed::new(part.to_owned(), span);
                        self.findings.push(undefined_name::finding(&name, "earlier part", "", earlier));
                    }
                }
            }
        }
    }

    fn operation(&mut self, operation: &Operation) {
        let mut scope =
            operation.inputs.iter().map(|input| input.attribute.name.value.clone()).collect::<Vec<_>>();
        scope.push("now".to_owned());
        self.steps(&operation.steps, scope, None);
    }

    fn reaction(&mut self, reaction: &Reaction) {
        let Some(entity) = self.entity_named(&reaction.on.entity) else { return };
        if let Some(when) = &reaction.on.when {
            for path in when.condition.paths() {
                let dotted = path.dotted();
                let inner =
                    dotted.strip_prefix("old.").or_else(|| dotted.strip_prefix("new.")).unwrap_or(&dotted);
                self.attribute_in(entity, inner, condition_span(self.source, when, path.at));
            }
        }
        let scope = ["now", "old", "new"].map(str::to_owned).into_iter().chain(top_names(entity)).collect();
        self.steps(&reaction.steps, scope, Some(entity));
    }

    fn steps(&mut self, steps: &[Step], mut scope: Vec<String>, changed: Option<&Entity>) {
        for step in steps {
            let mut inner = scope.clone();
            if let Some(each) = &step.each {
                self.each_over(&each.over, &scope);
                inner.push(each.name.value.clone());
            }
            if let Some(entity) = self.entity_named(&step.entity) {
                self.step(step, entity, &inner, changed);
            }
            scope.extend(step.name.iter().map(|name| name.value.clone()));
        }
    }

    fn each_over(&mut self, over: &EachOver, scope: &[String]) {
        match over {
            EachOver::Pattern(pattern) => self.pattern_named(pattern),
            EachOver::Input(input) => {
                if !scope.contains(&input.value) {
                    let known = scope.iter().map(String::as_str).collect::<Vec<_>>();
                    self.findings.push(undefined_name::finding(input, "list", "", &known));
                }
            }
        }
    }

    fn step(&mut self, step: &Step, entity: &Entity, scope: &[String], changed: Option<&Entity>) {
        if let Some(when) = &step.when {
            for path in when.condition.paths() {
                self.in_scope(path, when, scope);
            }
            self.slots_in_scope_of(when, scope);
        }
        if let Some(condition) = &step.condition {
            self.condition_in(entity, condition);
            self.slots_in_scope_of(condition, scope);
        }
        for entry in &step.key {
            self.key_slot_of(entity, &entry.name);
        }
        for entry in step.with.iter().chain(&step.set).chain(&step.add).chain(&step.append) {
            self.attribute_in(entity, &entry.name.value, entry.name.span);
        }
        for name in &step.remove {
            self.attribute_in(entity, &name.value, name.span);
        }
        let given = [&step.key, &step.with, &step.set, &step.add, &step.append];
        for entry in given.into_iter().flatten() {
            self.slots_in_scope(entry, scope);
        }
        self.key_is_given(step, entity, scope, changed);
    }

    fn in_scope(&mut self, path: &Path, condition: &PlacedCondition, scope: &[String]) {
        if !scope.iter().any(|name| name == path.top()) {
            let name = Placed::new(path.dotted(), condition_span(self.source, condition, path.at));
            let known = scope.iter().map(String::as_str).collect::<Vec<_>>();
            self.findings.push(undefined_name::finding(&name, "input", "", &known));
        }
    }

    fn slots_in_scope_of(&mut self, condition: &PlacedCondition, scope: &[String]) {
        for (template, at) in condition.condition.templates() {
            let span = condition_span(self.source, condition, at);
            self.slots_known(template, span, scope);
        }
    }

    fn slots_in_scope(&mut self, entry: &GivenEntry, scope: &[String]) {
        for (template, span) in entry.value.value.templates(entry.value.span) {
            self.slots_known(template, span, scope);
        }
    }

    fn slots_known(&mut self, template: &Template, span: Span, scope: &[String]) {
        for slot in template.slots() {
            let top = slot.path.split('.').next().unwrap_or_default();
            if !scope.iter().any(|name| name == top) {
                let placed = Placed::new(template.clone(), span);
                let name = Placed::new(slot.path.clone(), slot_span(self.source, &placed, slot));
                let known = scope.iter().map(String::as_str).collect::<Vec<_>>();
                self.findings.push(undefined_name::finding(&name, "input", "", &known));
            }
        }
    }

    /// Every slot of the item's key is given, has an input of its name, or is generated.
    fn key_is_given(&mut self, step: &Step, entity: &Entity, scope: &[String], changed: Option<&Entity>) {
        for slot in entity.identity() {
            let top = slot.split('.').next().unwrap_or(slot);
            let given = step
                .key
                .iter()
                .chain(&step.with)
                .any(|entry| entry.name.value == slot || entry.name.value == top);
            let implied = scope.iter().any(|name| name == slot)
                || changed.is_some_and(|changed| changed.type_at(slot).is_some());
            let attribute = entity.attribute(slot);
            let made = matches!(step.action, Action::Create | Action::Upsert)
                && attribute.is_some_and(|attribute| {
                    attribute.kind.is_generated() || attribute.default.is_some() || attribute.from.is_some()
                });
            let constant = entity.constant(slot).is_some();
            if !(given || implied || made || constant) {
                let name = Placed::new(slot.to_owned(), step.entity.span);
                self.findings.push(undefined_name::key_not_given(&name, &entity.name.value));
            }
        }
    }

    fn examples(&mut self) {
        for seed in &self.design.seeds {
            self.seed(seed);
        }
        for example in &self.design.examples {
            match &example.kind {
                ExampleKind::Pattern(name) => self.pattern_named(name),
                ExampleKind::Operation(name) => {
                    if self.design.operation(&name.value).is_none() {
                        let operations = &self.design.operations;
                        let known = operations
                            .iter()
                            .map(|operation| operation.name.value.as_str())
                            .collect::<Vec<_>>();
                        self.findings.push(undefined_name::finding(name, "operation", "", &known));
                    }
                }
                ExampleKind::Write(_, entity) => {
                    self.entity_named(entity);
                }
            }
            for seed in example.given.iter().chain(&example.then).chain(&example.gone) {
                self.seed(seed);
            }
        }
    }

    fn seed(&mut self, seed: &Seed) {
        let Some(entity) = self.entity_named(&seed.entity) else { return };
        for entry in &seed.attributes {
            self.attribute_in(entity, &entry.name.value, entry.name.span);
        }
    }
}

fn top_names(entity: &Entity) -> Vec<String> {
    let mut names =
        entity.attributes.iter().map(|attribute| attribute.name.value.clone()).collect::<Vec<_>>();
    names.extend(entity.constants.iter().map(|(name, _)| name.value.clone()));
    names
}
