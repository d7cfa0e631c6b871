//! Stored items: whatever bytes come are refused by the check, or read without a fault.
#![no_main]

use bytes::Bytes;
use dynamo::StoredItem;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let stored = StoredItem::from_bytes(Bytes::copy_from_slice(bytes));
    if stored.check().is_err() {
        return;
    }
    let item = stored.decode();
    assert_eq!(stored.size_bytes(), dynamo::item_size_bytes(&item));
    assert_eq!(StoredItem::encode(&item).decode(), item);
    for name in item.keys() {
        assert!(stored.get(name).is_some());
    }
});
