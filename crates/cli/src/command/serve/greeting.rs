//! What the server says when it is ready: how to connect, and what to try.

use std::fmt::Write as _;
use std::io::IsTerminal;

use design::{CheckedDesign, ExampleKind, Given};
use dynamo::Value;

use super::Serve;
use super::designs::Designs;

impl Serve {
    /// The first line is for scripts; the rest for people, and for whoever started everything.
    pub(super) fn greeting(&self, endpoint: &str, is_open: bool, designs: Option<&Designs>) -> String {
        let first = format!("Monotable {} ready on {endpoint}", env!("CARGO_PKG_VERSION"));
        if !std::io::stdout().is_terminal() && !self.is_tour() {
            return first;
        }
        let data = if self.remote.is_meant() {
            "elsewhere".to_owned()
        } else if self.in_memory {
            "in memory, gone when the server stops".to_owned()
        } else {
            self.directory().display().to_string()
        };
        let (keys, environment, user) = if is_open {
            ("any (none are configured)", "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local ", "")
        } else {
            ("verified; use a configured access key", "", " -u ACCESS_KEY:SECRET")
        };
        let region = &self.region;
        let mut text = format!(
            "{first}\n\n  endpoint     {endpoint}\n  region       {region}\n  credentials  {keys}\n  data         {data}\n"
        );
        if let Some(designs) = designs {
            text.push_str("\nDesigns (open in a browser; add /openapi.json for clients):\n");
            for design in designs.all() {
                let _ = writeln!(text, "  {endpoint}/v1/{:<12}  {}", design.name, design.about);
            }
            text.push_str("\nTry them:\n");
            for design in designs.all() {
                if let Some(request) = question(design) {
                    let _ = writeln!(text, "  curl{user} '{endpoint}/v1/{}/{request}'", design.name);
                }
            }
            if let Some(command) = designs.all().find_map(|design| deed(design, endpoint, user)) {
                let _ = writeln!(text, "\nDo something:\n{command}");
            }
        }
        if self.remote.is_meant() {
            return text;
        }
        let _ = write!(
            text,
            "\nThe same tables with any AWS SDK:\n  {environment}AWS_REGION={region} \\\n    aws dynamodb list-tables --endpoint-url {endpoint}\n"
        );
        text
    }
}

/// A pattern with the values of its example.
fn question(design: &CheckedDesign) -> Option<String> {
    design.examples.iter().find_map(|example| {
        let ExampleKind::Pattern(pattern) = &example.kind else { return None };
        let given = example.with.iter().map(|entry| match &entry.value.value {
            Given::Value(Value::S(text)) if is_plain(text) => Some(format!("{}={text}", entry.name.value)),
            Given::Value(Value::N(number)) => Some(format!("{}={number}", entry.name.value)),
            _ => None,
        });
        let given = given.collect::<Option<Vec<_>>>()?;
        Some(format!("patterns/{}?{}", pattern.value, given.join("&")))
    })
}

/// Texts that need no encoding in a query.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "-._~".contains(c))
}

/// An operation with the values of its example.
fn deed(design: &CheckedDesign, endpoint: &str, user: &str) -> Option<String> {
    design.examples.iter().filter(|example| example.fails.is_none()).find_map(|example| {
        let ExampleKind::Operation(operation) = &example.kind else { return None };
        let members = example.with.iter().map(|entry| match &entry.value.value {
            Given::Value(value) => Some((entry.name.value.clone(), value.clone())),
            _ => None,
        });
        let body = service::value_json(&Value::M(members.collect::<Option<_>>()?));
        Some(format!(
            "  curl{user} '{endpoint}/v1/{}/operations/{}' -H 'content-type: application/json' \\\n    -d '{}'",
            design.name,
            operation.value,
            body.replace('\'', "'\\''")
        ))
    })
}
