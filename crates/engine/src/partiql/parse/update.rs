//! The changes of UPDATE: SET and REMOVE, as often as one likes.

use dynamo::{StoredValue, Value};
use expression::{Action, Assigned, Path, Update};

use super::{Parser, simple_path};
use crate::partiql::error::{Malformed, StatementError};

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
        check_disjoint(&actions)?;
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
        if self.eat_call("set_add") {
            let elements = self.elements(&path)?;
            return Ok(Action::Add(path, elements));
        }
        if self.eat_call("set_delete") {
            let elements = self.elements(&path)?;
            return Ok(Action::Delete(path, elements));
        }
        Ok(Action::Set(path, self.sum()?))
    }

    /// The set of `set_add` and `set_delete`, which work on the attribute that they set.
    fn elements(&mut self, path: &Path) -> Result<Value, StatementError> {
        let of = self.path()?;
        self.expect(",")?;
        let elements = self.value()?;
        self.expect(")")?;
        if of == *path && elements.value_type().is_set() {
            Ok(elements)
        } else {
            Err(StatementError::SetFunction)
        }
    }

    fn sum(&mut self) -> Result<Assigned, StatementError> {
        let mut sum = self.term()?;
        let mut terms = 1;
        loop {
            let join: fn(Box<Assigned>, Box<Assigned>) -> Assigned = if self.eat("+") {
                Assigned::Plus
            } else if self.eat("-") {
                Assigned::Minus
            } else {
                return Ok(sum);
            };
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
        if self.eat_call("list_append") {
            let first = self.nested(Parser::sum)?;
            self.expect(",")?;
            let second = self.nested(Parser::sum)?;
            self.expect(")")?;
            return Ok(Assigned::ListAppend(Box::new(first), Box::new(second)));
        }
        if self.eat_call("if_not_exists") {
            let path = self.path()?;
            self.expect(",")?;
            let otherwise = self.nested(Parser::sum)?;
            self.expect(")")?;
            return Ok(Assigned::IfNotExists(path, Box::new(otherwise)));
        }
        match self.value_or_none()? {
            Some(value) => Ok(Assigned::Value(StoredValue::encode(&value))),
            None => self.path().map(Assigned::Path),
        }
    }
}

/// Refuses two changes of which one lies within the other.
fn check_disjoint(actions: &[Action]) -> Result<(), StatementError> {
    let lies_within = |one: &Path, two: &Path| {
        one.root == two.root && one.steps.iter().zip(&two.steps).all(|(one, two)| one == two)
    };
    for (count, later) in actions.iter().enumerate() {
        let earlier = actions.iter().take(count).find(|earlier| lies_within(earlier.path(), later.path()));
        if let Some(earlier) = earlier {
            return Err(StatementError::Overlap(earlier.path().clone(), later.path().clone()));
        }
    }
    Ok(())
}
