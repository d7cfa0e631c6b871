//! Findings as SARIF 2.1.0, the format in which code hosts show them beside a change.

use serde_json::{Value, json};

use super::{Finding, Rule};
use crate::source::{Source, Span};

/// The findings of several files as one SARIF log.
pub fn sarif(files: &[(&Source, &[Finding])]) -> String {
    let rules = crate::check::rules().map(of_rule).collect::<Vec<_>>();
    let results = files
        .iter()
        .flat_map(|(source, findings)| findings.iter().map(|finding| of_finding(source, finding)))
        .collect::<Vec<_>>();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "monotable",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn of_rule(rule: &'static Rule) -> Value {
    json!({
        "id": rule.code,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": rule.why },
        "defaultConfiguration": { "level": rule.severity.name() },
        "properties": { "family": rule.family.name() },
    })
}

fn of_finding(source: &Source, finding: &Finding) -> Value {
    let message = if finding.help.is_empty() {
        finding.sentence.clone()
    } else {
        format!("{}. Help: {}", finding.sentence, finding.help)
    };
    let related = finding
        .related
        .iter()
        .enumerate()
        .map(|(id, related)| {
            let mut location = location(source, related.span);
            if let Some(object) = location.as_object_mut() {
                object.insert("id".to_owned(), json!(id));
                object.insert("message".to_owned(), json!({ "text": related.label }));
            }
            location
        })
        .collect::<Vec<_>>();
    json!({
        "ruleId": finding.rule.code,
        "level": finding.severity().name(),
        "message": { "text": message },
        "locations": [location(source, finding.span)],
        "relatedLocations": related,
    })
}

fn location(source: &Source, span: Span) -> Value {
    let start = source.place(span.start);
    let end = source.place(span.end);
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": source.name() },
        "region": {
            "startLine": start.line, "startColumn": start.column,
            "endLine": end.line, "endColumn": end.column,
        },
    } })
}
