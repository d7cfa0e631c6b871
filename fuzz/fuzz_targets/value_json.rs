//! Items as DynamoDB JSON: whatever comes is read or refused, and what was read is written and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|json: &[u8]| {
    let Ok(item) = dynamo::read_item(json) else { return };
    let mut written = Vec::new();
    dynamo::write_item(&item, &mut written);
    assert_eq!(dynamo::read_item(&written).as_ref(), Ok(&item));
    let stored = dynamo::StoredItem::encode(&item);
    let mut from_stored = Vec::new();
    dynamo::write_stored_item(&stored, &mut from_stored);
    assert_eq!(from_stored, written);
    assert_eq!(stored.size_bytes(), dynamo::item_size_bytes(&item));
});
