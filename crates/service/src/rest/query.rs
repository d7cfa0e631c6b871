//! Query strings and paths: their parts, decoded.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::problem::ProblemDetails;

/// The parameters of a query string, in order.
pub(crate) fn parameters(query: Option<&str>) -> Result<Vec<(String, String)>, ProblemDetails> {
    let parts = query.unwrap_or_default().split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            match (decode(&name.replace('+', " ")), decode(&value.replace('+', " "))) {
                (Some(name), Some(value)) => Ok((name.into_owned(), value.into_owned())),
                _ => Err(ProblemDetails::bad_request(format!(
                    "`{part}` in the query is not UTF-8, percent-encoded"
                ))),
            }
        })
        .collect()
}

/// Undoes percent-encoding; none if it is broken, or what it encodes is no text.
pub(crate) fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.as_bytes().contains(&b'%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, tail @ ..] = tail else { return None };
        bytes.push(digit(*high)? << 4 | digit(*low)?);
        rest = tail;
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// A text as one segment of a path.
pub(crate) fn encode(text: &str) -> String {
    let mut path = String::with_capacity(text.len());
    encode_into(text, &mut path);
    path
}

/// The same, appended to a path.
pub(crate) fn encode_into(text: &str, path: &mut String) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if text.bytes().all(is_plain) {
        return path.push_str(text);
    }
    for byte in text.bytes() {
        if is_plain(byte) {
            path.push(char::from(byte));
        } else {
            let _ = write!(path, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_again() {
        for text in ["", "a b/c?", "käse#1", "100%", "%2F"] {
            assert_eq!(decode(&encode(text)).as_deref(), Some(text));
        }
        assert_eq!(decode("%zz"), None);
        assert_eq!(decode("%F"), None);
        assert_eq!(decode("%FF"), None);
    }

    #[test]
    fn parameters_come_in_order() {
        let all = parameters(Some("a=1&b=x+y&c&&a=%2F")).unwrap();
        let expected = [("a", "1"), ("b", "x y"), ("c", ""), ("a", "/")];
        assert_eq!(all, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
