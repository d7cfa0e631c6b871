//! What is wrong with a statement. DynamoDB puts some complaints into an envelope and says others plainly.

use dynamo::{ApiError, ValueType};
use expression::Path;

use super::token::Place;

/// Why a statement cannot be carried out, whatever the items are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StatementError {
    /// The text is not a statement.
    Malformed(Malformed),
    /// A function in the projection.
    Function(Place),
    /// A name without characters.
    EmptyName,
    /// More than a table and an index.
    LongSource,
    /// INSERT into an index.
    QualifiedInsert(Place),
    /// A value that the operator or function cannot work with.
    OperandType { operator: &'static str, operand: ValueType },
    /// `attribute_type` with something that is not the name of a type.
    TypeName(String),
    /// More or fewer parameters than question marks.
    ParameterCount,
    /// A set of values that no set can hold.
    SetElements,
    /// A name for a projected value.
    Alias,
    /// `set_add` or `set_delete` of another attribute than the one that is set, or of something that is not a set.
    SetFunction,
    /// Two changes of one place.
    Overlap(Path, Path),
    /// A write to an index.
    IndexWrite,
    /// A write that does not name its item.
    NoKey,
    /// RETURNING with another variant than ALL OLD.
    DeleteReturning(&'static str),
    /// ORDER BY without WHERE.
    OrderWithoutCondition,
    /// ORDER BY over several partitions.
    OrderWithoutPartition,
    /// ORDER BY of something that is not a key.
    OrderOfOther(String),
    /// There is no such index.
    NoIndex,
    /// A consistent read of a global index.
    ConsistentIndex,
    /// A filter of a query that the index cannot answer.
    FilterNotProjected { index: String, names: Vec<String> },
    /// A page of something that has none.
    TokenOfWrite,
    /// A token that nobody gave out.
    InvalidToken,
    /// A token of another statement.
    OtherToken,
    /// EXISTS outside of a transaction.
    Exists,
    /// A number that is none.
    Number(dynamo::NumberError),
}

/// How a text fails to be a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// It does not begin as one.
    NoManipulation,
    /// A keyword in the wrong place.
    Keyword,
    /// Something else where a value or name is expected, or nothing.
    Term,
    /// Something after its end.
    Trailing,
    /// No name of a table or attribute that is written.
    SimplePath,
    /// No name after a dot.
    DotComponent,
    /// SELECT without FROM.
    SelectWithoutFrom,
    /// DELETE without FROM.
    DeleteWithoutFrom,
    /// RETURNING of something that it does not know.
    Returning,
    /// A character that belongs to nothing.
    Character,
    /// A quote that is not closed.
    Unclosed,
    /// Conditions or values within each other beyond measure.
    Depth,
}

impl Malformed {
    fn words(self) -> &'static str {
        match self {
            Malformed::NoManipulation => "Expected data manipulation",
            Malformed::Keyword => "Unexpected keyword",
            Malformed::Term => "Unexpected term",
            Malformed::Trailing => "Unexpected token after expression",
            Malformed::SimplePath => "Expected identifier for simple path",
            Malformed::DotComponent => "Invalid path dot component",
            Malformed::SelectWithoutFrom => "Expected FROM after SELECT list",
            Malformed::DeleteWithoutFrom => "Expected FROM after DELETE",
            Malformed::Returning => "Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element.",
            Malformed::Character => "Unexpected character",
            Malformed::Unclosed => "Unterminated quote",
            Malformed::Depth => "Statement is nested too deeply",
        }
    }
}

impl From<Malformed> for StatementError {
    fn from(error: Malformed) -> StatementError {
        StatementError::Malformed(error)
    }
}

impl From<StatementError> for ApiError {
    fn from(error: StatementError) -> ApiError {
        if let StatementError::Number(error) = error {
            return error.into();
        }
        ApiError::validation(words(error))
    }
}

fn words(error: StatementError) -> String {
    match error {
        StatementError::Malformed(error) => {
            format!("Statement wasn't well formed, can't be processed: {}", error.words())
        }
        StatementError::Function(place) => format!("Unexpected path component at {place}"),
        StatementError::QualifiedInsert(place) => {
            format!(
                "FROM clause may only contain a single table name in data manipulation statements at {place}"
            )
        }
        StatementError::OperandType { operator, operand } => format!(
            "Incorrect operand type for operator or function; operator or function: {operator}, operand type: {}",
            operand.name()
        ),
        StatementError::TypeName(name) => format!("Invalid attribute type name found; type: {name}"),
        StatementError::Overlap(one, two) => format!(
            "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: {one}, \
             path two: {two}"
        ),
        StatementError::DeleteReturning(variant) => format!(
            "Invalid returning clause: RETURNING {variant} *. Only RETURNING ALL OLD * is allowed in DELETE statements."
        ),
        StatementError::OrderOfOther(name) => {
            format!("Variable reference {name} in ORDER BY clause must be part of the primary key")
        }
        StatementError::FilterNotProjected { index, names } => format!(
            "One or more parameter values were invalid: Secondary index {index} does not project one or more filter \
             attributes: [{}]",
            names.join(", ")
        ),
        other => fixed_words(&other).to_owned(),
    }
}

fn fixed_words(error: &StatementError) -> &'static str {
    match error {
        StatementError::EmptyName => "Path component cannot be an empty string",
        StatementError::LongSource => "A path may contain at most 2 components in the FROM clause",
        StatementError::ParameterCount => "Number of parameters in request and statement don't match.",
        StatementError::SetElements => "A set must contain values of one type: string, number or binary",
        StatementError::Alias => "Aliases are not supported in the SELECT clause",
        StatementError::SetFunction => {
            "set_add and set_delete must be applied to the attribute that is set and to a set of values"
        }
        StatementError::IndexWrite => "This operation is not supported on an index",
        StatementError::NoKey => "Where clause does not contain a mandatory equality on all key attributes",
        StatementError::OrderWithoutCondition => {
            "Must have WHERE clause in the statement when using ORDER BY clause."
        }
        StatementError::OrderWithoutPartition => {
            "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
        }
        StatementError::NoIndex => "The table does not have the specified index",
        StatementError::ConsistentIndex => {
            "Strongly consistent read is not supported on Global Secondary Indexes"
        }
        StatementError::TokenOfWrite => "NextToken is only valid on a SELECT statement",
        StatementError::InvalidToken => "Invalid NextToken",
        StatementError::OtherToken => "NextToken does not match request",
        StatementError::Exists => "EXISTS is only supported within ExecuteTransaction",
        _ => "The statement is not valid",
    }
}
