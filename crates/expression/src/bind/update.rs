//! Binding update expressions.

use dynamo::{StoredValue, Value, ValueType};

use super::{bind_path, check_clause_type, check_operand_count};
use crate::error::Fault;
use crate::path::{Path, check_disjoint};
use crate::substitute::Substitutions;
use crate::tree::{ActionTree, AssignedTree, Clause, Function, OperandTree, UpdateTree};
use crate::update::{Action, Assigned, Update};

/// Stands in for a value that is not defined, until that is reported.
static UNDEFINED: Value = Value::Null;

/// An action with its placeholders filled in, not checked yet.
enum ActionDraft<'v> {
    Set(Path, AssignedDraft<'v>),
    Remove(Path),
    Add(Path, &'v Value),
    Delete(Path, &'v Value),
}

/// A right-hand side with its placeholders filled in, not checked yet.
enum AssignedDraft<'v> {
    Path(Path),
    Value(&'v Value),
    Call(Function, Vec<AssignedDraft<'v>>),
    Sum(Sign, Box<[AssignedDraft<'v>; 2]>),
}

#[derive(Clone, Copy)]
enum Sign {
    Plus,
    Minus,
}

/// Fills in placeholders. DynamoDB reports undefined names of the whole update before undefined values.
struct Filler<'s, 'v> {
    substitutions: &'s mut Substitutions<'v>,
    undefined: Option<Fault>,
}

pub(super) fn bind(tree: &UpdateTree, substitutions: &mut Substitutions<'_>) -> Result<Update, Fault> {
    let mut filler = Filler { substitutions, undefined: None };
    let drafts =
        tree.actions.iter().map(|action| filler.action(action)).collect::<Result<Vec<_>, Fault>>()?;
    if let Some(fault) = filler.undefined {
        return Err(fault);
    }
    check_disjoint(drafts.iter().map(ActionDraft::path))?;
    for draft in &drafts {
        match draft {
            ActionDraft::Add(_, value) => check_clause_type(Clause::Add, value)?,
            ActionDraft::Delete(_, value) => check_clause_type(Clause::Delete, value)?,
            ActionDraft::Set(..) | ActionDraft::Remove(_) => {}
        }
    }
    let actions = drafts.into_iter().map(ActionDraft::checked).collect::<Result<Vec<_>, Fault>>()?;
    Ok(Update::new(actions))
}

impl<'v> Filler<'_, 'v> {
    fn action(&mut self, action: &ActionTree) -> Result<ActionDraft<'v>, Fault> {
        Ok(match action {
            ActionTree::Set(path, value) => ActionDraft::Set(self.path(path)?, self.assigned(value)?),
            ActionTree::Remove(path) => ActionDraft::Remove(self.path(path)?),
            ActionTree::Add(path, value) => ActionDraft::Add(self.path(path)?, self.value(value)),
            ActionTree::Delete(path, value) => ActionDraft::Delete(self.path(path)?, self.value(value)),
        })
    }

    fn path(&mut self, path: &crate::tree::PathTree) -> Result<Path, Fault> {
        bind_path(path, self.substitutions)
    }

    fn value(&mut self, placeholder: &str) -> &'v Value {
        self.substitutions.value(placeholder).unwrap_or_else(|fault| {
            self.undefined.get_or_insert(fault);
            &UNDEFINED
        })
    }

    fn assigned(&mut self, value: &AssignedTree) -> Result<AssignedDraft<'v>, Fault> {
        let (sign, left, right) = match value {
            AssignedTree::Operand(operand) => return self.operand(operand),
            AssignedTree::Plus(left, right) => (Sign::Plus, left, right),
            AssignedTree::Minus(left, right) => (Sign::Minus, left, right),
        };
        Ok(AssignedDraft::Sum(sign, Box::new([self.operand(left)?, self.operand(right)?])))
    }

    fn operand(&mut self, operand: &OperandTree) -> Result<AssignedDraft<'v>, Fault> {
        Ok(match operand {
            OperandTree::Path(path) => AssignedDraft::Path(self.path(path)?),
            OperandTree::Value(placeholder) => AssignedDraft::Value(self.value(placeholder)),
            OperandTree::Call(call) => {
                let arguments = call.arguments.iter().map(|argument| self.operand(argument));
                AssignedDraft::Call(call.function, arguments.collect::<Result<Vec<_>, Fault>>()?)
            }
        })
    }
}

impl ActionDraft<'_> {
    fn path(&self) -> &Path {
        match self {
            ActionDraft::Set(path, _)
            | ActionDraft::Remove(path)
            | ActionDraft::Add(path, _)
            | ActionDraft::Delete(path, _) => path,
        }
    }

    fn checked(self) -> Result<Action, Fault> {
        Ok(match self {
            ActionDraft::Set(path, value) => Action::Set(path, value.checked()?),
            ActionDraft::Remove(path) => Action::Remove(path),
            ActionDraft::Add(path, value) => Action::Add(path, value.clone()),
            ActionDraft::Delete(path, value) => Action::Delete(path, value.clone()),
        })
    }
}

impl AssignedDraft<'_> {
    fn checked(self) -> Result<Assigned, Fault> {
        match self {
            AssignedDraft::Path(path) => Ok(Assigned::Path(path)),
            AssignedDraft::Value(value) => Ok(Assigned::Value(StoredValue::encode(value))),
            AssignedDraft::Call(function, arguments) => checked_call(function, arguments),
            AssignedDraft::Sum(sign, operands) => checked_sum(sign, *operands),
        }
    }

    /// Refuses a value of the request that has another type.
    fn check_type(&self, operator: &'static str, wanted: ValueType) -> Result<(), Fault> {
        match self {
            AssignedDraft::Value(value) if value.value_type() != wanted => {
                Err(Fault::OperandType { operator, operand: Some(value.value_type()) })
            }
            _ => Ok(()),
        }
    }
}

fn checked_call(function: Function, arguments: Vec<AssignedDraft<'_>>) -> Result<Assigned, Fault> {
    let count = arguments.len();
    if function == Function::ListAppend && count == function.operand_count() {
        for argument in &arguments {
            argument.check_type(function.name(), ValueType::L)?;
        }
    }
    let checked = arguments.into_iter().map(AssignedDraft::checked).collect::<Result<Vec<_>, Fault>>()?;
    check_operand_count(function, count)?;
    let mut checked = checked.into_iter();
    match (function, checked.next(), checked.next()) {
        (Function::IfNotExists, Some(Assigned::Path(path)), Some(otherwise)) => {
            Ok(Assigned::IfNotExists(path, Box::new(otherwise)))
        }
        (Function::ListAppend, Some(first), Some(second)) => {
            Ok(Assigned::ListAppend(Box::new(first), Box::new(second)))
        }
        _ => Err(Fault::NeedsPath(function.name())),
    }
}

fn checked_sum(sign: Sign, operands: [AssignedDraft<'_>; 2]) -> Result<Assigned, Fault> {
    let operator = match sign {
        Sign::Plus => "+",
        Sign::Minus => "-",
    };
    for operand in &operands {
        operand.check_type(operator, ValueType::N)?;
    }
    let [left, right] = operands;
    let (left, right) = (Box::new(left.checked()?), Box::new(right.checked()?));
    Ok(match sign {
        Sign::Plus => Assigned::Plus(left, right),
        Sign::Minus => Assigned::Minus(left, right),
    })
}
