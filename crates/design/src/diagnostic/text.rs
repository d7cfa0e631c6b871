//! Findings as a person reads them: the sentence, the line with the place underlined, other places, help.

use std::fmt::Write as _;

use super::Finding;
use crate::source::{Source, Span};

/// All findings, each followed by an empty line; nothing if there are none.
pub fn text(source: &Source, findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        one(&mut out, source, finding);
    }
    out
}

fn one(out: &mut String, source: &Source, finding: &Finding) {
    let place = source.place(finding.span.start);
    let _ = writeln!(out, "{}[{}]: {}", finding.severity().name(), finding.rule.code, finding.sentence);
    let _ = writeln!(out, "  --> {}:{}:{}", source.name(), place.line, place.column);
    excerpt(out, source, finding.span, "");
    for related in &finding.related {
        excerpt(out, source, related.span, &related.label);
    }
    if !finding.help.is_empty() {
        let _ = writeln!(out, "  help: {}", finding.help);
    }
    out.push('\n');
}

/// A line of the design with the place underlined.
fn excerpt(out: &mut String, source: &Source, span: Span, label: &str) {
    let place = source.place(span.start);
    let line = source.line(place.line);
    let room = line.chars().count().saturating_sub(place.column - 1);
    let width = source.slice(span).lines().next().unwrap_or_default().chars().count().min(room).max(1);
    let indent =
        line.chars().take(place.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect::<String>();
    let number = place.line.to_string();
    let gutter = " ".repeat(number.len());
    let _ = writeln!(out, "  {number} | {line}");
    let underline = "^".repeat(width);
    let label = if label.is_empty() { String::new() } else { format!(" {label}") };
    let _ = writeln!(out, "  {gutter} | {indent}{underline}{label}");
}
