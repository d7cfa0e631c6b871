//! Expressions with literals: `open = true and #at > 3` becomes an expression with its names and values.

use crate::json::{Json, Kept, Reader};
use crate::value;

/// Names and values that the expressions of one request use.
#[derive(Default)]
pub(crate) struct Substitutes {
    names: Vec<(String, Json)>,
    values: Vec<(String, Json)>,
}

impl Substitutes {
    /// The expression with `:v1`, `:v2` ... for its literals. `#name` stands for the attribute `name`.
    pub(crate) fn bind(&mut self, text: &str, kept: &Kept) -> Result<String, String> {
        let mut out = String::new();
        let mut at = 0;
        while let Some(character) = text[at..].chars().next() {
            let rest = &text[at..];
            let word_end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let is_literal = match character {
                '"' | '{' | '$' => true,
                '[' => !out.ends_with(|c: char| c.is_alphanumeric() || c == ']' || c == '_'),
                '-' => {
                    (out.ends_with(' ') || is_sign(&out))
                        && rest[1..].starts_with(|c: char| c.is_ascii_digit())
                }
                '0'..='9' => true,
                _ => matches!(&rest[..word_end], "true" | "false" | "null") || rest.starts_with("b\""),
            };
            if is_literal {
                let mut reader = Reader::new(rest, kept);
                let literal = reader.value()?;
                at += reader.position();
                let name = format!(":v{}", self.values.len() + 1);
                out.push_str(&name);
                self.values.push((name, value::value(&literal)?));
            } else if character == '[' {
                let end = rest.find(']').map_or(rest.len(), |end| end + 1);
                out.push_str(&rest[..end]);
                at += end;
            } else if character == '#' {
                let end = rest[1..]
                    .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .map_or(rest.len(), |end| end + 1);
                let (name, stands_for) = (&rest[..end], &rest[1..end]);
                if !self.names.iter().any(|(known, _)| known == name) {
                    self.names.push((name.to_owned(), Json::text(stands_for)));
                }
                out.push_str(name);
                at += end;
            } else {
                let end = if word_end > 0 { word_end } else { character.len_utf8() };
                out.push_str(&rest[..end]);
                at += end;
            }
        }
        Ok(out.trim().to_owned())
    }

    /// Adds the names and values to a request.
    pub(crate) fn add_to(self, request: &mut Json) {
        if !self.names.is_empty() {
            request.set("ExpressionAttributeNames", Json::Map(self.names));
        }
        if !self.values.is_empty() {
            request.set("ExpressionAttributeValues", Json::Map(self.values));
        }
    }
}

/// Whether a minus after this is the sign of a number.
fn is_sign(before: &str) -> bool {
    let before = before.trim_end();
    before.is_empty()
        || before.ends_with(['=', '<', '>', '(', ',', '+', '-'])
        || before.to_lowercase().ends_with(" and")
}
