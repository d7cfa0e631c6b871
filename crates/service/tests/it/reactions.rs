//! Reactions: expiry, declared reactions, refreshed names, web hooks.

use std::sync::{Arc, Mutex};

use dynamo::Value;
use engine::ManualClock;
use monotable_service::{
    Changes, Embedded, HttpPoster, Options, Posted, Poster, Posting, Reactions, Service, WriteOptions,
};

use crate::support::{assert_sound, design, engine, texts};

/// A receiver of events that is down at first.
#[derive(Default)]
struct Receiver {
    down: Mutex<u32>,
    got: Mutex<Vec<(String, Vec<(String, String)>, String)>>,
}

impl Poster for Receiver {
    fn post(&self, url: &str, headers: Vec<(String, String)>, body: Vec<u8>) -> Posting<'_> {
        let url = url.to_owned();
        Box::pin(async move {
            let mut down = self.down.lock().unwrap();
            if *down > 0 {
                *down -= 1;
                return Posted::Failed("down".to_owned());
            }
            self.got.lock().unwrap().push((url, headers, String::from_utf8(body).unwrap()));
            Posted::Delivered
        })
    }
}

struct World {
    service: Service,
    reactions: Reactions,
    receiver: Arc<Receiver>,
    clock: Arc<ManualClock>,
    engine: engine::Engine,
}

async fn world(name: &str) -> World {
    let (engine, clock) = engine();
    let options = Options { clock: clock.clone(), hook_secret: [3; 32], ..Options::default() };
    let service = Service::new(design(name), Arc::new(Embedded::new(engine.clone())), options);
    service.prepare().await.unwrap();
    service.seed().await.unwrap();
    let receiver = Arc::new(Receiver::default());
    let reactions = service.reactions(receiver.clone());
    World { service, reactions, receiver, clock, engine }
}

fn once() -> WriteOptions {
    WriteOptions::default()
}

#[tokio::test]
async fn expiry_corrects_the_counters_of_stak_once() {
    let world = world("stak-inbox").await;
    let counts = || async {
        let given = texts([("tenant_key", "acme"), ("inbox_key", "main"), ("uid", "ada")]);
        let answer = world.service.ask("all-counts", given, Default::default()).await.unwrap();
        answer
            .items
            .iter()
            .map(|entity| (entity.item.get("published").cloned(), entity.item.get("read").cloned()))
            .collect::<Vec<_>>()
    };
    let before = counts().await;
    for (number, read) in [(1, true), (2, false)] {
        let id = format!("lrh0000{number}000000000000");
        let mut input = texts([("tenant_key", "acme"), ("inbox_key", "main"), ("sender", "s"), ("id", &id)]);
        input.insert("uids".to_owned(), Value::L(vec![Value::from("ada")]));
        input.insert("taxonomy".to_owned(), Value::M(texts([("category", "invoices")])));
        input.insert("message".to_owned(), Value::M(texts([("title", "t"), ("body", "b")])));
        input.insert("expiredat".to_owned(), Value::from(crate::support::NOW / 1_000 + 60));
        world.service.operate("publish-to-users", input, once()).await.unwrap();
        if read {
            let input = texts([("tenant_key", "acme"), ("inbox_key", "main"), ("uid", "ada"), ("id", &id)]);
            world.service.operate("read-message", input, once()).await.unwrap();
        }
    }
    assert_ne!(counts().await, before);
    world.reactions.catch_up().await.unwrap();
    world.clock.advance_seconds(3_600);
    world.engine.keep_house().unwrap();
    assert!(!world.service.verify(&mut |_| {}).await.unwrap().findings.is_empty(), "nothing expired");
    assert!(world.reactions.catch_up().await.unwrap() > 0);
    // Counters that were made for what expired stay, at zero.
    let after = counts().await;
    assert_eq!(after[0], before[0]);
    assert_sound(&world.service).await;
    // A worker that starts anew finds nothing left to do.
    let other = world.service.reactions(Arc::new(Receiver::default()));
    assert_eq!(other.catch_up().await.unwrap(), 0);
    assert_sound(&world.service).await;
}

#[tokio::test]
async fn a_branch_notifies_the_author_of_its_parent_once() {
    let world = world("story-hub").await;
    world.reactions.catch_up().await.unwrap();
    let notifications = |user: &'static str| {
        let service = world.service.clone();
        async move {
            let answer =
                service.ask("notifications", texts([("userId", user)]), Default::default()).await.unwrap();
            answer
                .items
                .into_iter()
                .map(|entity| format!("{:?} {:?}", entity.item["type"], entity.item["message"]))
                .collect::<Vec<_>>()
        }
    };
    let before = notifications("ada").await.len();
    let mut input =
        texts([("storyId", "01HMZ700000000000000000001"), ("parentNodeId", "01HMZ200000000000000000001")]);
    input.extend(texts([("authorId", "ben"), ("title", "Up"), ("content", "…")]));
    input.insert("depth".to_owned(), Value::from(1));
    world.service.operate("add-branch", input, once()).await.unwrap();
    assert!(world.reactions.catch_up().await.unwrap() > 0);
    world.reactions.catch_up().await.unwrap();
    let after = notifications("ada").await;
    assert_eq!(after.len(), before + 1);
    assert!(after.iter().any(|text| text.contains("Ben continued Fog")), "{after:?}");
    let input = texts([("storyId", "01HMZ700000000000000000001"), ("userId", "ada")]);
    world.service.operate("complete-story", input, once()).await.unwrap();
    world.reactions.catch_up().await.unwrap();
    assert!(notifications("ben").await.iter().any(|text| text.contains("STORY_COMPLETED")));
    let status = world.reactions.status().await.unwrap();
    assert!(status.shards.iter().all(|shard| shard.lag_milliseconds.is_none()), "{status:?}");
    assert!(status.dead_letters.is_empty(), "{status:?}");
    assert_sound(&world.service).await;
}

#[tokio::test]
async fn two_workers_apply_everything_once() {
    let world = world("story-hub").await;
    for number in 0..10 {
        let order = format!("{number}");
        let mut input = texts([
            ("storyId", "01HMZ700000000000000000001"),
            ("parentNodeId", "01HMZ200000000000000000001"),
        ]);
        input.extend(texts([("authorId", "ben"), ("title", &order), ("content", "…")]));
        input.insert("depth".to_owned(), Value::from(1));
        world.service.operate("add-branch", input, once()).await.unwrap();
    }
    let other = world.service.reactions(Arc::new(Receiver::default()));
    for _ in 0..5 {
        let (one, two) = tokio::join!(world.reactions.catch_up(), other.catch_up());
        one.unwrap();
        two.unwrap();
    }
    let answer =
        world.service.ask("notifications", texts([("userId", "ada")]), Default::default()).await.unwrap();
    let branches =
        answer.items.iter().filter(|entity| entity.item["type"] == Value::from("NEW_BRANCH")).count();
    // One is seed data, one is for the branch in the seed data.
    assert_eq!(branches, 12);
}

#[tokio::test]
async fn a_new_name_is_refreshed_wherever_it_was_copied() {
    let world = world("story-hub").await;
    let changes = Changes { set: texts([("displayName", "Ada L.")]), remove: Vec::new() };
    world.service.update("User", texts([("userId", "ada")]), changes, once()).await.unwrap();
    let found = world.service.verify(&mut |_| {}).await.unwrap();
    assert!(!found.findings.is_empty());
    world.reactions.catch_up().await.unwrap();
    let story = world
        .service
        .get("Story", texts([("storyId", "01HMZ700000000000000000001")]), true)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(story.item["authorName"], Value::from("Ada L."));
    assert_sound(&world.service).await;
}

#[tokio::test]
async fn events_are_signed_and_sent_until_they_arrive() {
    let world = world("story-hub").await;
    // The story of the seed data was made. What was counted for it since is no change of it.
    let changes = Changes { set: texts([("title", "The lamp")]), remove: Vec::new() };
    let key = texts([("storyId", "01HMZ700000000000000000001")]);
    world.service.update("Story", key, changes, once()).await.unwrap();
    *world.receiver.down.lock().unwrap() = 2;
    world.reactions.catch_up().await.unwrap();
    assert_eq!(world.reactions.deliver().await.unwrap(), 0);
    let waiting = world.reactions.status().await.unwrap().waiting;
    let sent: Vec<_> = waiting.iter().map(|event| (event.attempts, event.error.as_deref())).collect();
    assert_eq!(sent, [(1, Some("down")), (1, Some("down"))]);
    world.clock.advance_seconds(2);
    assert_eq!(world.reactions.deliver().await.unwrap(), 2);
    let got = world.receiver.got.lock().unwrap().clone();
    let created = got.iter().find(|(_, _, body)| body.contains("Story.created"));
    let Some((url, headers, body)) = created else { panic!("{got:?}") };
    assert_eq!(url, "http://localhost:4010/story-hub");
    for part in [
        r#""specversion":"1.0""#,
        r#""type":"monotable.story-hub.Story.created""#,
        r#""subject":"01HMZ700000000000000000001""#,
    ] {
        assert!(body.contains(part), "{part}: {body}");
    }
    let signature = &headers.iter().find(|(name, _)| name == "monotable-signature").unwrap().1;
    let (time, tag) = signature.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &[3; 32]);
    let tag = (0..tag.len() / 2)
        .map(|n| u8::from_str_radix(&tag[2 * n..2 * n + 2], 16).unwrap())
        .collect::<Vec<_>>();
    ring::hmac::verify(&key, format!("{time}.{body}").as_bytes(), &tag).unwrap();
    assert_eq!(world.reactions.deliver().await.unwrap(), 0);
}

#[tokio::test]
async fn events_that_never_arrive_become_dead_letters() {
    let world = world("story-hub").await;
    *world.receiver.down.lock().unwrap() = u32::MAX;
    world.reactions.catch_up().await.unwrap();
    for _ in 0..12 {
        world.reactions.deliver().await.unwrap();
        world.clock.advance_seconds(1_800);
    }
    let status = world.reactions.status().await.unwrap();
    assert_eq!(status.waiting, []);
    let [letter] = status.dead_letters.as_slice() else { panic!("{status:?}") };
    assert_eq!((letter.what.as_str(), letter.error.as_str()), ("event", "down"));
    assert!(letter.body.as_ref().unwrap().contains("The lighthouse"));
}

#[tokio::test]
async fn a_reaction_that_cannot_be_done_is_a_dead_letter_and_the_stream_goes_on() {
    let world = world("story-hub").await;
    world.reactions.catch_up().await.unwrap();
    let mut input =
        texts([("storyId", "01HMZ700000000000000000001"), ("parentNodeId", "01HMZ200000000000000000002")]);
    input.extend(texts([
        ("nodeId", "01HMZ200000000000000000007"),
        ("authorId", "ada"),
        ("title", "Up"),
        ("content", "…"),
    ]));
    input.insert("depth".to_owned(), Value::from(2));
    world.service.operate("add-branch", input, once()).await.unwrap();
    // The parent is gone before anybody hears of its branch.
    let key = texts([("storyId", "01HMZ700000000000000000001"), ("nodeId", "01HMZ200000000000000000002")]);
    world.service.delete("Chapter", key, once()).await.unwrap();
    world.reactions.catch_up().await.unwrap();
    let status = world.reactions.status().await.unwrap();
    assert_eq!(status.dead_letters.len(), 1, "{status:?}");
    assert_eq!(status.dead_letters[0].what, "reaction");
    assert!(status.shards.iter().any(|shard| shard.failures == 1));
    assert_eq!(world.reactions.catch_up().await.unwrap(), 0);
}

#[tokio::test]
async fn events_go_out_over_http() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook?x=1", listener.local_addr().unwrap());
    let receiver = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut got = String::new();
        while !got.ends_with("{\"a\":1}") {
            let mut bytes = [0; 1024];
            let count = stream.read(&mut bytes).await.unwrap();
            got.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
        }
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        got
    });
    let headers = vec![("monotable-signature".to_owned(), "t=1,v1=00".to_owned())];
    let posted = HttpPoster.post(&url, headers, b"{\"a\":1}".to_vec()).await;
    assert_eq!(posted, Posted::Delivered);
    let got = receiver.await.unwrap();
    assert!(got.starts_with("POST /hook?x=1 HTTP/1.1\r\n"), "{got}");
    assert!(got.contains("monotable-signature: t=1,v1=00"), "{got}");
    let refused = HttpPoster.post(&url, Vec::new(), Vec::new()).await;
    assert!(matches!(refused, Posted::Failed(_)), "{refused:?}");
    let nonsense = HttpPoster.post("mailto:ada", Vec::new(), Vec::new()).await;
    assert!(matches!(nonsense, Posted::Failed(_)), "{nonsense:?}");
}
