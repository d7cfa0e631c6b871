//! Order-preserving keys: a key as bytes, so that comparing bytes compares keys.
//!
//! Always true: for two keys of one type, `a < b` exactly when `encode(a) < encode(b)`. A text or binary ends with
//! 00 00 and a 00 inside it becomes 00 FF; a number ends by itself. So no encoded key is a prefix of another, and keys of several
//! parts can be joined without one part running into the next.
//!
//! Path of a key: [`Value`] -> [`KeyValue`] (S, N or B; not empty; short enough) -> [`KeyValue::encode`] -> store.

use bytes::Bytes;

use crate::{Number, Shape, Value, ValueRef, ValueType};

/// The longest partition key, in bytes.
pub const PARTITION_KEY_BYTES_MAX: usize = 2048;
/// The longest sort key, in bytes.
pub const SORT_KEY_BYTES_MAX: usize = 1024;

/// The type of a key attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyType {
    /// String.
    S,
    /// Number.
    N,
    /// Binary.
    B,
}

impl KeyType {
    /// The type of values that such a key takes.
    pub fn value_type(self) -> ValueType {
        match self {
            KeyType::S => ValueType::S,
            KeyType::N => ValueType::N,
            KeyType::B => ValueType::B,
        }
    }

    /// The descriptor, such as `S`.
    pub fn name(self) -> &'static str {
        self.value_type().name()
    }

    /// The key type with this descriptor.
    pub fn from_name(name: &str) -> Option<KeyType> {
        [KeyType::S, KeyType::N, KeyType::B].into_iter().find(|kind| kind.name() == name)
    }
}

/// A value that can stand in a key, borrowed: a text, number or binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyValue<'a> {
    /// The bytes of a text: how it sorts and how long it is.
    S(&'a [u8]),
    /// Number.
    N(Number),
    /// Binary.
    B(&'a [u8]),
}

impl<'a> KeyValue<'a> {
    /// The value as a key value, if its type is one of the three.
    pub fn from_value(value: &'a Value) -> Option<KeyValue<'a>> {
        match value {
            Value::S(text) => Some(KeyValue::S(text.as_bytes())),
            Value::N(number) => Some(KeyValue::N(*number)),
            Value::B(bytes) => Some(KeyValue::B(bytes)),
            _ => None,
        }
    }

    /// The stored value as a key value, if its type is one of the three.
    pub fn from_stored(value: ValueRef<'a>) -> Option<KeyValue<'a>> {
        if let Some(text) = value.text_bytes() {
            return Some(KeyValue::S(text));
        }
        match value.shape() {
            Shape::N(number) => Some(KeyValue::N(number.to_number())),
            Shape::B(bytes) => Some(KeyValue::B(bytes)),
            _ => None,
        }
    }

    /// The type of the key value.
    pub fn key_type(self) -> KeyType {
        match self {
            KeyValue::S(_) => KeyType::S,
            KeyValue::N(_) => KeyType::N,
            KeyValue::B(_) => KeyType::B,
        }
    }

    /// The bytes that DynamoDB's limits on keys count.
    pub fn size_bytes(self) -> usize {
        match self {
            KeyValue::S(text) => text.len(),
            KeyValue::N(number) => number.size_bytes(),
            KeyValue::B(bytes) => bytes.len(),
        }
    }

    /// True for an empty text or binary, which no key may be.
    pub fn is_empty(self) -> bool {
        match self {
            KeyValue::S(text) => text.is_empty(),
            KeyValue::N(_) => false,
            KeyValue::B(bytes) => bytes.is_empty(),
        }
    }

    /// Appends the key's bytes.
    pub fn encode(self, bytes: &mut Vec<u8>) {
        match self {
            KeyValue::S(text) => encode_bytes(text, bytes),
            KeyValue::N(number) => number.encode(bytes),
            KeyValue::B(binary) => encode_bytes(binary, bytes),
        }
    }

    /// Appends the bytes with which every key that begins with this text or binary starts: its bytes without the end.
    pub fn encode_prefix(self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        self.encode(bytes);
        if !matches!(self, KeyValue::N(_)) {
            bytes.truncate(bytes.len().saturating_sub(TERMINATOR.len()).max(start));
        }
    }
}

/// What ends a text or binary.
const TERMINATOR: [u8; 2] = [0, 0];
/// What a zero byte inside becomes.
const ESCAPED_ZERO: [u8; 2] = [0, 0xFF];

fn encode_bytes(content: &[u8], bytes: &mut Vec<u8>) {
    // Most keys are without a zero, and searching for one is many times faster than splitting at each.
    if memchr::memchr(0, content).is_some() {
        for (number, part) in content.split(|byte| *byte == 0).enumerate() {
            if number > 0 {
                bytes.extend_from_slice(&ESCAPED_ZERO);
            }
            bytes.extend_from_slice(part);
        }
    } else {
        bytes.extend_from_slice(content);
    }
    bytes.extend_from_slice(&TERMINATOR);
}

/// Reads one key value of this type from the front of `bytes` and moves past it. `None` for bytes that
/// [`KeyValue::encode`] cannot have written.
pub fn take_key_value(key_type: KeyType, bytes: &mut &[u8]) -> Option<Value> {
    match key_type {
        KeyType::S => String::from_utf8(take_bytes(bytes)?).ok().map(Value::S),
        KeyType::B => take_bytes(bytes).map(|content| Value::B(Bytes::from(content))),
        KeyType::N => {
            let (number, length) = Number::decode(bytes)?;
            *bytes = bytes.get(length..)?;
            Some(Value::N(number))
        }
    }
}

fn take_bytes(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    loop {
        let zero = bytes.iter().position(|byte| *byte == 0)?;
        content.extend_from_slice(bytes.get(..zero)?);
        let marker = *bytes.get(zero + 1)?;
        *bytes = bytes.get(zero + 2..)?;
        match marker {
            0 => return Some(content),
            0xFF => content.push(0),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::any_number;
    use proptest::prelude::*;

    fn encoded(value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        KeyValue::from_value(value).unwrap().encode(&mut bytes);
        bytes
    }

    fn any_text() -> impl Strategy<Value = Value> {
        prop_oneof!["\\PC{0,12}", "[\\x00ab]{0,6}"].prop_map(Value::S)
    }

    fn any_binary() -> impl Strategy<Value = Value> {
        proptest::collection::vec(prop_oneof![Just(0_u8), Just(0xFF), any::<u8>()], 0..8)
            .prop_map(|bytes| Value::B(Bytes::from(bytes)))
    }

    fn order(left: &Value, right: &Value) -> std::cmp::Ordering {
        match (left, right) {
            (Value::S(left), Value::S(right)) => left.as_bytes().cmp(right.as_bytes()),
            (Value::N(left), Value::N(right)) => left.cmp(right),
            (Value::B(left), Value::B(right)) => left.cmp(right),
            _ => unreachable!("one type on both sides"),
        }
    }

    fn any_pair() -> impl Strategy<Value = (Value, Value)> {
        prop_oneof![
            (any_text(), any_text()),
            (any_binary(), any_binary()),
            (any_number().prop_map(Value::N), any_number().prop_map(Value::N)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn bytes_sort_as_keys_do((left, right) in any_pair()) {
            prop_assert_eq!(encoded(&left).cmp(&encoded(&right)), order(&left, &right));
        }

        #[test]
        fn no_key_is_a_prefix_of_another((left, right) in any_pair()) {
            prop_assert!(left == right || !encoded(&left).starts_with(&encoded(&right)));
        }

        #[test]
        fn keys_round_trip_whatever_follows((first, second) in any_pair()) {
            let key_type = KeyValue::from_value(&first).unwrap().key_type();
            let mut joined = encoded(&first);
            joined.extend(encoded(&second));
            let mut rest = &*joined;
            prop_assert_eq!(take_key_value(key_type, &mut rest), Some(first));
            prop_assert_eq!(take_key_value(key_type, &mut rest), Some(second));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn prefixes_match_exactly_the_keys_that_begin_so((value, prefix) in any_pair()) {
            let begins = match (&value, &prefix) {
                (Value::S(value), Value::S(prefix)) => value.starts_with(prefix.as_str()),
                (Value::B(value), Value::B(prefix)) => value.starts_with(prefix),
                _ => return Ok(()),
            };
            let mut start = Vec::new();
            KeyValue::from_value(&prefix).unwrap().encode_prefix(&mut start);
            prop_assert_eq!(encoded(&value).starts_with(&start), begins);
        }

        #[test]
        fn foreign_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            for key_type in [KeyType::S, KeyType::N, KeyType::B] {
                let _ = take_key_value(key_type, &mut &*bytes);
            }
        }
    }
}
