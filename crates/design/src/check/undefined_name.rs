//! A name that means nothing.

use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::source::Placed;
use crate::suggest::nearest;

pub(crate) const RULE: Rule = Rule {
    code: "D005",
    title: "a name that is not defined",
    family: Family::Unclear,
    severity: Severity::Error,
    why: "What a key, condition, step or example names must exist. A handler that looks for an attribute that no item has \
          does nothing, for ever, without an error.",
    wrong: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\n\n[entity.Order.attributes]\norderID = \"ulid\"\n"
    ),
    right: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\n"
    ),
};

/// How many names are listed when none is near.
const LISTED_MAX: usize = 12;

/// No `kind` of this name exists; `of` says where it was looked for, and may be empty.
pub(crate) fn finding(name: &Placed<String>, kind: &str, of: &str, known: &[&str]) -> Finding {
    let of = if of.is_empty() { String::new() } else { format!(" {of}") };
    let finding = Finding::new(&RULE, name.span, format!("there is no {kind} `{}`{of}", name.value));
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    match nearest(&name.value, known.iter().copied()) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None if known.is_empty() => finding.help(format!("declare {article} {kind} `{}`", name.value)),
        None => {
            let some = known.iter().take(LISTED_MAX).copied().collect::<Vec<_>>().join(", ");
            let more = if known.len() > LISTED_MAX { ", …" } else { "" };
            finding.help(format!("there are {some}{more}"))
        }
    }
}

/// The key of `target` has a slot for which `source` has no attribute of the same name.
pub(crate) fn unmapped(slot: &Placed<String>, target: &str, source: &str) -> Finding {
    let sentence = format!("entity `{source}` has no attribute `{}`, which the key of `{target}` needs", slot.value);
    Finding::new(&RULE, slot.span, sentence)
        .help(format!("say which attribute has its value: by = {{ {} = \"…\" }}", slot.value))
}

/// A step does not say a part of the key of its item.
pub(crate) fn key_not_given(slot: &Placed<String>, entity: &str) -> Finding {
    let sentence = format!("the step does not say `{}`, which the key of `{entity}` needs", slot.value);
    Finding::new(&RULE, slot.span, sentence)
        .help(format!("add an input `{0}`, or key = {{ {0} = \"{{…}}\" }}", slot.value))
}
