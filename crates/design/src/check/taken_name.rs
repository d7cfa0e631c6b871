//! A name that means something else already.

use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::source::Placed;

pub(crate) const RULE: Rule = Rule {
    code: "D006",
    title: "a name that is taken",
    family: Family::Unclear,
    severity: Severity::Error,
    why: "An entity gives its key in an index under the index's name, beside words such as `key` and `attributes`. \
          An index with such a name could not be told from them.",
    wrong: "design = \"shop\"\n\n[table.Shop]\npartition-key = \"PK\"\n\n[index.key]\npartition-key = \"GSI1PK\"\n",
    right: "design = \"shop\"\n\n[table.Shop]\npartition-key = \"PK\"\n",
};

pub(crate) fn finding(name: &Placed<String>, kind: &str) -> Finding {
    Finding::new(&RULE, name.span, format!("an {kind} cannot be called `{}`", name.value))
        .help("give it another name, such as `GSI1`")
}
