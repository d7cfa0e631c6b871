//! Parameters of a pattern: all problems with them at once.

use design::{CheckedDesign, Problem, ProblemKind};
use dynamo::Item;

use crate::refusal::Refusal;

/// The parameters as their types store them, or everything that is wrong with them.
pub(super) fn checked(design: &CheckedDesign, pattern: &str, given: Item) -> Result<Item, Refusal> {
    let known = design.parameters(pattern);
    let mut problems = Vec::new();
    let mut problem = |name: &str, message: String| {
        problems.push(Problem { kind: ProblemKind::Invalid, name: name.to_owned(), message });
    };
    let mut checked = Item::new();
    for parameter in known {
        match given.get(&parameter.name) {
            Some(value) => {
                let value = design::coerced(&parameter.kind, value.clone());
                if let Some(message) = design::mismatch(&parameter.kind, &value, &design.delimiters) {
                    problem(&parameter.name, message);
                }
                let shard = match (&value, parameter.shards) {
                    (dynamo::Value::N(number), Some(count)) => Some((*number, count)),
                    _ => None,
                };
                if let Some((_, count)) = shard.filter(|(number, count)| {
                    !(0..i64::from(*count)).any(|shard| dynamo::Number::from(shard) == *number)
                }) {
                    problem(&parameter.name, format!("is not between 0 and {}", count.saturating_sub(1)));
                }
                checked.insert(parameter.name.clone(), value);
            }
            None if parameter.optional => {}
            None => problem(&parameter.name, "is missing".to_owned()),
        }
    }
    for name in given.keys().filter(|name| !known.iter().any(|parameter| parameter.name == **name)) {
        problem(name, format!("is not a parameter of {pattern}"));
    }
    if problems.is_empty() { Ok(checked) } else { Err(Refusal::Invalid(problems)) }
}

/// Those of the parameters that a pattern has.
pub(super) fn own(design: &CheckedDesign, pattern: &str, given: &Item) -> Item {
    let known = design.parameters(pattern);
    let own = given.iter().filter(|(name, _)| known.iter().any(|parameter| parameter.name == **name));
    own.map(|(name, value)| (name.clone(), value.clone())).collect()
}
