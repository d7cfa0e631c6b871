//! What goes in comes out, and only what is new goes in again.

use monotable_backup::{Address, BackupError, Create, Destination, Keep, Restore, create, prune, restore};
use serde_json::json;

use crate::bench::{Bench, entries, key, make_table, put, quiet, run, transact};

fn filled(items: u64, size: usize) -> Bench {
    let bench = Bench::new();
    make_table(&bench.engine, "Orders");
    make_table(&bench.engine, "Gone");
    for number in 0..items {
        put(&bench.engine, "Orders", number, 1, size);
    }
    put(&bench.engine, "Gone", 1, 1, 100);
    transact(&bench.engine, &["Orders", "Gone"], "once");
    run(&bench.engine, "DeleteTable", json!({ "TableName": "Gone" }));
    let tags = json!([{ "Key": "team", "Value": "kefir" }]);
    let arn =
        run(&bench.engine, "DescribeTable", json!({ "TableName": "Orders" }))["Table"]["TableArn"].clone();
    run(&bench.engine, "TagResource", json!({ "ResourceArn": arn, "Tags": tags }));
    bench
}

#[test]
fn a_restored_database_is_the_same_and_can_be_used() {
    for key in [None, Some(key())] {
        let key = key.as_ref().map(|key| key as _);
        let bench = filled(300, 1000);
        let created = bench.back_up(key);
        let verified = bench.verify(key).unwrap();
        assert!(verified.is_good(), "{verified:?}");
        assert_eq!((verified.backups, verified.entries), (1, created.entries));

        let restored = bench.restore("restored", None, key).unwrap();
        assert_eq!((restored.entries, restored.commit), (created.entries, created.commit));
        let engine = bench.restored("restored");
        assert_eq!(entries(&engine), entries(&bench.engine));
        // The token is known; what was deleted is emptied; the index and the stream go on.
        transact(&engine, &["Orders"], "another");
        engine.keep_house().unwrap();
        put(&engine, "Orders", 9999, 1, 100);
        let by_day = json!({
            "TableName": "Orders",
            "IndexName": "ByDay",
            "KeyConditionExpression": "#day = :day",
            "ExpressionAttributeNames": { "#day": "day" },
            "ExpressionAttributeValues": { ":day": { "S": "day 3" } },
        });
        let found = run(&engine, "Query", by_day);
        assert_eq!(found["Count"], json!((0..300).filter(|number| number % 7 == 3).count() + 1));
    }
}

#[test]
fn a_second_backup_uploads_only_what_changed() {
    let bench = filled(8_000, 1000);
    let first = bench.back_up(None);
    assert!(first.chunks > 10 && first.new_chunks == first.chunks, "{first:?}");
    let same = bench.back_up(None);
    assert_eq!((same.new_chunks, same.chunks), (0, first.chunks), "nothing changed");

    let before = bench.files().len();
    put(&bench.engine, "Orders", 4_000, 2, 1000);
    let third = bench.back_up(None);
    // The item, its entries in two indexes' places, its stream record and counters.
    assert!((1..=6).contains(&third.new_chunks), "{third:?}");
    let after = bench.files();
    assert_eq!(after.len() as u64, before as u64 + third.new_chunks + 1, "chunks and a manifest");
    assert!(third.new_bytes < first.new_bytes / 2, "{} of {}", third.new_bytes, first.new_bytes);
    bench.restore("restored", None, None).unwrap();
    assert_eq!(entries(&bench.restored("restored")), entries(&bench.engine));
}

#[test]
fn the_chosen_backup_is_restored_and_a_full_one_mends_chunks() {
    let bench = filled(50, 100);
    let first = bench.back_up(None);
    let before = entries(&bench.engine);
    bench.clock.advance_seconds(60);
    put(&bench.engine, "Orders", 1, 2, 100);
    bench.back_up(None);
    let destination = bench.destination(None);
    let directory = bench.path("first");
    let work = Restore { directory: &directory, id: Some(&first.id), at_milliseconds: None };
    restore(&destination, work, &quiet).unwrap();
    assert_eq!(entries(&bench.restored("first")), before);
    bench.restore("early", Some(first.time_milliseconds + 1000), None).unwrap();
    assert_eq!(entries(&bench.restored("early")), before);
    let unknown = restore(&destination, Restore { id: Some("nothing"), ..work }, &quiet).unwrap_err();
    assert!(matches!(unknown, BackupError::UnknownId { .. }), "{unknown}");
    let too_early = bench.restore("never", Some(first.time_milliseconds - 1), None).unwrap_err();
    assert!(matches!(too_early, BackupError::TooEarly { .. }), "{too_early}");
    assert!(!bench.path("never").exists(), "nothing is begun that cannot be done");

    let chunk = bench.files().into_keys().find(|name| name.starts_with("chunks/")).unwrap();
    std::fs::write(bench.path("backups").join(chunk), "rubbish of another size").unwrap();
    assert!(!bench.verify(None).unwrap().is_good());
    let frozen = bench.engine.freeze().unwrap();
    let work = Create { frozen: &frozen, database: "a0b1", is_full: true };
    create(&destination, &work, &quiet).unwrap();
    prune(&destination, Keep::Newest(1), &quiet).unwrap();
    assert!(bench.verify(None).unwrap().is_good());
}

#[test]
fn an_existing_database_is_never_restored_over() {
    let bench = filled(5, 100);
    bench.back_up(None);
    let before = entries(&bench.engine);
    assert!(bench.restore("data", None, None).is_err(), "it is open");
    let Bench { folder, clock, engine } = bench;
    drop(engine);
    let address = Address::new(folder.path().join("backups").to_str().unwrap());
    let destination = Destination::open(&address, None).unwrap();
    let directory = folder.path().join("data");
    let work = Restore { directory: &directory, id: None, at_milliseconds: None };
    let refused = restore(&destination, work, &quiet).unwrap_err().to_string();
    assert!(refused.contains("holds a database already"), "{refused}");
    assert_eq!(entries(&crate::bench::open(&directory, &clock)), before);
}

#[test]
fn pruning_removes_what_only_old_backups_needed() {
    let bench = filled(2_000, 1000);
    for version in 0..4 {
        put(&bench.engine, "Orders", 77, version, 1000);
        bench.clock.advance_seconds(3600);
        bench.back_up(None);
    }
    let before = bench.files().len();
    let destination = bench.destination(None);
    let pruned = prune(&destination, Keep::Newest(2), &quiet).unwrap();
    assert_eq!((pruned.backups, pruned.left), (2, 2));
    assert!(pruned.chunks > 0 && pruned.bytes > 0, "{pruned:?}");
    assert_eq!(bench.files().len() as u64, before as u64 - pruned.chunks - 2);
    assert!(bench.verify(None).unwrap().is_good());
    // A moment between the two that are left needs the first of them.
    let since = crate::bench::START + 3 * 3_600_000 + 1;
    assert_eq!(prune(&destination, Keep::Since(since), &quiet).unwrap().backups, 0);
    let pruned = prune(&destination, Keep::Since(since + 3_600_000), &quiet).unwrap();
    assert_eq!((pruned.backups, pruned.left), (1, 1), "the newest stays whatever its age");
    bench.restore("restored", None, None).unwrap();
    assert_eq!(entries(&bench.restored("restored")), entries(&bench.engine));
}

#[test]
fn keys_are_needed_where_there_are_some_and_nowhere_else() {
    let bench = filled(5, 100);
    let (right, wrong) = (key(), seal::LocalKey::from_text(&"00".repeat(32), "a test").unwrap());
    assert!(matches!(bench.verify(None), Err(BackupError::NoBackup { .. })));
    bench.back_up(Some(&right));
    assert!(matches!(bench.verify(None), Err(BackupError::NeedsKey { .. })));
    assert!(matches!(bench.verify(Some(&wrong)), Err(BackupError::Key(_))));
    assert!(bench.verify(Some(&right)).unwrap().is_good());
    assert!(matches!(Destination::open_or_make(&bench.address(), None), Err(BackupError::NeedsKey { .. })));

    let plain = filled(5, 100);
    plain.back_up(None);
    let refused = Destination::open_or_make(&plain.address(), Some(&right)).err().unwrap();
    assert!(matches!(refused, BackupError::NotSealed { .. }), "{refused}");
    std::fs::remove_file(bench.path("backups/keys")).unwrap();
    let lost = bench.verify(Some(&right)).unwrap_err();
    assert!(lost.is_damage(), "{lost}");
}

#[test]
fn a_sealed_backup_tells_nothing() {
    const CANARY: &str = "canary-4711-wanders-by-night";
    let bench = Bench::new();
    make_table(&bench.engine, CANARY);
    bench.engine.start_shipping(1 << 20, 0).unwrap();
    let item = json!({ "pk": { "S": format!("{CANARY}-key") }, CANARY: { "S": format!("{CANARY}-value") } });
    let request = json!({ "TableName": CANARY, "Item": item });
    run(&bench.engine, "PutItem", request);
    let has_canary = |bench: &Bench| {
        bench.files().iter().any(|(name, bytes)| {
            name.contains("canary") || bytes.windows(CANARY.len()).any(|found| found == CANARY.as_bytes())
        })
    };
    bench.back_up(Some(&key()));
    assert!(!has_canary(&bench));
    std::fs::remove_dir_all(bench.path("backups")).unwrap();
    bench.back_up(None);
    assert!(has_canary(&bench), "the test would see one");
}

#[test]
fn two_do_not_work_in_one_place_at_once() {
    let bench = filled(5, 100);
    bench.back_up(None);
    let held = std::fs::File::options().write(true).open(bench.path("backups/.lock")).unwrap();
    held.lock().unwrap();
    let refused = prune(&bench.destination(None), Keep::Newest(1), &quiet).unwrap_err();
    assert!(matches!(refused, BackupError::Busy { .. }), "{refused}");
}

/// In a store that speaks like S3. Run by hand, with credentials in the environment, on a bucket that is there:
/// `MONOTABLE_TEST_S3=s3://bucket/path MONOTABLE_TEST_S3_ENDPOINT=http://127.0.0.1:5000 cargo test -p monotable-backup --test it object_store -- --ignored`
#[test]
#[ignore = "needs an object store"]
fn a_database_comes_back_from_an_object_store() {
    let Ok(text) = std::env::var("MONOTABLE_TEST_S3") else { return };
    let endpoint = std::env::var("MONOTABLE_TEST_S3_ENDPOINT").ok();
    let address = Address { endpoint, ..Address::new(text) };
    let key = key();
    let bench = filled(3_000, 1000);
    for round in 0..3 {
        let destination = Destination::open_or_make(&address, Some(&key)).unwrap();
        let frozen = bench.engine.freeze().unwrap();
        let work = Create { frozen: &frozen, database: "a0b1", is_full: false };
        let created = create(&destination, &work, &quiet).unwrap();
        println!("{created:?}");
        assert!(round == 0 || created.new_chunks < created.chunks);
        put(&bench.engine, "Orders", round, 2, 1000);
    }
    let shipping = monotable_backup::Shipper::start(
        bench.engine.clone(),
        address.clone(),
        Some(std::sync::Arc::new(crate::bench::key())),
        crate::shipping::settings(),
    )
    .unwrap();
    crate::shipping::wait_for(|| shipping.status().turns() > 0);
    put(&bench.engine, "Orders", 9, 3, 1000);
    drop(shipping);
    let destination = Destination::open(&address, Some(&key)).unwrap();
    let verified = monotable_backup::verify(&destination, None, &quiet).unwrap();
    assert!(verified.is_good(), "{verified:?}");
    let directory = bench.path("restored");
    restore(&destination, Restore { directory: &directory, id: None, at_milliseconds: None }, &quiet)
        .unwrap();
    assert_eq!(entries(&bench.restored("restored")), entries(&bench.engine));
    assert_eq!(prune(&destination, Keep::Newest(1), &quiet).unwrap().left, 1);
}
