//! Writes of entities: what is checked, what is made, what follows, what is never told.

use dynamo::{Number, Value};
use monotable_service::{Changes, Refusal, WriteOptions};

use crate::support::{assert_sound, item, seeded, texts};

fn once() -> WriteOptions {
    WriteOptions::default()
}

#[tokio::test]
async fn all_problems_come_at_once_and_nothing_changes() {
    let service = seeded("kefir").await;
    let given = texts([("userId", "a#b"), ("status", "lost"), ("color", "red")]);
    let Err(Refusal::Invalid(problems)) = service.create("Batch", given, once()).await else { panic!() };
    let names = problems.iter().map(|problem| problem.name.as_str()).collect::<Vec<_>>();
    for name in ["userId", "status", "color", "name"] {
        assert!(names.contains(&name), "{name}: {problems:?}");
    }
    assert_sound(&service).await;
}

#[tokio::test]
async fn a_created_item_is_answered_with_what_was_made_for_it() {
    let service = seeded("story-hub").await;
    let given = item([
        ("authorId", Value::from("ada")),
        ("title", Value::from("New")),
        ("synopsis", Value::from("…")),
        ("genre", Value::from("mystery")),
        ("ageRating", Value::from("12")),
    ]);
    let written = service.create("Story", given, once()).await.unwrap();
    let [story] = written.items.as_slice() else { panic!("{written:?}") };
    assert_eq!(story.name, "Story");
    assert_eq!(story.version, Some(Number::from(1_i64)));
    assert_eq!(story.item["authorName"], Value::from("Ada"));
    assert_eq!(story.item["createdAt"], Value::from("2024-06-01T12:00:00.000Z"));
    assert_eq!(story.item["status"], Value::from("DRAFT"));
    assert!(!story.item.contains_key("GSI1PK"));
    assert_sound(&service).await;
}

#[tokio::test]
async fn versions_refuse_what_others_have_changed() {
    let service = seeded("story-hub").await;
    let key = || texts([("storyId", "01HMZ700000000000000000001")]);
    let changes = |title: &str| Changes { set: texts([("title", title)]), remove: Vec::new() };
    let expecting = |version: i64| WriteOptions { expected_version: Some(Number::from(version)), ..once() };
    let written = service.update("Story", key(), changes("One"), expecting(1)).await.unwrap();
    assert_eq!(written.items[0].version, Some(Number::from(2_i64)));
    let refused = service.update("Story", key(), changes("Two"), expecting(1)).await;
    assert_eq!(refused, Err(Refusal::VersionMismatch { entity: "Story".to_owned() }));
    let refused = service.delete("Story", key(), expecting(1)).await;
    assert_eq!(refused, Err(Refusal::VersionMismatch { entity: "Story".to_owned() }));
    let story = service.get("Story", key(), true).await.unwrap().unwrap();
    assert_eq!(story.item["title"], Value::from("One"));
    assert_sound(&service).await;
}

#[tokio::test]
async fn unique_attributes_are_refused_by_name_and_freed_by_changes() {
    let service = seeded("wavy-blog").await;
    let user = |name: &str, email: &str| {
        texts([("UserID", "usr_9"), ("Username", name), ("Email", email), ("PasswordHash", "$2a$10$secret")])
    };
    let refused = service.create("User", user("mia", "jane@example.com"), once()).await;
    let taken = Refusal::Taken {
        constraint: "UserEmail".to_owned(),
        entity: "User".to_owned(),
        attributes: vec!["Email".to_owned()],
    };
    assert_eq!(refused, Err(taken));
    let refused = service.create("User", user("jane", "new@example.com"), once()).await;
    assert!(matches!(&refused, Err(Refusal::Exists { entity, .. }) if entity == "User"), "{refused:?}");
    let changes = Changes { set: texts([("Email", "jane@sea.example")]), remove: Vec::new() };
    service.update("User", texts([("Username", "jane")]), changes, once()).await.unwrap();
    service.create("User", user("mia", "jane@example.com"), once()).await.unwrap();
    assert_sound(&service).await;
}

#[tokio::test]
async fn secrets_are_never_answered() {
    let service = seeded("wavy-blog").await;
    let given = texts([
        ("UserID", "u"),
        ("Username", "mia"),
        ("Email", "m@x.example"),
        ("PasswordHash", "$2a$secret"),
    ]);
    let given_key = WriteOptions { idempotency_key: Some("k".to_owned()), ..once() };
    let written = service.create("User", given.clone(), given_key.clone()).await.unwrap();
    let repeated = service.create("User", given, given_key).await.unwrap();
    let got = service.get("User", texts([("Username", "mia")]), true).await.unwrap();
    let asked = service.ask("users", item([]), Default::default()).await.unwrap();
    let exported = service.export("users", item([])).await.unwrap();
    for shown in [
        format!("{written:?}"),
        format!("{repeated:?}"),
        format!("{got:?}"),
        format!("{asked:?}"),
        format!("{exported:?}"),
    ] {
        assert!(!shown.contains("PasswordHash") && !shown.contains("$2a$"), "{shown}");
    }
}

#[tokio::test]
async fn what_follows_from_others_cannot_be_given() {
    let service = seeded("story-hub").await;
    let key = || texts([("storyId", "01HMZ700000000000000000001")]);
    for (name, value) in [
        ("stats.totalUpvotes", Value::from(99)),
        ("stats", Value::M(item([]))),
        ("authorName", Value::from("Eve")),
        ("version", Value::from(7)),
        ("createdAt", Value::from("2024-01-01T00:00:00.000Z")),
        ("color", Value::from("red")),
    ] {
        let changes = Changes { set: item([(name, value)]), remove: Vec::new() };
        let refused = service.update("Story", key(), changes, once()).await;
        assert!(matches!(refused, Err(Refusal::Invalid(_))), "{name}: {refused:?}");
    }
    let refused = service.create("UserStory", item([]), once()).await;
    assert!(matches!(refused, Err(Refusal::Invalid(_))), "{refused:?}");
}

#[tokio::test]
async fn a_delimiter_in_a_key_stands_for_no_other_item() {
    let service = seeded("stak-inbox").await;
    let key = texts([
        ("tenant_key", "acme"),
        ("inbox_key", "main#x"),
        ("uid", "ada"),
        ("id", "lrg51000000000000001"),
    ]);
    for refused in [
        service.get("UserMessage", key.clone(), false).await.map(|_| ()),
        service.delete("UserMessage", key.clone(), once()).await.map(|_| ()),
        service.operate("read-message", key.clone(), once()).await.map(|_| ()),
        service
            .ask(
                "inbox",
                texts([("tenant_key", "acme"), ("inbox_key", "a#b"), ("uid", "ada")]),
                Default::default(),
            )
            .await
            .map(|_| ()),
    ] {
        assert!(matches!(&refused, Err(Refusal::Invalid(problems)) if problems.len() == 1), "{refused:?}");
    }
}

#[tokio::test]
async fn deleting_takes_copies_and_counts_away() {
    let service = seeded("story-hub").await;
    let key = texts([("storyId", "01HMZ700000000000000000001"), ("nodeId", "01HMZ200000000000000000002")]);
    service.delete("Chapter", key.clone(), once()).await.unwrap();
    assert_eq!(service.get("Chapter", key.clone(), true).await, Ok(None));
    let missing = service.delete("Chapter", key, once()).await;
    assert!(matches!(missing, Err(Refusal::NotFound { .. })), "{missing:?}");
    let children = texts([("parentNodeId", "01HMZ200000000000000000001")]);
    assert!(service.ask("children", children, Default::default()).await.unwrap().items.is_empty());
    assert_sound(&service).await;
}

#[tokio::test]
async fn what_is_too_large_for_an_item_is_the_callers_to_mend() {
    let service = seeded("wavy-blog").await;
    let long = "x".repeat(3_000);
    let category = |slug: &str, name: &str| texts([("CategoryID", "c"), ("Slug", slug), ("Name", name)]);
    let huge = service.create("Category", category("big", &"x".repeat(450_000)), once()).await;
    assert!(matches!(huge, Err(Refusal::Invalid(_))), "{huge:?}");
    let key = service.create("Category", category(&long, "n"), once()).await;
    assert!(matches!(key, Err(Refusal::Invalid(_))), "{key:?}");
    let user = texts([("UserID", "u"), ("Username", "mia"), ("Email", &long), ("PasswordHash", "h")]);
    let copy = service.create("User", user, once()).await;
    assert!(matches!(copy, Err(Refusal::Invalid(_))), "{copy:?}");
    let got = service.get("Category", texts([("Slug", &long)]), false).await;
    assert!(matches!(got, Err(Refusal::Invalid(_))), "{got:?}");
    assert_sound(&service).await;
}
