//! Writing JSON: text with its escapes, and the commas.

/// For each byte: 0 to copy it, `u` for a `\u00..` escape, otherwise the letter after the backslash.
const ESCAPES: [u8; 256] = {
    let mut escapes = [0_u8; 256];
    let mut control = 0;
    #[allow(clippy::indexing_slicing, reason = "every index is a byte")]
    {
        while control < 0x20 {
            escapes[control] = b'u';
            control += 1;
        }
        escapes[0x08] = b'b';
        escapes[0x09] = b't';
        escapes[0x0A] = b'n';
        escapes[0x0C] = b'f';
        escapes[0x0D] = b'r';
        escapes[b'"' as usize] = b'"';
        escapes[b'\\' as usize] = b'\\';
    }
    escapes
};

/// Appends the text as a JSON string.
pub fn write_text(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some((run, byte, tail)) = split_at_escape(rest) {
        out.extend_from_slice(run);
        write_escape(byte, out);
        rest = tail;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// The bytes before the first one to escape, that one, and the rest. `None` when all can be copied.
fn split_at_escape(bytes: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let at = bytes.iter().position(|byte| escape_of(*byte) != 0)?;
    let (run, rest) = bytes.split_at_checked(at)?;
    let (byte, tail) = rest.split_first()?;
    Some((run, *byte, tail))
}

fn escape_of(byte: u8) -> u8 {
    ESCAPES.get(usize::from(byte)).copied().unwrap_or(0)
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let letter = escape_of(byte);
    out.extend_from_slice(&[b'\\', letter]);
    if letter == b'u' {
        let digit = |value: u8| HEX.get(usize::from(value)).copied().unwrap_or(b'0');
        out.extend_from_slice(&[b'0', b'0', digit(byte >> 4), digit(byte & 0x0F)]);
    }
}

/// Appends a comma unless a list or structure was just opened.
pub(crate) fn write_comma(out: &mut Vec<u8>) {
    if !matches!(out.last(), Some(b'{' | b'[')) {
        out.push(b',');
    }
}
