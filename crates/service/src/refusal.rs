//! Why something was not done, in the caller's words.

use design::Problem;
use dynamo::{ApiError, ErrorKind};

/// Why something was not done. Nothing has changed, unless a variant says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Values are missing, unknown or not what they must be: all of them at once.
    #[error("{}", listed(.0))]
    Invalid(Vec<Problem>),
    /// There is no such entity, pattern, operation or item.
    #[error("{name}: {message}")]
    NotFound {
        /// What was looked for.
        name: String,
        /// In the caller's words.
        message: String,
    },
    /// The item is there already.
    #[error("{entity}: {message}")]
    Exists {
        /// The entity.
        entity: String,
        /// In the caller's words.
        message: String,
    },
    /// Another item has the value that must be unique.
    #[error("{constraint}: {} of {entity} is taken", .attributes.join(", "))]
    Taken {
        /// The unique copy that is the constraint.
        constraint: String,
        /// The entity whose values must be unique.
        entity: String,
        /// The attributes whose values are taken.
        attributes: Vec<String>,
    },
    /// A condition of the design does not hold.
    #[error("{name}: {message}")]
    Condition {
        /// The entity it is about.
        name: String,
        /// In the words of the design.
        message: String,
    },
    /// The item is not as the caller has seen it.
    #[error("{entity} has changed since it was read")]
    VersionMismatch {
        /// The entity.
        entity: String,
    },
    /// The idempotency key was used with other input.
    #[error("the idempotency key was used for something else")]
    KeyReused,
    /// The cursor is forged, mangled or of another pattern or other parameters.
    #[error("the cursor is not one of this pattern with these parameters")]
    Cursor,
    /// Others were faster each time; trying again later may work.
    #[error("too many writes of the same items at once; try again")]
    Busy,
    /// A table exists and is not as the design has it.
    #[error("table {table} is not as the design has it: {}", .differences.join("; "))]
    Differs {
        /// The table, by its name in DynamoDB.
        table: String,
        /// What differs.
        differences: Vec<String>,
    },
    /// The backend cannot do what the design needs.
    #[error("{backend} {lacks}, which the design needs{}", for_what(.needed_for))]
    Unsupported {
        /// The backend.
        backend: String,
        /// What it lacks: `has no transactions`.
        lacks: &'static str,
        /// What needs it.
        needed_for: Vec<String>,
    },
    /// A long operation was done up to here: the same idempotency key resumes it.
    #[error("{done} of {total} are done; then: {because}")]
    Partly {
        /// The elements that are done.
        done: usize,
        /// All elements.
        total: usize,
        /// Why it went no further.
        because: Box<Refusal>,
    },
    /// The backend failed or refused.
    #[error("{0}")]
    Backend(ApiError),
    /// Something that should not happen.
    #[error("{0}")]
    Internal(String),
}

fn listed(problems: &[Problem]) -> String {
    let words = problems.iter().map(|problem| format!("{} {}", problem.name, problem.message));
    words.collect::<Vec<_>>().join("; ")
}

fn for_what(needed_for: &[String]) -> String {
    if needed_for.is_empty() { String::new() } else { format!(" for {}", needed_for.join(", ")) }
}

impl From<ApiError> for Refusal {
    /// What DynamoDB finds wrong with a request is what the caller gave: plans are sound, and only values can be too long, too deep or too large.
    fn from(error: ApiError) -> Refusal {
        match error.kind {
            ErrorKind::Validation => Refusal::invalid("request", error.message),
            _ => Refusal::Backend(error),
        }
    }
}

impl Refusal {
    /// One value that is not what it must be.
    pub(crate) fn invalid(name: impl Into<String>, message: impl Into<String>) -> Refusal {
        Refusal::Invalid(vec![Problem {
            kind: design::ProblemKind::Invalid,
            name: name.into(),
            message: message.into(),
        }])
    }

    /// There is no such thing in the design.
    pub(crate) fn unknown(what: &str, name: &str) -> Refusal {
        Refusal::NotFound { name: name.to_owned(), message: format!("there is no such {what}") }
    }

    /// A reply that is not of the operation that was sent.
    pub(crate) fn strange(operation: &str) -> Refusal {
        Refusal::Internal(format!("the answer to {operation} is one to something else"))
    }
}
