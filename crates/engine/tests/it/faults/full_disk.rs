//! A small disk that is really full: a file system in memory, mounted for the test. Where this process may not mount one, the
//! test says so and does nothing; the faults that are made up cover the rest.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use dynamo::operation::{GetItem, PutItem};
use dynamo::{ApiError, ErrorKind, Item, Value};
use monotable_engine::{Engine, Options};

use crate::crash::workload::{LEDGER, Place, TABLES};
use crate::crash::{ENCRYPTED, PLAIN, key_of};
use crate::requests::scan_all;
use crate::verify::verify_table;

/// A file system of its own, unmounted at the end.
struct SmallDisk {
    directory: tempfile::TempDir,
}

impl SmallDisk {
    fn mount(megabytes: usize) -> Option<SmallDisk> {
        let directory = tempfile::tempdir().unwrap();
        let size = format!("size={megabytes}m");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(directory.path());
        let is_mounted = mount.output().is_ok_and(|output| output.status.success());
        if !is_mounted {
            eprintln!("skipped: this process may not mount a file system");
        }
        is_mounted.then_some(SmallDisk { directory })
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.directory.path()).output();
    }
}

const BALLAST_BYTES: usize = 16 << 20;

#[test]
fn a_disk_below_its_reserve_refuses_writes_until_there_is_space_again() {
    fill(PLAIN, 8 << 20);
    fill(ENCRYPTED, 8 << 20);
}

#[test]
fn a_disk_filled_to_the_last_byte_refuses_writes_until_there_is_space_again() {
    fill(PLAIN, 0);
    fill(ENCRYPTED, 0);
}

fn fill(name: &str, reserve_bytes: u64) {
    let Some(disk) = SmallDisk::mount(48) else { return };
    let ballast = disk.path().join("ballast");
    std::fs::write(&ballast, vec![1; BALLAST_BYTES]).unwrap();
    let open = || {
        let path = disk.path().join(name);
        let key = key_of(&path);
        let options =
            Options { reserve_bytes, key, housekeeping: None, cache_bytes: 1 << 20, ..Options::default() };
        Engine::open(path, options).unwrap()
    };
    let engine = open();
    engine.create_table(TABLES[LEDGER].create()).unwrap();
    let (mut written, error) = write_until_refused(&engine, 0);
    assert!(written > 10, "{written} items, then {error}");
    assert_eq!(error.kind, ErrorKind::ServiceUnavailable, "{error}");
    for sort in 0..written {
        assert!(is_there(&engine, sort).unwrap(), "item {sort} of {written}");
    }
    std::fs::remove_file(&ballast).unwrap();
    let start = Instant::now();
    while put(&engine, written).is_err() {
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", engine.failure());
        std::thread::sleep(Duration::from_millis(50));
    }
    written += 1;
    let (more, _) = write_until_refused(&engine, written);
    written += more;
    drop(engine);

    let engine = open();
    let found = scan_all(&engine, TABLES[LEDGER].name, None).unwrap().len();
    // The write that was refused may have happened.
    assert!((written..=written + 1).contains(&found), "{found} items instead of {written}");
    for sort in 0..written {
        assert!(is_there(&engine, sort).unwrap(), "item {sort} of {written}");
    }
    verify_table(&engine, &TABLES[LEDGER]).unwrap();
}

/// How many items were written, and why not more.
fn write_until_refused(engine: &Engine, first: usize) -> (usize, ApiError) {
    for count in 0.. {
        if let Err(error) = put(engine, first + count) {
            return (count, error);
        }
    }
    unreachable!("a disk has an end")
}

fn place(sort: usize) -> Place {
    Place::new(LEDGER, "large", sort as u64)
}

fn put(engine: &Engine, sort: usize) -> Result<(), ApiError> {
    let mut item: Item = place(sort).key();
    item.insert("pad".to_owned(), Value::from("p".repeat(100_000)));
    let table_name = Some(TABLES[LEDGER].name.to_owned());
    engine.put_item(PutItem { table_name, item: Some(item.into()), ..PutItem::default() }).map(drop)
}

fn is_there(engine: &Engine, sort: usize) -> Result<bool, ApiError> {
    let table_name = Some(TABLES[LEDGER].name.to_owned());
    let reply =
        engine.get_item(GetItem { table_name, key: Some(place(sort).key()), ..GetItem::default() })?;
    Ok(reply.item.is_some())
}
