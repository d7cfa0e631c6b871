//! Something that a place where the design is to run cannot do.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Design, Projection, Target};
use crate::source::Span;

pub(crate) const RULE: Rule = Rule {
    code: "D060",
    title: "something that a target cannot do",
    family: Family::NotThere,
    severity: Severity::Error,
    why: "`runs-on` names the places where the design is to run. ScyllaDB Alternator speaks DynamoDB's protocol but has no transactions, no point-in-time recovery and no \
          index keys of several attributes, and it carries every attribute in every index.",
    wrong: concat!(
        "design  = \"shop\"\nruns-on = [\"alternator\"]\n\n[table.Shop]\npartition-key = \"PK\"\nsort-key      = \"SK\"\n\n",
        "[entity.User]\nkey = { PK = \"USER#{userId}\", SK = \"USER\" }\n\n[entity.User.attributes]\nuserId = \"key\"\nemail  = \"key\"\n\n",
        "[entity.Email]\ncopy-of    = \"User\"\nunique     = true\nkey        = { PK = \"EMAIL#{email}\", SK = \"EMAIL\" }\nattributes = [\"userId\"]\n"
    ),
    right: concat!(
        "design  = \"shop\"\nruns-on = [\"embedded\", \"dynamodb\"]\n\n[table.Shop]\npartition-key = \"PK\"\nsort-key      = \"SK\"\n\n",
        "[entity.User]\nkey = { PK = \"USER#{userId}\", SK = \"USER\" }\n\n[entity.User.attributes]\nuserId = \"key\"\nemail  = \"key\"\n\n",
        "[entity.Email]\ncopy-of    = \"User\"\nunique     = true\nkey        = { PK = \"EMAIL#{email}\", SK = \"EMAIL\" }\nattributes = [\"userId\"]\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for target in context.design.runs_on.iter().filter(|target| target.value == Target::Alternator) {
        for (span, what) in missing_on_alternator(context.design) {
            let sentence = format!("{what}, and alternator cannot");
            findings.push(
                Finding::new(&RULE, span, sentence)
                    .help("take \"alternator\" out of `runs-on`, or do without")
                    .related(target.span, "the target"),
            );
        }
    }
    findings
}

fn missing_on_alternator(design: &Design) -> Vec<(Span, String)> {
    let mut missing = Vec::new();
    for table in &design.tables {
        if let Some(recovery) = table.point_in_time_recovery.as_ref().filter(|recovery| recovery.value) {
            missing.push((recovery.span, format!("table `{}` needs point-in-time recovery", table.name.value)));
        }
    }
    for index in &design.indexes {
        if index.partition_key.len() > 1 || index.sort_key.len() > 1 {
            missing.push((index.name.span, format!("index `{}` has keys of several attributes", index.name.value)));
        }
        if index.projection != Projection::All {
            missing.push((index.name.span, format!("index `{}` has a projection", index.name.value)));
        }
    }
    for entity in &design.entities {
        if entity.copy.is_some() {
            missing.push((entity.name.span, format!("copy `{}` needs transactions", entity.name.value)));
        }
        for counter in entity.counters.iter().filter(|counter| !counter.eventual) {
            missing.push((counter.span, format!("counter `{}` needs transactions", counter.attribute.value)));
        }
    }
    for operation in design.operations.iter().filter(|operation| operation.steps.len() > 1) {
        missing.push((operation.name.span, format!("operation `{}` needs a transaction", operation.name.value)));
    }
    missing
}
