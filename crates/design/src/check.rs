//! The checker: every rule in a file of its own, with its words, a design that breaks it and the same design put right.
//!
//! Always true: all findings come at once, in the order of the file; each has a [`Rule`], and every rule is in [`RULES`].
//!
//! Path of a design: `read` and `resolve` report what is unclear (D001 to D008). If the names are right, every check looks at the
//! whole design. Last, the findings that the design allows are taken out ([`unused_allow`] reports the allowances nobody needed).

/// A small design to show a rule with: one table, and what follows.
macro_rules! shop {
    ($body:literal) => {
        concat!(
            "design = \"shop\"\n\n[table.Shop]\npartition-key = \"PK\"\nsort-key      = \"SK\"\n\n",
            $body
        )
    };
}

/// The same with an index.
macro_rules! shop_with_index {
    ($body:literal) => {
        concat!(
            "design = \"shop\"\n\n[table.Shop]\npartition-key = \"PK\"\nsort-key      = \"SK\"\n\n",
            "[index.GSI1]\npartition-key = \"GSI1PK\"\nsort-key      = \"GSI1SK\"\n\n",
            $body
        )
    };
}

macro_rules! rules {
    ($($name:ident)*) => {
        $(pub(crate) mod $name;)*
        /// Every rule, by code.
        pub(crate) const RULES: &[&Rule] = &[$(&$name::RULE),*];
    };
}

rules! {
    not_toml unknown_key wrong_value missing_key undefined_name taken_name unreadable wrong_type refused_expression
    partition_not_equal asked_twice scan not_a_key_condition never_matches consistent_on_global_index not_projected
    filter_on_key key_shape index_shape
    same_key read_in_two_ways forged_key prefix_catches_more also_returns not_told_apart truncated_identity
    number_as_text varying_timestamp mixed_prefixes
    no_way_down never_counted derived_written goes_stale cannot_recompute unused_index unused_input already_unique
    unused_allow stream_missing
    item_too_big grows_without_bound transaction_too_big one_partition batch_size key_too_long
    not_on_target
}

use std::collections::BTreeMap;

use crate::bind::Manner;
use crate::diagnostic::{Finding, Rule, Severity};
use crate::model::{Design, Entity};
use crate::query::Query;
use crate::source::Source;

/// The checks that look at a design whose names are right, in the order of their codes.
const CHECKS: &[fn(&Context<'_>) -> Vec<Finding>] = &[
    wrong_type::check,
    refused_expression::check,
    partition_not_equal::check,
    asked_twice::check,
    scan::check,
    not_a_key_condition::check,
    never_matches::check,
    consistent_on_global_index::check,
    not_projected::check,
    filter_on_key::check,
    key_shape::check,
    index_shape::check,
    same_key::check,
    read_in_two_ways::check,
    forged_key::check,
    prefix_catches_more::check,
    also_returns::check,
    not_told_apart::check,
    truncated_identity::check,
    number_as_text::check,
    varying_timestamp::check,
    mixed_prefixes::check,
    no_way_down::check,
    never_counted::check,
    derived_written::check,
    goes_stale::check,
    cannot_recompute::check,
    unused_index::check,
    unused_input::check,
    already_unique::check,
    stream_missing::check,
    item_too_big::check,
    grows_without_bound::check,
    transaction_too_big::check,
    one_partition::check,
    batch_size::check,
    key_too_long::check,
    not_on_target::check,
];

/// What a check looks at.
pub(crate) struct Context<'a> {
    pub(crate) source: &'a Source,
    pub(crate) design: &'a Design,
    /// The query patterns, taken apart, with the entities that can be in their answers.
    pub(crate) queries: Vec<(Query<'a>, Vec<&'a Entity>)>,
}

impl<'a> Context<'a> {
    fn new(source: &'a Source, design: &'a Design) -> Context<'a> {
        let queries = design.patterns.iter().filter_map(|pattern| Query::read(design, pattern));
        let queries = queries.map(|query| {
            let answer = query.answer(design);
            (query, answer)
        });
        Context { source, design, queries: queries.collect() }
    }

    /// The queries that DynamoDB would take.
    pub(crate) fn sound_queries(&self) -> impl Iterator<Item = (&Query<'a>, &[&'a Entity])> {
        self.queries
            .iter()
            .filter(|(query, _)| query.problems.is_empty())
            .map(|(query, answer)| (query, answer.as_slice()))
    }
}

/// What came of checking a design.
#[derive(Debug)]
pub struct Report {
    /// All findings, in the order of the file.
    pub findings: Vec<Finding>,
    /// The design, if there is no error among the findings.
    pub design: Option<CheckedDesign>,
}

impl Report {
    /// True if there is an error, or a warning where warnings count.
    pub fn fails(&self, deny_warnings: bool) -> bool {
        self.findings.iter().any(|finding| deny_warnings || finding.severity() == Severity::Error)
    }
}

/// A design in which the checker found no error. Plans are made from these only.
#[derive(Clone, Debug)]
pub struct CheckedDesign {
    design: Design,
}

impl std::ops::Deref for CheckedDesign {
    type Target = Design;
    fn deref(&self) -> &Design {
        &self.design
    }
}

/// Checks a design: all findings at once, and the design if it has no error.
pub fn check(source: &Source) -> Report {
    let (design, mut findings) = crate::read::read(source);
    let Some(mut design) = design else { return Report { findings, design: None } };
    findings.extend(crate::resolve::resolve(source, &mut design));
    // Where names mean nothing, the other checks would only repeat it in other words.
    if !findings.iter().any(|finding| finding.severity() == Severity::Error) {
        let context = Context::new(source, &design);
        findings.extend(CHECKS.iter().flat_map(|check| check(&context)));
    }
    let mut findings = without_allowed(&design, findings);
    findings.sort_by_key(|finding| (finding.span.start, finding.rule.code, finding.span.end));
    findings.dedup_by(|left, right| {
        left.rule.code == right.rule.code && left.span == right.span && left.sentence == right.sentence
    });
    let sound = !findings.iter().any(|finding| finding.severity() == Severity::Error);
    if sound {
        let depended = |entity: &Entity| cannot_recompute::depended_on(&design, entity).into_owned();
        design.depended =
            design.entities.iter().map(|entity| (entity.name.value.clone(), depended(entity))).collect();
        design.manners = design.entities.iter().map(|entity| Manner::of(&design, entity)).collect();
        design.answers = answers(&design);
        let names = design.patterns.iter().map(|pattern| pattern.name.value.clone());
        design.parameters =
            names.map(|name| (name.clone(), crate::plan::parameters(&design, &name))).collect();
    }
    Report { findings, design: sound.then_some(CheckedDesign { design }) }
}

/// The entities that can be in the answer of each query pattern, by their number.
fn answers(design: &Design) -> BTreeMap<String, Vec<usize>> {
    let numbers = |query: &Query<'_>| {
        let answer = query.answer(design);
        let is_in = |entity: &Entity| answer.iter().any(|found| found.name.value == entity.name.value);
        let entities = design.entities.iter().enumerate();
        entities.filter(|(_, entity)| is_in(entity)).map(|(number, _)| number).collect()
    };
    let queries = design.patterns.iter().filter_map(|pattern| Query::read(design, pattern));
    queries.map(|query| (query.pattern.name.value.clone(), numbers(&query))).collect()
}

/// Takes out the findings that the design allows where they are.
fn without_allowed(design: &Design, findings: Vec<Finding>) -> Vec<Finding> {
    let mut used = vec![false; design.allowed.len()];
    let mut kept = Vec::new();
    for finding in findings {
        let mut is_allowed = false;
        for (allowed, used) in design.allowed.iter().zip(&mut used) {
            let places =
                std::iter::once(finding.span).chain(finding.related.iter().map(|related| related.span));
            let here = places.into_iter().any(|span| allowed.within.contains(span));
            if allowed.code.value == finding.rule.code && here && finding.severity() == Severity::Warning {
                *used = true;
                is_allowed = true;
            }
        }
        if !is_allowed {
            kept.push(finding);
        }
    }
    let unused = design.allowed.iter().zip(used).filter(|(_, used)| !used).map(|(allowed, _)| allowed);
    kept.extend(unused.map(unused_allow::finding));
    kept
}

/// Every rule, by code.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().copied()
}

/// The rule with this code, such as `D020`.
pub fn rule(code: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.code.eq_ignore_ascii_case(code))
}

/// What a rule is about, with an example: the text of `monotable check --explain D020`.
pub fn explain_rule(rule: &Rule) -> String {
    let source = Source::new("wrong.toml", rule.wrong);
    let report = check(&source);
    let shown = crate::diagnostic::text(&source, &report.findings);
    let Rule { code, title, why, wrong, right, .. } = rule;
    let (severity, family) = (rule.severity.name(), rule.family.name());
    let mut text =
        format!("{code}: {title}\n{severity}, {family}\n\n{why}\n\nWrong:\n\n{}\n", indented(wrong));
    text.extend([&indented(&shown), "\nRight:\n\n", &indented(right)]);
    text
}

fn indented(text: &str) -> String {
    let lines =
        text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") });
    lines.collect()
}

#[cfg(test)]
mod tests;
