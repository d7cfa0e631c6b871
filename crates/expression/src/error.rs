//! What can be wrong with the expressions of a request, and the words DynamoDB has for it.
//!
//! A [`Fault`] is what is wrong with one expression; an [`ExpressionError`] says in which one, or what is wrong with the
//! names and values that the expressions of a request share.

use std::fmt::{self, Display, Formatter};

use dynamo::{ApiError, Value, ValueType};

use crate::path::Path;
use crate::tree::Clause;

/// Which parameter of a request an expression stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExpressionKind {
    /// ConditionExpression.
    Condition,
    /// FilterExpression.
    Filter,
    /// KeyConditionExpression.
    KeyCondition,
    /// ProjectionExpression.
    Projection,
    /// UpdateExpression.
    Update,
}

impl ExpressionKind {
    /// The name of the parameter.
    pub fn parameter(self) -> &'static str {
        match self {
            ExpressionKind::Condition => "ConditionExpression",
            ExpressionKind::Filter => "FilterExpression",
            ExpressionKind::KeyCondition => "KeyConditionExpression",
            ExpressionKind::Projection => "ProjectionExpression",
            ExpressionKind::Update => "UpdateExpression",
        }
    }
}

/// What is wrong with the expressions of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpressionError {
    /// One expression is wrong.
    Invalid {
        /// Which one.
        kind: ExpressionKind,
        /// What is wrong with it.
        fault: Fault,
    },
    /// ExpressionAttributeNames is there and has no entry.
    NamesEmpty,
    /// This key of ExpressionAttributeNames stands for a name without a character.
    NameEmpty(String),
    /// ExpressionAttributeValues is there and has no entry.
    ValuesEmpty,
    /// A key of ExpressionAttributeNames is not `#` and letters, digits or underscores.
    NameKey(String),
    /// A key of ExpressionAttributeValues is not `:` and letters, digits or underscores.
    ValueKey(String),
    /// A key of ExpressionAttributeNames is longer than 255 bytes.
    NameKeyTooLong(String),
    /// A key of ExpressionAttributeValues is longer than 255 bytes.
    ValueKeyTooLong(String),
    /// The name of an attribute in ExpressionAttributeNames has more than 65,535 bytes; its key.
    NameTooLong(String),
    /// No expression uses these names.
    UnusedNames(Vec<String>),
    /// No expression uses these values.
    UnusedValues(Vec<String>),
}

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is nothing in it.
    Empty,
    /// It has so many bytes, more than 4,096.
    TooLong(usize),
    /// The grammar does not allow this token here.
    Syntax {
        /// The token.
        token: String,
        /// The text from the token before to the token after.
        near: String,
    },
    /// Parentheses around parentheses.
    RedundantParentheses,
    /// More than 300 operators. Counting stops at the first too many.
    TooManyOperators(usize),
    /// IN with so many operands, more than 100.
    TooManyOperands(usize),
    /// A document path of so many elements, more than 32.
    PathTooDeep(usize),
    /// A list index that no list can have.
    IndexOutOfRange(String),
    /// A reserved word as the name of an attribute.
    ReservedWord(String),
    /// There is no such function.
    UnknownFunction(String),
    /// A function of update expressions in a condition.
    NotInConditions(&'static str),
    /// A function of conditions in an update expression.
    NotInUpdates(&'static str),
    /// A condition where a value is needed, or the other way round.
    Misused(&'static str),
    /// A clause that stands twice in an update expression.
    ClauseTwice(Clause),
    /// `#name` is not in ExpressionAttributeNames.
    NameUndefined(String),
    /// `:value` is not in ExpressionAttributeValues.
    ValueUndefined(String),
    /// A function with too many or too few operands.
    OperandCount {
        /// The function.
        function: &'static str,
        /// How many operands it was given.
        count: usize,
    },
    /// An operand whose type the operator or function does not take.
    OperandType {
        /// The operator or function.
        operator: &'static str,
        /// The type; `None` for a document path, which could have any.
        operand: Option<ValueType>,
    },
    /// An operand whose type ADD or DELETE does not take.
    ClauseOperandType {
        /// ADD or DELETE.
        clause: Clause,
        /// The type.
        operand: ValueType,
    },
    /// `attribute_type` with something that is not the name of a type.
    NotATypeName(String),
    /// A function that needs a document path was given something else.
    NeedsPath(&'static str),
    /// The same document path on both sides.
    NotDistinct {
        /// The operator or function.
        operator: &'static str,
        /// The path.
        path: Path,
    },
    /// BETWEEN two values of different types.
    BetweenTypes {
        /// The lower bound.
        low: Box<Value>,
        /// The upper bound.
        high: Box<Value>,
    },
    /// BETWEEN a value and a smaller one.
    BetweenOrder {
        /// The lower bound.
        low: Box<Value>,
        /// The upper bound.
        high: Box<Value>,
    },
    /// One path lies within the other.
    Overlap(Path, Path),
    /// The same place is a map for one path and a list for the other.
    Conflict(Path, Path),
}

impl Fault {
    /// The error for this fault in an expression of this kind.
    pub(crate) fn of(self, kind: ExpressionKind) -> ExpressionError {
        ExpressionError::Invalid { kind, fault: self }
    }

    /// The fault in DynamoDB's words, without the name of the parameter.
    pub fn words(&self) -> String {
        Words(self).to_string()
    }
}

impl From<ExpressionError> for ApiError {
    fn from(error: ExpressionError) -> ApiError {
        ApiError::validation(match error {
            ExpressionError::Invalid { kind, fault } => {
                format!("Invalid {}: {}", kind.parameter(), Words(&fault))
            }
            ExpressionError::NamesEmpty => "ExpressionAttributeNames must not be empty".to_owned(),
            ExpressionError::NameEmpty(key) => format!(
                "ExpressionAttributeNames contains invalid value: Empty attribute name; key: \"{key}\", value: \"\""
            ),
            ExpressionError::NameTooLong(key) => format!(
                "ExpressionAttributeNames contains invalid value: Attribute name is too large, must be less than 65536 bytes \
                 for key {key}"
            ),
            ExpressionError::ValuesEmpty => "ExpressionAttributeValues must not be empty".to_owned(),
            ExpressionError::NameKey(key) => invalid_key("ExpressionAttributeNames", &key, "Syntax error"),
            ExpressionError::ValueKey(key) => invalid_key("ExpressionAttributeValues", &key, "Syntax error"),
            ExpressionError::NameKeyTooLong(key) => {
                invalid_key("ExpressionAttributeNames", &key, KEY_TOO_LONG)
            }
            ExpressionError::ValueKeyTooLong(key) => {
                invalid_key("ExpressionAttributeValues", &key, KEY_TOO_LONG)
            }
            ExpressionError::UnusedNames(keys) => unused("ExpressionAttributeNames", &keys),
            ExpressionError::UnusedValues(keys) => unused("ExpressionAttributeValues", &keys),
        })
    }
}

const KEY_TOO_LONG: &str = "The expression attribute map contains a key that is too long";

fn invalid_key(parameter: &str, key: &str, reason: &str) -> String {
    format!("{parameter} contains invalid key: {reason}; key: \"{key}\"")
}

fn unused(parameter: &str, keys: &[String]) -> String {
    format!("Value provided in {parameter} unused in expressions: keys: {{{}}}", keys.join(", "))
}

/// A fault in DynamoDB's words.
struct Words<'a>(&'a Fault);

impl Display for Words<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Fault::Empty => out.write_str("The expression can not be empty;"),
            Fault::TooLong(size) => {
                write!(out, "Expression size has exceeded the maximum allowed size; expression size: {size}")
            }
            Fault::Syntax { token, near } => {
                write!(out, "Syntax error; token: \"{token}\", near: \"{near}\"")
            }
            Fault::RedundantParentheses => out.write_str("The expression has redundant parentheses;"),
            Fault::TooManyOperators(count) => {
                write!(out, "The expression contains too many operators; operator count: {count}")
            }
            Fault::TooManyOperands(count) => {
                write!(out, "The IN operator is provided with too many operands; number of operands: {count}")
            }
            Fault::PathTooDeep(levels) => {
                write!(out, "The document path has too many nesting levels; nesting levels: {levels}")
            }
            Fault::IndexOutOfRange(index) => {
                write!(out, "List index is not within the allowable range; index: [{index}]")
            }
            Fault::ReservedWord(name) => {
                write!(out, "Attribute name is a reserved keyword; reserved keyword: {name}")
            }
            Fault::ClauseTwice(clause) => {
                write!(out, "The \"{clause}\" section can only be used once in an update expression;")
            }
            Fault::NameUndefined(name) => write!(
                out,
                "An expression attribute name used in the document path is not defined; attribute name: {name}"
            ),
            Fault::ValueUndefined(name) => write!(
                out,
                "An expression attribute value used in expression is not defined; attribute value: {name}"
            ),
            Fault::Overlap(one, two) => write_paths(out, "overlap", one, two),
            Fault::Conflict(one, two) => write_paths(out, "conflict", one, two),
            function => write_function_fault(function, out),
        }
    }
}

fn write_function_fault(fault: &Fault, out: &mut Formatter<'_>) -> fmt::Result {
    match fault {
        Fault::UnknownFunction(name) => write!(out, "Invalid function name; function: {name}"),
        Fault::NotInConditions(name) => {
            write!(out, "The function is not allowed in a condition expression; function: {name}")
        }
        Fault::NotInUpdates(name) => {
            write!(out, "The function is not allowed in an update expression; function: {name}")
        }
        Fault::Misused(name) => {
            write!(out, "The function is not allowed to be used this way in an expression; function: {name}")
        }
        Fault::OperandCount { function, count } => write!(
            out,
            "Incorrect number of operands for operator or function; operator or function: {function}, \
             number of operands: {count}"
        ),
        Fault::OperandType { operator, operand } => write!(
            out,
            "Incorrect operand type for operator or function; operator or function: {operator}, \
             operand type: {}",
            operand.map_or("{NS,SS,L,BS,N,M,B,BOOL,NULL,S}", ValueType::name)
        ),
        Fault::ClauseOperandType { clause, operand } => write!(
            out,
            "Incorrect operand type for operator or function; operator: {clause}, operand type: {}",
            long_type_name(*operand)
        ),
        Fault::NotATypeName(name) => write!(
            out,
            "Invalid attribute type name found; type: {name}, valid types: {{B,NULL,SS,BOOL,L,BS,N,NS,S,M}}"
        ),
        Fault::NeedsPath(function) => {
            write!(out, "Operator or function requires a document path; operator or function: {function}")
        }
        Fault::NotDistinct { operator, path } => write!(
            out,
            "The first operand must be distinct from the remaining operands for this operator or function; \
             operator: {operator}, first operand: {path}"
        ),
        Fault::BetweenTypes { low, high } => {
            out.write_str("The BETWEEN operator requires same data type for lower and upper bounds")?;
            write_bounds(out, low, high)
        }
        Fault::BetweenOrder { low, high } => {
            out.write_str(
                "The BETWEEN operator requires upper bound to be greater than or equal to lower bound",
            )?;
            write_bounds(out, low, high)
        }
        _ => Ok(()),
    }
}

fn write_paths(out: &mut Formatter<'_>, verb: &str, one: &Path, two: &Path) -> fmt::Result {
    write!(
        out,
        "Two document paths {verb} with each other; must remove or rewrite one of these paths; \
         path one: {one}, path two: {two}"
    )
}

fn write_bounds(out: &mut Formatter<'_>, low: &Value, high: &Value) -> fmt::Result {
    write!(
        out,
        "; lower bound operand: AttributeValue: {}, upper bound operand: AttributeValue: {}",
        Shown(low),
        Shown(high)
    )
}

/// The names that ADD and DELETE give the types they refuse.
fn long_type_name(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::S => "STRING",
        ValueType::N => "NUMBER",
        ValueType::B => "BINARY",
        ValueType::Bool => "BOOLEAN",
        ValueType::L => "LIST",
        ValueType::M => "MAP",
        ValueType::Null | ValueType::Ss | ValueType::Ns | ValueType::Bs => value_type.name(),
    }
}

/// A value as messages show it, such as `{S:text}`.
struct Shown<'a>(&'a Value);

impl Display for Shown<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::S(text) => write!(out, "{{S:{text}}}"),
            Value::N(number) => write!(out, "{{N:{number}}}"),
            Value::B(bytes) => {
                write!(out, "{{B:java.nio.HeapByteBuffer[pos=0 lim={0} cap={0}]}}", bytes.len())
            }
            Value::Bool(value) => write!(out, "{{BOOL:{value}}}"),
            Value::Null => out.write_str("{NULL:true}"),
            other => write!(out, "{{{}:{other:?}}}", other.value_type().name()),
        }
    }
}
