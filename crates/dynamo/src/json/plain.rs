//! Values as SDKs write nearly all of them: an object of one member, which is a text without escapes.
//!
//! Most of what a request says is such values, and each is five tokens to a reader of JSON. Here it is looked at as a whole. Whatever is not
//! exactly of this form is left to the reader, so what is refused, and in which words, is decided there alone.

use memchr::memchr;

use super::write::is_clean;

/// A value of one text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Plain<'j> {
    /// `{"S":"text"}`
    Text(&'j str),
    /// `{"N":"text"}`; the text may be no number.
    Number(&'j str),
}

/// The value at the beginning of a JSON text, and how many bytes it takes.
pub(super) fn value(json: &[u8]) -> Option<(Plain<'_>, usize)> {
    let [b'{', b'"', letter @ (b'S' | b'N'), b'"', b':', rest @ ..] = without_space(json) else {
        return None;
    };
    let [b'"', rest @ ..] = without_space(rest) else { return None };
    let (text, rest) = rest.split_at_checked(memchr(b'"', rest)?)?;
    let [b'"', b'}', rest @ ..] = rest else { return None };
    // A backslash is among what would have to be escaped, so the quote found is the one that ends the text.
    let text = std::str::from_utf8(text).ok().filter(|text| is_clean(text.as_bytes()))?;
    let plain = if *letter == b'S' { Plain::Text(text) } else { Plain::Number(text) };
    Some((plain, json.len() - rest.len()))
}

/// Some SDKs write a space behind each colon.
fn without_space(json: &[u8]) -> &[u8] {
    json.strip_prefix(b" ").unwrap_or(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_numbers_are_taken_as_sdks_write_them() {
        let long = "x".repeat(100);
        for text in ["", "a", "12.5", "ä→🙂", &long] {
            for space in ["", " "] {
                let written = |letter: char| format!("{space}{{\"{letter}\":{space}\"{text}\"}}");
                let (texts, numbers) = (written('S'), written('N'));
                let json = format!("{texts},{numbers}");
                assert_eq!(value(json.as_bytes()), Some((Plain::Text(text), texts.len())));
                assert_eq!(
                    value(&json.as_bytes()[texts.len() + 1..]),
                    Some((Plain::Number(text), numbers.len()))
                );
            }
        }
    }

    #[test]
    fn everything_else_is_left_to_the_reader() {
        let others = [
            r#"{"S":"a\"b"}"#,
            r#"{"S":"a\\"}"#,
            r#"{"S":"a\u0041"}"#,
            "{\"S\":\"a\tb\"}",
            r#"{"S":"a" }"#,
            r#"{"S":"a","N":"1"}"#,
            r#"{"S" :"a"}"#,
            r#"{  "S":"a"}"#,
            r#"{"S":1}"#,
            r#"{"S":null}"#,
            r#"{"B":"YQ=="}"#,
            r#"{"SS":["a"]}"#,
            r#""S""#,
            "",
        ];
        for json in others {
            assert_eq!(value(json.as_bytes()), None, "{json}");
        }
        assert_eq!(value(b"{\"S\":\"\xFF\"}"), None);
        let whole = br#"{"S":"abc"}"#;
        for length in 0..whole.len() {
            assert_eq!(value(&whole[..length]), None);
        }
    }
}
