//! Key conditions: what a query asks of which key, whether DynamoDB takes it, and which entities can be in the answer.
//!
//! Path of a pattern: [`Query::read`] splits the condition by key attribute and lists what DynamoDB would refuse; [`Query::answer`]
//! asks `texts` for each entity whether one of its keys can match.

use dynamo::KeyType;

use crate::condition::{At, Comparator, Condition, Operand};
use crate::keys::{Strings, begin_differently, template_texts, texts};
use crate::model::{Design, Entity, EntityKey, KeyAttribute, KeyPart, Pattern, PatternKind, PlacedCondition};
use crate::template::{Format, Piece, Slot, Template};
use crate::texts::{Range, Texts};

/// A query pattern, taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Query<'a> {
    pub(crate) pattern: &'a Pattern,
    pub(crate) table: &'a str,
    pub(crate) index: Option<&'a str>,
    pub(crate) condition: &'a PlacedCondition,
    pub(crate) partition: Vec<&'a KeyAttribute>,
    pub(crate) sort: Vec<&'a KeyAttribute>,
    /// What is asked of each key attribute, in the order of the condition.
    pub(crate) asked: Vec<Asked<'a>>,
    pub(crate) problems: Vec<Problem>,
}

/// What a key condition asks of one key attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) attribute: &'a KeyAttribute,
    pub(crate) test: Test<'a>,
    pub(crate) at: At,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Test<'a> {
    Equal(&'a Operand),
    BeginsWith(&'a Operand),
    Between(&'a Operand, &'a Operand),
    Compare(Comparator, &'a Operand),
}

/// Why DynamoDB refuses a key condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A partition key by anything but equality.
    PartitionNotEqual { attribute: String, at: At },
    /// No condition on the partition key.
    NoPartition { attribute: String },
    /// Several conditions on one key attribute.
    AskedTwice { attribute: String, at: At },
    /// An attribute that is not in the key.
    NotInKey { attribute: String, at: At },
    /// Something that is no key condition, such as OR.
    NotAllowed { what: String, at: At },
    /// A sort attribute is asked for and one before it is not, or not by equality.
    Gap { attribute: String, before: String, at: At },
}

impl<'a> Query<'a> {
    /// Takes a query pattern apart; none for other patterns and for tables or indexes that do not exist.
    pub(crate) fn read(design: &'a Design, pattern: &'a Pattern) -> Option<Query<'a>> {
        let PatternKind::Query { table, index, condition } = &pattern.kind else { return None };
        let (partition, sort) = match index {
            Some(name) => {
                let index = design.index(&name.value)?;
                (index.partition_key.iter().collect(), index.sort_key.iter().collect())
            }
            None => {
                let table = design.table(&table.value)?;
                (vec![&table.partition_key], table.sort_key.iter().collect::<Vec<_>>())
            }
        };
        let mut query = Query {
            pattern,
            table: &table.value,
            index: index.as_ref().map(|index| index.value.as_str()),
            condition,
            partition,
            sort,
            asked: Vec::new(),
            problems: Vec::new(),
        };
        for conjunct in condition.condition.conjuncts() {
            query.conjunct(conjunct);
        }
        query.partition_is_equal();
        query.sort_is_gapless();
        Some(query)
    }

    fn conjunct(&mut self, condition: &'a Condition) {
        let (operand, test, at) = match condition {
            Condition::Compare(Operand::Path(path), Comparator::Equal, value, at) => {
                (path, Test::Equal(value), *at)
            }
            Condition::Compare(value, Comparator::Equal, Operand::Path(path), at) => {
                (path, Test::Equal(value), *at)
            }
            Condition::Compare(_, Comparator::NotEqual, _, at) => return self.not_allowed("`<>`", *at),
            Condition::Compare(Operand::Path(path), comparator, value, at) => {
                (path, Test::Compare(*comparator, value), *at)
            }
            Condition::Compare(value, comparator, Operand::Path(path), at) => {
                (path, Test::Compare(comparator.turned(), value), *at)
            }
            Condition::Between(Operand::Path(path), low, high, at) => (path, Test::Between(low, high), *at),
            Condition::BeginsWith(Operand::Path(path), value, at) => (path, Test::BeginsWith(value), *at),
            Condition::In(_, _, at) => return self.not_allowed("IN", *at),
            Condition::Contains(_, _, at) => return self.not_allowed("`contains`", *at),
            Condition::HasType(_, _, at) => return self.not_allowed("`attribute_type`", *at),
            Condition::Exists(path) => return self.not_allowed("`attribute_exists`", path.at),
            Condition::NotExists(path) => return self.not_allowed("`attribute_not_exists`", path.at),
            Condition::Or(_) => return self.not_allowed("OR", (0, self.condition.text.len())),
            Condition::Not(_) => return self.not_allowed("NOT", (0, self.condition.text.len())),
            Condition::Compare(_, _, _, at)
            | Condition::Between(_, _, _, at)
            | Condition::BeginsWith(_, _, at) => {
                return self.not_allowed("a comparison without a key attribute", *at);
            }
            Condition::And(_) => return,
        };
        let name = operand.dotted();
        let keys = self.partition.iter().chain(&self.sort).copied();
        let Some(attribute) = keys.into_iter().find(|key| key.name.value == name) else {
            return self.problems.push(Problem::NotInKey { attribute: name, at: operand.at });
        };
        if self.asked.iter().any(|asked| asked.attribute.name.value == name) {
            return self.problems.push(Problem::AskedTwice { attribute: name, at });
        }
        self.asked.push(Asked { attribute, test, at });
    }

    fn not_allowed(&mut self, what: &str, at: At) {
        self.problems.push(Problem::NotAllowed { what: what.to_owned(), at });
    }

    pub(crate) fn asked_of(&self, attribute: &str) -> Option<&Asked<'a>> {
        self.asked.iter().find(|asked| asked.attribute.name.value == attribute)
    }

    fn partition_is_equal(&mut self) {
        let mut problems = Vec::new();
        for key in &self.partition {
            let attribute = key.name.value.clone();
            match self.asked_of(&attribute) {
                None => problems.push(Problem::NoPartition { attribute }),
                Some(Asked { test: Test::Equal(_), .. }) => {}
                Some(Asked { at, .. }) => problems.push(Problem::PartitionNotEqual { attribute, at: *at }),
            }
        }
        self.problems.extend(problems);
    }

    fn sort_is_gapless(&mut self) {
        let mut problems = Vec::new();
        let mut open: Option<&str> = None;
        for key in &self.sort {
            let name = key.name.value.as_str();
            match (self.asked_of(name), open) {
                (Some(asked), Some(before)) => {
                    let (attribute, before) = (name.to_owned(), before.to_owned());
                    problems.push(Problem::Gap { attribute, before, at: asked.at });
                }
                (Some(Asked { test: Test::Equal(_), .. }), None) => {}
                _ => open = Some(name),
            }
        }
        self.problems.extend(problems);
    }

    /// The condition on the last sort attribute that is asked for.
    pub(crate) fn sort_test(&self) -> Option<&Asked<'a>> {
        self.sort.iter().rev().find_map(|key| self.asked_of(&key.name.value))
    }

    /// True if at most one item of an entity can be in the answer: every key attribute is given.
    pub(crate) fn is_exact(&self) -> bool {
        self.partition.iter().chain(&self.sort).all(|key| {
            self.asked_of(&key.name.value).is_some_and(|asked| matches!(asked.test, Test::Equal(_)))
        })
    }

    /// The entities that can be in the answer. Known once the design is checked: comparing keys is too costly for every request.
    pub(crate) fn answer(&self, design: &'a Design) -> Vec<&'a Entity> {
        if let Some(known) = design.answers.get(&self.pattern.name.value) {
            return known.iter().filter_map(|number| design.entities.get(*number)).collect();
        }
        design.entities_of(self.table).filter(|entity| self.matches(design, entity)).collect()
    }

    /// Whether an item of the entity can be in the answer.
    pub(crate) fn matches(&self, design: &Design, entity: &Entity) -> bool {
        let Some(key) = entity.key_in(self.index) else { return false };
        if self.asked.iter().any(|asked| begins_differently(key, asked)) {
            return false;
        }
        self.asked.iter().all(|asked| match key.part(&asked.attribute.name.value) {
            Some(part) => part_matches(design, entity, part, asked, self.pattern),
            None => false,
        })
    }

    /// The slot of an entity for which a parameter stands, with the entity.
    pub(crate) fn slot_of(&self, design: &'a Design, parameter: &str) -> Option<(&'a Entity, &'a Slot)> {
        self.answer(design).into_iter().find_map(|entity| {
            let key = entity.key_in(self.index)?;
            self.slot_in(key, parameter).map(|slot| (entity, slot))
        })
    }

    fn slot_in<'k>(&self, key: &'k EntityKey, parameter: &str) -> Option<&'k Slot> {
        self.asked.iter().find_map(|asked| {
            let part = key.part(&asked.attribute.name.value)?;
            templates(asked.test).into_iter().find_map(|template| {
                part.choices.iter().find_map(|choice| {
                    let pairs = aligned(template, &choice.template.value)?;
                    pairs.into_iter().find(|(own, _)| own == parameter).map(|(_, slot)| slot)
                })
            })
        })
    }
}

impl<'a> Test<'a> {
    pub(crate) fn operands(self) -> Vec<&'a Operand> {
        match self {
            Test::Equal(operand) | Test::BeginsWith(operand) | Test::Compare(_, operand) => vec![operand],
            Test::Between(low, high) => vec![low, high],
        }
    }
}

fn templates(test: Test<'_>) -> Vec<&Template> {
    let texts = test.operands().into_iter().filter_map(|operand| match operand {
        Operand::Text(template, _) => Some(template),
        _ => None,
    });
    texts.collect()
}

/// Whether the literal that is asked for rules the key out.
fn begins_differently(key: &EntityKey, asked: &Asked<'_>) -> bool {
    let (Test::Equal(Operand::Text(template, _)) | Test::BeginsWith(Operand::Text(template, _))) = asked.test
    else {
        return false;
    };
    let part = key.part(&asked.attribute.name.value);
    part.is_some_and(|part| {
        part.choices.iter().all(|choice| begin_differently(template, &choice.template.value))
    })
}

fn part_matches(
    design: &Design,
    entity: &Entity,
    part: &KeyPart,
    asked: &Asked<'_>,
    pattern: &Pattern,
) -> bool {
    if asked.attribute.key_type != KeyType::S {
        return true;
    }
    part.choices.iter().any(|choice| {
        let written =
            template_texts(entity, &choice.template.value, &design.delimiters, Strings::WithoutDelimiters);
        test_matches(design, entity, &choice.template.value, &written, asked.test, pattern)
    })
}

/// Whether a text that the entity writes can pass the test. Parameters have the type of the slot they stand for, or are keys.
fn test_matches(
    design: &Design,
    entity: &Entity,
    own: &Template,
    written: &Texts,
    test: Test<'_>,
    pattern: &Pattern,
) -> bool {
    let asked = |operand: &Operand| asked_texts(design, entity, own, operand, pattern);
    match test {
        Test::Equal(operand) => asked(operand).is_some_and(|texts| texts.common(written).is_some()),
        Test::BeginsWith(operand) => {
            asked(operand).is_some_and(|texts| texts.then_anything().common(written).is_some())
        }
        Test::Between(low, high) => {
            let (Some(low), Some(high)) = (asked(low), asked(high)) else { return false };
            let range = Range { low: Some(low.floor()), high: Some(high.ceiling()) };
            written.common_in_range(&range).is_some()
        }
        Test::Compare(comparator, operand) => {
            let Some(bound) = asked(operand) else { return false };
            let range = match comparator {
                Comparator::Less | Comparator::LessOrEqual => {
                    Range { low: None, high: Some(bound.ceiling()) }
                }
                _ => Range { low: Some(bound.floor()), high: None },
            };
            written.common_in_range(&range).is_some()
        }
    }
}

/// The texts that an operand of a key condition can be, seen from an entity.
pub(crate) fn asked_texts(
    design: &Design,
    entity: &Entity,
    own: &Template,
    operand: &Operand,
    pattern: &Pattern,
) -> Option<Texts> {
    let Operand::Text(template, _) = operand else { return None };
    let pairs = aligned(template, own).unwrap_or_default();
    let type_of = |parameter: &str| {
        let declared = pattern.inputs.iter().find(|input| input.name.value == parameter);
        declared.map(|input| input.kind.clone()).or_else(|| {
            let (_, slot) = pairs.iter().find(|(own, _)| own == parameter)?;
            entity.type_at(&slot.path)
        })
    };
    let formatted = formatted(template, &pairs);
    Some(texts(&formatted, &design.delimiters, Strings::WithoutDelimiters, type_of))
}

/// The template with each plain slot in the format of the slot it stands for: a parameter is written as the entity writes it.
pub(crate) fn formatted(asked: &Template, pairs: &[(String, &Slot)]) -> Template {
    let pieces = asked.pieces.iter().map(|piece| match piece {
        Piece::Slot(slot) if slot.format == Format::Plain => {
            let own = pairs.iter().find(|(parameter, _)| *parameter == slot.path);
            Piece::Slot(Slot { format: own.map_or(Format::Plain, |(_, own)| own.format), ..slot.clone() })
        }
        other => other.clone(),
    });
    Template { pieces: pieces.collect() }
}

/// Which slot of an entity's template each slot of an asked template stands for, if the asked one reads like the beginning of the
/// entity's: the same literals, slot by slot.
pub(crate) fn aligned<'t>(asked: &Template, own: &'t Template) -> Option<Vec<(String, &'t Slot)>> {
    let mut pairs = Vec::new();
    let mut own_pieces = own.pieces.iter();
    for (index, piece) in asked.pieces.iter().enumerate() {
        let last = index + 1 == asked.pieces.len();
        match (piece, own_pieces.next()?) {
            (Piece::Literal(asked), Piece::Literal(own)) if asked == own => {}
            (Piece::Literal(asked), Piece::Literal(own)) if last && own.starts_with(asked.as_str()) => {}
            (Piece::Slot(asked), Piece::Slot(own)) => pairs.push((asked.path.clone(), own)),
            _ => return None,
        }
    }
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_stands_for_the_slot_in_its_place() {
        let template = |text| Template::parse(text).unwrap();
        let own = template("DUE#{dueAt}#{id}");
        let pairs = aligned(&template("DUE#{from}"), &own);
        let pairs = pairs
            .map(|pairs| pairs.into_iter().map(|(name, slot)| (name, slot.path.clone())).collect::<Vec<_>>());
        assert_eq!(pairs, Some(vec![("from".to_owned(), "dueAt".to_owned())]));
        assert_eq!(aligned(&template("DUE#{from}"), &template("STATUS#{status}")), None);
        assert_eq!(aligned(&template("CHA"), &template("CHAPTER#{id}")), Some(Vec::new()));
    }
}
