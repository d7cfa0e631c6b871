//! Trees and the names and values of a request become conditions, updates and projections.
//!
//! Checked here is what depends on names and values, in DynamoDB's order: of each condition in turn that its names and
//! values are defined, that functions have as many operands as they need, that the two sides differ, and that operands have
//! types that can work; of an update the names, the values, the paths it changes, then the operands.

use std::sync::Arc;

use dynamo::{StoredValue, Value, ValueType};

use crate::condition::{Condition, Operand};
use crate::error::Fault;
use crate::path::{Path, Step, check_disjoint};
use crate::project::Projection;
use crate::substitute::Substitutions;
use crate::tree::{
    Call, Clause, Comparator, ConditionTree, Element, Function, OperandTree, PathTree, ProjectionTree,
    UpdateTree,
};
use crate::update::Update;

mod update;

/// An operand whose placeholders are filled in and that is not checked yet.
enum Draft<'v> {
    Path(Path),
    Value(&'v Value),
    Call(Function, Vec<Draft<'v>>),
}

/// Binds a condition.
pub(crate) fn bind_condition(
    tree: &ConditionTree,
    substitutions: &mut Substitutions<'_>,
) -> Result<Condition, Fault> {
    let mut bind_all = |parts: &[ConditionTree]| {
        parts.iter().map(|part| bind_condition(part, substitutions)).collect::<Result<Vec<_>, Fault>>()
    };
    match tree {
        ConditionTree::All(parts) => Ok(Condition::All(bind_all(parts)?)),
        ConditionTree::Any(parts) => Ok(Condition::Any(bind_all(parts)?)),
        ConditionTree::Not(inner) => Ok(Condition::Not(Box::new(bind_condition(inner, substitutions)?))),
        ConditionTree::Compare(comparator, left, right) => {
            let operands = [draft(left, substitutions)?, draft(right, substitutions)?];
            bind_comparison(*comparator, operands)
        }
        ConditionTree::Between(value, low, high) => {
            let value = draft(value, substitutions)?;
            bind_between(value, draft(low, substitutions)?, draft(high, substitutions)?)
        }
        ConditionTree::In(value, list) => {
            let value = draft(value, substitutions)?;
            bind_in(value, drafts(list, substitutions)?)
        }
        ConditionTree::Call(call) => bind_call(draft_call(call, substitutions)?),
    }
}

/// Binds a projection.
pub(crate) fn bind_projection(
    tree: &ProjectionTree,
    substitutions: &mut Substitutions<'_>,
) -> Result<Projection, Fault> {
    let paths =
        tree.paths.iter().map(|path| bind_path(path, substitutions)).collect::<Result<Vec<_>, Fault>>()?;
    check_disjoint(paths.iter())?;
    Ok(Projection::of(paths.iter()))
}

/// Binds an update.
pub(crate) fn bind_update(tree: &UpdateTree, substitutions: &mut Substitutions<'_>) -> Result<Update, Fault> {
    update::bind(tree, substitutions)
}

fn bind_path(path: &PathTree, substitutions: &mut Substitutions<'_>) -> Result<Path, Fault> {
    let mut root = None;
    let mut steps = Vec::with_capacity(path.elements.len().saturating_sub(1));
    for element in &path.elements {
        let name: Arc<str> = match element {
            Element::Name(name) => name.clone(),
            Element::Placeholder(placeholder) => Arc::from(substitutions.name(placeholder)?),
            Element::Index(index) => {
                steps.push(Step::Index(*index));
                continue;
            }
        };
        match root {
            None => root = Some(name),
            Some(_) => steps.push(Step::Name(name)),
        }
    }
    Ok(Path { root: root.unwrap_or_default(), steps })
}

fn draft<'v>(operand: &OperandTree, substitutions: &mut Substitutions<'v>) -> Result<Draft<'v>, Fault> {
    Ok(match operand {
        OperandTree::Path(path) => Draft::Path(bind_path(path, substitutions)?),
        OperandTree::Value(placeholder) => Draft::Value(substitutions.value(placeholder)?),
        OperandTree::Call(call) => draft_call(call, substitutions)?,
    })
}

fn draft_call<'v>(call: &Call, substitutions: &mut Substitutions<'v>) -> Result<Draft<'v>, Fault> {
    Ok(Draft::Call(call.function, drafts(&call.arguments, substitutions)?))
}

fn drafts<'v>(
    operands: &[OperandTree],
    substitutions: &mut Substitutions<'v>,
) -> Result<Vec<Draft<'v>>, Fault> {
    operands.iter().map(|operand| draft(operand, substitutions)).collect()
}

fn bind_comparison(comparator: Comparator, operands: [Draft<'_>; 2]) -> Result<Condition, Fault> {
    check_calls(&operands)?;
    check_distinct(comparator.sign(), &operands)?;
    check_call_types(&operands)?;
    if !matches!(comparator, Comparator::Eq | Comparator::Ne) {
        check_ordered(comparator.sign(), &operands)?;
    }
    let [left, right] = operands.map(Draft::into_operand);
    Ok(Condition::Compare { comparator, left, right })
}

fn bind_between(value: Draft<'_>, low: Draft<'_>, high: Draft<'_>) -> Result<Condition, Fault> {
    let operands = [value, low, high];
    check_calls(&operands)?;
    check_call_types(&operands)?;
    check_ordered("BETWEEN", &operands)?;
    let [value, low, high] = operands;
    if let (Draft::Value(low), Draft::Value(high)) = (&low, &high) {
        check_bounds(low, high)?;
    }
    let [value, low, high] = [value, low, high].map(Draft::into_operand);
    Ok(Condition::Between { value, low, high })
}

/// The bounds of BETWEEN must have one type and the right order.
pub fn check_bounds(low: &Value, high: &Value) -> Result<(), Fault> {
    let boxed = || (Box::new(low.clone()), Box::new(high.clone()));
    if low.value_type() != high.value_type() {
        let (low, high) = boxed();
        return Err(Fault::BetweenTypes { low, high });
    }
    let (stored_low, stored_high) = (StoredValue::encode(low), StoredValue::encode(high));
    if stored_low.as_ref().compare(stored_high.as_ref()).is_some_and(std::cmp::Ordering::is_gt) {
        let (low, high) = boxed();
        return Err(Fault::BetweenOrder { low, high });
    }
    Ok(())
}

fn bind_in(value: Draft<'_>, list: Vec<Draft<'_>>) -> Result<Condition, Fault> {
    let value = [value];
    check_calls(&value)?;
    check_calls(&list)?;
    check_call_types(&value)?;
    check_call_types(&list)?;
    let [value] = value.map(Draft::into_operand);
    Ok(Condition::In { value, list: list.into_iter().map(Draft::into_operand).collect() })
}

fn bind_call(call: Draft<'_>) -> Result<Condition, Fault> {
    let call = [call];
    check_calls(&call)?;
    check_distinct_calls(&call)?;
    check_call_types(&call)?;
    let [Draft::Call(function, arguments)] = call else { return Ok(Condition::All(Vec::new())) };
    let mut arguments = arguments.into_iter();
    let (first, second) = (arguments.next(), arguments.next());
    Ok(match (function, first, second) {
        (Function::AttributeExists, Some(Draft::Path(path)), _) => Condition::Exists(path),
        (Function::AttributeNotExists, Some(Draft::Path(path)), _) => Condition::NotExists(path),
        (Function::AttributeType, Some(value), Some(Draft::Value(Value::S(name)))) => {
            let value_type = ValueType::from_name(name).ok_or_else(|| Fault::NotATypeName(name.clone()))?;
            Condition::HasType(value.into_operand(), value_type)
        }
        (Function::BeginsWith, Some(value), Some(prefix)) => {
            Condition::BeginsWith(value.into_operand(), prefix.into_operand())
        }
        (Function::Contains, Some(value), Some(part)) => {
            Condition::Contains(value.into_operand(), part.into_operand())
        }
        (function, ..) => return Err(Fault::Misused(function.name())),
    })
}

impl Draft<'_> {
    /// The type of a value of the request or of a function; a path may have any.
    fn value_type(&self) -> Option<ValueType> {
        match self {
            Draft::Path(_) => None,
            Draft::Value(value) => Some(value.value_type()),
            Draft::Call(..) => Some(ValueType::N),
        }
    }

    /// The operand, once checked: of the functions only `size` can be one.
    fn into_operand(self) -> Operand {
        match self {
            Draft::Path(path) => Operand::Path(path),
            Draft::Value(value) => Operand::value(value),
            Draft::Call(_, arguments) => {
                let inner = arguments.into_iter().next().map(Draft::into_operand);
                Operand::Size(Box::new(inner.unwrap_or_else(|| Operand::value(&Value::Null))))
            }
        }
    }
}

/// Checks that functions have as many operands as they take, the inner ones first.
fn check_calls(operands: &[Draft<'_>]) -> Result<(), Fault> {
    for operand in operands {
        if let Draft::Call(function, arguments) = operand {
            check_calls(arguments)?;
            check_operand_count(*function, arguments.len())?;
        }
    }
    Ok(())
}

fn check_operand_count(function: Function, count: usize) -> Result<(), Fault> {
    if count == function.operand_count() {
        return Ok(());
    }
    Err(Fault::OperandCount { function: function.name(), count })
}

fn check_distinct(operator: &'static str, operands: &[Draft<'_>]) -> Result<(), Fault> {
    match operands {
        [Draft::Path(one), Draft::Path(two)] if one == two => {
            Err(Fault::NotDistinct { operator, path: one.clone() })
        }
        _ => Ok(()),
    }
}

fn check_distinct_calls(operands: &[Draft<'_>]) -> Result<(), Fault> {
    for operand in operands {
        if let Draft::Call(function, arguments) = operand {
            check_distinct(function.name(), arguments)?;
        }
    }
    Ok(())
}

/// Checks that operands of functions have types that can work, the inner functions first.
fn check_call_types(operands: &[Draft<'_>]) -> Result<(), Fault> {
    for operand in operands {
        if let Draft::Call(function, arguments) = operand {
            check_call_types(arguments)?;
            check_argument_types(*function, arguments)?;
        }
    }
    Ok(())
}

fn check_argument_types(function: Function, arguments: &[Draft<'_>]) -> Result<(), Fault> {
    use ValueType::*;
    match (function, arguments) {
        (Function::AttributeExists | Function::AttributeNotExists, [Draft::Path(_)]) => Ok(()),
        (Function::AttributeExists | Function::AttributeNotExists, _) => {
            Err(Fault::NeedsPath(function.name()))
        }
        (Function::BeginsWith, _) => refuse_types(function.name(), arguments, |kind| !matches!(kind, S | B)),
        (Function::Size, _) => {
            refuse_types(function.name(), arguments, |kind| matches!(kind, N | Bool | Null))
        }
        (Function::AttributeType, [_, Draft::Value(Value::S(name))]) => {
            ValueType::from_name(name).map(|_| ()).ok_or_else(|| Fault::NotATypeName(name.clone()))
        }
        (Function::AttributeType, [_, other]) => {
            Err(Fault::OperandType { operator: function.name(), operand: other.value_type() })
        }
        _ => Ok(()),
    }
}

/// Only texts, numbers and binaries have an order.
fn check_ordered(operator: &'static str, operands: &[Draft<'_>]) -> Result<(), Fault> {
    refuse_types(operator, operands, |kind| !matches!(kind, ValueType::S | ValueType::N | ValueType::B))
}

fn refuse_types(
    operator: &'static str,
    operands: &[Draft<'_>],
    refused: impl Fn(ValueType) -> bool,
) -> Result<(), Fault> {
    match operands.iter().filter_map(Draft::value_type).find(|kind| refused(*kind)) {
        Some(kind) => Err(Fault::OperandType { operator, operand: Some(kind) }),
        None => Ok(()),
    }
}

/// The clause's operand must have a type that it can work with.
fn check_clause_type(clause: Clause, value: &Value) -> Result<(), Fault> {
    let operand = value.value_type();
    if operand.is_set() || (clause == Clause::Add && operand == ValueType::N) {
        return Ok(());
    }
    Err(Fault::ClauseOperandType { clause, operand })
}
