//! The item everything is measured with: 1 KB, two keys, two index keys.

use dynamo::{Item, Value};

/// Visits every number below `count` once, in an order that looks random.
pub fn shuffled(count: usize) -> impl Iterator<Item = usize> + Clone {
    let stride = (count / 2 + 1..).find(|stride| gcd(*stride, count) == 1).unwrap_or(1);
    (0..count).map(move |n| n * stride % count)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

pub fn partition(n: usize) -> String {
    format!("USER#{:08}", n / 20)
}

pub fn sort(n: usize) -> String {
    format!("ORDER#{n:010}")
}

/// Item number `n`; twenty share a partition.
pub fn item(n: usize) -> Item {
    let mut item = Item::from([
        ("pk".to_owned(), Value::from(partition(n))),
        ("sk".to_owned(), Value::from(sort(n))),
        ("gpk".to_owned(), Value::from(format!("STATUS#{:05}", n % 50_021))),
        ("gsk".to_owned(), Value::from(format!("2026-01-01T00:00:{n:09}"))),
        ("number".to_owned(), Value::from(i64::try_from(n).expect("small"))),
    ]);
    for attribute in 0..6 {
        // Text that compresses about as well as prose does.
        let text: String =
            (0..14).map(|word| format!("{:09x} ", (n * 31 + word * 7919 + attribute) & 0xF_FFFF)).collect();
        item.insert(format!("attribute{attribute}"), Value::from(text));
    }
    item
}

pub fn key(n: usize) -> Item {
    Item::from([("pk".to_owned(), Value::from(partition(n))), ("sk".to_owned(), Value::from(sort(n)))])
}
