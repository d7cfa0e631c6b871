//! The changes of UPDATE: SET and REMOVE, as often as one likes.

use dynamo::{StoredValue, Value};
use expression::{Action, Assigned, Fault, Path, Update};

use super::{Parser, simple_path};
use crate::partiql::error::{Malformed, StatementError};
use crate::partiql::token::Kind;

impl Parser<'_> {
    /// All SET and REMOVE clauses; there is at least one.
    pub(super) fn changes(&mut self) -> Result<Update, StatementError> {
        let mut actions = Vec::new();
        loop {
            if self.eat_word("SET") {
                self.clause(&mut actions, Parser::assignment)?;
            } else if self.eat_word("REMOVE") {
                self.clause(&mut actions, |parser| parser.path().map(Action::Remove).map_err(simple_path))?;
            } else {
                break;
            }
        }
        if actions.is_empty() {
            return Err(Malformed::NoManipulation.into());
        }
        if let Err(fault) = check_disjoint(&actions) {
            self.note(fault);
        }
        Ok(Update::new(actions))
    }

    fn clause(
        &mut self,
        actions: &mut Vec<Action>,
        action: fn(&mut Self) -> Result<Action, StatementError>,
    ) -> Result<(), StatementError> {
        actions.push(action(self)?);
        while self.eat(",") {
            actions.push(action(self)?);
        }
        Ok(())
    }

    fn assignment(&mut self) -> Result<Action, StatementError> {
        let path = self.path().map_err(simple_path)?;
        self.expect("=")?;
        for (function, name, action) in SET_FUNCTIONS {
            if self.is_word(function) && self.is_call() {
                let elements = self.elements(&path, name)?;
                return Ok(action(path, elements));
            }
        }
        Ok(Action::Set(path, self.sum()?))
    }

    /// The set of `set_add` and `set_delete`, which work on the attribute that they set.
    fn elements(&mut self, path: &Path, function: &'static str) -> Result<Value, StatementError> {
        let place = self.place();
        self.at += 2;
        let first_place = self.place();
        let first = if self.value_or_none()?.is_some() { None } else { Some(self.path()?) };
        let mut others = Vec::new();
        while self.eat(",") {
            others.push(self.value()?);
        }
        self.expect(")")?;
        let count = others.len();
        let elements = others.into_iter().next().filter(|_| count == 1);
        match elements {
            None => self.note(StatementError::SetArguments(function, place)),
            Some(_) if first.as_ref() != Some(path) => self.note(StatementError::SetTarget(function, place)),
            Some(elements) if !elements.value_type().is_set() => {
                self.note(StatementError::SetElements(function, first_place));
            }
            Some(elements) => return Ok(elements),
        }
        Ok(Value::Null)
    }

    fn sum(&mut self) -> Result<Assigned, StatementError> {
        let mut sum = self.term()?;
        let mut terms = 1;
        loop {
            let join: fn(Box<Assigned>, Box<Assigned>) -> Assigned = if self.eat("+") {
                Assigned::Plus
            } else if self.eat("-") {
                Assigned::Minus
            } else if let Some(Kind::Sign(sign @ ("*" | "/" | "%" | "||"))) = self.peek() {
                let sign = StatementError::UpdateOperator((*sign).to_owned());
                self.at += 1;
                self.note(sign);
                Assigned::Plus
            } else {
                return Ok(sum);
            };
            self.expect_right_side()?;
            terms += 1;
            // A sum lies as deep as it is long.
            if terms > super::DEPTH_MAX {
                return Err(Malformed::Depth.into());
            }
            sum = join(Box::new(sum), Box::new(self.term()?));
        }
    }

    fn term(&mut self) -> Result<Assigned, StatementError> {
        if self.eat("(") {
            let inner = self.nested(Parser::sum)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.is_call() {
            return self.assigned_call();
        }
        if self.is_sign("-") && !matches!(self.peek_second(), Some(Kind::Number(_))) {
            self.at += 1;
            self.note(Fault::OperandCount { function: "-", count: 1 });
        }
        match self.value_or_none()? {
            Some(value) => Ok(Assigned::Value(StoredValue::encode(&value))),
            None => self.path().map(Assigned::Path),
        }
    }

    /// A function of updates.
    fn assigned_call(&mut self) -> Result<Assigned, StatementError> {
        if self.is_word("list_append") {
            self.at += 2;
            let first = self.nested(Parser::sum)?;
            self.expect(",")?;
            let second = self.nested(Parser::sum)?;
            self.expect(")")?;
            return Ok(Assigned::ListAppend(Box::new(first), Box::new(second)));
        }
        if self.is_word("if_not_exists") {
            self.at += 2;
            let path = self.path()?;
            self.expect(",")?;
            let otherwise = self.nested(Parser::sum)?;
            self.expect(")")?;
            return Ok(Assigned::IfNotExists(path, Box::new(otherwise)));
        }
        let call = self.nested(Parser::call)?;
        let not_here = NOT_IN_UPDATES.iter().find(|name| **name == call.name);
        self.note(match not_here {
            Some(name) => Fault::NotInUpdates(name).into(),
            None => StatementError::UnknownFunction(call.name, call.place),
        });
        Ok(Assigned::Value(StoredValue::encode(&Value::Null)))
    }
}

/// What makes a change of an attribute and a set.
type SetAction = fn(Path, Value) -> Action;

/// Functions that change a set, with the names that messages have for them.
const SET_FUNCTIONS: [(&str, &str, SetAction); 2] =
    [("set_add", "SET_ADD", Action::Add), ("set_delete", "SET_DELETE", Action::Delete)];

/// Functions of conditions.
const NOT_IN_UPDATES: [&str; 6] =
    ["size", "attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains"];

/// Refuses two changes of which one lies within the other.
fn check_disjoint(actions: &[Action]) -> Result<(), Fault> {
    let lies_within = |one: &Path, two: &Path| {
        one.root == two.root && one.steps.iter().zip(&two.steps).all(|(one, two)| one == two)
    };
    for (count, later) in actions.iter().enumerate() {
        let earlier = actions.iter().take(count).find(|earlier| lies_within(earlier.path(), later.path()));
        if let Some(earlier) = earlier {
            return Err(Fault::Overlap(earlier.path().clone(), later.path().clone()));
        }
    }
    Ok(())
}
