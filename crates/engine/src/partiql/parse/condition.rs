//! Conditions of WHERE.

use dynamo::{Value, ValueType};
use expression::tree::Comparator;
use expression::{Condition, Fault, Operand, check_bounds};

use super::Parser;
use super::function::check_type;
use crate::partiql::error::{Malformed, StatementError};
use crate::partiql::token::{Kind, Place};

/// How many values IN may have.
const IN_MAX: usize = 100;

impl Parser<'_> {
    /// The condition after WHERE, if there is one.
    pub(super) fn where_clause(&mut self) -> Result<Option<Condition>, StatementError> {
        if self.eat_word("WHERE") { self.any().map(Some) } else { Ok(None) }
    }

    pub(super) fn any(&mut self) -> Result<Condition, StatementError> {
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
            self.expect_right_side()?;
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
        if self.is_call() {
            let call = self.call()?;
            if call.is_condition() {
                let condition = self.condition_of(call);
                return self.truth(condition);
            }
            let operand = self.operand_of(call);
            return self.test(operand);
        }
        let operand = self.operand()?;
        self.test(operand)
    }

    /// A function that is true or false may be compared with one of them.
    fn truth(&mut self, condition: Condition) -> Result<Condition, StatementError> {
        if !self.eat("=") {
            return Ok(condition);
        }
        self.expect_right_side()?;
        match self.value()? {
            Value::Bool(true) => Ok(condition),
            Value::Bool(false) => Ok(not(condition)),
            // Neither true nor false is equal to anything else.
            _ => Ok(Condition::Any(Vec::new())),
        }
    }

    /// What is asked of a value.
    fn test(&mut self, value: Operand) -> Result<Condition, StatementError> {
        self.refuse_operators()?;
        let place = self.place();
        if self.eat_word("IS") {
            return self.is_test(value, place);
        }
        if self.eat_word("NOT") {
            return Ok(not(self.range_or_list(value)?));
        }
        if self.is_word("BETWEEN") || self.is_word("IN") {
            return self.range_or_list(value);
        }
        let Some(comparator) = self.comparator() else {
            self.note(StatementError::NotBoolean);
            return Ok(Condition::All(Vec::new()));
        };
        self.expect_right_side()?;
        let right = self.operand()?;
        self.refuse_operators()?;
        self.note_fault(check_distinct(comparator.sign(), &value, &right));
        if !matches!(comparator, Comparator::Eq | Comparator::Ne) {
            self.note_fault(check_ordered(comparator.sign(), &[&value, &right]));
        }
        Ok(Condition::Compare { comparator, left: value, right })
    }

    fn note_fault(&mut self, checked: Result<(), Fault>) {
        if let Err(fault) = checked {
            self.note(fault);
        }
    }

    /// Operators of the grammar that conditions do not have: their right sides are read and forgotten.
    fn refuse_operators(&mut self) -> Result<(), StatementError> {
        loop {
            let sign = match self.peek() {
                Some(Kind::Sign(sign)) if matches!(*sign, "+" | "-" | "*" | "/" | "%" | "||") => *sign,
                Some(Kind::Word(word)) if word.eq_ignore_ascii_case("LIKE") => "like",
                _ => return Ok(()),
            };
            self.at += 1;
            self.expect_right_side()?;
            self.operand()?;
            self.note(StatementError::ConditionOperator(sign.to_owned()));
            if sign == "like" {
                // It is a whole condition, and what was noted says so.
                return Ok(());
            }
        }
    }

    fn is_test(&mut self, value: Operand, place: Place) -> Result<Condition, StatementError> {
        let is_negated = self.eat_word("NOT");
        let name = self.type_name()?;
        let condition = match (name.as_str(), value) {
            ("MISSING", Operand::Path(path)) if is_negated => return Ok(Condition::Exists(path)),
            ("MISSING", Operand::Path(path)) => return Ok(Condition::NotExists(path)),
            (name, value) => {
                if let Some(value_type) = value_type(name) {
                    Condition::HasType(value, value_type)
                } else {
                    self.note(StatementError::IsType(name.to_owned(), place));
                    Condition::All(Vec::new())
                }
            }
        };
        Ok(if is_negated { not(condition) } else { condition })
    }

    /// The name of a type, in the one spelling that messages have.
    pub(super) fn type_name(&mut self) -> Result<String, StatementError> {
        let Some(Kind::Word(word)) = self.peek() else { return Err(Malformed::TypeName.into()) };
        let upper = word.to_ascii_uppercase();
        let name = match upper.as_str() {
            "BOOL" => "BOOLEAN",
            "INT" => "INTEGER",
            "DEC" => "DECIMAL",
            "CHAR" => "CHARACTER",
            "VARCHAR" => "CHARACTER_VARYING",
            known if TYPE_NAMES.contains(&known) => known,
            _ => return Err(Malformed::TypeName.into()),
        };
        let name = name.to_owned();
        self.at += 1;
        if name == "DOUBLE" {
            self.expect_word("PRECISION")?;
            return Ok("DOUBLE_PRECISION".to_owned());
        }
        if name == "CHARACTER" && self.eat_word("VARYING") {
            return Ok("CHARACTER_VARYING".to_owned());
        }
        Ok(name)
    }

    fn range_or_list(&mut self, value: Operand) -> Result<Condition, StatementError> {
        if self.eat_word("BETWEEN") {
            return self.between(value);
        }
        self.expect_word("IN")?;
        let list = self.in_list()?;
        if list.is_empty() {
            self.note(StatementError::InList);
        }
        if list.len() > IN_MAX {
            self.note(Fault::TooManyOperands(list.len()));
        }
        for element in &list {
            self.note_fault(check_distinct("IN", &value, element));
        }
        Ok(Condition::In { value, list })
    }

    fn between(&mut self, value: Operand) -> Result<Condition, StatementError> {
        let low_value = self.literal_ahead();
        let low = self.operand()?;
        self.expect_word("AND")?;
        let high_value = self.literal_ahead();
        let high = self.operand()?;
        let checked = check_ordered("BETWEEN", &[&value, &low, &high]);
        let is_ordered = checked.is_ok();
        self.note_fault(checked);
        if let (true, Some(low), Some(high)) = (is_ordered, low_value, high_value) {
            self.note_fault(check_bounds(&low, &high));
        }
        Ok(Condition::Between { value, low, high })
    }

    /// The value that comes next, if one does; it is not taken.
    fn literal_ahead(&mut self) -> Option<Value> {
        let (at, used) = (self.at, self.used);
        let value = self.value_or_none().ok().flatten();
        (self.at, self.used) = (at, used);
        value
    }

    /// The values of IN; none if there is no list.
    fn in_list(&mut self) -> Result<Vec<Operand>, StatementError> {
        let close = if self.eat("(") {
            ")"
        } else if self.eat("[") {
            "]"
        } else if self.eat("<<") {
            ">>"
        } else {
            self.operand()?;
            return Ok(Vec::new());
        };
        let mut list = Vec::new();
        while !self.eat(close) {
            if !list.is_empty() {
                self.expect(",")?;
            }
            list.push(self.operand()?);
        }
        Ok(list)
    }

    fn comparator(&mut self) -> Option<Comparator> {
        let comparator = match self.peek()? {
            Kind::Sign("=") => Comparator::Eq,
            Kind::Sign("<>" | "!=") => Comparator::Ne,
            Kind::Sign("<") => Comparator::Lt,
            Kind::Sign("<=") => Comparator::Le,
            Kind::Sign(">") => Comparator::Gt,
            Kind::Sign(">=") => Comparator::Ge,
            _ => return None,
        };
        self.at += 1;
        Some(comparator)
    }

    pub(super) fn operand(&mut self) -> Result<Operand, StatementError> {
        if self.is_call() {
            let call = self.nested(Parser::call)?;
            return Ok(self.operand_of(call));
        }
        if let Some(value) = self.value_or_none()? {
            return Ok(Operand::value(&value));
        }
        if self.eat("-") {
            self.note(Fault::OperandCount { function: "-", count: 1 });
            return self.nested(Parser::operand);
        }
        self.path().map(Operand::Path)
    }
}

fn not(condition: Condition) -> Condition {
    Condition::Not(Box::new(condition))
}

/// Names of types in the grammar, beside their other spellings.
const TYPE_NAMES: [&str; 28] = [
    "ANY",
    "BAG",
    "BLOB",
    "BOOLEAN",
    "CHARACTER",
    "CLOB",
    "DATE",
    "DECIMAL",
    "DOUBLE",
    "FLOAT",
    "INT2",
    "INT4",
    "INT8",
    "INTEGER",
    "INTEGER2",
    "INTEGER4",
    "INTEGER8",
    "LIST",
    "MISSING",
    "NULL",
    "NUMERIC",
    "REAL",
    "SEXP",
    "SMALLINT",
    "STRING",
    "STRUCT",
    "SYMBOL",
    "TUPLE",
];

/// The type of attribute values that IS asks for.
fn value_type(name: &str) -> Option<ValueType> {
    Some(match name {
        "NULL" => ValueType::Null,
        "BOOLEAN" => ValueType::Bool,
        "BLOB" => ValueType::B,
        "STRING" => ValueType::S,
        "NUMERIC" => ValueType::N,
        "STRUCT" | "TUPLE" => ValueType::M,
        "LIST" => ValueType::L,
        _ => return None,
    })
}

/// The two sides must not be the same attribute.
pub(super) fn check_distinct(operator: &'static str, one: &Operand, two: &Operand) -> Result<(), Fault> {
    match (one, two) {
        (Operand::Path(one), Operand::Path(two)) if one == two => {
            Err(Fault::NotDistinct { operator, path: one.clone() })
        }
        _ => Ok(()),
    }
}

/// Only texts, numbers and binaries have an order.
fn check_ordered(operator: &'static str, operands: &[&Operand]) -> Result<(), Fault> {
    let is_ordered = |kind| matches!(kind, ValueType::S | ValueType::N | ValueType::B);
    operands.iter().try_for_each(|operand| check_type(operator, operand, is_ordered))
}
