//! Findings as JSON, for editors and scripts: the files, each with its list, places counted from 1.

use serde_json::{Value, json};

use super::Finding;
use crate::source::{Source, Span};

/// The findings of several files as one JSON text.
pub fn json(files: &[(&Source, &[Finding])]) -> String {
    let files = files.iter().map(|(source, findings)| of_file(source, findings)).collect::<Vec<_>>();
    format!("{:#}\n", json!({ "files": files }))
}

fn of_file(source: &Source, findings: &[Finding]) -> Value {
    let list = findings.iter().map(|finding| of_finding(source, finding)).collect::<Vec<_>>();
    json!({ "file": source.name(), "findings": list })
}

fn of_finding(source: &Source, finding: &Finding) -> Value {
    let related = finding
        .related
        .iter()
        .map(|related| json!({ "label": related.label, "place": of_span(source, related.span) }))
        .collect::<Vec<_>>();
    json!({
        "code": finding.rule.code,
        "title": finding.rule.title,
        "family": finding.rule.family.name(),
        "severity": finding.severity().name(),
        "sentence": finding.sentence,
        "help": finding.help,
        "place": of_span(source, finding.span),
        "related": related,
    })
}

fn of_span(source: &Source, span: Span) -> Value {
    let start = source.place(span.start);
    let end = source.place(span.end);
    json!({ "line": start.line, "column": start.column, "endLine": end.line, "endColumn": end.column })
}
