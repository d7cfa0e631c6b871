//! Key bytes: whatever comes is refused or read, and what was read is written as the same bytes.
#![no_main]

use dynamo::{KeyType, KeyValue, take_key_value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for key_type in [KeyType::S, KeyType::N, KeyType::B] {
        let mut rest = bytes;
        let Some(value) = take_key_value(key_type, &mut rest) else { continue };
        let key = KeyValue::from_value(&value).expect("a key value was read");
        let mut written = Vec::new();
        key.encode(&mut written);
        let mut again = &*written;
        assert_eq!(take_key_value(key_type, &mut again), Some(value.clone()));
        assert!(again.is_empty());
    }
});
