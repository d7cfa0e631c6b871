//! Plans as a person reads them: the requests as DynamoDB JSON, which index, what can come back, what it costs, and why.
//!
//! The requests are the real ones, bound to example values of the right types.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dynamo::operation::Operation;
use dynamo::{Item, Value};

use crate::bind::{
    Bound, Context, Known, Page, Problem, Write, at, bind_get, bind_query, bind_write, fill, put_at,
    recognise, remove_at, requests, stored_item,
};
use crate::check::CheckedDesign;
use crate::condition::{Comparator, Condition, Operand};
use crate::model::{Action, Apply, Entity, Operation as Named, Pattern, PatternKind, Type};
use crate::plan::{answers, parameters};

/// What the sizes of items are taken to be.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The size of an item.
    pub item_bytes: usize,
    /// The number of items in an answer, where no limit says otherwise.
    pub items: usize,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { item_bytes: 1024, items: 10 }
    }
}

/// The plan of one pattern, operation or entity, or of all of them. None if there is none of this name.
pub fn explain(design: &CheckedDesign, name: Option<&str>, sizes: Sizes) -> Option<String> {
    let mut text = String::new();
    let wanted = |candidate: &str| name.is_none_or(|name| name == candidate);
    for pattern in design.patterns.iter().filter(|pattern| wanted(&pattern.name.value)) {
        explain_pattern(&mut text, design, pattern, sizes);
    }
    for operation in design.operations.iter().filter(|operation| wanted(&operation.name.value)) {
        explain_operation(&mut text, design, operation, sizes);
    }
    for entity in design.entities.iter().filter(|entity| entity.copy.is_none() && wanted(&entity.name.value))
    {
        explain_entity(&mut text, design, entity, sizes);
    }
    (!text.is_empty()).then_some(text)
}

fn explain_pattern(text: &mut String, design: &CheckedDesign, pattern: &Pattern, sizes: Sizes) {
    let name = &pattern.name.value;
    let _ = writeln!(text, "pattern {name}");
    about(text, &pattern.about);
    let parameters = parameters(design, name);
    for parameter in &parameters {
        let optional = if parameter.optional { ", may be left out" } else { "" };
        let _ = writeln!(text, "  {}: {}{optional}", parameter.name, parameter.kind.name());
    }
    let entities = answers(design, name).iter().map(|entity| entity.name.value.clone()).collect::<Vec<_>>();
    let _ = writeln!(text, "  answers: {}", entities.join(", "));
    let values = parameters.iter().filter(|parameter| parameter.shards.is_none());
    let values = values
        .map(|parameter| (parameter.name.clone(), sample(&parameter.kind, &parameter.name)))
        .collect::<Item>();
    match requests_of(text, design, pattern, &values) {
        Ok(requests) => {
            let shards = requests.len();
            for request in requests.iter().take(1) {
                if shards > 1 {
                    let _ = writeln!(text, "  {shards} requests, one for each shard; the first:");
                }
                show(text, request);
                let _ = writeln!(text, "  costs {}", read_cost(request, pattern, sizes, shards));
            }
        }
        Err(problems) => show_problems(text, &problems),
    }
    text.push('\n');
}

/// The requests of a pattern. One that is made of others has none of its own: then it says which.
fn requests_of(
    text: &mut String,
    design: &CheckedDesign,
    pattern: &Pattern,
    values: &Item,
) -> Result<Vec<Operation>, Vec<Problem>> {
    let variables = BTreeMap::new();
    let context = context(&variables);
    match &pattern.kind {
        PatternKind::Get { .. } => return bind_get(design, pattern, values, &context),
        PatternKind::Query { .. } => return bind_query(design, pattern, values, &Page::default(), &context),
        PatternKind::Merge { patterns, by, apply } => {
            let names = patterns.iter().map(|pattern| pattern.value.as_str()).collect::<Vec<_>>();
            let _ = writeln!(text, "  merges {} by `{}`", names.join(" and "), by.value);
            if let Some(Apply { entity, to, on, .. }) = apply {
                let _ = writeln!(text, "  applies {} to {} on `{}`", entity.value, to.value, on.value);
            }
        }
        PatternKind::Collect(parts) => {
            for part in parts {
                let with = part.with.iter().map(|entry| entry.name.value.as_str()).collect::<Vec<_>>();
                let with = match with.join(", ") {
                    none if none.is_empty() => none,
                    names => format!(", {names} from what was found before"),
                };
                let _ = writeln!(text, "  {}: pattern {}{with}", part.name.value, part.pattern.value);
            }
        }
    }
    Ok(Vec::new())
}

fn read_cost(request: &Operation, pattern: &Pattern, sizes: Sizes, shards: usize) -> String {
    let consistent = pattern.consistent.as_ref().is_some_and(|consistent| consistent.value);
    let items = match request {
        Operation::GetItem(_) => 1,
        _ => pattern.limit.as_ref().map_or(sizes.items, |limit| limit.value),
    };
    // A query counts the bytes of all items it reads together, a get each item by itself.
    let units = (items * sizes.item_bytes).div_ceil(4096).max(1);
    let halves = if consistent { units * 2 } else { units };
    let each = format!("{}{}", halves / 2, if halves % 2 == 1 { ".5" } else { "" });
    let each = if each.starts_with("0.") || halves > 1 { each } else { "0.5".to_owned() };
    let times = if shards > 1 { format!(" for each of {shards} shards") } else { String::new() };
    format!("{each} read units for {items} items of {} bytes{times}", sizes.item_bytes)
}

fn explain_operation(text: &mut String, design: &CheckedDesign, operation: &Named, sizes: Sizes) {
    let _ = writeln!(text, "operation {}", operation.name.value);
    about(text, &operation.about);
    let mut inputs = Item::new();
    for input in &operation.inputs {
        let attribute = &input.attribute;
        let optional = if attribute.optional { ", may be left out" } else { "" };
        let _ = writeln!(text, "  {}: {}{optional}", attribute.name.value, attribute.kind.name());
        inputs.insert(attribute.name.value.clone(), sample(&attribute.kind, &attribute.name.value));
    }
    if operation.chunks {
        let _ = writeln!(
            text,
            "  a list that does not fit one transaction is done in chunks; here with one element"
        );
    }
    let conditions = operation
        .steps
        .iter()
        .filter_map(|step| Some((step.entity.value.as_str(), &step.condition.as_ref()?.condition)));
    let conditions = conditions.collect::<Vec<_>>();
    let write = Write::Operation { name: &operation.name.value, inputs: inputs.clone(), part: None };
    let changed = |action: Action| {
        let steps = operation.steps.iter().filter(move |step| step.action == action);
        steps.map(|step| step.entity.value.as_str()).collect::<Vec<_>>()
    };
    let state =
        Before { absent: changed(Action::Upsert), other: changed(Action::Update), conditions, inputs };
    explain_write(text, design, &write, &state, sizes);
    text.push('\n');
}

fn explain_entity(text: &mut String, design: &CheckedDesign, entity: &Entity, sizes: Sizes) {
    let _ = writeln!(text, "create {}", entity.name.value);
    about(text, &entity.about);
    let mut attributes = Item::new();
    for attribute in entity.attributes.iter().filter(|attribute| attribute.from.is_none()) {
        let counted = entity.counters.iter().any(|counter| counter.attribute.value == attribute.name.value);
        if !counted && attribute.kind != Type::Version {
            attributes.insert(attribute.name.value.clone(), sample(&attribute.kind, &attribute.name.value));
        }
    }
    let write = Write::Create { entity: &entity.name.value, attributes };
    explain_write(text, design, &write, &Before::default(), sizes);
    text.push('\n');
}

/// What the items are before a write that is shown.
#[derive(Default)]
struct Before<'a> {
    /// Entities of which there is no item yet.
    absent: Vec<&'a str>,
    /// Entities whose items have other values than those given, so that the change shows.
    other: Vec<&'a str>,
    /// What steps demand of items of entities, with the inputs in them.
    conditions: Vec<(&'a str, &'a Condition)>,
    inputs: Item,
}

impl Before<'_> {
    fn item(&self, entity: &Entity) -> Option<Item> {
        let name = entity.name.value.as_str();
        if self.absent.contains(&name) {
            return None;
        }
        let mut item = sample_item(entity);
        if self.other.contains(&name) {
            let identity = entity.identity();
            for attribute in entity
                .attributes
                .iter()
                .filter(|attribute| !identity.contains(&attribute.name.value.as_str()))
            {
                match other_sample(&attribute.kind) {
                    _ if attribute.optional => item.remove(&attribute.name.value),
                    Some(value) => item.insert(attribute.name.value.clone(), value),
                    None => None,
                };
            }
        }
        for (_, condition) in self.conditions.iter().filter(|(demanded, _)| *demanded == name) {
            for conjunct in condition.conjuncts() {
                self.satisfy(entity, &mut item, conjunct);
            }
        }
        stored_item(entity, &item)
    }

    /// Gives an item what a condition demands of it, where that is simple.
    fn satisfy(&self, entity: &Entity, item: &mut Item, condition: &Condition) {
        let demanded = |operand: &Operand| match operand {
            Operand::Text(template, _) => fill(template, &self.inputs),
            Operand::Number(number, _) => Some(Value::N(*number)),
            Operand::Boolean(flag, _) => Some(Value::Bool(*flag)),
            _ => None,
        };
        match condition {
            Condition::Compare(Operand::Path(path), Comparator::Equal, value, _)
            | Condition::Compare(value, Comparator::Equal, Operand::Path(path), _) => {
                if let Some(value) = demanded(value) {
                    put_at(item, &path.dotted(), value);
                }
            }
            Condition::Compare(Operand::Path(path), Comparator::NotEqual, value, _) => {
                let path = path.dotted();
                let kind = entity.type_at(&path).unwrap_or(Type::Any);
                if at(item, &path) == demanded(value).as_ref()
                    && let Some(other) = different(&kind, at(item, &path))
                {
                    put_at(item, &path, other);
                }
            }
            Condition::Exists(path) if at(item, &path.dotted()).is_none() => {
                let path = path.dotted();
                if let Some(kind) = entity.type_at(&path) {
                    put_at(item, &path, sample(&kind, &path));
                }
            }
            Condition::NotExists(path) => remove_at(item, &path.dotted()),
            _ => {}
        }
    }
}

/// An example of a value that is not this one.
fn different(kind: &Type, from: Option<&Value>) -> Option<Value> {
    match (kind, from) {
        (Type::OneOf(values), from) => {
            values.iter().map(|value| &value.value).find(|value| Some(*value) != from).cloned()
        }
        (Type::Boolean, Some(Value::Bool(flag))) => Some(Value::Bool(!flag)),
        (kind, _) => other_sample(kind),
    }
}

/// Another example of a value, where that is simple.
fn other_sample(kind: &Type) -> Option<Value> {
    match kind {
        Type::OneOf(values) => values.last().map(|value| value.value.clone()),
        Type::Boolean => Some(Value::Bool(false)),
        Type::String | Type::Key | Type::Slug => Some(Value::from("before")),
        _ => None,
    }
}

/// Binds a write, giving it an example of everything it must read.
fn explain_write(
    text: &mut String,
    design: &CheckedDesign,
    write: &Write<'_>,
    before: &Before<'_>,
    sizes: Sizes,
) {
    let variables = BTreeMap::new();
    let context = context(&variables);
    let mut known = Known::assuming();
    for _ in 0..8 {
        match bind_write(design, write, &known, &context) {
            Err(problems) => return show_problems(text, &problems),
            Ok(Bound::Ask { pattern, parameters }) => {
                let _ = writeln!(text, "  asks pattern {pattern}, here with one item");
                let found = answers(design, &pattern).first().map(|entity| sample_item(entity));
                known.answer(pattern, parameters, found.into_iter().collect());
            }
            Ok(Bound::Read(keys)) => {
                for key in keys {
                    let found = entity_of(design, &key.key);
                    let what = found.map_or("an item", |entity| entity.name.value.as_str());
                    let _ = writeln!(text, "  reads {what} first: {}", dynamo_json(&key.key));
                    let mut stored = found.and_then(|entity| before.item(entity));
                    if let Some(stored) = &mut stored {
                        stored.extend(key.key.clone());
                    }
                    known.item(key, stored);
                }
            }
            Ok(Bound::Write(mut writes)) => {
                for write in &writes {
                    let _ = writeln!(text, "  {}: {}", write.entity, write.because.join("; "));
                }
                if let Some(request) = requests(&mut writes, None) {
                    show(text, &request);
                    let _ = writeln!(text, "  costs {}", write_cost(writes.len(), sizes));
                }
                return;
            }
        }
    }
}

fn write_cost(items: usize, sizes: Sizes) -> String {
    let units = sizes.item_bytes.div_ceil(1024).max(1);
    let transactional = if items > 1 { 2 } else { 1 };
    format!(
        "{} write units for {items} items of {} bytes, and as many again for each index entry that changes",
        items * units * transactional,
        sizes.item_bytes
    )
}

/// The entity whose key this is.
fn entity_of<'d>(design: &'d CheckedDesign, key: &Item) -> Option<&'d Entity> {
    let constants = |entity: &Entity| {
        entity.constants.iter().map(|(name, value)| (name.value.clone(), value.clone())).collect::<Item>()
    };
    design.entities.iter().find(|entity| {
        let mut item = key.clone();
        item.extend(constants(entity));
        recognise(design, &entity.table, &item).is_some_and(|found| found.name.value == entity.name.value)
    })
}

fn context(variables: &BTreeMap<String, String>) -> Context<'_> {
    Context { variables, now_milliseconds: 1_705_314_600_000, new_id: &|kind, _| sample_text(kind, "id") }
}

fn about(text: &mut String, about: &str) {
    if !about.is_empty() {
        let _ = writeln!(text, "  {about}");
    }
}

fn show_problems(text: &mut String, problems: &[Problem]) {
    for problem in problems {
        let _ = writeln!(text, "  not shown: {} {}", problem.name, problem.message);
    }
}

/// A request, indented.
fn show(text: &mut String, request: &Operation) {
    let mut bytes = Vec::new();
    request.write_json(&mut bytes);
    let parsed = serde_json::from_slice::<serde_json::Value>(&bytes).unwrap_or_default();
    let _ = writeln!(text, "  {}", request.name());
    for line in format!("{parsed:#}").lines() {
        let _ = writeln!(text, "    {line}");
    }
}

fn dynamo_json(item: &Item) -> String {
    let mut bytes = Vec::new();
    dynamo::write_item(item, &mut bytes);
    String::from_utf8(bytes).unwrap_or_default()
}

/// An example of an item, as its entity sees it.
fn sample_item(entity: &Entity) -> Item {
    let values = entity
        .attributes
        .iter()
        .map(|attribute| (attribute.name.value.clone(), sample(&attribute.kind, &attribute.name.value)));
    values.collect()
}

/// An example of a value.
pub(crate) fn sample(kind: &Type, name: &str) -> Value {
    match kind {
        Type::Number | Type::Integer | Type::Version => Value::from(1),
        Type::Epoch => Value::from(1_705_314_600),
        Type::Ttl => Value::from(1_713_090_600),
        Type::Boolean => Value::Bool(true),
        Type::Binary => Value::B(bytes_of(name)),
        Type::OneOf(values) => values.first().map_or(Value::Null, |value| value.value.clone()),
        Type::Map(map) => {
            let members = map
                .members
                .iter()
                .map(|member| (member.name.value.clone(), sample(&member.kind, &member.name.value)));
            Value::M(members.collect())
        }
        Type::List(element) => Value::L(vec![sample(element, name)]),
        Type::StringSet => Value::Ss([name.to_owned()].into()),
        Type::NumberSet => Value::Ns([dynamo::Number::from(1_i64)].into()),
        Type::BinarySet => Value::Bs([bytes_of(name)].into()),
        text => Value::S(sample_text(text, name)),
    }
}

fn bytes_of(name: &str) -> bytes::Bytes {
    bytes::Bytes::copy_from_slice(name.as_bytes())
}

fn sample_text(kind: &Type, name: &str) -> String {
    use crate::model::Precision;
    match kind {
        // Different for different names, so that different items stay different.
        Type::Ulid => {
            let letters = name.to_uppercase().replace(['I', 'L'], "1").replace('O', "0").replace('U', "V");
            let letters = letters.chars().filter(char::is_ascii_alphanumeric).take(24).collect::<String>();
            format!("01{letters:0<24}")
        }
        Type::Ksuid => "0ujtsYcgvSTl8PAuAdqWYSMnLOv".to_owned(),
        Type::Uuid => "123e4567-e89b-12d3-a456-426614174000".to_owned(),
        Type::Time36 => "lrg5000000000000000a".to_owned(),
        Type::Timestamp(Precision::Seconds, _) => "2024-01-15T10:30:00Z".to_owned(),
        Type::Timestamp(..) => "2024-01-15T10:30:00.000Z".to_owned(),
        Type::Date => "2024-01-15".to_owned(),
        _ => name.to_owned(),
    }
}
