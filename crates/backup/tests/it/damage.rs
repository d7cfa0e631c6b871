//! Backups whose files were altered, cut, removed or exchanged: that is noticed, or it changes nothing.
//!
//! `MONOTABLE_DAMAGES=10000` asks for more damages than a few hundred.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::Entry;
use monotable_backup::{BackupError, Verified};
use seal::MasterKey;

use crate::bench::{Bench, entries, key, make_table, put, transact};
use crate::random::Random;
use crate::shipping::ship_once;

const DAMAGES: usize = 100;
/// Restoring takes longer than verifying, and reads the same way: what was noticed is restored only so often.
const RESTORED_ONCE_IN: usize = 10;
const PAGE: usize = 4096;

/// Two backups and a log with several parts.
fn history(key: Option<Arc<dyn MasterKey>>) -> Bench {
    let bench = Bench::new();
    make_table(&bench.engine, "Orders");
    make_table(&bench.engine, "Stock");
    for number in 0..400 {
        put(&bench.engine, "Orders", number, 1, 1000);
    }
    for round in 0..4 {
        let settings = monotable_backup::ShipSettings {
            every: Duration::from_millis(2),
            ..monotable_backup::ShipSettings::default()
        };
        let address = bench.address();
        let shipper =
            monotable_backup::Shipper::start(bench.engine.clone(), address, key.clone(), settings).unwrap();
        for number in 0..5 {
            bench.clock.advance_seconds(1);
            put(&bench.engine, "Orders", round * 5 + number, 2, 1000);
            transact(&bench.engine, &["Orders", "Stock"], &format!("{round} {number}"));
            std::thread::sleep(Duration::from_millis(4));
        }
        crate::shipping::wait_for(|| shipper.status().turns() > 0);
        drop(shipper);
    }
    ship_once(&bench.engine, &bench.address(), key);
    bench
}

fn put_back(root: &Path, files: &BTreeMap<String, Vec<u8>>, damaged: &[&String]) {
    for name in damaged {
        std::fs::write(root.join(name), &files[*name]).unwrap();
    }
}

/// Damages something. Says what, and which files.
fn damage<'a>(
    random: &mut Random,
    root: &Path,
    files: &'a BTreeMap<String, Vec<u8>>,
) -> (String, Vec<&'a String>) {
    let names: Vec<&String> = files.keys().collect();
    // Chunks are many; each kind of file is to be hit.
    let folder = *random.pick(&["index", "backups/", "chunks/", "log/", ""]);
    let of_kind: Vec<&String> = names.iter().copied().filter(|name| name.starts_with(folder)).collect();
    let name = *random.pick(&of_kind);
    let mut bytes = files[name].clone();
    let place = random.below(bytes.len());
    let what = match random.below(6) {
        0 | 1 => {
            bytes[place] ^= 1 << random.below(8);
            format!("a bit of byte {place}")
        }
        2 => {
            let end = bytes.len().min((place / PAGE + 1) * PAGE);
            bytes[place / PAGE * PAGE..end].fill(0);
            format!("the page of byte {place} zeroed")
        }
        3 => {
            bytes.truncate(place);
            format!("cut at {place}")
        }
        4 => {
            std::fs::remove_file(root.join(name)).unwrap();
            return (format!("{name}: removed"), vec![name]);
        }
        _ => {
            let other = *random.pick(&names);
            std::fs::write(root.join(name), &files[other]).unwrap();
            std::fs::write(root.join(other), &files[name]).unwrap();
            return (format!("{name} and {other} exchanged"), vec![name, other]);
        }
    };
    std::fs::write(root.join(name), bytes).unwrap();
    (format!("{name}: {what}"), vec![name])
}

fn is_noticed(verified: &Result<Verified, BackupError>) -> bool {
    !matches!(verified, Ok(verified) if verified.is_good())
}

fn damages(count: usize, key: Option<Arc<dyn MasterKey>>) {
    let bench = history(key.clone());
    let key = key.as_deref();
    let root = bench.path("backups");
    let files = bench.files();
    assert!(files.keys().filter(|name| name.starts_with("log/")).count() > 5, "{:?}", files.keys());
    let whole = bench.verify(key).unwrap();
    assert!(whole.is_good(), "{whole:?}");
    let expected: Vec<Entry> = entries(&bench.engine);
    let seed = Random::new_seed();
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let (mut noticed, mut harmless) = (0_usize, 0_usize);
    for number in 0..count {
        let (what, names) = damage(&mut random, &root, &files);
        let verified = bench.verify(key);
        let is_noticed = is_noticed(&verified);
        if !is_noticed || random.once_in(RESTORED_ONCE_IN) {
            match bench.restore("restored", None, key) {
                Ok(_) => assert_eq!(entries(&bench.restored("restored")), expected, "{number}: {what}"),
                Err(error) => assert!(is_noticed, "{number}: {what} verifies, but {error}"),
            }
            let _ = std::fs::remove_dir_all(bench.path("restored"));
        }
        noticed += usize::from(is_noticed);
        harmless += usize::from(!is_noticed);
        put_back(&root, &files, &names);
    }
    println!("{noticed} noticed, {harmless} harmless");
    assert!(bench.verify(key).unwrap().is_good(), "all was put back");
    assert!(noticed > harmless, "{noticed} noticed, {harmless} harmless");
}

fn count() -> usize {
    std::env::var("MONOTABLE_DAMAGES").map_or(DAMAGES, |text| text.parse().unwrap())
}

#[test]
fn damage_of_a_plain_backup_is_noticed_or_harmless() {
    damages(count(), None);
}

#[test]
fn damage_of_a_sealed_backup_is_noticed_or_harmless() {
    damages(count(), Some(Arc::new(key())));
}
