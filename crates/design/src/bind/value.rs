//! Values: filled into templates, brought to their attribute's type, checked against it.

use std::collections::BTreeSet;

use dynamo::{Item, Number, Value};

use super::time::{iso_milliseconds, milliseconds_of};
use super::{Context, Problem};
use crate::keys::written;
use crate::model::{Attribute, Entity, Given, Precision, Type};
use crate::template::{Format, Piece, Template};

/// What stands at a path of an item; dots reach into maps.
pub fn at<'a>(item: &'a Item, path: &str) -> Option<&'a Value> {
    if !path.as_bytes().contains(&b'.') {
        return item.get(path);
    }
    let mut names = path.split('.');
    let mut found = item.get(names.next()?)?;
    for name in names {
        let Value::M(map) = found else { return None };
        found = map.get(name)?;
    }
    Some(found)
}

/// Puts a value at a path, making maps on the way.
pub fn put_at(item: &mut Item, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            item.insert(path.to_owned(), value);
        }
        Some((name, rest)) => {
            let inner = item.entry(name.to_owned()).or_insert_with(|| Value::M(Item::new()));
            if !matches!(inner, Value::M(_)) {
                *inner = Value::M(Item::new());
            }
            if let Value::M(map) = inner {
                put_at(map, rest, value);
            }
        }
    }
}

/// Takes away what stands at a path.
pub(crate) fn remove_at(item: &mut Item, path: &str) {
    match path.split_once('.') {
        None => {
            item.remove(path);
        }
        Some((name, rest)) => {
            if let Some(Value::M(map)) = item.get_mut(name) {
                remove_at(map, rest);
            }
        }
    }
}

/// A template with its slots filled; none if a slot has no value or one that its format does not take.
pub(crate) fn fill(template: &Template, scope: &Item) -> Option<Value> {
    if let Some(slot) = template.only_slot() {
        return at(scope, &slot.path).cloned();
    }
    let mut text = String::new();
    for piece in &template.pieces {
        match piece {
            Piece::Literal(literal) => text.push_str(literal),
            Piece::Slot(slot) => match (at(scope, &slot.path)?, slot.format) {
                (Value::S(value), Format::Plain) => text.push_str(value),
                (value, format) => text.push_str(&formatted(value, format)?),
            },
        }
    }
    Some(Value::S(text))
}

/// A value as a slot writes it.
pub(super) fn formatted(value: &Value, format: Format) -> Option<String> {
    let text = written(value)?;
    match format {
        Format::Plain => Some(text),
        Format::Lower => Some(text.to_lowercase()),
        Format::Upper => Some(text.to_uppercase()),
        Format::Truncated(kept) => text.get(..usize::from(kept)).map(str::to_owned),
        Format::Padded(width) => {
            let width = usize::from(width);
            let fits = text.len() <= width && text.bytes().all(|byte| byte.is_ascii_digit());
            fits.then(|| format!("{text:0>width$}"))
        }
        Format::Shard(count) => {
            let width = Format::shard_digits(count);
            Some(format!("{:0>width$}", shard(&text, count)))
        }
    }
}

/// The shard of a value: FNV-1a, which stays the same for ever, modulo the number of shards.
fn shard(text: &str, count: u32) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash % u64::from(count.max(1))
}

/// A value that a design gives, with its slots filled. None where a slot has no value: then nothing is given.
pub(super) fn given(value: &Given, scope: &Item) -> Option<Value> {
    match value {
        Given::Value(value) => Some(value.clone()),
        Given::Template(template) => fill(template, scope),
        Given::List(list) => {
            Some(Value::L(list.iter().filter_map(|element| given(&element.value, scope)).collect()))
        }
        Given::Map(map) => {
            let members = map
                .iter()
                .filter_map(|entry| Some((entry.name.value.clone(), given(&entry.value.value, scope)?)));
            Some(Value::M(members.collect()))
        }
    }
}

/// The time as a value of a type.
pub(super) fn now(kind: &Type, context: &Context<'_>) -> Value {
    coerced(kind, Value::S(iso_milliseconds(context.now_milliseconds)))
}

/// A value as its type stores it: lists as sets, timestamps in their form, times as seconds where seconds are stored.
pub fn coerced(kind: &Type, mut value: Value) -> Value {
    coerce(kind, &mut value);
    value
}

/// The same, where the value stands: most values are as they must be already.
pub(super) fn coerce(kind: &Type, value: &mut Value) {
    match (kind, &mut *value) {
        (Type::StringSet, Value::L(list)) => {
            let texts = list.iter().map(|element| match element {
                Value::S(text) => Some(text.clone()),
                _ => None,
            });
            if let Some(texts) = texts.collect::<Option<BTreeSet<_>>>() {
                *value = Value::Ss(texts);
            }
        }
        (Type::NumberSet, Value::L(list)) => {
            let numbers = list.iter().map(|element| match element {
                Value::N(number) => Some(*number),
                _ => None,
            });
            if let Some(numbers) = numbers.collect::<Option<BTreeSet<_>>>() {
                *value = Value::Ns(numbers);
            }
        }
        (Type::Epoch | Type::Ttl, Value::S(text)) => {
            if let Some(milliseconds) = milliseconds_of(text) {
                *value = Value::from(milliseconds.div_euclid(1_000));
            }
        }
        (Type::Timestamp(Precision::Seconds, _), Value::S(text)) => {
            if let Some(milliseconds) = milliseconds_of(text) {
                *text = iso_milliseconds(milliseconds);
                text.truncate(19);
                text.push('Z');
            }
        }
        (Type::Map(map), Value::M(members)) => {
            for member in &map.members {
                if let Some(value) = members.get_mut(&member.name.value) {
                    coerce(&member.kind, value);
                }
            }
        }
        _ => {}
    }
}

/// Everything that is wrong with the attributes of an entity's item.
pub fn validate(entity: &Entity, item: &Item, delimiters: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut known = 0;
    for attribute in &entity.attributes {
        match item.get(&attribute.name.value) {
            Some(value) => {
                known += 1;
                check(attribute, &attribute.name.value, value, delimiters, &mut problems);
            }
            None if attribute.optional => {}
            None => problems.push(Problem::invalid(&attribute.name.value, "is missing")),
        }
    }
    if known < item.len() {
        problems.extend(unknown(entity, item));
    }
    for slot in entity.keys().flat_map(crate::model::EntityKey::slots) {
        if let Some(Value::S(text)) = at(item, &slot.path)
            && (text.is_empty() || is_divided(text, delimiters))
            && !matches!(
                entity.type_at(&slot.path),
                Some(Type::Timestamp(..) | Type::Date | Type::Uuid | Type::OneOf(_))
            )
        {
            problems.push(Problem::invalid(&slot.path, in_a_key(delimiters)));
        }
    }
    problems.dedup();
    problems
}

/// Attributes that an entity does not have. A name with a dot is none: dots reach into maps.
fn unknown(entity: &Entity, item: &Item) -> Vec<Problem> {
    let is_known = |name: &str| {
        let own = entity.attributes.iter().any(|attribute| attribute.name.value == name);
        own || entity.constant(name).is_some()
    };
    let unknown = item.keys().filter(|name| !is_known(name));
    let message = format!("is not an attribute of {}", entity.name.value);
    unknown.map(|name| Problem::invalid(name, message.clone())).collect()
}

/// Whether a text contains something that separates the parts of keys.
fn is_divided(text: &str, delimiters: &str) -> bool {
    if delimiters.is_ascii() {
        return text.bytes().any(|byte| delimiters.as_bytes().contains(&byte));
    }
    text.contains(|c| delimiters.contains(c))
}

fn in_a_key(delimiters: &str) -> String {
    format!("stands in a key: it must not be empty or contain any of `{delimiters}`")
}

/// Everything that is wrong with the slots of an entity's key.
pub fn validate_key(entity: &Entity, key: &Item, delimiters: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let identity = entity.identity();
    for slot in identity.iter().filter(|slot| entity.constant(slot).is_none()) {
        let Some(value) = at(key, slot) else {
            problems.push(Problem::invalid(*slot, "is missing"));
            continue;
        };
        let kind = entity.kind_at(slot).unwrap_or(&Type::Key);
        problems.extend(mismatch(kind, value, delimiters).map(|message| Problem::invalid(*slot, message)));
        if let Value::S(text) = value
            && matches!(kind, Type::String | Type::Any)
            && (text.is_empty() || is_divided(text, delimiters))
        {
            problems.push(Problem::invalid(*slot, in_a_key(delimiters)));
        }
    }
    let is_part =
        |name: &str| identity.iter().any(|slot| *slot == name || slot.split('.').next() == Some(name));
    for name in key.keys().filter(|name| !is_part(name)) {
        problems.push(Problem::invalid(name, format!("is not part of the key of {}", entity.name.value)));
    }
    problems
}

/// So many wrong elements of a list are named, the first ones.
const ELEMENTS_NAMED_MAX: usize = 20;

pub(super) fn check(
    attribute: &Attribute,
    path: &str,
    value: &Value,
    delimiters: &str,
    problems: &mut Vec<Problem>,
) {
    match (&attribute.kind, value) {
        (Type::List(element), Value::L(list)) => {
            let wrong = list.iter().enumerate().filter_map(|(place, value)| {
                Some(Problem::invalid(format!("{path}[{place}]"), mismatch(element, value, delimiters)?))
            });
            problems.extend(wrong.take(ELEMENTS_NAMED_MAX));
        }
        (kind, value) => problems.extend(problem(kind, path, value, delimiters)),
    }
    if let Some(most) = attribute.max_bytes.filter(|most| dynamo::value_size_bytes(value) > *most) {
        problems.push(Problem::invalid(path, format!("has more than {most} bytes")));
    }
    let length = match value {
        Value::L(list) => list.len(),
        Value::Ss(set) => set.len(),
        Value::Ns(set) => set.len(),
        _ => 0,
    };
    if let Some(most) = attribute.max_items.filter(|most| length > *most) {
        problems.push(Problem::invalid(path, format!("has more than {most} elements")));
    }
    if let (Type::Map(map), Value::M(members)) = (&attribute.kind, value) {
        let before = problems.len();
        for member in &map.members {
            match members.get(&member.name.value) {
                Some(value) => check(member, &member.name.value, value, delimiters, problems),
                None if member.optional => {}
                None => problems.push(Problem::invalid(&member.name.value, "is missing")),
            }
        }
        for inner in problems.iter_mut().skip(before) {
            inner.name = format!("{path}.{}", inner.name);
        }
        let named = |name: &str| map.members.iter().any(|member| member.name.value == name);
        for (name, value) in members.iter().filter(|(name, _)| !named(name)) {
            let wrong = match &map.others {
                Some(kind) => mismatch(kind, value, delimiters),
                None => Some("is not known".to_owned()),
            };
            problems.extend(wrong.map(|message| Problem::invalid(format!("{path}.{name}"), message)));
        }
    }
}

/// What is wrong with a value of a type, in words that follow its name; none if it fits.
pub fn mismatch(kind: &Type, value: &Value, delimiters: &str) -> Option<String> {
    let fits = match (kind, value) {
        (Type::Any, _) => true,
        (Type::OneOf(values), value) => values.iter().any(|choice| choice.value == *value),
        (Type::List(element), Value::L(list)) => {
            list.iter().all(|value| mismatch(element, value, delimiters).is_none())
        }
        (Type::Key, Value::S(text)) => !text.is_empty() && !is_divided(text, delimiters),
        (Type::Slug, Value::S(text)) => {
            !text.is_empty()
                && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        }
        (Type::Ulid, Value::S(text)) => text.len() == 26 && text.bytes().all(is_crockford),
        (Type::Ksuid, Value::S(text)) => text.len() == 27 && text.chars().all(|c| c.is_ascii_alphanumeric()),
        (Type::Uuid, Value::S(text)) => is_uuid(text),
        (Type::Time36, Value::S(text)) => {
            text.len() == 20 && text.chars().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase())
        }
        (Type::Timestamp(Precision::Varying, _), Value::S(text)) => !text.is_empty(),
        (Type::Timestamp(precision, _), Value::S(text)) => {
            let width = if *precision == Precision::Seconds { 20 } else { 24 };
            text.len() == width && milliseconds_of(text).is_some()
        }
        (Type::Date, Value::S(text)) => {
            milliseconds_of(&format!("{text}T00:00:00Z")).is_some() && text.len() == 10
        }
        (Type::Integer | Type::Epoch | Type::Ttl | Type::Version, Value::N(number)) => is_whole(*number),
        (kind, value) => kind.value_type() == Some(value.value_type()),
    };
    (!fits).then(|| format!("is not {}", described(kind, delimiters)))
}

fn described(kind: &Type, delimiters: &str) -> String {
    match kind {
        Type::Key => format!("a text without any of `{delimiters}`"),
        kind => kind.name(),
    }
}

fn is_whole(number: Number) -> bool {
    number.to_i64().is_some() || !number.to_string().contains(['.', 'E', 'e'])
}

/// The digits of a ULID: without I, L, O and U.
fn is_crockford(byte: u8) -> bool {
    byte.is_ascii_digit() || (byte.is_ascii_uppercase() && !b"ILOU".contains(&byte))
}

fn is_uuid(text: &str) -> bool {
    let widths = [8, 4, 4, 4, 12];
    let groups = text.split('-').collect::<Vec<_>>();
    groups.len() == widths.len()
        && groups
            .iter()
            .zip(widths)
            .all(|(group, width)| group.len() == width && group.chars().all(|c| c.is_ascii_hexdigit()))
}

/// What is wrong with a value of a type, if anything.
pub(super) fn problem(kind: &Type, name: &str, value: &Value, delimiters: &str) -> Option<Problem> {
    mismatch(kind, value, delimiters).map(|message| Problem::invalid(name, message))
}
