//! The grammar of statements, by recursive descent. Parameters are filled in where their question marks stand.

use std::sync::Arc;

use dynamo::Value;
use expression::{Path, Step};

use super::error::{Malformed, StatementError};
use super::keyword::is_keyword;
use super::token::{Kind, Place, Token, tokens};
use super::tree::{Delete, From, Insert, Order, Returning, Select, Statement, UpdateItem};

mod condition;
mod update;
mod value;

/// How deep conditions and values may lie within each other.
const DEPTH_MAX: usize = 64;

/// Reads a statement.
pub(crate) fn parse(text: &str, parameters: &[Value]) -> Result<Statement, StatementError> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, parameters, used: 0, depth: 0 };
    let statement = parser.statement()?;
    if parser.peek().is_some() {
        return Err(Malformed::Trailing.into());
    }
    if parser.used != parameters.len() {
        return Err(StatementError::ParameterCount);
    }
    Ok(statement)
}

struct Parser<'p> {
    tokens: Vec<Token>,
    at: usize,
    parameters: &'p [Value],
    /// How many question marks there were so far.
    used: usize,
    depth: usize,
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

    /// What is wrong when nothing fits what comes next.
    fn unexpected(&self) -> StatementError {
        match self.peek() {
            Some(Kind::Word(word)) if is_keyword(word) => Malformed::Keyword.into(),
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

    /// True before a word and an opening bracket: a function.
    fn is_call(&self) -> bool {
        matches!((self.peek(), self.peek_second()), (Some(Kind::Word(_)), Some(Kind::Sign("("))))
    }

    /// True before a call of this function.
    fn is_call_of(&self, function: &str) -> bool {
        self.is_word(function) && self.is_call()
    }

    /// Takes the name and opening bracket of a call of this function.
    fn eat_call(&mut self, function: &str) -> bool {
        let found = self.is_call_of(function);
        self.at += if found { 2 } else { 0 };
        found
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
        if self.eat_word("DELETE") {
            return self.delete().map(Statement::Delete);
        }
        if self.eat_call("EXISTS") {
            self.expect_word("SELECT")?;
            let select = self.select()?;
            self.expect(")")?;
            return Ok(Statement::Exists(select));
        }
        Err(Malformed::NoManipulation.into())
    }

    fn select(&mut self) -> Result<Select, StatementError> {
        let projection = self.projection()?;
        if !self.eat_word("FROM") {
            return Err(Malformed::SelectWithoutFrom.into());
        }
        let from = self.from()?;
        let condition = self.where_clause()?;
        let order = if self.eat_word("ORDER") { self.order()? } else { Vec::new() };
        Ok(Select { projection, from, condition, order })
    }

    fn projection(&mut self) -> Result<Vec<Path>, StatementError> {
        if self.eat("*") {
            return Ok(Vec::new());
        }
        let mut paths = Vec::new();
        loop {
            if self.is_call() {
                return Err(StatementError::Function(self.place()));
            }
            paths.push(self.path()?);
            if self.is_word("AS") || (!self.is_word("FROM") && matches!(self.peek(), Some(Kind::Word(_)))) {
                return Err(StatementError::Alias);
            }
            if !self.eat(",") {
                return Ok(paths);
            }
        }
    }

    fn order(&mut self) -> Result<Vec<Order>, StatementError> {
        self.expect_word("BY")?;
        let mut order = Vec::new();
        loop {
            let name = self.path()?.root.to_string();
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

    fn insert(&mut self) -> Result<Insert, StatementError> {
        self.expect_word("INTO")?;
        let into = self.from().map_err(simple_path)?;
        if into.index.is_some() {
            return Err(StatementError::QualifiedInsert(into.place));
        }
        self.expect_word("VALUE")?;
        let Value::M(item) = self.value()? else { return Err(Malformed::Term.into()) };
        let is_lenient = self.eat_word("IF");
        if is_lenient {
            self.expect_word("NOT")?;
            self.expect_word("EXISTS")?;
        }
        Ok(Insert { into, item, is_lenient })
    }

    fn update(&mut self) -> Result<UpdateItem, StatementError> {
        let from = self.from().map_err(simple_path)?;
        let update = self.changes()?;
        let condition = self.where_clause()?;
        let returning = self.returning()?;
        Ok(UpdateItem { from, update, condition, returning })
    }

    fn delete(&mut self) -> Result<Delete, StatementError> {
        if !self.eat_word("FROM") {
            return Err(Malformed::DeleteWithoutFrom.into());
        }
        let from = self.from().map_err(simple_path)?;
        let condition = self.where_clause()?;
        let returning = self.returning()?;
        Ok(Delete { from, condition, returning })
    }

    fn returning(&mut self) -> Result<Option<Returning>, StatementError> {
        if !self.eat_word("RETURNING") {
            return Ok(None);
        }
        let all = self.eat_word("ALL");
        let is_known = all || self.eat_word("MODIFIED");
        let old = self.eat_word("OLD");
        if !is_known || !(old || self.eat_word("NEW")) {
            return Err(Malformed::Returning.into());
        }
        self.expect("*")?;
        Ok(Some(match (all, old) {
            (true, true) => Returning::AllOld,
            (true, false) => Returning::AllNew,
            (false, true) => Returning::ModifiedOld,
            (false, false) => Returning::ModifiedNew,
        }))
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
                path.steps.push(Step::Name(self.name().map_err(dot_component)?));
            } else if self.eat("[") {
                path.steps.push(self.step()?);
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
        StatementError::Malformed(Malformed::Keyword | Malformed::Term) => Malformed::SimplePath.into(),
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
