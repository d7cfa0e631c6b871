//! Functions of conditions: their names, how many operands they take, and of which types.

use dynamo::{Value, ValueType};
use expression::{Condition, Fault, Operand, Path};

use super::Parser;
use super::condition::check_distinct;
use crate::partiql::error::StatementError;
use crate::partiql::token::{Kind, Place};

/// A function as it is called.
pub(super) struct Call {
    /// In small letters.
    pub(super) name: String,
    pub(super) place: Place,
    arguments: Vec<Argument>,
}

struct Argument {
    operand: Operand,
    /// The value of an operand that is one.
    value: Option<Value>,
}

impl Parser<'_> {
    /// A function with its operands.
    pub(super) fn call(&mut self) -> Result<Call, StatementError> {
        let place = self.place();
        let name = match self.peek() {
            Some(Kind::Word(name) | Kind::Quoted(name)) => name.to_ascii_lowercase(),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.eat(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.nested(Parser::argument)?);
        }
        Ok(Call { name, place, arguments })
    }

    fn argument(&mut self) -> Result<Argument, StatementError> {
        match self.value_or_none()? {
            Some(value) => Ok(Argument { operand: Operand::value(&value), value: Some(value) }),
            None => Ok(Argument { operand: self.operand()?, value: None }),
        }
    }

    /// The condition that a function of conditions is; nothing is known of it if there is something wrong with it.
    pub(super) fn condition_of(&mut self, call: Call) -> Condition {
        call.into_condition().unwrap_or_else(|error| {
            self.note(error);
            Condition::All(Vec::new())
        })
    }

    /// The operand that a function is; only `size` is one.
    pub(super) fn operand_of(&mut self, call: Call) -> Operand {
        call.into_operand().unwrap_or_else(|error| {
            self.note(error);
            Operand::value(&Value::Null)
        })
    }
}

impl Call {
    /// True for a function that is true or false.
    pub(super) fn is_condition(&self) -> bool {
        let known = [
            "attribute_exists",
            "attribute_not_exists",
            "attribute_type",
            "begins_with",
            "contains",
            "missing",
        ];
        known.contains(&self.name.as_str())
    }

    fn into_condition(self) -> Result<Condition, StatementError> {
        match self.name.as_str() {
            "attribute_exists" => Ok(Condition::Exists(self.only_path("attribute_exists")?)),
            "attribute_not_exists" | "missing" => {
                Ok(Condition::NotExists(self.only_path("attribute_not_exists")?))
            }
            "attribute_type" => self.attribute_type(),
            "begins_with" => {
                let [value, prefix] = self.operands("begins_with")?;
                for operand in [&value, &prefix] {
                    check_type("begins_with", operand, |kind| matches!(kind, ValueType::S | ValueType::B))?;
                }
                Ok(Condition::BeginsWith(value, prefix))
            }
            _ => {
                let [value, part] = self.operands("contains")?;
                Ok(Condition::Contains(value, part))
            }
        }
    }

    fn into_operand(self) -> Result<Operand, StatementError> {
        match self.name.as_str() {
            "size" => {
                let [inner] = self.operands("size")?;
                let has_size = |kind| !matches!(kind, ValueType::N | ValueType::Bool | ValueType::Null);
                check_type("size", &inner, has_size)?;
                Ok(Operand::Size(Box::new(inner)))
            }
            "list_append" => Err(Fault::NotInConditions("list_append").into()),
            "if_not_exists" => Err(Fault::NotInConditions("if_not_exists").into()),
            _ => Err(StatementError::UnknownFunction(self.name, self.place)),
        }
    }

    /// All operands of a function that takes so many.
    fn operands<const COUNT: usize>(
        self,
        function: &'static str,
    ) -> Result<[Operand; COUNT], StatementError> {
        let operands: Vec<Operand> = self.arguments.into_iter().map(|argument| argument.operand).collect();
        let count = operands.len();
        let operands: [Operand; COUNT] =
            operands.try_into().map_err(|_| Fault::OperandCount { function, count })?;
        if let [first, second, ..] = &operands[..] {
            check_distinct(function, first, second)?;
        }
        Ok(operands)
    }

    fn only_path(self, function: &'static str) -> Result<Path, StatementError> {
        let [operand] = self.operands(function)?;
        match operand {
            Operand::Path(path) => Ok(path),
            _ => Err(Fault::NeedsPath(function).into()),
        }
    }

    fn attribute_type(self) -> Result<Condition, StatementError> {
        const FUNCTION: &str = "attribute_type";
        let wanted = self.arguments.get(1).and_then(|argument| argument.value.clone());
        let [value, _] = self.operands(FUNCTION)?;
        match wanted {
            Some(Value::S(name)) => {
                let value_type = ValueType::from_name(&name).ok_or(Fault::NotATypeName(name))?;
                Ok(Condition::HasType(value, value_type))
            }
            other => {
                let operand = other.map(|other| other.value_type());
                Err(Fault::OperandType { operator: FUNCTION, operand }.into())
            }
        }
    }
}

/// Refuses a value of a type that the operator or function cannot work with.
pub(super) fn check_type(
    operator: &'static str,
    operand: &Operand,
    is_fit: impl Fn(ValueType) -> bool,
) -> Result<(), Fault> {
    match operand {
        Operand::Value(value) if !is_fit(value.as_ref().value_type()) => {
            Err(Fault::OperandType { operator, operand: Some(value.as_ref().value_type()) })
        }
        _ => Ok(()),
    }
}
