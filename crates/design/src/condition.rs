//! Conditions: DynamoDB's condition language with literals in place of `:values`.
//!
//! `status = "PUBLISHED" AND attribute_not_exists(archivedAt)`. A text literal may have slots: `"USER#{userId}"`.
//! Every part knows where it stands in the text, so findings can point at it.
//!
//! Always true: nesting is at most [`DEPTH_MAX`] deep, so walking a condition needs no guard.

mod parse;

use crate::template::Template;

/// How deep conditions may nest.
pub const DEPTH_MAX: usize = 32;

/// Bytes of the condition's text, from and to.
pub type At = (usize, usize);

/// A condition on an item.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// All of them hold.
    And(Vec<Condition>),
    /// At least one holds.
    Or(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// Two values compare so.
    Compare(Operand, Comparator, Operand, At),
    /// The first lies between the others, both included.
    Between(Operand, Operand, Operand, At),
    /// The first equals one of the others.
    In(Operand, Vec<Operand>, At),
    /// `attribute_exists`
    Exists(Path),
    /// `attribute_not_exists`
    NotExists(Path),
    /// `attribute_type`
    HasType(Path, Operand, At),
    /// `begins_with`
    BeginsWith(Operand, Operand, At),
    /// `contains`
    Contains(Operand, Operand, At),
}

/// How two values compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparator {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparator {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparator::Equal => "=",
            Comparator::NotEqual => "<>",
            Comparator::Less => "<",
            Comparator::LessOrEqual => "<=",
            Comparator::Greater => ">",
            Comparator::GreaterOrEqual => ">=",
        }
    }

    /// The comparator that says the same with its sides exchanged.
    pub(crate) fn turned(self) -> Comparator {
        match self {
            Comparator::Less => Comparator::Greater,
            Comparator::LessOrEqual => Comparator::GreaterOrEqual,
            Comparator::Greater => Comparator::Less,
            Comparator::GreaterOrEqual => Comparator::LessOrEqual,
            same => same,
        }
    }
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// An attribute.
    Path(Path),
    /// `size(path)`
    Size(Path),
    /// A text, with or without slots.
    Text(Template, At),
    /// A number.
    Number(dynamo::Number, At),
    /// `true`, `false`
    Boolean(bool, At),
    /// `null`
    Null(At),
}

/// An attribute of an item, by name; further names reach into maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The steps, at least one.
    pub steps: Vec<PathStep>,
    /// Where it stands.
    pub at: At,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// A member of a map.
    Name(String),
    /// An element of a list.
    Index(usize),
}

impl Path {
    /// The path as names with dots, without list indexes.
    pub fn dotted(&self) -> String {
        let names = self.steps.iter().filter_map(|step| match step {
            PathStep::Name(name) => Some(name.as_str()),
            PathStep::Index(_) => None,
        });
        names.collect::<Vec<_>>().join(".")
    }

    /// The attribute at the top.
    pub fn top(&self) -> &str {
        match self.steps.first() {
            Some(PathStep::Name(name)) => name,
            _ => "",
        }
    }
}

impl Operand {
    /// Where it stands.
    pub fn at(&self) -> At {
        match self {
            Operand::Path(path) | Operand::Size(path) => path.at,
            Operand::Text(_, at) | Operand::Number(_, at) | Operand::Boolean(_, at) | Operand::Null(at) => {
                *at
            }
        }
    }
}

/// Why a text is not a condition, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// What is wrong.
    pub message: String,
    /// From which byte to which.
    pub at: At,
}

impl Condition {
    /// Reads a condition.
    pub fn parse(text: &str) -> Result<Condition, ConditionError> {
        parse::parse(text)
    }

    /// The conditions that must all hold, if this is an AND; otherwise the condition itself.
    pub fn conjuncts(&self) -> Vec<&Condition> {
        match self {
            Condition::And(list) => list.iter().flat_map(Condition::conjuncts).collect(),
            other => vec![other],
        }
    }

    /// The operands of this condition, not of those inside it.
    fn own_operands(&self) -> Vec<&Operand> {
        match self {
            Condition::Compare(left, _, right, _)
            | Condition::BeginsWith(left, right, _)
            | Condition::Contains(left, right, _) => vec![left, right],
            Condition::Between(value, low, high, _) => vec![value, low, high],
            Condition::In(value, list, _) => std::iter::once(value).chain(list).collect(),
            Condition::HasType(_, operand, _) => vec![operand],
            _ => Vec::new(),
        }
    }

    fn inner(&self) -> &[Condition] {
        match self {
            Condition::And(list) | Condition::Or(list) => list,
            Condition::Not(inner) => std::slice::from_ref(inner),
            _ => &[],
        }
    }

    /// Every operand, from left to right.
    pub fn operands(&self) -> Vec<&Operand> {
        let mut all = self.own_operands();
        for inner in self.inner() {
            all.extend(inner.operands());
        }
        all
    }

    /// Every attribute that the condition looks at.
    pub fn paths(&self) -> Vec<&Path> {
        let mut all = match self {
            Condition::Exists(path) | Condition::NotExists(path) | Condition::HasType(path, ..) => vec![path],
            _ => Vec::new(),
        };
        for operand in self.own_operands() {
            if let Operand::Path(path) | Operand::Size(path) = operand {
                all.push(path);
            }
        }
        for inner in self.inner() {
            all.extend(inner.paths());
        }
        all
    }

    /// Every text literal with slots or without, with where it stands.
    pub fn templates(&self) -> Vec<(&Template, At)> {
        let texts = self.operands().into_iter().filter_map(|operand| match operand {
            Operand::Text(template, at) => Some((template, *at)),
            _ => None,
        });
        texts.collect()
    }
}
