//! The file is not TOML.

use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::source::tree::NotToml;

pub(crate) const RULE: Rule = Rule {
    code: "D001",
    title: "the file is not TOML",
    family: Family::Unclear,
    severity: Severity::Error,
    why: "A design is a TOML file. Nothing else can be said about it before it can be read.",
    wrong: "design = shop\n",
    right: "design = \"shop\"\n",
};

pub(crate) fn finding(error: &NotToml) -> Finding {
    let message = error.message.lines().next().unwrap_or("it cannot be read");
    Finding::new(&RULE, error.span, format!("the file is not TOML: {message}"))
        .help("texts stand in quotes, tables in `[brackets]` or `{ braces }`; see https://toml.io")
}
