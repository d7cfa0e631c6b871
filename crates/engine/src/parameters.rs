//! Parameters that must not come together: expressions and what there was before them.

use dynamo::ApiError;

/// Which parameters of a request are there.
pub(crate) struct Parameters<'a> {
    /// Expressions by name.
    pub(crate) expressions: &'a [(&'static str, bool)],
    /// The parameters from before expressions, by name.
    pub(crate) legacy: &'a [(&'static str, bool)],
    /// ExpressionAttributeNames is there.
    pub(crate) names: bool,
    /// ExpressionAttributeValues is there.
    pub(crate) values: bool,
}

impl Parameters<'_> {
    /// Refuses a mixture, and names or values without an expression that could use them.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        let expressions = present(self.expressions);
        let legacy = present(self.legacy);
        if !expressions.is_empty() && !legacy.is_empty() {
            return Err(ApiError::validation(format!(
                "Can not use both expression and non-expression parameters in the same request: Non-expression \
                 parameters: {{{}}} Expression parameters: {{{}}}",
                legacy.join(", "),
                expressions.join(", ")
            )));
        }
        if self.names && expressions.is_empty() {
            return Err(ApiError::validation(
                "ExpressionAttributeNames can only be specified when using expressions",
            ));
        }
        self.check_values()
    }

    fn check_values(&self) -> Result<(), ApiError> {
        let with_values = || self.expressions.iter().filter(|(name, _)| *name != "ProjectionExpression");
        if !self.values || with_values().next().is_none() || with_values().any(|(_, is_present)| *is_present)
        {
            return Ok(());
        }
        let names: Vec<_> = with_values().map(|(name, _)| *name).collect();
        let verb = if names.len() > 1 { "are" } else { "is" };
        Err(ApiError::validation(format!(
            "ExpressionAttributeValues can only be specified when using expressions: {} {verb} null",
            names.join(" and ")
        )))
    }
}

fn present(parameters: &[(&'static str, bool)]) -> Vec<&'static str> {
    parameters.iter().filter(|(_, is_present)| *is_present).map(|(name, _)| *name).collect()
}
