//! Cursors: where a page ended, signed, so that only what this service gave out is taken back.
//!
//! Always true: a cursor works only with the design, pattern and parameters it was made for. Its content (keys of the last items) is
//! not secret from whoever got those items.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dynamo::{Item, Value};
use ring::hmac;

use crate::refusal::Refusal;

const TAG_BYTES: usize = 32;

/// Where each stream of a page ended: after the item with this key; none for before its first item, empty for after its last.
pub(crate) type Positions = Vec<Option<Item>>;

/// What a cursor belongs to.
pub(crate) struct Belongs<'a> {
    pub(crate) secret: &'a [u8; 32],
    pub(crate) design: &'a str,
    pub(crate) pattern: &'a str,
    pub(crate) parameters: &'a Item,
}

impl Belongs<'_> {
    /// A cursor for these positions.
    pub(crate) fn seal(&self, positions: &Positions) -> String {
        let list = positions.iter().map(|position| position.clone().map_or(Value::Null, Value::M)).collect();
        let mut bytes = Vec::new();
        dynamo::write_value(&Value::L(list), &mut bytes);
        let tag = hmac::sign(&self.key(), &self.signed(&bytes));
        bytes.extend_from_slice(tag.as_ref());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The positions in a cursor, if it is one of ours for this.
    pub(crate) fn open(&self, cursor: &str) -> Result<Positions, Refusal> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| Refusal::Cursor)?;
        let (content, tag) =
            bytes.split_at_checked(bytes.len().saturating_sub(TAG_BYTES)).ok_or(Refusal::Cursor)?;
        hmac::verify(&self.key(), &self.signed(content), tag).map_err(|_| Refusal::Cursor)?;
        positions(content).ok_or(Refusal::Cursor)
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, self.secret)
    }

    /// Everything that is signed. Each part is preceded by its length, so that none can run into the next.
    fn signed(&self, content: &[u8]) -> Vec<u8> {
        let mut parameters = Vec::new();
        dynamo::write_item(self.parameters, &mut parameters);
        let parts = [b"cursor", self.design.as_bytes(), self.pattern.as_bytes(), &parameters, content];
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend_from_slice(&part.len().to_be_bytes());
            bytes.extend_from_slice(part);
        }
        bytes
    }
}

fn positions(content: &[u8]) -> Option<Positions> {
    // An item is the only text that is read by itself.
    let mut text = br#"{"p":"#.to_vec();
    text.extend_from_slice(content);
    text.push(b'}');
    let Ok(mut item) = dynamo::read_item(&text) else { return None };
    let Some(Value::L(list)) = item.remove("p") else { return None };
    let position = |value| match value {
        Value::Null => Some(None),
        Value::M(key) => Some(Some(key)),
        _ => None,
    };
    list.into_iter().map(position).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn belongs<'a>(pattern: &'a str, parameters: &'a Item) -> Belongs<'a> {
        Belongs { secret: &[7; 32], design: "shop", pattern, parameters }
    }

    #[test]
    fn a_cursor_opens_with_what_it_was_made_for_and_nothing_else() {
        let parameters = Item::from([("a".to_owned(), Value::from("1"))]);
        let positions =
            vec![None, Some(Item::from([("PK".to_owned(), Value::from("x"))])), Some(Item::new())];
        let cursor = belongs("orders", &parameters).seal(&positions);
        assert_eq!(belongs("orders", &parameters).open(&cursor), Ok(positions));
        let others = Item::from([("a".to_owned(), Value::from("2"))]);
        assert_eq!(belongs("orders", &others).open(&cursor), Err(Refusal::Cursor));
        assert_eq!(belongs("items", &parameters).open(&cursor), Err(Refusal::Cursor));
        let other = Belongs { secret: &[8; 32], ..belongs("orders", &parameters) };
        assert_eq!(other.open(&cursor), Err(Refusal::Cursor));
    }

    #[test]
    fn mangled_cursors_are_refused() {
        let parameters = Item::new();
        let cursor = belongs("orders", &parameters).seal(&vec![Some(Item::new())]);
        for at in 0..cursor.len() {
            let mut mangled = cursor.clone().into_bytes();
            mangled[at] = if mangled[at] == b'A' { b'B' } else { b'A' };
            let mangled = String::from_utf8(mangled).unwrap();
            assert_eq!(belongs("orders", &parameters).open(&mangled), Err(Refusal::Cursor), "{at}");
        }
        for text in ["", "!", "AAAA", &cursor[..cursor.len() - 1]] {
            assert_eq!(belongs("orders", &parameters).open(text), Err(Refusal::Cursor), "{text}");
        }
    }
}
