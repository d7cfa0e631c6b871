//! The parameters from before expressions: conditions and updates attribute by attribute.

use super::Choice;
use crate::Value;
use crate::rules::REQUIRED;

choices! {
    /// What happens to one attribute.
    pub enum AttributeAction {
        Add = "ADD",
        Put = "PUT",
        Delete = "DELETE",
    }
}

choices! {
    /// How an attribute is compared.
    pub enum ComparisonOperator {
        In = "IN",
        Null = "NULL",
        Between = "BETWEEN",
        Lt = "LT",
        NotContains = "NOT_CONTAINS",
        Eq = "EQ",
        Gt = "GT",
        NotNull = "NOT_NULL",
        Ne = "NE",
        Le = "LE",
        BeginsWith = "BEGINS_WITH",
        Ge = "GE",
        Contains = "CONTAINS",
    }
}

choices! {
    /// Whether all conditions must hold, or one.
    pub enum ConditionalOperator {
        Or = "OR",
        And = "AND",
    }
}

shape! {
    /// What to do with one attribute.
    pub struct AttributeValueUpdate {
        value: Option<Value> = "Value",
        action: Option<Choice<AttributeAction>> = "Action",
    }
}

shape! {
    /// A condition on one attribute, in a filter or on a key.
    pub struct Condition {
        attribute_value_list: Option<Vec<Value>> = "AttributeValueList",
        comparison_operator: Option<Choice<ComparisonOperator>> = "ComparisonOperator" => REQUIRED,
    }
}

shape! {
    /// A condition on one attribute before a write.
    pub struct ExpectedAttributeValue {
        attribute_value_list: Option<Vec<Value>> = "AttributeValueList",
        comparison_operator: Option<Choice<ComparisonOperator>> = "ComparisonOperator",
        exists: Option<bool> = "Exists",
        value: Option<Value> = "Value",
    }
}
