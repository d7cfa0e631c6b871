//! Conditions of WHERE.

use dynamo::{StoredValue, Value, ValueType};
use expression::tree::Comparator;
use expression::{Condition, Operand};

use super::Parser;
use crate::partiql::error::StatementError;
use crate::partiql::token::Kind;

impl Parser<'_> {
    /// The condition after WHERE, if there is one.
    pub(super) fn where_clause(&mut self) -> Result<Option<Condition>, StatementError> {
        if self.eat_word("WHERE") { self.any().map(Some) } else { Ok(None) }
    }

    fn any(&mut self) -> Result<Condition, StatementError> {
        self.joined("OR", Parser::all, Condition::Any)
    }

    fn all(&mut self) -> Result<Condition, StatementError> {
        self.joined("AND", Parser::negated, Condition::All)
    }

    /// One part, or several with a word between them.
    fn joined(
        &mut self,
        word: &str,
        part: fn(&mut Self) -> Result<Condition, StatementError>,
        join: fn(Vec<Condition>) -> Condition,
    ) -> Result<Condition, StatementError> {
        let first = part(self)?;
        if !self.is_word(word) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat_word(word) {
            parts.push(part(self)?);
        }
        Ok(join(parts))
    }

    fn negated(&mut self) -> Result<Condition, StatementError> {
        if self.eat_word("NOT") {
            return Ok(not(self.nested(Parser::negated)?));
        }
        if self.eat("(") {
            let inner = self.nested(Parser::any)?;
            self.expect(")")?;
            return Ok(inner);
        }
        match self.function()? {
            Some(condition) => Ok(condition),
            None => self.test(),
        }
    }

    /// A function that is true or false.
    fn function(&mut self) -> Result<Option<Condition>, StatementError> {
        let condition = if self.eat_call("begins_with") {
            let (value, prefix) = self.two_operands()?;
            check_type("begins_with", &prefix, |kind| matches!(kind, ValueType::S | ValueType::B))?;
            Condition::BeginsWith(value, prefix)
        } else if self.eat_call("contains") {
            let (value, part) = self.two_operands()?;
            Condition::Contains(value, part)
        } else if self.eat_call("attribute_type") {
            self.attribute_type()?
        } else if self.eat_call("attribute_exists") {
            Condition::Exists(self.path()?)
        } else if self.eat_call("attribute_not_exists") || self.eat_call("missing") {
            Condition::NotExists(self.path()?)
        } else {
            return Ok(None);
        };
        self.expect(")")?;
        Ok(Some(condition))
    }

    fn two_operands(&mut self) -> Result<(Operand, Operand), StatementError> {
        let first = self.operand()?;
        self.expect(",")?;
        Ok((first, self.operand()?))
    }

    fn attribute_type(&mut self) -> Result<Condition, StatementError> {
        let value = self.operand()?;
        self.expect(",")?;
        match self.value()? {
            Value::S(name) => {
                let value_type = ValueType::from_name(&name).ok_or(StatementError::TypeName(name))?;
                Ok(Condition::HasType(value, value_type))
            }
            other => {
                Err(StatementError::OperandType { operator: "attribute_type", operand: other.value_type() })
            }
        }
    }

    /// A value and what is asked of it.
    fn test(&mut self) -> Result<Condition, StatementError> {
        let value = self.operand()?;
        if self.eat_word("IS") {
            return self.is_test(value);
        }
        if self.eat_word("NOT") {
            return Ok(not(self.range_or_list(value)?));
        }
        if self.is_word("BETWEEN") || self.is_word("IN") {
            return self.range_or_list(value);
        }
        let comparator = self.comparator()?;
        let right = self.operand()?;
        if !matches!(comparator, Comparator::Eq | Comparator::Ne) {
            check_ordered(comparator.sign(), &[&value, &right])?;
        }
        Ok(Condition::Compare { comparator, left: value, right })
    }

    fn is_test(&mut self, value: Operand) -> Result<Condition, StatementError> {
        let is_negated = self.eat_word("NOT");
        let condition = match value {
            Operand::Path(path) if self.eat_word("MISSING") => Condition::NotExists(path),
            value if self.eat_word("NULL") => Condition::HasType(value, ValueType::Null),
            _ => return Err(self.unexpected()),
        };
        Ok(match (is_negated, condition) {
            (true, Condition::NotExists(path)) => Condition::Exists(path),
            (true, condition) => not(condition),
            (false, condition) => condition,
        })
    }

    fn range_or_list(&mut self, value: Operand) -> Result<Condition, StatementError> {
        if self.eat_word("BETWEEN") {
            let low = self.operand()?;
            self.expect_word("AND")?;
            let high = self.operand()?;
            check_ordered("BETWEEN", &[&value, &low, &high])?;
            return Ok(Condition::Between { value, low, high });
        }
        self.expect_word("IN")?;
        let close = if self.eat("(") {
            ")"
        } else {
            self.expect("[")?;
            "]"
        };
        let mut list = vec![self.operand()?];
        while self.eat(",") {
            list.push(self.operand()?);
        }
        self.expect(close)?;
        Ok(Condition::In { value, list })
    }

    fn comparator(&mut self) -> Result<Comparator, StatementError> {
        let comparator = match self.peek() {
            Some(Kind::Sign("=")) => Comparator::Eq,
            Some(Kind::Sign("<>" | "!=")) => Comparator::Ne,
            Some(Kind::Sign("<")) => Comparator::Lt,
            Some(Kind::Sign("<=")) => Comparator::Le,
            Some(Kind::Sign(">")) => Comparator::Gt,
            Some(Kind::Sign(">=")) => Comparator::Ge,
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(comparator)
    }

    fn operand(&mut self) -> Result<Operand, StatementError> {
        if self.eat_call("size") {
            let inner = self.nested(Parser::operand)?;
            self.expect(")")?;
            return Ok(Operand::Size(Box::new(inner)));
        }
        match self.value_or_none()? {
            Some(value) => Ok(Operand::value(&value)),
            None => self.path().map(Operand::Path),
        }
    }
}

fn not(condition: Condition) -> Condition {
    Condition::Not(Box::new(condition))
}

/// Only texts, numbers and binaries have an order.
fn check_ordered(operator: &'static str, operands: &[&Operand]) -> Result<(), StatementError> {
    let is_ordered = |kind| matches!(kind, ValueType::S | ValueType::N | ValueType::B);
    operands.iter().try_for_each(|operand| check_type(operator, operand, is_ordered))
}

fn check_type(
    operator: &'static str,
    operand: &Operand,
    is_fit: impl Fn(ValueType) -> bool,
) -> Result<(), StatementError> {
    match operand {
        Operand::Value(value) if !is_fit(type_of(value)) => {
            Err(StatementError::OperandType { operator, operand: type_of(value) })
        }
        _ => Ok(()),
    }
}

fn type_of(value: &StoredValue) -> ValueType {
    value.as_ref().value_type()
}
