//! SELECT: what it answers, from where, and in which order.

use expression::{Fault, Path, Step};

use super::Parser;
use crate::partiql::error::{Malformed, StatementError};
use crate::partiql::token::Kind;
use crate::partiql::tree::{Order, Select};

impl Parser<'_> {
    pub(super) fn select(&mut self) -> Result<Select, StatementError> {
        let mut fault = None;
        let projection = self.projection(&mut fault)?;
        if !self.eat_word("FROM") {
            return Err(Malformed::SelectWithoutFrom.into());
        }
        let from = self.source()?;
        let condition = self.where_clause()?;
        let order = if self.eat_word("ORDER") { self.order()? } else { Vec::new() };
        self.further_clauses()?;
        Ok(Select { projection, from, condition, order, fault })
    }

    /// The table or index that is read; there is only one.
    fn source(&mut self) -> Result<crate::partiql::tree::From, StatementError> {
        if matches!(self.peek(), Some(Kind::Sign("?") | Kind::Text(_))) {
            return Err(StatementError::FromSource);
        }
        let from = self.from()?;
        self.alias()?;
        while self.eat(",") {
            self.from()?;
            self.alias()?;
            self.note(StatementError::SeveralSources);
        }
        Ok(from)
    }

    /// What is answered: everything, or paths. Anything else is only refused once the table is known.
    fn projection(&mut self, fault: &mut Option<StatementError>) -> Result<Vec<Path>, StatementError> {
        if self.eat("*") {
            return Ok(Vec::new());
        }
        if self.eat_word("DISTINCT") {
            self.note(StatementError::Distinct);
        }
        if self.eat_word("VALUE") || self.eat_word("PIVOT") {
            self.note(StatementError::SelectValue);
        }
        let mut paths: Vec<Path> = Vec::new();
        loop {
            if let Some(path) = self.projected(fault)? {
                self.check_projected(&paths, &path);
                paths.push(path);
            }
            self.alias()?;
            if !self.eat(",") {
                return Ok(paths);
            }
        }
    }

    /// One element of the projection; nothing if it is not a path.
    fn projected(&mut self, fault: &mut Option<StatementError>) -> Result<Option<Path>, StatementError> {
        let place = self.place();
        let path = if self.is_call() {
            self.skip_call()?;
            fault.get_or_insert(StatementError::Projection(place));
            None
        } else if self.value_or_none()?.is_some() {
            fault.get_or_insert(StatementError::Projection(place));
            None
        } else {
            Some(self.path()?)
        };
        let place = self.place();
        if ["+", "-", "*", "/", "%", "||"].iter().any(|sign| self.is_sign(sign)) {
            self.at += 1;
            self.projected(&mut None)?;
            *fault = Some(StatementError::Projection(place));
        }
        Ok(path)
    }

    /// A function and everything in its brackets.
    pub(super) fn skip_call(&mut self) -> Result<(), StatementError> {
        self.at += 2;
        let mut open = 1_usize;
        while open > 0 {
            open = match self.peek() {
                Some(Kind::Sign("(")) => open + 1,
                Some(Kind::Sign(")")) => open - 1,
                Some(_) => open,
                None => return Err(Malformed::Term.into()),
            };
            self.at += 1;
        }
        Ok(())
    }

    /// No two answered values may have one name, nor lie within each other.
    fn check_projected(&mut self, earlier: &[Path], path: &Path) {
        let name = last_name(path);
        if earlier.iter().any(|other| last_name(other) == name) {
            return self.note(StatementError::SameName(name));
        }
        let within = |other: &&Path| {
            other.root == path.root && other.steps.iter().zip(&path.steps).all(|(one, two)| one == two)
        };
        if let Some(other) = earlier.iter().find(within) {
            self.note(Fault::Overlap(path.clone(), other.clone()));
        }
    }

    fn order(&mut self) -> Result<Vec<Order>, StatementError> {
        self.expect_word("BY")?;
        let mut order = Vec::new();
        loop {
            let name = self.order_argument()?;
            let descends = self.eat_word("DESC");
            if !descends {
                self.eat_word("ASC");
            }
            order.push(Order { name, descends });
            if !self.eat(",") {
                return Ok(order);
            }
        }
    }

    fn order_argument(&mut self) -> Result<String, StatementError> {
        if let Some(Kind::Number(text) | Kind::Text(text)) = self.peek() {
            let text = text.clone();
            self.at += 1;
            self.note(StatementError::OrderArgument(text));
            return Ok(String::new());
        }
        let path = self.path()?;
        if path.is_nested() {
            self.note(StatementError::OrderArgument("PATH".to_owned()));
        }
        Ok(path.root.to_string())
    }

    /// Clauses of SQL that DynamoDB does not have.
    fn further_clauses(&mut self) -> Result<(), StatementError> {
        if self.eat_word("GROUP") {
            self.expect_word("BY")?;
            self.path()?;
            self.note(StatementError::Clause("GROUP BY", None));
        }
        if self.eat_word("HAVING") {
            let place = self.place();
            self.any()?;
            self.note(StatementError::Clause("HAVING", Some(place)));
        }
        if self.eat_word("LIMIT") {
            let place = self.place();
            self.value()?;
            self.note(StatementError::Clause("LIMIT", Some(place)));
        }
        Ok(())
    }
}

/// The name under which the value at a path is answered: the last name, with the indexes after it.
pub(in crate::partiql) fn last_name(path: &Path) -> String {
    let mut name = path.root.to_string();
    for step in &path.steps {
        match step {
            Step::Name(next) => name = next.to_string(),
            Step::Index(index) => name = format!("{name}[{index}]"),
        }
    }
    name
}
