//! Many writers at once: every one is answered, and afterwards everything is as the items imply.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use dynamo::{Item, Operation, Value};
use monotable_service::{
    Backend, Capabilities, Changes, Embedded, HttpPoster, Options, Refusal, Running, Service, WriteOptions,
};

use crate::support::{assert_sound, design, item, seeded, texts};

const CLIENTS: usize = 32;

/// Lets clients do something at once; what came of each.
async fn at_once<T: Send + 'static, F>(service: &Service, mut task: impl FnMut(Service, usize) -> F) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
{
    let tasks = (0..CLIENTS).map(|number| tokio::spawn(task(service.clone(), number))).collect::<Vec<_>>();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    outcomes
}

fn once() -> WriteOptions {
    WriteOptions::default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_is_read_exactly_once() {
    let service = seeded("stak-inbox").await;
    for (operation, id) in
        [("read-message", "lrg51000000000000001"), ("read-public-message", "lrg54000000000000004")]
    {
        let outcomes = at_once(&service, |service, _| async move {
            let input = texts([("tenant_key", "acme"), ("inbox_key", "main"), ("uid", "ada"), ("id", id)]);
            service.operate(operation, input, once()).await
        })
        .await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        for refused in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
            assert!(refused.to_string().contains("the message is read already"), "{refused}");
        }
    }
    assert_sound(&service).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_is_taken_once() {
    let service = seeded("wavy-blog").await;
    let outcomes = at_once(&service, |service, number| async move {
        let name = format!("user{number}");
        let user = texts([
            ("UserID", "u"),
            ("Username", &name),
            ("Email", "same@example.com"),
            ("PasswordHash", "h"),
        ]);
        service.create("User", user, once()).await
    })
    .await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(_) | Err(Refusal::Taken { .. }))));
    assert_sound(&service).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn votes_changed_and_withdrawn_by_all_leave_counters_exact() {
    let service = seeded("story-hub").await;
    at_once(&service, |service, number| async move {
        let user = format!("reader{}", number % 8);
        let sign_in = texts([("userId", &user), ("email", "r@example.com"), ("displayName", &user)]);
        service.operate("sign-in", sign_in, once()).await.unwrap();
        for round in 0..10 {
            let vote = if (number + round) % 3 == 0 { "DOWNVOTE" } else { "UPVOTE" };
            let mut input = texts([("userId", &user), ("nodeId", "01HMZ200000000000000000001")]);
            if (number + round) % 5 == 0 {
                let _ = service.operate("withdraw-vote", input, once()).await;
                continue;
            }
            input.extend(texts([("storyId", "01HMZ700000000000000000001"), ("voteType", vote)]));
            service.operate("vote", input, once()).await.unwrap();
        }
    })
    .await;
    assert_sound(&service).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_update_of_one_item_counts() {
    let service = seeded("story-hub").await;
    at_once(&service, |service, number| async move {
        let key = texts([("storyId", "01HMZ700000000000000000001")]);
        let title = format!("Title {number}");
        let changes = Changes { set: texts([("title", &title)]), remove: Vec::new() };
        service.update("Story", key, changes, once()).await.unwrap();
    })
    .await;
    let key = texts([("storyId", "01HMZ700000000000000000001")]);
    let story = service.get("Story", key, true).await.unwrap().unwrap();
    assert_eq!(story.item["version"], Value::from(33));
    assert_sound(&service).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_operation_reads_and_uses_is_still_so_when_it_writes() {
    let service = seeded("story-hub").await;
    let made = at_once(&service, |service, number| async move {
        let title = format!("Branch {number}");
        let mut input = texts([
            ("storyId", "01HMZ700000000000000000001"),
            ("parentNodeId", "01HMZ200000000000000000001"),
            ("authorId", "ben"),
            ("title", &title),
            ("content", "…"),
        ]);
        input.insert("depth".to_owned(), Value::from(1));
        let written = service.operate("add-branch", input, once()).await.unwrap();
        let chapter = written.items.into_iter().find(|item| item.name == "Chapter").unwrap();
        chapter.item["order"].clone()
    })
    .await;
    let mut orders = made.iter().map(|order| format!("{order:?}")).collect::<Vec<_>>();
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), CLIENTS, "branches with the same order: {made:?}");
    assert_sound(&service).await;
}

/// A backend on which something else happens just before the first write.
struct Interrupted {
    inner: Embedded,
    meanwhile: Mutex<Option<Meanwhile>>,
}

type Meanwhile = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Backend for Interrupted {
    fn run(&self, operation: Operation) -> Running<'_> {
        let writes = matches!(operation, Operation::PutItem(_) | Operation::TransactWriteItems(_));
        let meanwhile = self.meanwhile.lock().unwrap().take_if(|_| writes);
        Box::pin(async move {
            if let Some(meanwhile) = meanwhile {
                meanwhile.await;
            }
            self.inner.run(operation).await
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_changes_while_it_is_copied_is_copied_anew() {
    let (engine, clock) = crate::support::engine();
    let options = || Options { clock: clock.clone(), ..Options::default() };
    let inner = Embedded::new(engine);
    let service = Service::new(design("story-hub"), Arc::new(inner.clone()), options());
    service.prepare().await.unwrap();
    service.seed().await.unwrap();
    let other = service.clone();
    // Ben's new name has been passed on to everything he wrote, before what he writes now is there.
    let meanwhile: Meanwhile = Box::pin(async move {
        let changes = Changes { set: texts([("displayName", "Benjamin")]), remove: Vec::new() };
        other.update("User", texts([("userId", "ben")]), changes, once()).await.unwrap();
        other.reactions(Arc::new(HttpPoster)).catch_up().await.unwrap();
    });
    let backend = Arc::new(Interrupted { inner, meanwhile: Mutex::new(Some(meanwhile)) });
    let late = Service::new(design("story-hub"), backend, options());
    let mut story = texts([("authorId", "ben"), ("title", "t"), ("synopsis", "s"), ("genre", "g")]);
    story.extend(texts([("ageRating", "6"), ("storyId", "01HMZ700000000000000000009")]));
    let written = late.create("Story", story, once()).await.unwrap();
    assert_eq!(written.items[0].item["authorName"], Value::from("Benjamin"));
    service.reactions(Arc::new(HttpPoster)).catch_up().await.unwrap();
    assert_sound(&service).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anything_at_once_leaves_all_five_designs_sound() {
    let soft_delete = seeded("story-nodes").await;
    at_once(&soft_delete, |service, number| async move {
        let key = || texts([("userId", "ada"), ("id", "01HMZ700000000000000000001")]);
        for round in 0..8 {
            let operation = if (number + round) % 2 == 0 { "delete-story" } else { "restore-story" };
            let _ = service.operate(operation, key(), once()).await;
            let mut input = key();
            input.insert("title".to_owned(), Value::S(format!("{number} {round}")));
            service.operate("rename-story", input, once()).await.unwrap();
        }
    })
    .await;
    assert_sound(&soft_delete).await;

    let blog = seeded("wavy-blog").await;
    at_once(&blog, |service, number| async move {
        for round in 0..6 {
            let slug = |n: usize| format!("slug-{}", n % 4);
            let input = texts([("Slug", "waves"), ("NewSlug", &slug(number + round))]);
            let _ = service.operate("rename-post", input, once()).await;
            let input = texts([("Slug", &slug(number)), ("NewSlug", &slug(number + 1))]);
            let _ = service.operate("rename-post", input, once()).await;
            let input = texts([("Slug", &slug(round)), ("Category", ["sea", "technology"][round % 2])]);
            let _ = service.operate("move-post", input, once()).await;
        }
    })
    .await;
    assert_sound(&blog).await;

    let kefir = seeded("kefir").await;
    at_once(&kefir, |service, number| async move {
        for round in 0..6 {
            let status = ["active", "in_fridge", "ready", "archived"][(number + round) % 4];
            let mut input: Item = texts([("userId", "ada"), ("batchId", "01HMZ100000000000000000001")]);
            input.extend(item([("status", Value::from(status))]));
            let _ = service.operate("change-status", input, once()).await;
        }
    })
    .await;
    assert_sound(&kefir).await;
}
