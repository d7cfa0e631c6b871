//! `key=value` arguments as typed values of a pattern's parameters or an operation's inputs.

use design::{CheckedDesign, Type};
use dynamo::Item;

use crate::failure::Failure;

/// The arguments as values. Their types come from the design; what does not fit is refused by the service, all at once.
pub(crate) fn values(
    arguments: &[(String, String)],
    kind: impl Fn(&str) -> Option<Type>,
) -> Result<Item, Failure> {
    let mut item = Item::new();
    for (name, text) in arguments {
        let kind = kind(name).unwrap_or(Type::String);
        if item.insert(name.clone(), service::value_from_argument(&kind, text)).is_some() {
            return Err(Failure::new(format!("`{name}` is given twice")).into_misuse());
        }
    }
    Ok(item)
}

/// The type of a pattern's parameter.
pub(crate) fn parameter_type(design: &CheckedDesign, pattern: &str, name: &str) -> Option<Type> {
    design::parameters(design, pattern).into_iter().find(|known| known.name == name).map(|known| known.kind)
}

/// The type of an operation's input.
pub(crate) fn input_type(design: &CheckedDesign, operation: &str, name: &str) -> Option<Type> {
    let inputs = &design.operation(operation)?.inputs;
    inputs.iter().find(|input| input.attribute.name.value == name).map(|input| input.attribute.kind.clone())
}
