//! Findings: what is wrong with a design, where, and what to do about it.
//!
//! Always true: a finding's code, title and severity come from its [`Rule`], which stands in the file of `check/` that
//! looks for it; a finding's words are one sentence and a help. The three ways to write findings are functions
//! from findings to text: `text`, `json`, `sarif`.

mod json;
mod sarif;
mod text;

pub use json::json;
pub use sarif::sarif;
pub use text::text;

use crate::source::Span;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The design cannot work, or would lose or mix up data.
    Error,
    /// The design works, but hardly as meant.
    Warning,
}

impl Severity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// What kind of mistake a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// The file itself: what it says cannot be read or names something that does not exist.
    Unclear,
    /// DynamoDB refuses it, or it can never give anything.
    Impossible,
    /// Two things can be taken for one another.
    Ambiguous,
    /// Keys sort differently from the values in them.
    WrongOrder,
    /// Something is kept half, or not used at all.
    Incomplete,
    /// A limit of DynamoDB is in reach.
    TooBig,
    /// A place where the design is to run cannot do it.
    NotThere,
}

impl Family {
    /// The name of the family.
    pub fn name(self) -> &'static str {
        match self {
            Family::Unclear => "unclear",
            Family::Impossible => "impossible",
            Family::Ambiguous => "ambiguous",
            Family::WrongOrder => "wrong order",
            Family::Incomplete => "incomplete",
            Family::TooBig => "too big",
            Family::NotThere => "not there",
        }
    }
}

/// A rule of the checker: what a code means, with a design that breaks it and the same design put right.
#[derive(Debug)]
pub struct Rule {
    /// Stable, such as `D020`.
    pub code: &'static str,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// The kind of mistake.
    pub family: Family,
    /// How bad it is.
    pub severity: Severity,
    /// Why it is wrong.
    pub why: &'static str,
    /// A design in which the rule finds something, and nothing else does.
    pub wrong: &'static str,
    /// The design put right: nothing is found in it.
    pub right: &'static str,
}

/// Something wrong with a design.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: &'static Rule,
    /// Where.
    pub span: Span,
    /// What is wrong: one sentence, no full stop.
    pub sentence: String,
    /// A way out.
    pub help: String,
    /// Other places that belong to it, each with its word.
    pub related: Vec<Related>,
}

/// Another place that belongs to a finding.
#[derive(Clone, Debug)]
pub struct Related {
    /// Where.
    pub span: Span,
    /// What is there.
    pub label: String,
}

impl Finding {
    pub(crate) fn new(rule: &'static Rule, span: Span, sentence: impl Into<String>) -> Finding {
        Finding { rule, span, sentence: sentence.into(), help: String::new(), related: Vec::new() }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Finding {
        self.help = help.into();
        self
    }

    pub(crate) fn related(mut self, span: Span, label: impl Into<String>) -> Finding {
        self.related.push(Related { span, label: label.into() });
        self
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.rule.severity
    }
}
