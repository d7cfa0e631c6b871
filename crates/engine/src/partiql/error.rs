//! What is wrong with a statement. DynamoDB puts some complaints into an envelope and says others plainly.

use dynamo::{ApiError, NumberError, ValueFault};
use expression::Fault;

use super::token::Place;

/// Why a statement cannot be carried out, whatever the items are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StatementError {
    /// The text is not a statement.
    Malformed(Malformed),
    /// A condition or an update that expressions would not have either.
    Expression(Fault),
    /// A statement of a kind that DynamoDB does not run.
    Operation(&'static str),
    /// Something else than a path in the projection.
    Projection(Place),
    /// SELECT DISTINCT.
    Distinct,
    /// SELECT VALUE or PIVOT.
    SelectValue,
    /// Two projected values of the same name.
    SameName(String),
    /// A clause that SELECT does not have, with what stands in it.
    Clause(&'static str, Option<Place>),
    /// A name for a table or a projected value.
    Alias,
    /// Something else than the name of a table after FROM.
    FromSource,
    /// More than one table.
    SeveralSources,
    /// A name without characters.
    EmptyName,
    /// More than a table and an index.
    LongSource,
    /// INSERT into an index.
    QualifiedInsert(Place),
    /// A WHERE that is neither true nor false.
    NotBoolean,
    /// An operator that conditions do not have.
    ConditionOperator(String),
    /// An operator that updates do not have.
    UpdateOperator(String),
    /// There is no such function.
    UnknownFunction(String, Place),
    /// IN of something that is not a list.
    InList,
    /// IS with a type that it does not know.
    IsType(String, Place),
    /// MISSING where a value is expected.
    Missing,
    /// `a.*`
    Unpivot(Place),
    /// `a[*]`
    Wildcard(Place),
    /// More or fewer parameters than question marks.
    ParameterCount,
    /// INSERT of something that is not a map.
    ItemFormat(Place),
    /// A name in a map that is not between single quotes.
    TupleKey(Place),
    /// The same name twice in a map.
    SameKey(String, Place),
    /// Something in a value that is none.
    DataType(String, Place),
    /// A set without elements.
    EmptyBag,
    /// A set of values that no set can hold.
    BagElements,
    /// A set with the same element twice.
    Duplicates(ValueFault),
    /// `SET_ADD` or `SET_DELETE` with more or fewer than two arguments.
    SetArguments(&'static str, Place),
    /// `SET_ADD` or `SET_DELETE` of another attribute than the one that is set.
    SetTarget(&'static str, Place),
    /// `SET_ADD` or `SET_DELETE` of something that is not a set.
    SetElements(&'static str, Place),
    /// A write to an index.
    IndexWrite,
    /// A write that does not name its item.
    NoKey,
    /// A write that names its item twice.
    KeyTwice(String),
    /// A key of another type than the table has.
    KeyType(String),
    /// An item without one of its keys.
    KeyAbsent(String),
    /// INSERT ... RETURNING.
    InsertReturning,
    /// RETURNING of single attributes.
    ReturningStar,
    /// RETURNING twice.
    ReturningSeveral,
    /// RETURNING with another variant than ALL OLD.
    DeleteReturning(&'static str),
    /// ORDER BY of something that is not an attribute.
    OrderArgument(String),
    /// ORDER BY without WHERE.
    OrderWithoutCondition,
    /// ORDER BY over several partitions.
    OrderWithoutPartition,
    /// ORDER BY of something that is not a key.
    OrderOfOther(String),
    /// Conditions joined by OR that would read the same items.
    Overlapping,
    /// There is no such index.
    NoIndex,
    /// An index whose keys have several attributes.
    SeveralAttributes,
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
    /// EXISTS that asks for nothing but the key.
    ExistsWithoutCondition,
    /// A number that is none, and where it stands within its value.
    Number(NumberError, String),
}

/// How a text fails to be a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// It cannot be taken apart into words: an unknown character, an open quote or comment, an exponent beyond measure.
    Text,
    /// It does not begin as one.
    NoManipulation,
    /// A keyword in the wrong place.
    Keyword,
    /// An operator in the wrong place.
    Operator,
    /// Something else where a value or name is expected, or nothing.
    Term,
    /// Nothing after an operator.
    RightSide,
    /// IS without the name of a type.
    TypeName,
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
    /// Conditions or values within each other beyond measure.
    Depth,
}

impl Malformed {
    fn words(self) -> &'static str {
        match self {
            Malformed::Text => "",
            Malformed::NoManipulation => "Expected data manipulation",
            Malformed::Keyword => "Unexpected keyword",
            Malformed::Operator => "Unexpected operator",
            Malformed::Term => "Unexpected term",
            Malformed::RightSide => "Missing right-hand side expression of infix operator",
            Malformed::TypeName => "Expected type name",
            Malformed::Trailing => "Unexpected token after expression",
            Malformed::SimplePath => "Expected identifier for simple path",
            Malformed::DotComponent => "Invalid path dot component",
            Malformed::SelectWithoutFrom => "Expected FROM after SELECT list",
            Malformed::DeleteWithoutFrom => "Expected FROM after DELETE",
            Malformed::Returning => "Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element.",
            Malformed::Depth => "Statement is nested too deeply",
        }
    }
}

impl StatementError {
    /// The error of a value that stands at this step of another value.
    pub(super) fn within(self, step: &str) -> StatementError {
        match self {
            StatementError::Number(error, path) => StatementError::Number(error, format!("{step}{path}")),
            other => other,
        }
    }
}

impl From<Malformed> for StatementError {
    fn from(error: Malformed) -> StatementError {
        StatementError::Malformed(error)
    }
}

impl From<Fault> for StatementError {
    fn from(fault: Fault) -> StatementError {
        StatementError::Expression(fault)
    }
}

impl From<StatementError> for ApiError {
    fn from(error: StatementError) -> ApiError {
        match error {
            StatementError::Number(error, path) => {
                let mut error = ApiError::from(error);
                error.message.push_str(" under root");
                error.message.push_str(&path);
                error
            }
            StatementError::Duplicates(fault) => ApiError::from(fault),
            other => ApiError::validation(words(&other)),
        }
    }
}

fn words(error: &StatementError) -> String {
    use StatementError::*;
    match error {
        Malformed(error) => format!("Statement wasn't well formed, can't be processed: {}", error.words()),
        Expression(fault) => fault.words(),
        Operation(name) => format!("Unsupported operation: {name}"),
        SameName(name) => format!("Duplicate identifiers in select clause: {name}"),
        Clause(name, None) => format!("Unsupported clause: {name}"),
        ConditionOperator(sign) => format!("Unsupported operator in Condition Expression. Operator: {sign}"),
        UpdateOperator(sign) => format!("Unsupported operator in Update Expression. Operator: {sign}"),
        KeyTwice(name) => format!(
            "Multiple conditions on same key {name}. Only single item Update/Insert/Delete are supported"
        ),
        KeyType(name) => {
            format!("Key attribute's data type should match its data type in table's schema: Key {name}")
        }
        KeyAbsent(name) => format!("Key attribute should be present in the item: Key {name}"),
        DeleteReturning(variant) => format!(
            "Invalid returning clause: RETURNING {variant} *. Only RETURNING ALL OLD * is allowed in DELETE statements."
        ),
        OrderArgument(kind) => {
            format!("Argument to ORDER BY must be of type VariableReference. Type: {kind}")
        }
        OrderOfOther(name) => {
            format!("Variable reference {name} in ORDER BY clause must be part of the primary key")
        }
        FilterNotProjected { index, names } => format!(
            "One or more parameter values were invalid: Secondary index {index} does not project one or more filter \
             attributes: [{}]",
            names.join(", ")
        ),
        other => placed_words(other).unwrap_or_else(|| fixed_words(other).to_owned()),
    }
}

/// The words that end with a place in the statement.
fn placed_words(error: &StatementError) -> Option<String> {
    use StatementError::*;
    let (words, place) = match error {
        Projection(place) => ("Unexpected path component".to_owned(), place),
        Clause(name, Some(place)) => (format!("Unsupported clause: {name}"), place),
        QualifiedInsert(place) => (
            "FROM clause may only contain a single table name in data manipulation statements".to_owned(),
            place,
        ),
        UnknownFunction(name, place) => (format!("Unrecognized function: {name}"), place),
        IsType(name, place) => (
            format!(
                "Unsupported data type for IS operator: {name}. Supported data types are [MISSING, NULL, BOOLEAN, BLOB, STRING, \
                 NUMERIC, STRUCT, TUPLE, LIST]"
            ),
            place,
        ),
        Unpivot(place) => ("Unpivot path component like a.*.b are not supported".to_owned(), place),
        Wildcard(place) => ("Wildcard path component like a[*].b are not supported".to_owned(), place),
        ItemFormat(place) => (
            "Unsupported format in item expression. Please use struct format {...} to express item values for insert statement."
                .to_owned(),
            place,
        ),
        TupleKey(place) => {
            ("Tuple keys must be of type String. Actual type: VariableReference under root".to_owned(), place)
        }
        SameKey(name, place) => (format!("Duplicate keys in tuple. Key: {name} under root"), place),
        DataType(name, place) => (format!("Unsupported data type: {name} under key root"), place),
        SetArguments(function, place) => (format!("{function} must have exactly two arguments"), place),
        SetTarget(function, place) => {
            (format!("The first argument to {function} must equal the assignment value"), place)
        }
        SetElements(function, place) => {
            (format!("The second argument to {function} must be a value with type SET"), place)
        }
        _ => return None,
    };
    Some(format!("{words} at {place}"))
}

fn fixed_words(error: &StatementError) -> &'static str {
    use StatementError::*;
    match error {
        Distinct => "Unsupported token in expression: DISTINCT",
        SelectValue => "Select projection doesn't support value or pivot keywords",
        Alias => "Aliasing is not supported",
        FromSource => "Unexpected from source",
        SeveralSources => "Only select from a single table or index is supported.",
        EmptyName => "Path component cannot be an empty string",
        LongSource => "A path may contain at most 2 components in the FROM clause",
        NotBoolean => "WHERE clause must contain an expression that resolves to a boolean",
        InList => {
            "IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq with at \
             least one member"
        }
        Missing => "MISSING must be compared using IS operator",
        ParameterCount => "Number of parameters in request and statement don't match.",
        EmptyBag => "Empty bags are not supported",
        BagElements => {
            "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
        }
        IndexWrite => "This operation is not supported on an index",
        NoKey => "Where clause does not contain a mandatory equality on all key attributes",
        InsertReturning => "RETURNING is not supported in INSERT",
        ReturningStar => "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause",
        ReturningSeveral => "Invalid syntax with multiple returning elements in RETURNING clause",
        OrderWithoutCondition => "Must have WHERE clause in the statement when using ORDER BY clause.",
        OrderWithoutPartition => {
            "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
        }
        Overlapping => "Overlapping conditions with range keys are not supported in where clause",
        NoIndex => "The table does not have the specified index",
        SeveralAttributes => {
            "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys."
        }
        ConsistentIndex => "Strongly consistent read is not supported on Global Secondary Indexes",
        TokenOfWrite => "NextToken is only valid on a SELECT statement",
        InvalidToken => "Invalid NextToken",
        OtherToken => "NextToken does not match request",
        Exists => "EXISTS can only be used in ExecuteTransaction write requests.",
        ExistsWithoutCondition => "EXISTS() must contain a single item read with additional condition",
        _ => "The statement is not valid",
    }
}
