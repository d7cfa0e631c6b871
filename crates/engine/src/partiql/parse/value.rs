//! Values: literals and parameters.

use std::collections::BTreeSet;

use dynamo::{Map, Number, Value};

use super::Parser;
use crate::partiql::error::{Malformed, StatementError};
use crate::partiql::token::Kind;

impl Parser<'_> {
    /// A value, or nothing where something else begins.
    pub(super) fn value_or_none(&mut self) -> Result<Option<Value>, StatementError> {
        let is_value = match self.peek() {
            Some(Kind::Text(_) | Kind::Number(_)) => true,
            Some(Kind::Sign(sign)) => matches!(*sign, "?" | "-" | "[" | "{" | "<<"),
            Some(Kind::Word(_)) => self.is_constant(),
            _ => false,
        };
        if is_value { self.value().map(Some) } else { Ok(None) }
    }

    fn is_constant(&self) -> bool {
        ["true", "false", "null"].iter().any(|word| self.is_word(word))
            && self.peek_second() != Some(&Kind::Sign("."))
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
            Some(Kind::Sign("[")) => return self.list().map(Value::L),
            Some(Kind::Sign("{")) => return self.map().map(Value::M),
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
        } else {
            Err(self.unexpected())
        }
    }

    fn number(&mut self) -> Result<Number, StatementError> {
        let Some(Kind::Number(text)) = self.peek() else { return Err(self.unexpected()) };
        let number = Number::parse(text).map_err(StatementError::Number)?;
        self.at += 1;
        Ok(number)
    }

    fn list(&mut self) -> Result<Vec<Value>, StatementError> {
        self.expect("[")?;
        self.values("]")
    }

    /// Values up to a closing sign.
    pub(super) fn values(&mut self, close: &str) -> Result<Vec<Value>, StatementError> {
        let mut values = Vec::new();
        if self.eat(close) {
            return Ok(values);
        }
        loop {
            values.push(self.nested(Parser::value)?);
            if self.eat(close) {
                return Ok(values);
            }
            self.expect(",")?;
        }
    }

    fn map(&mut self) -> Result<Map, StatementError> {
        self.expect("{")?;
        let mut map = Map::new();
        if self.eat("}") {
            return Ok(map);
        }
        loop {
            let Some(Kind::Text(name) | Kind::Quoted(name)) = self.peek() else {
                return Err(self.unexpected());
            };
            let name = name.clone();
            self.at += 1;
            self.expect(":")?;
            if map.insert(name, self.nested(Parser::value)?).is_some() {
                return Err(Malformed::Term.into());
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
        set_of(values).ok_or(StatementError::SetElements)
    }
}

/// The set of these values, if they have one type that sets can hold; there is no empty set.
fn set_of(values: Vec<Value>) -> Option<Value> {
    match values.first()? {
        Value::S(_) => elements(values, |value| if let Value::S(text) = value { Some(text) } else { None })
            .map(Value::Ss),
        Value::N(_) => {
            elements(values, |value| if let Value::N(number) = value { Some(number) } else { None })
                .map(Value::Ns)
        }
        Value::B(_) => elements(values, |value| if let Value::B(bytes) = value { Some(bytes) } else { None })
            .map(Value::Bs),
        _ => None,
    }
}

fn elements<T: Ord>(values: Vec<Value>, element: impl Fn(Value) -> Option<T>) -> Option<BTreeSet<T>> {
    values.into_iter().map(element).collect()
}
