//! A key that no element of this kind has.

use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::source::Placed;
use crate::suggest::nearest;

pub(crate) const RULE: Rule = Rule {
    code: "D002",
    title: "a key that means nothing here",
    family: Family::Unclear,
    severity: Severity::Error,
    why: "A key that is not known would be ignored, and what it was meant to say would silently not hold. \
          Most often it is misspelt.",
    wrong: "design = \"shop\"\n\n[table.Shop]\npartition-key = \"PK\"\nsort_key      = \"SK\"\n",
    right: "design = \"shop\"\n\n[table.Shop]\npartition-key = \"PK\"\nsort-key      = \"SK\"\n",
};

pub(crate) fn finding(key: &Placed<String>, what: &str, known: &[String]) -> Finding {
    let finding = Finding::new(&RULE, key.span, format!("{what} has no key `{}`", key.value));
    match nearest(&key.value, known.iter().map(String::as_str)) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => {
            let mut known = known.to_vec();
            known.sort_unstable();
            known.dedup();
            finding.help(format!("there are {}", known.join(", ")))
        }
    }
}
