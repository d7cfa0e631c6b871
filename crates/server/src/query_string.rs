//! The query string of a request: its parameters, and percent-encoding as signatures need it.

use std::borrow::Cow;
use std::fmt::Write;

/// The parameters in the order in which they stand, decoded.
pub(crate) fn parameters(query: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    query.split('&').filter(|part| !part.is_empty()).map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (decode(name), decode(value))
    })
}

/// Undoes percent-encoding. What is not a byte in two hex digits stays as it is.
fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        match (first, tail) {
            (b'%', [high, low, tail @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                bytes.push(hex_digit(*high) << 4 | hex_digit(*low));
                rest = tail;
            }
            (b'+', _) => bytes.push(b' '),
            (other, _) => bytes.push(other),
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

/// Reads the hex digits of a SHA-256.
pub(crate) fn read_hex_32(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        if let [high, low] = pair {
            *byte = hex_digit(*high) << 4 | hex_digit(*low);
        }
    }
    Some(bytes)
}

/// Appends the hex digits of bytes.
pub(crate) fn write_hex(bytes: &[u8], text: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(DIGITS.get(usize::from(digit)).copied().unwrap_or(b'0').into());
        }
    }
}

/// Percent-encodes everything but the unreserved characters of RFC 3986 and, where told, the slash.
pub(crate) fn encode(text: &str, keep_slash: bool, encoded: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || (keep_slash && byte == b'/') {
            encoded.push(byte.into());
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        let all: Vec<_> = parameters("a=1&b=%2F%zz&c&&d=x+y").collect();
        let expected = [("a", "1"), ("b", "/%zz"), ("c", ""), ("d", "x y")];
        assert_eq!(all, expected.map(|(name, value)| (name.into(), value.into())));
    }

    #[test]
    fn hex_is_read_and_written() {
        let mut text = String::new();
        write_hex(&[0, 0xAB, 0xFF], &mut text);
        assert_eq!(text, "00abff");
        assert_eq!(read_hex_32(&"aB".repeat(32)), Some([0xAB; 32]));
        assert_eq!(read_hex_32(&"g".repeat(64)), None);
        assert_eq!(read_hex_32("ab"), None);
    }
}
