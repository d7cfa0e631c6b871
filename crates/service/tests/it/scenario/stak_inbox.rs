//! Stak: tenants with inboxes, messages for users and for everyone, read exactly once, counted without counting.

use serde_json::{Value, json};

use super::world::{World, all};

stories! { "stak-inbox":
    a_user_called_like_the_public_is_a_user,
    a_message_is_read_exactly_once_however_many_try,
    a_tenant_is_set_up_with_its_inboxes,
    messages_live_as_long_as_message_inbox_or_tenant_say,
    the_inbox_is_own_and_public_messages_by_time_with_what_was_read,
    paging_is_stable_while_messages_come_and_are_read,
    counts_follow_everything_that_happens,
    ; not on DynamoDB Local:
    a_message_to_many_is_published_once_whatever_happens_on_the_way,
    expiry_takes_messages_and_receipts_out_of_every_count,
}

const ADA: [(&str, &str); 3] = [("tenant_key", "acme"), ("inbox_key", "main"), ("uid", "ada")];
const EVERYONE: [(&str, &str); 2] = [("tenant_key", "acme"), ("inbox_key", "main")];

fn with(mut value: Value, more: Value) -> Value {
    value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    value
}

fn to(uids: &[&str], title: &str) -> Value {
    json!({ "tenant_key": "acme", "inbox_key": "main", "uids": uids, "sender": "billing", "taxonomy": { "category": "invoices" }, "message": { "title": title, "body": { "amount": 12.50 } } })
}

fn reads(uid: &str, id: &str) -> Value {
    json!({ "tenant_key": "acme", "inbox_key": "main", "uid": uid, "id": id })
}

fn a_tenant_is_set_up_with_its_inboxes(world: &World) {
    world.makes("TenantSettings", json!({ "tenant_key": "globex", "title": "Globex", "ttl": "30d" }));
    world.makes("InboxConfig", json!({ "tenant_key": "globex", "inbox_key": "a", "title": "First" }));
    world.makes(
        "InboxConfig",
        json!({ "tenant_key": "globex", "inbox_key": "b", "title": "Second", "ttl": { "default": "7d" } }),
    );
    assert_eq!(world.ask("tenant-settings", &[("tenant_key", "globex")])[0]["title"], "Globex");
    assert_eq!(
        world.ask("inbox-config", &[("tenant_key", "globex"), ("inbox_key", "b")])[0]["ttl"]["default"],
        "7d"
    );
    assert_eq!(all(&world.ask("inboxes", &[("tenant_key", "globex")]), "inbox_key"), ["a", "b"]);
    let changed = world.patch("InboxConfig/globex/a", json!({ "title": "First of all", "uid": "root" })).body;
    assert_eq!(changed["title"], "First of all");
    assert_eq!(
        all(&world.ask("inboxes", &[("tenant_key", "acme")]), "inbox_key"),
        ["main"],
        "tenants do not mix"
    );
}

fn messages_live_as_long_as_message_inbox_or_tenant_say(world: &World) {
    let now = 1_717_243_200;
    let day = 24 * 60 * 60;
    let expires =
        |input: Value, operation: &str| world.does(operation, input)[0]["expiredat"].as_i64().unwrap();
    assert_eq!(expires(to(&["ada"], "by inbox"), "publish-to-users"), now + 60 * day);
    let public = json!({ "tenant_key": "acme", "inbox_key": "main", "sender": "office", "message": { "title": "t", "body": "b" } });
    assert_eq!(expires(public.clone(), "publish-to-everyone"), now + 30 * day);
    assert_eq!(
        expires(with(public.clone(), json!({ "expiredat": now + 5 })), "publish-to-everyone"),
        now + 5
    );
    assert_eq!(
        expires(with(public.clone(), json!({ "inbox_key": "other" })), "publish-to-everyone"),
        now + 90 * day,
        "by tenant"
    );
    assert_eq!(
        expires(with(public, json!({ "tenant_key": "nobody" })), "publish-to-everyone"),
        now + 90 * day,
        "by the design"
    );
}

fn the_inbox_is_own_and_public_messages_by_time_with_what_was_read(world: &World) {
    let inbox = world.ask("inbox", &ADA);
    assert_eq!(all(&inbox, "_entity"), ["PublicMessage", "UserMessage", "PublicMessage", "UserMessage"]);
    let read = inbox.iter().map(|message| message.get("readat").is_some()).collect::<Vec<_>>();
    assert_eq!(read, [false, true, true, false]);

    world.clock.advance_milliseconds(5);
    let sent = world.does("publish-to-users", to(&["ada", "ben"], "Reminder"));
    let ids = all(&sent, "id");
    assert_eq!(ids[0], ids[1], "users who get one broadcast share its id");
    assert_eq!(world.ask("inbox", &ADA)[0]["message"]["title"], "Reminder", "newest first");
    assert_eq!(world.ask("user-messages", &ADA).len(), 4, "and the receipt");
    assert_eq!(world.ask("public-messages", &EVERYONE).len(), 2);

    // Page by page it is the same inbox, each message once.
    let whole = world.ask("inbox", &ADA);
    let limited = [&ADA[..], &[("limit", "2")]].concat();
    let paged = world.pages("inbox", &limited, |_| {}).concat();
    assert_eq!(paged, whole);
}

fn paging_is_stable_while_messages_come_and_are_read(world: &World) {
    let before = world.ask("inbox", &ADA);
    let limited = [&ADA[..], &[("limit", "1")]].concat();
    let pages = world.pages("inbox", &limited, |page| {
        world.clock.advance_milliseconds(5);
        if page == 1 {
            world.does("publish-to-users", to(&["ada"], "Too late for these pages"));
            world.does("read-message", reads("ada", "lrg51000000000000001"));
        }
    });
    let seen = pages.concat();
    assert_eq!(all(&seen, "id"), all(&before, "id"), "nothing twice, nothing left out");
    let last = seen.iter().find(|message| message["id"] == "lrg51000000000000001").unwrap();
    assert!(last.get("readat").is_some(), "what was read meanwhile is read: {last}");
    assert_eq!(world.ask("inbox", &ADA)[0]["message"]["title"], "Too late for these pages");
}

fn a_message_is_read_exactly_once_however_many_try(world: &World) {
    let reading = |number: u32| {
        let (operation, id) = if number.is_multiple_of(2) {
            ("read-message", "lrg51000000000000001")
        } else {
            ("read-public-message", "lrg54000000000000004")
        };
        world.tries(operation, reads("ada", id)).status
    };
    let mut statuses: Vec<u16> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|number| scope.spawn(move || reading(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![200, 200], vec![409; 14]].concat());
    let counts = &world.ask("user-counts", &ADA)[0];
    assert_eq!((&counts["published"], &counts["read"]), (&json!(2), &json!(4)));
    world.assert_sound();
}

fn counts_follow_everything_that_happens(world: &World) {
    let unread = |world: &World| {
        let own = &world.ask("user-counts", &ADA)[0];
        let public = &world.ask("public-counts", &EVERYONE)[0];
        own["published"].as_i64().unwrap() + public["published"].as_i64().unwrap()
            - own["read"].as_i64().unwrap()
    };
    assert_eq!(unread(world), 2);
    world.does("publish-to-users", to(&["ada"], "one more"));
    assert_eq!(unread(world), 3);
    let news = json!({ "tenant_key": "acme", "inbox_key": "main", "sender": "office", "taxonomy": { "category": "news" }, "message": { "title": "News", "body": "Rain." } });
    let id = world.does("publish-to-everyone", news)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(unread(world), 4);
    let category = |pattern: &str, category: &str| {
        let mut parameters = if pattern == "category-counts" { ADA.to_vec() } else { EVERYONE.to_vec() };
        parameters.push(("category", category));
        world.ask(pattern, &parameters)[0].clone()
    };
    assert_eq!(category("public-category-counts", "news")["published"], 3);
    assert_eq!(category("category-counts", "invoices")["published"], 2);
    world.does("read-public-message", reads("ada", &id));
    assert_eq!(unread(world), 3);
    assert_eq!(category("category-counts", "news")["read"], 2);
    assert_eq!(world.ask("all-counts", &ADA).len(), 3, "totals, invoices and news");

    // Deleting a message takes it out of every count, read or not.
    assert_eq!(world.delete("UserMessage/acme/ada/main/lrg51000000000000001").status, 204);
    assert_eq!(unread(world), 2);
    assert_eq!(category("category-counts", "invoices")["published"], 1);
    world.assert_sound();
}

fn a_message_to_many_is_published_once_whatever_happens_on_the_way(world: &World) {
    let uids = (0..250).map(|number| format!("user{number}")).collect::<Vec<_>>();
    let uids = uids.iter().map(String::as_str).collect::<Vec<_>>();
    let body = to(&uids, "To all of you").to_string();
    let send = |body: &str| {
        world.send("POST", "operations/publish-to-users", &[("Idempotency-Key", "campaign-1")], Some(body))
    };
    let first = send(&body);
    assert_eq!((first.status, first.body["items"].as_array().unwrap().len()), (200, 100), "{}", first.text);
    // An answer names the first hundred; the others are there all the same.
    let again = send(&body);
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, Some("true")));
    send(&to(&["ada"], "Something else").to_string()).is_refused(422, "idempotency key");
    for uid in ["user0", "user99", "user100", "user249"] {
        let counts = world.ask("user-counts", &[("tenant_key", "acme"), ("inbox_key", "main"), ("uid", uid)]);
        assert_eq!(counts[0]["published"], 1, "{uid}");
    }
    world.assert_sound();
}

fn expiry_takes_messages_and_receipts_out_of_every_count(world: &World) {
    let soon = 1_717_243_200 + 3 * 24 * 60 * 60;
    world.does("publish-to-users", with(to(&["ada", "ben"], "Short-lived"), json!({ "expiredat": soon })));
    let news = json!({ "tenant_key": "acme", "inbox_key": "main", "sender": "office", "taxonomy": { "category": "news" }, "expiredat": soon, "message": { "title": "News", "body": "Rain." } });
    let id = world.does("publish-to-everyone", news)[0]["id"].as_str().unwrap().to_owned();
    world.does("read-public-message", reads("ada", &id));
    let counts = |world: &World| {
        let own = world.ask("user-counts", &ADA)[0].clone();
        let public = world.ask("public-counts", &EVERYONE)[0].clone();
        [&own["published"], &own["read"], &public["published"]].map(|count| count.as_i64().unwrap())
    };
    assert_eq!(counts(world), [3, 3, 3]);
    world.days_pass(4);
    world.things_happen();
    assert_eq!(counts(world), [2, 2, 2], "as before");
    let invoices = [&ADA[..], &[("category", "invoices")]].concat();
    assert_eq!(world.ask("category-counts", &invoices)[0]["published"], 1);
    assert_eq!(
        world.ask("public-category-counts", &[&EVERYONE[..], &[("category", "news")]].concat())[0]["published"],
        2
    );
    assert!(world.ask("inbox", &ADA).iter().all(|message| message["message"]["title"] != "Short-lived"));
    world.things_happen();
    assert_eq!(counts(world), [2, 2, 2], "once");
    world.assert_sound();
}

fn a_user_called_like_the_public_is_a_user(world: &World) {
    world.does("publish-to-users", to(&["$public"], "for you"));
    let user = [("tenant_key", "acme"), ("inbox_key", "main"), ("uid", "$public")];
    assert_eq!(all(&world.ask("user-messages", &user), "_entity"), ["UserMessage"]);
    assert_eq!(all(&world.ask("user-counts", &user), "_entity"), ["UserStats"]);
    assert_eq!(all(&world.ask("public-counts", &user[..2]), "_entity"), ["PublicStats"]);
    world.assert_sound();
}
