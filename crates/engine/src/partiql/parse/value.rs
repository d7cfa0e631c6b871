//! Values: literals and parameters.

use std::collections::BTreeSet;

use bytes::Bytes;
use dynamo::{Map, Number, Value, ValueFault};

use super::Parser;
use crate::partiql::error::StatementError;
use crate::partiql::keyword::is_keyword;
use crate::partiql::token::Kind;

impl Parser<'_> {
    /// A value, or nothing where something else begins.
    pub(super) fn value_or_none(&mut self) -> Result<Option<Value>, StatementError> {
        let is_value = match self.peek() {
            Some(Kind::Text(_) | Kind::Number(_)) => true,
            Some(Kind::Sign("-" | "+")) => matches!(self.peek_second(), Some(Kind::Number(_))),
            Some(Kind::Sign(sign)) => matches!(*sign, "?" | "[" | "{" | "<<"),
            Some(Kind::Word(_)) => self.is_constant(),
            _ => false,
        };
        if is_value { self.value().map(Some) } else { Ok(None) }
    }

    fn is_constant(&self) -> bool {
        ["true", "false", "null", "missing"].iter().any(|word| self.is_word(word))
            && !matches!(self.peek_second(), Some(Kind::Sign("." | "(")))
    }

    /// A value.
    pub(super) fn value(&mut self) -> Result<Value, StatementError> {
        let value = match self.peek() {
            Some(Kind::Text(text)) => Value::S(text.clone()),
            Some(Kind::Number(_)) => return self.number().map(Value::N),
            Some(Kind::Word(_)) => return self.constant(),
            Some(Kind::Sign("?")) => {
                self.used += 1;
                // A parameter too few is reported once the whole statement was read.
                self.parameters.get(self.used - 1).cloned().unwrap_or(Value::Null)
            }
            Some(Kind::Sign("-")) => {
                self.at += 1;
                return Ok(Value::N(self.number()?.negated()));
            }
            Some(Kind::Sign("+")) => {
                self.at += 1;
                return self.number().map(Value::N);
            }
            Some(Kind::Sign("[")) => return self.list().map(Value::L),
            Some(Kind::Sign("{")) => return self.map(true).map(Value::M),
            Some(Kind::Sign("<<")) => return self.set(),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(value)
    }

    fn constant(&mut self) -> Result<Value, StatementError> {
        if self.eat_word("true") {
            Ok(Value::Bool(true))
        } else if self.eat_word("false") {
            Ok(Value::Bool(false))
        } else if self.eat_word("null") {
            Ok(Value::Null)
        } else if self.eat_word("missing") {
            self.note(StatementError::Missing);
            Ok(Value::Null)
        } else {
            Err(self.unexpected())
        }
    }

    fn number(&mut self) -> Result<Number, StatementError> {
        let Some(Kind::Number(text)) = self.peek() else { return Err(self.unexpected()) };
        let number = Number::parse(text).map_err(|error| StatementError::Number(error, String::new()))?;
        self.at += 1;
        Ok(number)
    }

    /// An element of a list, map or set. What cannot be one is noted.
    fn element(&mut self) -> Result<Value, StatementError> {
        let name = match self.peek() {
            Some(Kind::Quoted(name)) => Some(name.clone()),
            Some(Kind::Word(word)) if self.is_call() => Some(word.to_ascii_lowercase()),
            Some(Kind::Word(word)) if !is_keyword(word) => Some(word.clone()),
            _ => None,
        };
        let Some(name) = name else { return self.nested(Parser::value) };
        let place = self.place();
        if self.is_call() {
            self.skip_call()?;
        } else {
            self.path()?;
        }
        self.note(StatementError::DataType(name, place));
        Ok(Value::Null)
    }

    fn list(&mut self) -> Result<Vec<Value>, StatementError> {
        self.expect("[")?;
        self.values("]")
    }

    /// Values up to a closing sign.
    fn values(&mut self, close: &str) -> Result<Vec<Value>, StatementError> {
        let mut values = Vec::new();
        if self.eat(close) {
            return Ok(values);
        }
        loop {
            let value = self.element().map_err(|error| error.within(&format!("[{}]", values.len())))?;
            values.push(value);
            if self.eat(close) {
                return Ok(values);
            }
            self.expect(",")?;
        }
    }

    /// A map. What is wrong in it is said with its name, unless it is an item, of which each attribute is a value of its own.
    pub(super) fn map(&mut self, is_named: bool) -> Result<Map, StatementError> {
        self.expect("{")?;
        let mut map = Map::new();
        if self.eat("}") {
            return Ok(map);
        }
        loop {
            let place = self.place();
            let name = match self.peek() {
                Some(Kind::Text(name)) => name.clone(),
                Some(Kind::Quoted(_) | Kind::Word(_)) => {
                    self.note(StatementError::TupleKey(place));
                    String::new()
                }
                _ => return Err(self.unexpected()),
            };
            self.at += 1;
            self.expect(":")?;
            let step = if is_named { format!(".{name}") } else { String::new() };
            let value = self.element().map_err(|error| error.within(&step))?;
            if map.insert(name.clone(), value).is_some() {
                self.note(StatementError::SameKey(name, place));
            }
            if self.eat("}") {
                return Ok(map);
            }
            self.expect(",")?;
        }
    }

    fn set(&mut self) -> Result<Value, StatementError> {
        self.expect("<<")?;
        let values = self.values(">>")?;
        set_of(&values).or_else(|error| {
            self.note(error);
            Ok(Value::Null)
        })
    }
}

/// The set of these values, if they have one type that sets can hold; there is no empty set.
fn set_of(values: &[Value]) -> Result<Value, StatementError> {
    let duplicate_numbers = || ValueFault::DuplicateNumbers;
    match values.first() {
        None => Err(StatementError::EmptyBag),
        Some(Value::S(_)) => elements(values, text, || {
            let texts: Vec<String> = values.iter().filter_map(text).collect();
            ValueFault::DuplicateStrings(format!("[{}]", texts.join(", ")))
        })
        .map(Value::Ss),
        Some(Value::N(_)) => elements(values, number, duplicate_numbers).map(Value::Ns),
        Some(Value::B(_)) => elements(values, bytes, duplicate_numbers).map(Value::Bs),
        Some(_) => Err(StatementError::BagElements),
    }
}

fn text(value: &Value) -> Option<String> {
    if let Value::S(text) = value { Some(text.clone()) } else { None }
}

fn number(value: &Value) -> Option<Number> {
    if let Value::N(number) = value { Some(*number) } else { None }
}

fn bytes(value: &Value) -> Option<Bytes> {
    if let Value::B(bytes) = value { Some(bytes.clone()) } else { None }
}

/// The elements, all of one type and each once.
fn elements<T: Ord>(
    values: &[Value],
    element: impl Fn(&Value) -> Option<T>,
    twice: impl Fn() -> ValueFault,
) -> Result<BTreeSet<T>, StatementError> {
    let elements: Option<BTreeSet<T>> = values.iter().map(element).collect();
    let elements = elements.ok_or(StatementError::BagElements)?;
    if elements.len() == values.len() { Ok(elements) } else { Err(StatementError::Duplicates(twice())) }
}
