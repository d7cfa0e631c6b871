//! The grammar of statements, by recursive descent. Parameters are filled in where their question marks stand.
//!
//! What is not in the grammar ends the parser at once. What is, and what DynamoDB does not run all the same, is only noted: of several
//! mistakes the grammar's is reported.

use std::sync::Arc;

use dynamo::Value;
use expression::{Path, Step};

use super::error::{Malformed, StatementError};
use super::keyword::{is_keyword, is_operator};
use super::token::{Kind, Place, Token, tokens};
use super::tree::{Delete, From, Returning, Statement, UpdateItem};

mod condition;
mod function;
mod insert;
mod select;
mod update;
mod value;

pub(super) use select::last_name;

/// How deep conditions and values may lie within each other.
const DEPTH_MAX: usize = 64;

/// Reads a statement.
pub(crate) fn parse(text: &str, parameters: &[Value]) -> Result<Statement, StatementError> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, parameters, used: 0, depth: 0, noted: None };
    let statement = parser.statement()?;
    if parser.peek().is_some() {
        return Err(Malformed::Trailing.into());
    }
    if parser.used != parameters.len() {
        return Err(StatementError::ParameterCount);
    }
    match parser.noted {
        Some(error) => Err(error),
        None => Ok(statement),
    }
}

struct Parser<'p> {
    tokens: Vec<Token>,
    at: usize,
    parameters: &'p [Value],
    /// How many question marks there were so far.
    used: usize,
    depth: usize,
    /// The first thing that is in the grammar and that DynamoDB does not run.
    noted: Option<StatementError>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Kind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn peek_second(&self) -> Option<&Kind> {
        self.tokens.get(self.at + 1).map(|token| &token.kind)
    }

    fn place(&self) -> Place {
        self.tokens.get(self.at).map(|token| token.place).unwrap_or_default()
    }

    /// Notes what is wrong, to be said if the rest is well-formed.
    fn note(&mut self, error: impl Into<StatementError>) {
        if self.noted.is_none() {
            self.noted = Some(error.into());
        }
    }

    /// What is wrong when nothing fits what comes next.
    fn unexpected(&self) -> StatementError {
        match self.peek() {
            Some(Kind::Word(word)) if is_operator(word) => Malformed::Operator.into(),
            Some(Kind::Word(word)) if is_keyword(word) => Malformed::Keyword.into(),
            Some(Kind::Sign("=" | "<" | ">" | "<=" | ">=" | "<>" | "!=" | "||" | "/" | "%")) => {
                Malformed::Operator.into()
            }
            _ => Malformed::Term.into(),
        }
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Kind::Word(found)) if found.eq_ignore_ascii_case(word))
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn expect_word(&mut self, word: &str) -> Result<(), StatementError> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Kind::Sign(found)) if *found == sign)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), StatementError> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Nothing may be missing after an operator.
    fn expect_right_side(&self) -> Result<(), StatementError> {
        if self.peek().is_none() { Err(Malformed::RightSide.into()) } else { Ok(()) }
    }

    /// True before a name and an opening bracket: a function.
    fn is_call(&self) -> bool {
        matches!(
            (self.peek(), self.peek_second()),
            (Some(Kind::Word(_) | Kind::Quoted(_)), Some(Kind::Sign("(")))
        )
    }

    /// Reads something that may hold itself.
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, StatementError>,
    ) -> Result<T, StatementError> {
        if self.depth == DEPTH_MAX {
            return Err(Malformed::Depth.into());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn statement(&mut self) -> Result<Statement, StatementError> {
        if self.eat_word("SELECT") {
            return self.select().map(Statement::Select);
        }
        if self.eat_word("INSERT") {
            return self.insert().map(Statement::Insert);
        }
        if self.eat_word("UPDATE") {
            return self.update().map(Statement::Update);
        }
        if self.eat_word("FROM") {
            return self.update_after_from().map(Statement::Update);
        }
        if self.eat_word("DELETE") {
            return self.delete().map(Statement::Delete);
        }
        if self.is_word("EXISTS") && self.is_call() {
            self.at += 2;
            self.expect_word("SELECT")?;
            let select = self.select()?;
            self.expect(")")?;
            return Ok(Statement::Exists(select));
        }
        Err(self.no_manipulation())
    }

    /// What is wrong with a text that begins as nothing that reads or writes.
    fn no_manipulation(&mut self) -> StatementError {
        if self.path().is_ok() && self.eat_word("IS") && self.type_name().is_ok() && self.peek().is_none() {
            return StatementError::Operation("IsType");
        }
        Malformed::NoManipulation.into()
    }

    fn update(&mut self) -> Result<UpdateItem, StatementError> {
        let from = self.from().map_err(simple_path)?;
        self.alias()?;
        let update = self.changes()?;
        let condition = self.where_clause()?;
        let returning = self.returning()?;
        Ok(UpdateItem { from, update, condition, returning })
    }

    /// UPDATE in the order in which it is carried out: FROM, WHERE, then what is changed.
    fn update_after_from(&mut self) -> Result<UpdateItem, StatementError> {
        let from = self.from().map_err(simple_path)?;
        self.alias()?;
        let condition = self.where_clause()?;
        let update = self.changes()?;
        let returning = self.returning()?;
        Ok(UpdateItem { from, update, condition, returning })
    }

    fn delete(&mut self) -> Result<Delete, StatementError> {
        if !self.eat_word("FROM") {
            return Err(Malformed::DeleteWithoutFrom.into());
        }
        let from = self.from().map_err(simple_path)?;
        self.alias()?;
        let condition = self.where_clause()?;
        let returning = self.returning()?;
        Ok(Delete { from, condition, returning })
    }

    fn returning(&mut self) -> Result<Option<Returning>, StatementError> {
        if !self.eat_word("RETURNING") {
            return Ok(None);
        }
        let returning = self.returning_element()?;
        while self.eat(",") {
            self.returning_element()?;
            self.note(StatementError::ReturningSeveral);
        }
        Ok(Some(returning))
    }

    fn returning_element(&mut self) -> Result<Returning, StatementError> {
        let all = self.eat_word("ALL");
        let is_known = all || self.eat_word("MODIFIED");
        let old = self.eat_word("OLD");
        if !is_known || !(old || self.eat_word("NEW")) {
            return Err(Malformed::Returning.into());
        }
        if !self.eat("*") {
            self.path()?;
            self.note(StatementError::ReturningStar);
        }
        Ok(match (all, old) {
            (true, true) => Returning::AllOld,
            (true, false) => Returning::AllNew,
            (false, true) => Returning::ModifiedOld,
            (false, false) => Returning::ModifiedNew,
        })
    }

    /// A table, or a table and an index.
    fn from(&mut self) -> Result<From, StatementError> {
        let place = self.place();
        let table = self.name()?.to_string();
        let index = if self.eat(".") { Some(self.name()?.to_string()) } else { None };
        if self.is_sign(".") {
            return Err(StatementError::LongSource);
        }
        Ok(From { table, index, place })
    }

    /// Another name for what was named before. There are none, but they are written where others have them.
    fn alias(&mut self) -> Result<(), StatementError> {
        let is_name = match self.peek() {
            Some(Kind::Quoted(_)) => true,
            Some(Kind::Word(word)) => !is_keyword(word),
            _ => false,
        };
        if self.eat_word("AS") || is_name {
            self.name()?;
            self.note(StatementError::Alias);
        }
        Ok(())
    }

    fn name(&mut self) -> Result<Arc<str>, StatementError> {
        let name = match self.peek() {
            Some(Kind::Quoted(name)) if name.is_empty() => return Err(StatementError::EmptyName),
            Some(Kind::Quoted(name)) => Arc::from(name.as_str()),
            Some(Kind::Word(name)) if !is_keyword(name) => Arc::from(name.as_str()),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(name)
    }

    /// A document path: names after dots or in brackets, and indexes.
    fn path(&mut self) -> Result<Path, StatementError> {
        let mut path = Path { root: self.name()?, steps: Vec::new() };
        loop {
            if self.eat(".") {
                let place = self.place();
                if self.eat("*") {
                    self.note(StatementError::Unpivot(place));
                } else {
                    path.steps.push(Step::Name(self.name().map_err(dot_component)?));
                }
            } else if self.eat("[") {
                let place = self.place();
                if self.eat("*") {
                    self.note(StatementError::Wildcard(place));
                } else {
                    path.steps.push(self.step()?);
                }
                self.expect("]")?;
            } else {
                return Ok(path);
            }
        }
    }

    fn step(&mut self) -> Result<Step, StatementError> {
        let step = match self.peek() {
            Some(Kind::Number(text)) => text.parse().ok().map(Step::Index),
            Some(Kind::Text(name)) => Some(Step::Name(Arc::from(name.as_str()))),
            _ => None,
        };
        let step = step.ok_or_else(|| self.unexpected())?;
        self.at += 1;
        Ok(step)
    }
}

/// What is wrong with the name of something that is written.
fn simple_path(error: StatementError) -> StatementError {
    match error {
        StatementError::Malformed(Malformed::Keyword | Malformed::Operator | Malformed::Term) => {
            Malformed::SimplePath.into()
        }
        other => other,
    }
}

/// What is wrong with a name after a dot.
fn dot_component(error: StatementError) -> StatementError {
    match error {
        StatementError::Malformed(_) => Malformed::DotComponent.into(),
        other => other,
    }
}
