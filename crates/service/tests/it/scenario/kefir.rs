//! Kefir: a batch from sugar water to the bottle, with its timeline, its reminders, and the export of everything.

use serde_json::json;

use super::world::{World, all};

stories! { "kefir":
    a_user_signs_up_and_starts_a_batch,
    a_batch_goes_through_its_stages_and_statuses,
    photos_and_notes_make_a_timeline,
    reminders_come_up_fall_due_and_are_sent_or_cancelled,
    devices_are_seen_and_everything_can_be_exported,
}

const GINGER: &str = "01HMZ100000000000000000001";
const RASPBERRY: &str = "01HMZ100000000000000000002";

fn a_user_signs_up_and_starts_a_batch(world: &World) {
    let eve = world.makes("User", json!({ "userId": "eve", "email": "eve@example.com", "preferences": { "notificationsEnabled": true, "defaultTemperatureC": 21.5 } }));
    assert_eq!(eve["createdAt"], "2024-06-01T12:00:00.000Z");
    assert_eq!(eve["createdAt"], eve["updatedAt"]);
    assert_eq!(world.ask("user", &[("userId", "eve")])[0]["preferences"]["defaultTemperatureC"], 21.5);

    let batch = world.makes("Batch", json!({ "userId": "eve", "name": "Plain", "waterVolumeMl": 1000, "sugarGrams": 60, "temperatureC": 21, "startTime": "2024-06-01T12:00:00.000Z", "targetHoursStage1": 48 }));
    assert_eq!((&batch["stage"], &batch["status"]), (&json!(1), &json!("active")), "defaults");
    let id = batch["batchId"].as_str().unwrap();
    assert_eq!(id.len(), 26, "an id was made");
    assert_eq!(world.ask("batches", &[("userId", "eve")]), std::slice::from_ref(&batch));
    assert_eq!(world.ask("batch", &[("batchId", id)]), std::slice::from_ref(&batch));
    assert_eq!(world.item(&format!("Batch/eve/{id}")), batch);

    world.clock.advance_seconds(60);
    let renamed =
        world.patch(&format!("Batch/eve/{id}"), json!({ "name": "Plain no more", "fruits": "fig" })).body;
    assert_eq!(renamed["name"], "Plain no more");
    assert_eq!(renamed["updatedAt"], "2024-06-01T12:01:00.000Z");
    assert_eq!(renamed["createdAt"], batch["createdAt"]);
    let without = world.patch(&format!("Batch/eve/{id}"), json!({ "fruits": null })).body;
    assert!(without.get("fruits").is_none(), "null takes an attribute away: {without}");

    assert_eq!(world.delete(&format!("Batch/eve/{id}")).status, 204);
    assert_eq!(world.get(&format!("entities/Batch/eve/{id}")).status, 404);
    assert!(world.ask("batch", &[("batchId", id)]).is_empty(), "gone from the index too");
    world.assert_sound();
}

fn a_batch_goes_through_its_stages_and_statuses(world: &World) {
    let active =
        |status: &str| all_ids(&world.ask("batches-by-status", &[("userId", "ada"), ("status", status)]));
    assert_eq!(active("active"), [GINGER]);

    let bottles = json!({ "userId": "ada", "batchId": GINGER, "bottleCount": 2, "bottleVolumeMl": 500 });
    let changed = world.does("start-second-stage", bottles.clone());
    assert_eq!(all(&changed, "_entity"), ["Batch", "BatchEvent"]);
    assert_eq!(changed[0]["startTimeStage2"], "2024-06-01T12:00:00.000Z");
    world.tries("start-second-stage", bottles).is_refused(409, "the batch is in its second stage already");

    world.clock.advance_seconds(60);
    world.does("change-status", json!({ "userId": "ada", "batchId": GINGER, "status": "in_fridge" }));
    assert!(active("active").is_empty());
    assert_eq!(active("in_fridge"), [GINGER]);
    world
        .tries("change-status", json!({ "userId": "ada", "batchId": GINGER, "status": "in_fridge" }))
        .is_refused(409, "the batch has this status already");
    world.clock.advance_seconds(60);
    world.does("change-status", json!({ "userId": "ada", "batchId": GINGER, "status": "archived" }));
    let archived = world.item(&format!("Batch/ada/{GINGER}"));
    assert_eq!(archived["archivedAt"], "2024-06-01T12:02:00.000Z");

    let events = world.ask("events", &[("batchId", GINGER)]);
    assert_eq!(all(&events, "type"), ["note", "photo", "stage_transition", "status_change", "status_change"]);
    assert_eq!((&events[4]["fromStatus"], &events[4]["toStatus"]), (&json!("in_fridge"), &json!("archived")));
    let newest = world.ask("latest-events", &[("batchId", GINGER), ("limit", "2")]);
    assert_eq!(all(&newest, "toStatus"), ["archived", "in_fridge"]);
    let since = world.ask("events-since", &[("batchId", GINGER), ("since", "2024-06-01T12:00:30.000Z")]);
    assert_eq!(since.len(), 2, "and no reminders: {since:?}");
    world.assert_sound();
}

fn photos_and_notes_make_a_timeline(world: &World) {
    world.makes("BatchEvent", json!({ "batchId": RASPBERRY, "type": "note", "note": "fizzy" }));
    world.makes(
        "BatchEvent",
        json!({ "batchId": RASPBERRY, "type": "photo", "photoUrl": "https://example.com/r.jpg" }),
    );
    let found = world.answer("batch-with-timeline", &[("batchId", RASPBERRY)]).body["parts"].clone();
    assert_eq!(found["batch"][0]["name"], "Raspberry");
    assert_eq!(found["events"].as_array().unwrap().len(), 2);
    assert_eq!(found["reminders"][0]["message"], "open a bottle");
    world
        .post("BatchEvent", json!({ "batchId": RASPBERRY, "type": "note", "note": "x".repeat(3001) }))
        .is_refused(400, "note has more than 3000 bytes");
}

fn reminders_come_up_fall_due_and_are_sent_or_cancelled(world: &World) {
    let due = |now: &str| all_reminders(&world.ask("due-reminders", &[("now", now)]));
    let remind = json!({ "userId": "ben", "batchId": GINGER, "message": "not yours", "dueAt": "2024-06-02T10:00:00.000Z" });
    world.tries("remind", remind).is_refused(409, "there is no such batch");

    let made = world.does("remind", json!({ "userId": "ada", "batchId": GINGER, "message": "into the fridge", "dueAt": "2024-06-02T10:00:00.000Z" }));
    let id = made[0]["reminderId"].as_str().unwrap().to_owned();
    let period =
        [("userId", "ada"), ("from", "2024-06-01T00:00:00.000Z"), ("to", "2024-06-08T00:00:00.000Z")];
    assert_eq!(all(&world.ask("upcoming-reminders", &period), "message"), ["into the fridge"]);
    assert_eq!(world.ask("reminders", &[("batchId", GINGER)]).len(), 2);

    assert_eq!(due("2024-06-01T12:00:00.000Z"), ["open a bottle", "taste it"], "over all users");
    assert_eq!(due("2024-06-02T10:00:00.000Z"), ["into the fridge", "open a bottle", "taste it"]);
    world.does("reminder-sent", json!({ "batchId": GINGER, "reminderId": id }));
    world
        .does("cancel-reminder", json!({ "batchId": RASPBERRY, "reminderId": "01HMZ600000000000000000002" }));
    assert_eq!(due("2024-06-02T10:00:00.000Z"), ["taste it"], "sent and cancelled ones have left the index");
    world
        .tries("cancel-reminder", json!({ "batchId": GINGER, "reminderId": id }))
        .is_refused(409, "the reminder is not pending");
    let sent = world.item(&format!("Reminder/{GINGER}/{id}"));
    assert_eq!((&sent["status"], &sent["sentAt"]), (&json!("sent"), &json!("2024-06-01T12:00:00.000Z")));
    world.assert_sound();
}

fn devices_are_seen_and_everything_can_be_exported(world: &World) {
    world.does(
        "seen-on-device",
        json!({ "userId": "ada", "deviceId": "tablet", "platform": "android", "pushToken": "t1" }),
    );
    world.clock.advance_seconds(1);
    world.does(
        "seen-on-device",
        json!({ "userId": "ada", "deviceId": "tablet", "platform": "android", "pushToken": "t2" }),
    );
    let tablet = world.ask("device", &[("userId", "ada"), ("deviceId", "tablet")]);
    assert_eq!(
        (&tablet[0]["pushToken"], &tablet[0]["createdAt"]),
        (&json!("t2"), &json!("2024-06-01T12:00:00.000Z"))
    );
    assert_eq!(tablet[0]["lastSeenAt"], "2024-06-01T12:00:01.000Z");
    assert_eq!(all(&world.ask("devices", &[("userId", "ada")]), "deviceId"), ["phone", "tablet"]);

    assert_eq!(world.ask("everything-of-user", &[("userId", "ada")]).len(), 5);
    let export = world.answer("export", &[("userId", "ada")]).body["parts"].clone();
    let count = |part: &str| export[part].as_array().unwrap().len();
    assert_eq!((count("account"), count("batches"), count("events"), count("reminders")), (5, 2, 2, 2));
    world.assert_sound();
}

fn all_ids(items: &[serde_json::Value]) -> Vec<String> {
    all(items, "batchId").into_iter().map(str::to_owned).collect()
}

fn all_reminders(items: &[serde_json::Value]) -> Vec<String> {
    let mut messages: Vec<_> = all(items, "message").into_iter().map(str::to_owned).collect();
    messages.sort();
    messages
}
