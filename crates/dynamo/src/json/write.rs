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
    write_text_bytes(text.as_bytes(), out);
}

/// The same for a text as its bytes.
pub fn write_text_bytes(text: &[u8], out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    write_escaped(text, out);
    out.push(b'"');
}

/// Appends the bytes of a text as they stand between the quotes of a JSON string.
pub(super) fn write_escaped(text: &[u8], out: &mut Vec<u8>) {
    if is_clean(text) {
        out.extend_from_slice(text);
        return;
    }
    let mut rest = text;
    while let Some((run, byte, tail)) = split_at_escape(rest) {
        out.extend_from_slice(run);
        write_escape(byte, out);
        rest = tail;
    }
    out.extend_from_slice(rest);
}

/// Whether nothing has to be escaped, as in most texts.
pub(super) fn is_clean(text: &[u8]) -> bool {
    is_clean_in_blocks::<32>(text)
        .or_else(|| is_clean_in_blocks::<16>(text))
        .or_else(|| is_clean_in_blocks::<8>(text))
        .unwrap_or_else(|| text.iter().all(|byte| escape_of(*byte) == 0))
}

/// The same, many bytes at a time; `None` for a text that is shorter than a block. The last block lies over the one before it, so that no byte is
/// looked at alone.
fn is_clean_in_blocks<const LENGTH: usize>(text: &[u8]) -> Option<bool> {
    let last = text.last_chunk::<LENGTH>()?;
    Some(!has_escape(last) && text.as_chunks::<LENGTH>().0.iter().all(|block| !has_escape(block)))
}

/// The bytes before the first one to escape, that one, and the rest. `None` when all can be copied.
fn split_at_escape(bytes: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let at = find_escape(bytes)?;
    let (run, rest) = bytes.split_at_checked(at)?;
    let (byte, tail) = rest.split_first()?;
    Some((run, *byte, tail))
}

/// Where the first byte to escape is. Most text has none, so many bytes are looked at together: without a branch for each, the compiler
/// compares a whole block at once.
fn find_escape(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<32>();
    let clean = blocks.iter().take_while(|block| !has_escape(block)).count() * 32;
    let tail = if clean == bytes.len() - rest.len() { rest } else { bytes.get(clean..)? };
    let (words, rest) = tail.as_chunks::<8>();
    let words = words.iter().take_while(|word| !has_escape(word)).count() * 8;
    let last = if words == tail.len() - rest.len() { rest } else { tail.get(words..)? };
    last.iter().position(|byte| escape_of(*byte) != 0).map(|at| clean + words + at)
}

/// True when one of the bytes is a control character, a quote or a backslash.
fn has_escape<const LENGTH: usize>(block: &[u8; LENGTH]) -> bool {
    let is_escaped = |byte: u8| u8::from(byte < 0x20) | u8::from(byte == b'"') | u8::from(byte == b'\\');
    block.iter().fold(0, |found, byte| found | is_escaped(*byte)) != 0
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
