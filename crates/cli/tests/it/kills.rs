//! The whole program with all five designs on disk, killed at random under many clients: after every start everything that was
//! answered is there, and in the end `monotable verify` finds nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::{Serving, monotable, stderr, stdout};

const DESIGNS: [&str; 5] = ["kefir", "stak-inbox", "story-hub", "story-nodes", "wavy-blog"];
const CLIENTS: usize = 32;

/// Pseudo-random numbers (SplitMix64): the same run again for the same seed, as far as threads allow.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (number ^ number >> 31) % most
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

/// Something that a client does: a method, a path, a body.
fn request(chance: &mut Chance) -> (&'static str, String, String) {
    let text = |path: &str| path.to_owned();
    let user = format!("reader{}", chance.below(6));
    let number = chance.below(1_000_000);
    let node = chance.one(&["01HMZ200000000000000000001", "01HMZ200000000000000000002"]);
    let story = r#""storyId":"01HMZ700000000000000000001""#;
    let batch = chance.one(&["01HMZ100000000000000000001", "01HMZ100000000000000000002"]);
    let slug = |chance: &mut Chance| chance.one(&["waves", "my-first-post", "breakers", "tides", "foam"]);
    match chance.below(20) {
        0 => (
            "POST",
            text("story-hub/operations/sign-in"),
            format!(r#"{{"userId":"{user}","email":"r@example.com","displayName":"{user} {number}"}}"#),
        ),
        1..=3 => {
            let vote = chance.one(&["UPVOTE", "DOWNVOTE"]);
            let body = format!(r#"{{"userId":"{user}",{story},"nodeId":"{node}","voteType":"{vote}"}}"#);
            ("POST", text("story-hub/operations/vote"), body)
        }
        4 => (
            "POST",
            text("story-hub/operations/withdraw-vote"),
            format!(r#"{{"userId":"{user}","nodeId":"{node}"}}"#),
        ),
        5 => (
            "POST",
            text("story-hub/operations/add-branch"),
            format!(
                r#"{{{story},"parentNodeId":"{node}","authorId":"ben","title":"t{number}","content":"…","depth":1}}"#
            ),
        ),
        6 => ("POST", text("story-hub/operations/read-chapter"), format!(r#"{{{story},"nodeId":"{node}"}}"#)),
        7 => (
            "PATCH",
            text("story-hub/entities/Story/01HMZ700000000000000000001"),
            format!(r#"{{"title":"Title {number}"}}"#),
        ),
        8 => {
            let status = chance.one(&["active", "in_fridge", "ready", "archived"]);
            let body = format!(r#"{{"userId":"ada","batchId":"{batch}","status":"{status}"}}"#);
            ("POST", text("kefir/operations/change-status"), body)
        }
        9 => (
            "POST",
            text("kefir/operations/remind"),
            format!(
                r#"{{"userId":"ada","batchId":"{batch}","message":"m{number}","dueAt":"2030-01-01T00:00:00.000Z"}}"#
            ),
        ),
        10 => (
            "POST",
            text("kefir/entities/Device"),
            format!(
                r#"{{"userId":"ada","deviceId":"d{}","platform":"ios","pushToken":"t","lastSeenAt":"2024-01-01T00:00:00.000Z"}}"#,
                number % 40
            ),
        ),
        11 => ("DELETE", format!("kefir/entities/Device/ada/d{}", number % 40), String::new()),
        12 => {
            let body = format!(r#"{{"Slug":"{}","NewSlug":"{}"}}"#, slug(chance), slug(chance));
            ("POST", text("wavy-blog/operations/rename-post"), body)
        }
        13 => {
            let category = chance.one(&["sea", "technology"]);
            let body = format!(r#"{{"Slug":"{}","Category":"{category}"}}"#, slug(chance));
            ("POST", text("wavy-blog/operations/move-post"), body)
        }
        14 => {
            let email = chance.one(&["a@example.com", "b@example.com", "c@example.com"]);
            let body = format!(
                r#"{{"UserID":"u{number}","Username":"u{}","Email":"{email}","PasswordHash":"h"}}"#,
                number % 5
            );
            ("POST", text("wavy-blog/operations/register"), body)
        }
        15 => {
            let operation = chance.one(&["delete-story", "restore-story"]);
            let body = r#"{"userId":"ada","id":"01HMZ700000000000000000001"}"#;
            ("POST", format!("story-nodes/operations/{operation}"), text(body))
        }
        16 => (
            "POST",
            text("story-nodes/operations/rename-story"),
            format!(r#"{{"userId":"ada","id":"01HMZ700000000000000000001","title":"T{number}"}}"#),
        ),
        17 | 18 => (
            "POST",
            text("stak-inbox/operations/publish-to-users"),
            format!(
                r#"{{"tenant_key":"acme","inbox_key":"main","uids":["ada","{user}"],"sender":"s","taxonomy":{{"category":"news"}},"message":{{"title":"{number}","body":"b"}}}}"#
            ),
        ),
        _ => {
            let id = chance.one(&["lrg51000000000000001", "lrg53000000000000003"]);
            let body = format!(r#"{{"tenant_key":"acme","inbox_key":"main","uid":"ada","id":"{id}"}}"#);
            ("POST", text("stak-inbox/operations/read-message"), body)
        }
    }
}

/// Sends a request; the status and the body of the answer, or none if the server went away meanwhile.
fn send(endpoint: &str, method: &str, path: &str, key: &str, body: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(endpoint.strip_prefix("http://")?).ok()?;
    let content = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
    let head = format!(
        "{method} /v1/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIdempotency-Key: {key}\r\n{content}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let status = line.split(' ').nth(1)?.parse().ok()?;
    let mut rest = String::new();
    reader.read_to_string(&mut rest).ok()?;
    Some((status, rest.split_once("\r\n\r\n")?.1.to_owned()))
}

/// What all clients share.
struct World {
    endpoint: Mutex<String>,
    is_over: AtomicBool,
    done: AtomicUsize,
    /// Devices that were made, each with an id of its own, once that was answered.
    kept: Mutex<Vec<String>>,
}

/// Does one thing after the other; what is cut off by a kill is sent again with the same key, and done once.
fn client(world: &World, number: usize) {
    let mut chance = Chance(number as u64 * 7_919 + 1);
    for round in 0.. {
        let own = (chance.below(10) == 0).then(|| format!("own-{number}-{round}"));
        let (method, path, body) = match &own {
            Some(id) => {
                let body = format!(
                    r#"{{"userId":"kept","deviceId":"{id}","platform":"ios","pushToken":"t","lastSeenAt":"2024-01-01T00:00:00.000Z"}}"#
                );
                ("POST", "kefir/entities/Device".to_owned(), body)
            }
            None => request(&mut chance),
        };
        let key = format!("{number}-{round}");
        loop {
            if world.is_over.load(Ordering::SeqCst) {
                return;
            }
            let endpoint = world.endpoint.lock().unwrap().clone();
            match send(&endpoint, method, &path, &key, &body) {
                Some((status, text)) => {
                    assert!(status < 500 || status == 503, "{method} {path} {body}: {status} {text}");
                    if status < 300 {
                        world.done.fetch_add(1, Ordering::SeqCst);
                        world.kept.lock().unwrap().extend(own);
                    }
                    break;
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

fn start(directory: &Path) -> Serving {
    let _ = std::fs::remove_file(directory.join("ready"));
    let data = directory.join("data");
    let mut arguments = DESIGNS.to_vec();
    arguments.extend(["--seed", "--data", data.to_str().unwrap()]);
    Serving::start(directory, &arguments)
}

/// Kills the server so many times, letting it live for some milliseconds each time; how many writes were answered.
fn killed(times: u32, life_milliseconds: u64) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let mut server = start(directory.path());
    let world = Arc::new(World {
        endpoint: Mutex::new(server.endpoint.clone()),
        is_over: AtomicBool::new(false),
        done: AtomicUsize::new(0),
        kept: Mutex::default(),
    });
    let clients = (0..CLIENTS).map(|number| {
        let world = world.clone();
        std::thread::spawn(move || client(&world, number))
    });
    let clients = clients.collect::<Vec<_>>();
    let mut chance = Chance(std::time::UNIX_EPOCH.elapsed().unwrap().subsec_nanos().into());
    for _ in 0..times {
        std::thread::sleep(Duration::from_millis(life_milliseconds / 2 + chance.below(life_milliseconds)));
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        server = start(directory.path());
        world.endpoint.lock().unwrap().clone_from(&server.endpoint);
    }
    std::thread::sleep(Duration::from_millis(life_milliseconds));
    world.is_over.store(true, Ordering::SeqCst);
    for client in clients {
        client.join().unwrap();
    }
    for id in world.kept.lock().unwrap().iter() {
        let path = format!("kefir/entities/Device/kept/{id}");
        let found = send(&server.endpoint, "GET", &path, "k", "").unwrap();
        assert_eq!(found.0, 200, "{id} was answered and is not there");
    }
    drop(server);
    let data = directory.path().join("data").to_str().unwrap().to_owned();
    for design in DESIGNS {
        let caught = monotable(&["reactions", design, "--catch-up", "--data", &data]);
        assert!(!stdout(&caught).contains("dead letter: reaction"), "{design}: {}", stdout(&caught));
        let found = monotable(&["verify", design, "--data", &data]);
        assert!(found.status.success(), "{design}: {}{}", stdout(&found), stderr(&found));
    }
    world.done.load(Ordering::SeqCst)
}

#[test]
fn all_five_designs_survive_being_killed_under_thirty_two_clients() {
    let done = killed(2, 1_200);
    assert!(done > 50, "only {done} writes were done");
}

#[test]
#[ignore = "takes minutes: cargo test -p monotable-cli kills -- --ignored --nocapture"]
fn all_five_designs_survive_being_killed_often() {
    let done = killed(12, 6_000);
    println!("{done} writes were answered over 13 lives");
    assert!(done > 2_000, "only {done} writes were done");
}
