//! Bad input: refused with 4xx, every problem named, and nothing changed.

use serde_json::{Value, json};

use super::world::World;

/// Everything in the tables, to be compared.
fn everything(world: &World) -> String {
    use dynamo::Reply;
    use dynamo::operation::{ListTables, Scan};
    let Ok(Reply::ListTables(tables)) = world.engine.run(ListTables::default().into()) else {
        panic!("no tables")
    };
    let mut all = Vec::new();
    for table in tables.table_names {
        let Ok(Reply::Scan(page)) =
            world.engine.run(Scan { table_name: Some(table), ..Scan::default() }.into())
        else {
            panic!("no scan")
        };
        for item in page.items.iter().flatten() {
            dynamo::write_stored_item(item, &mut all);
        }
    }
    String::from_utf8(all).unwrap()
}

fn names(problem: &Value) -> Vec<&str> {
    let mut names =
        problem["errors"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect::<Vec<_>>();
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn every_problem_is_named_and_nothing_is_changed() {
    let world = World::of("kefir");
    let before = everything(&world);
    let refused = world.post("Batch", json!({
        "userId": "a#b", "name": 7, "status": "lost", "waterVolumeMl": "much", "color": "red", "startTime": "yesterday",
        "temperatureC": 20, "targetHoursStage1": 48,
    }));
    refused.is_refused(400, "is missing");
    assert_eq!(
        names(&refused.body),
        ["color", "name", "startTime", "status", "sugarGrams", "userId", "waterVolumeMl"]
    );

    // Dots reach into maps of what is there; of what is made they are in no name.
    let dotted = world.post("Device", json!({
        "userId": "ada", "deviceId": "d", "platform": "ios", "pushToken": "t", "lastSeenAt": "2024-06-01T12:00:00.000Z", "deviceInfo.model": "m",
    }));
    dotted.is_refused(400, "deviceInfo.model is not an attribute of Device");

    let refused = world.tries("remind", json!({ "userId": "", "batchId": "x", "dueAt": 5, "extra": true }));
    refused.is_refused(400, "extra");
    assert_eq!(names(&refused.body), ["batchId", "dueAt", "extra", "message", "userId"]);

    let refused = world.answer(
        "upcoming-reminders",
        &[("userId", "ada"), ("from", "then"), ("until", "now"), ("limit", "0")],
    );
    refused.is_refused(400, "until is not a parameter");
    assert!(refused.text.contains("limit is not a whole number"), "{}", refused.text);

    let refused = world.patch(
        "Batch/ada/01HMZ100000000000000000001",
        json!({ "stage": 3, "createdAt": "2020-01-01T00:00:00.000Z", "nope": 1 }),
    );
    assert_eq!(refused.status, 400, "{refused:?}");
    world.patch("Batch/ada/01HMZ100000000000000000001", json!({})).is_refused(400, "nothing to change");
    world.patch("Batch/ada/01HMZ100000000000000000001", json!({ "name": null })).is_refused(400, "name");
    world
        .patch("Batch/ben/01HMZ100000000000000000001", json!({ "name": "mine now" }))
        .is_refused(404, "Batch");
    world.post("Batch", json!({ "userId": "ada", "batchId": "01HMZ100000000000000000001", "name": "again", "waterVolumeMl": 1, "sugarGrams": 1, "temperatureC": 1, "startTime": "2024-01-15T10:00:00.000Z", "targetHoursStage1": 1 }))
        .is_refused(409, "Batch");
    assert_eq!(everything(&world), before);
}

#[test]
fn keys_cannot_be_forged() {
    let world = World::of("stak-inbox");
    let before = everything(&world);
    for uid in ["ada#main", "#", "", "a#m#lrg5"] {
        let message = json!({ "tenant_key": "acme", "inbox_key": "main", "uids": [uid], "sender": "x", "message": { "title": "t", "body": "b" } });
        assert_eq!(world.tries("publish-to-users", message).status, 400, "{uid}");
        assert_eq!(
            world.answer("inbox", &[("tenant_key", "acme"), ("inbox_key", "main"), ("uid", uid)]).status,
            400,
            "{uid}"
        );
        let path =
            format!("entities/UserMessage/acme/{}/main/lrg51000000000000001", super::world::encode(uid));
        assert!((400..=404).contains(&world.get(&path).status), "{uid}");
    }
    let foreign =
        json!({ "tenant_key": "globex", "inbox_key": "main", "uid": "ada", "id": "lrg51000000000000001" });
    world.tries("read-message", foreign).is_refused(404, "UserMessage");
    assert_eq!(everything(&world), before, "another tenant's message is not there");
}

#[test]
fn oversized_lists_values_and_bodies_are_refused() {
    let world = World::of("stak-inbox");
    let before = everything(&world);
    let to = |uids: Vec<String>, body: String| json!({ "tenant_key": "acme", "inbox_key": "main", "uids": uids, "sender": "x", "message": { "title": "t", "body": body } });
    let many = (0..10_001).map(|number| format!("u{number}")).collect();
    world
        .tries("publish-to-users", to(many, "b".to_owned()))
        .is_refused(400, "uids has more than 10000 elements");
    let large = world.tries("publish-to-users", to(vec!["ada".to_owned()], "b".repeat(450_000)));
    assert!(large.status == 400 || large.status == 413, "{large:?}");
    let huge = world.tries("publish-to-users", to(vec!["ada".to_owned()], "b".repeat(5 << 20)));
    huge.is_refused(413, "too large");
    world
        .send("POST", "operations/publish-to-users", &[], Some(&"[".repeat(100_000)))
        .is_refused(400, "deeper");
    let long = "k".repeat(3000);
    assert_eq!(
        world.answer("inbox", &[("tenant_key", &long), ("inbox_key", "main"), ("uid", "ada")]).status,
        400
    );
    assert_eq!(everything(&world), before);
}

#[test]
fn cursors_are_good_for_their_pattern_and_parameters_only() {
    let world = World::of("stak-inbox");
    let ada = [("tenant_key", "acme"), ("inbox_key", "main"), ("uid", "ada"), ("limit", "1")];
    let ask = |pattern: &str, parameters: &[(&str, &str)], cursor: &str| {
        let mut parameters = parameters.to_vec();
        parameters.push(("cursor", cursor));
        world.answer(pattern, &parameters)
    };
    let cursor = world.answer("inbox", &ada).body["cursor"].as_str().unwrap().to_owned();
    assert_eq!(ask("inbox", &ada, &cursor).status, 200);
    ask("user-messages", &ada, &cursor).is_refused(400, "cursor");
    ask("inbox", &[("tenant_key", "acme"), ("inbox_key", "main"), ("uid", "ben")], &cursor)
        .is_refused(400, "cursor");
    for place in (0..cursor.len()).step_by(7) {
        let mut forged = cursor.clone().into_bytes();
        forged[place] = if forged[place] == b'A' { b'B' } else { b'A' };
        ask("inbox", &ada, std::str::from_utf8(&forged).unwrap()).is_refused(400, "cursor");
    }
    for nonsense in ["", "x", "AAAA", "é"] {
        ask("inbox", &ada, nonsense).is_refused(400, "cursor");
    }
}

#[test]
fn requests_that_mean_nothing_say_what_would() {
    let world = World::of("kefir");
    world.get("patterns/upcomming-reminders").is_refused(404, "Did you mean `upcoming-reminders`?");
    world.get("pattern/batches").is_refused(404, "Did you mean `patterns`?");
    world.send("GET", "/v1/kefyr", &[], None).is_refused(404, "Did you mean `kefir`?");
    world.get("entities/Batch/ada").is_refused(404, "…/entities/Batch/{userId}/{batchId}");
    let wrong = world.send("DELETE", "patterns/batches", &[], None);
    wrong.is_refused(405, "use one of GET");
    assert_eq!(wrong.header("allow"), Some("GET, HEAD, OPTIONS"));
    assert_eq!(world.send("OPTIONS", "entities/Batch", &[], None).header("allow"), Some("POST, OPTIONS"));
    world
        .send("POST", "operations/remind", &[("Content-Type", "text/plain")], Some("{}"))
        .is_refused(415, "text/plain");
    for (body, words) in
        [("{", "not JSON"), ("[]", "not a JSON object"), (r#"{"a":1,"a":1}"#, "twice"), ("\u{0}", "not JSON")]
    {
        world.send("POST", "operations/remind", &[], Some(body)).is_refused(400, words);
    }
    world
        .send("POST", "operations/remind", &[("Idempotency-Key", &"k".repeat(256))], Some("{}"))
        .is_refused(400, "Idempotency-Key");
    world
        .send("PATCH", "entities/User/ada", &[("If-Match", "\"1\"")], Some(r#"{"name":"A"}"#))
        .is_refused(400, "version");
    assert_eq!(world.get("entities/User/%FF").status, 400);
    assert_eq!(world.get("patterns/user?userId=%zz").status, 400);
}

#[test]
fn pages_and_documents_are_there() {
    let world = World::of("kefir");
    let page = world.get("");
    assert_eq!(page.status, 200);
    assert!(page.text.contains("<h3 id=\"upcoming-reminders\">"), "{}", page.text);
    assert!(!page.text.contains("<script"));
    let openapi = world.get("openapi.json").body;
    assert_eq!(openapi["openapi"], "3.1.0");
    assert!(openapi["paths"]["/v1/kefir/entities/Batch/{userId}/{batchId}"]["patch"].is_object());
    let index = world.send("GET", "/", &[], None).body;
    assert_eq!(index["designs"][0]["openapi"], "/v1/kefir/openapi.json");
    let index = world.send("GET", "/", &[("Accept", "text/html")], None);
    assert!(index.text.contains("<a href=\"/v1/kefir\">"), "{}", index.text);
}
