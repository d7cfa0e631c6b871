//! An allowance that nothing needs.

use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::Allowed;

pub(crate) const RULE: Rule = Rule {
    code: "D048",
    title: "an allowance that nothing needs",
    family: Family::Incomplete,
    severity: Severity::Warning,
    why: "`allow` takes warnings out of the element that it stands in. One that takes nothing out hides the next mistake of its kind. Errors cannot be allowed.",
    wrong: shop!(
        "[entity.Order]\nallow = { D053 = \"few orders\" }\nkey   = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\n"
    ),
    right: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\n"
    ),
};

pub(crate) fn finding(allowed: &Allowed) -> Finding {
    let code = &allowed.code.value;
    let sentence = match super::rule(code) {
        Some(rule) if rule.severity == Severity::Error => format!("`{code}` is an error and cannot be allowed"),
        Some(_) => format!("there is nothing here that `{code}` would find"),
        None => format!("there is no rule `{code}`"),
    };
    Finding::new(&RULE, allowed.code.span, sentence).help("take it out")
}
