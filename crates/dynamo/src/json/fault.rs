//! Values that are well-formed JSON and that DynamoDB refuses, remembered until it is their turn to be reported.
//!
//! DynamoDB reports violations of field rules before it looks at attribute values. So reading a request does not
//! fail at such a value: it puts NULL in its place and writes down what was wrong, and where.

use crate::ApiError;
use crate::limits::ATTRIBUTE_NAME_BYTES_MAX;

/// What is wrong with attribute values of a request: at most one fault for each member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    list: Vec<Fault>,
}

/// What is wrong with an attribute value, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The member of the request, such as `Item` or `ExpressionAttributeValues`.
    pub member: &'static str,
    /// The key within the member: an attribute name, or a placeholder such as `:v`.
    pub key: Option<String>,
    /// The index within the member, when it is a list.
    pub index: Option<usize>,
    /// What is wrong.
    pub kind: ValueFault,
}

/// What can be wrong with an attribute value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueFault {
    /// No type is given.
    Empty,
    /// More than one type is given.
    SeveralTypes,
    /// `NULL` is not true.
    NullNotTrue,
    /// The text is not a number.
    NotANumber(String),
    /// A number without text.
    EmptyNumber,
    /// A number out of range or with too many digits.
    Number(crate::NumberError),
    /// A string set without elements.
    EmptyStringSet,
    /// A number set without elements.
    EmptyNumberSet,
    /// A binary set without elements.
    EmptyBinarySet,
    /// A string set with a text twice; the elements as DynamoDB prints them.
    DuplicateStrings(String),
    /// A number set with a number twice.
    DuplicateNumbers,
    /// A binary set with a binary twice; the elements as DynamoDB prints them.
    DuplicateBinaries(String),
    /// Lists and maps are nested too deep.
    TooDeep,
    /// An attribute without a name.
    EmptyName,
    /// An attribute with a name of more bytes than names have.
    LongName,
}

/// Checks the name of an attribute, at the top of an item or within it.
pub fn check_attribute_name(name: &str) -> Result<(), ValueFault> {
    match name.len() {
        0 => Err(ValueFault::EmptyName),
        length if length > ATTRIBUTE_NAME_BYTES_MAX => Err(ValueFault::LongName),
        _ => Ok(()),
    }
}

impl Faults {
    /// The fault of this member, if it has one.
    pub fn of(&self, member: &str) -> Option<&Fault> {
        self.list.iter().find(|fault| fault.member == member)
    }

    /// An error in DynamoDB's words if this member has a fault.
    pub fn check(&self, member: &str) -> Result<(), ApiError> {
        match self.of(member) {
            Some(fault) => Err(ApiError::from(fault.kind.clone())),
            None => Ok(()),
        }
    }

    /// The same for `ExpressionAttributeValues`, whose message names the placeholder.
    pub fn check_expression_attribute_values(&self) -> Result<(), ApiError> {
        let Some(fault) = self.of("ExpressionAttributeValues") else { return Ok(()) };
        let mut error = ApiError::from(fault.kind.clone());
        // Nesting is checked before the expression's values are looked at one by one.
        if fault.kind != ValueFault::TooDeep {
            let key = fault.key.as_deref().unwrap_or_default();
            error.message =
                format!("ExpressionAttributeValues contains invalid value: {} for key {key}", error.message);
        }
        Err(error)
    }

    /// The same for `ExclusiveStartKey`, whose message says so for most faults.
    pub fn check_exclusive_start_key(&self) -> Result<(), ApiError> {
        let Some(fault) = self.of("ExclusiveStartKey") else { return Ok(()) };
        let mut error = ApiError::from(fault.kind.clone());
        if fault.kind.is_of_shape() {
            error.message = format!("The provided starting key is invalid: {}", error.message);
        }
        Err(error)
    }

    pub(crate) fn push(&mut self, fault: Fault) {
        self.list.push(fault);
    }

    /// True when nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl ValueFault {
    /// True for faults of the value's shape, false for those of numbers and of duplicates.
    fn is_of_shape(&self) -> bool {
        use ValueFault::*;
        matches!(self, Empty | SeveralTypes | NullNotTrue | EmptyStringSet | EmptyBinarySet)
    }
}

impl From<ValueFault> for ApiError {
    fn from(fault: ValueFault) -> ApiError {
        const INVALID: &str = "One or more parameter values were invalid: ";
        ApiError::validation(match fault {
            ValueFault::Empty => {
                "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes".to_owned()
            }
            ValueFault::SeveralTypes => "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes".to_owned(),
            ValueFault::NullNotTrue => {
                format!("{INVALID}Null attribute value types must have the value of true")
            }
            ValueFault::EmptyNumber => return ApiError::from(crate::NumberError::NotANumber),
            ValueFault::NotANumber(text) => {
                format!("The parameter cannot be converted to a numeric value: {text}")
            }
            ValueFault::Number(error) => return ApiError::from(error),
            ValueFault::EmptyStringSet => format!("{INVALID}An string set  may not be empty"),
            ValueFault::EmptyNumberSet => format!("{INVALID}An number set  may not be empty"),
            ValueFault::EmptyBinarySet => format!("{INVALID}Binary sets should not be empty"),
            ValueFault::DuplicateStrings(elements) => {
                format!("{INVALID}Input collection {elements} contains duplicates.")
            }
            ValueFault::DuplicateNumbers => "Input collection contains duplicates".to_owned(),
            ValueFault::DuplicateBinaries(elements) => {
                format!("{INVALID}Input collection {elements}of type BS contains duplicates.")
            }
            ValueFault::EmptyName => "Empty attribute name".to_owned(),
            ValueFault::LongName => "Attribute name is too large, must be less than 65536 bytes".to_owned(),
            ValueFault::TooDeep => "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit".to_owned(),
        })
    }
}
