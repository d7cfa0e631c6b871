//! An index that nobody writes or reads.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::PatternKind;

pub(crate) const RULE: Rule = Rule {
    code: "D045",
    title: "an index that is not used",
    family: Family::Incomplete,
    severity: Severity::Warning,
    why: "An index is paid for with every write. One that no entity writes is always empty, and one that no pattern reads answers nothing.",
    wrong: shop_with_index!(
        "[entity.Order]\nkey  = { PK = \"USER#{userId}\", SK = \"ORDER#{orderId}\" }\nGSI1 = { GSI1PK = \"ORDER#{orderId}\", GSI1SK = \"ORDER\" }\n\n[entity.Order.attributes]\nuserId  = \"key\"\norderId = \"ulid\"\n"
    ),
    right: shop_with_index!(
        "[entity.Order]\nkey  = { PK = \"USER#{userId}\", SK = \"ORDER#{orderId}\" }\nGSI1 = { GSI1PK = \"ORDER#{orderId}\", GSI1SK = \"ORDER\" }\n\n[entity.Order.attributes]\nuserId  = \"key\"\norderId = \"ulid\"\n\n\
         [pattern.order]\nindex = \"GSI1\"\nwhere = 'GSI1PK = \"ORDER#{orderId}\"'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let design = context.design;
    let mut findings = Vec::new();
    for index in &design.indexes {
        let name = &index.name.value;
        let written = design.entities.iter().any(|entity| entity.key_in(Some(name)).is_some());
        let read = design.patterns.iter().any(|pattern| {
            matches!(&pattern.kind, PatternKind::Query { index: Some(index), .. } if index.value == *name)
        });
        let (sentence, help) = match (written, read) {
            (true, true) => continue,
            // A pattern that reads an index nobody writes is reported as one that never matches.
            (false, true) => continue,
            (false, false) => (format!("no entity writes index `{name}`, and no pattern reads it"), "take it out"),
            (true, false) => (format!("no pattern reads index `{name}`"), "add the pattern it is for, or take it out"),
        };
        findings.push(Finding::new(&RULE, index.name.span, sentence).help(help));
    }
    findings
}
