//! Expressions as they are written: placeholders not yet filled in. One tree serves every request with the same text.
//!
//! Always true: a tree from the parser has only functions that exist and stand where they may, no reserved words and
//! no more than 300 operators. Printing a tree and parsing it again gives the same tree.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// A document path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathTree {
    /// Its elements; the first is a name or a placeholder.
    pub elements: Vec<Element>,
}

/// One element of a document path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// A name as it is.
    Name(Arc<str>),
    /// `#name`, with its `#`.
    Placeholder(Arc<str>),
    /// `[index]`.
    Index(usize),
}

/// A value, or where to find one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperandTree {
    /// A document path.
    Path(PathTree),
    /// `:value`, with its colon.
    Value(Arc<str>),
    /// A function.
    Call(Call),
}

/// A function and its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function.
    pub function: Function,
    /// What it is given; may be too many or too few.
    pub arguments: Vec<OperandTree>,
}

/// The functions of the expression language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum Function {
    AttributeExists,
    AttributeNotExists,
    AttributeType,
    BeginsWith,
    Contains,
    Size,
    IfNotExists,
    ListAppend,
}

/// The comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum Comparator {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// A condition: of a ConditionExpression, FilterExpression or KeyConditionExpression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionTree {
    /// AND of two or more.
    All(Vec<ConditionTree>),
    /// OR of two or more.
    Any(Vec<ConditionTree>),
    /// NOT.
    Not(Box<ConditionTree>),
    /// Two values compared.
    Compare(Comparator, OperandTree, OperandTree),
    /// A value, its lower and its upper bound.
    Between(OperandTree, OperandTree, OperandTree),
    /// A value, and those it may be.
    In(OperandTree, Vec<OperandTree>),
    /// A function that is true or false.
    Call(Call),
}

/// The clauses of an update expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum Clause {
    Set,
    Remove,
    Add,
    Delete,
}

/// An update expression: its actions in the order of the text, those of one clause together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateTree {
    /// The actions.
    pub actions: Vec<ActionTree>,
}

/// One action of an update expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionTree {
    /// SET path = value.
    Set(PathTree, AssignedTree),
    /// REMOVE path.
    Remove(PathTree),
    /// ADD path :value.
    Add(PathTree, Arc<str>),
    /// DELETE path :value.
    Delete(PathTree, Arc<str>),
}

/// The right-hand side of SET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignedTree {
    /// One value.
    Operand(OperandTree),
    /// A sum.
    Plus(OperandTree, OperandTree),
    /// A difference.
    Minus(OperandTree, OperandTree),
}

/// A projection expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectionTree {
    /// What is asked for; at least one path.
    pub paths: Vec<PathTree>,
}

impl Function {
    /// All functions.
    pub const ALL: [Function; 8] = {
        use Function::*;
        [
            AttributeExists,
            AttributeNotExists,
            AttributeType,
            BeginsWith,
            Contains,
            Size,
            IfNotExists,
            ListAppend,
        ]
    };

    /// The name, which is written in lower case only.
    pub fn name(self) -> &'static str {
        match self {
            Function::AttributeExists => "attribute_exists",
            Function::AttributeNotExists => "attribute_not_exists",
            Function::AttributeType => "attribute_type",
            Function::BeginsWith => "begins_with",
            Function::Contains => "contains",
            Function::Size => "size",
            Function::IfNotExists => "if_not_exists",
            Function::ListAppend => "list_append",
        }
    }

    /// The function with this name.
    pub fn from_name(name: &str) -> Option<Function> {
        Function::ALL.into_iter().find(|function| function.name() == name)
    }

    /// How many operands it takes.
    pub fn operand_count(self) -> usize {
        match self {
            Function::AttributeExists | Function::AttributeNotExists | Function::Size => 1,
            _ => 2,
        }
    }

    /// True for the two functions of SET.
    pub fn is_for_updates(self) -> bool {
        matches!(self, Function::IfNotExists | Function::ListAppend)
    }
}

impl Comparator {
    /// The sign.
    pub fn sign(self) -> &'static str {
        match self {
            Comparator::Eq => "=",
            Comparator::Ne => "<>",
            Comparator::Lt => "<",
            Comparator::Le => "<=",
            Comparator::Gt => ">",
            Comparator::Ge => ">=",
        }
    }

    /// The comparator that says the same with the sides exchanged.
    #[must_use]
    pub fn mirrored(self) -> Comparator {
        match self {
            Comparator::Lt => Comparator::Gt,
            Comparator::Le => Comparator::Ge,
            Comparator::Gt => Comparator::Lt,
            Comparator::Ge => Comparator::Le,
            same => same,
        }
    }
}

impl Display for Clause {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Clause::Set => "SET",
            Clause::Remove => "REMOVE",
            Clause::Add => "ADD",
            Clause::Delete => "DELETE",
        })
    }
}

impl ActionTree {
    /// The clause that the action stands in.
    pub fn clause(&self) -> Clause {
        match self {
            ActionTree::Set(..) => Clause::Set,
            ActionTree::Remove(_) => Clause::Remove,
            ActionTree::Add(..) => Clause::Add,
            ActionTree::Delete(..) => Clause::Delete,
        }
    }
}

impl Display for PathTree {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (place, element) in self.elements.iter().enumerate() {
            match element {
                Element::Index(index) => write!(out, "[{index}]")?,
                Element::Name(name) | Element::Placeholder(name) => {
                    write!(out, "{}{name}", if place == 0 { "" } else { "." })?;
                }
            }
        }
        Ok(())
    }
}

impl Display for OperandTree {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            OperandTree::Path(path) => path.fmt(out),
            OperandTree::Value(name) => out.write_str(name),
            OperandTree::Call(call) => call.fmt(out),
        }
    }
}

impl Display for Call {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}(", self.function.name())?;
        write_list(out, &self.arguments, ", ")?;
        out.write_str(")")
    }
}

impl Display for ConditionTree {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ConditionTree::All(parts) => write_joined(out, parts, " AND ", |part| {
                matches!(part, ConditionTree::All(_) | ConditionTree::Any(_))
            }),
            ConditionTree::Any(parts) => {
                write_joined(out, parts, " OR ", |part| matches!(part, ConditionTree::Any(_)))
            }
            ConditionTree::Not(inner) if matches!(**inner, ConditionTree::All(_) | ConditionTree::Any(_)) => {
                write!(out, "NOT ({inner})")
            }
            ConditionTree::Not(inner) => write!(out, "NOT {inner}"),
            ConditionTree::Compare(comparator, left, right) => {
                write!(out, "{left} {} {right}", comparator.sign())
            }
            ConditionTree::Between(value, low, high) => write!(out, "{value} BETWEEN {low} AND {high}"),
            ConditionTree::In(value, list) => {
                write!(out, "{value} IN (")?;
                write_list(out, list, ", ")?;
                out.write_str(")")
            }
            ConditionTree::Call(call) => call.fmt(out),
        }
    }
}

fn write_joined(
    out: &mut Formatter<'_>,
    parts: &[ConditionTree],
    word: &str,
    needs_parentheses: impl Fn(&ConditionTree) -> bool,
) -> fmt::Result {
    for (place, part) in parts.iter().enumerate() {
        out.write_str(if place == 0 { "" } else { word })?;
        if needs_parentheses(part) {
            write!(out, "({part})")?;
        } else {
            part.fmt(out)?;
        }
    }
    Ok(())
}

fn write_list(out: &mut Formatter<'_>, list: &[impl Display], separator: &str) -> fmt::Result {
    for (place, element) in list.iter().enumerate() {
        write!(out, "{}{element}", if place == 0 { "" } else { separator })?;
    }
    Ok(())
}

impl Display for UpdateTree {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (place, actions) in self.actions.chunk_by(|one, two| one.clause() == two.clause()).enumerate() {
            let Some(first) = actions.first() else { continue };
            write!(out, "{}{} ", if place == 0 { "" } else { " " }, first.clause())?;
            write_list(out, actions, ", ")?;
        }
        Ok(())
    }
}

impl Display for ActionTree {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ActionTree::Set(path, value) => write!(out, "{path} = {value}"),
            ActionTree::Remove(path) => path.fmt(out),
            ActionTree::Add(path, value) | ActionTree::Delete(path, value) => write!(out, "{path} {value}"),
        }
    }
}

impl Display for AssignedTree {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            AssignedTree::Operand(operand) => operand.fmt(out),
            AssignedTree::Plus(left, right) => write!(out, "{left} + {right}"),
            AssignedTree::Minus(left, right) => write!(out, "{left} - {right}"),
        }
    }
}

impl Display for ProjectionTree {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write_list(out, &self.paths, ", ")
    }
}
