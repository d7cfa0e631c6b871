//! The traffic of the designs through their own routes, which only Monotable has. The names are those of the same traffic as requests
//! of DynamoDB, so that they stand beside each other.

use super::systems::{AUTHORS, CATEGORIES, READERS, RECIPIENTS, STORIES, WORDS};
use crate::load::{Numbers, Request, Workload};

/// The designs that are served.
pub const DESIGNS: [&str; 3] = ["stak-inbox", "story-hub", "wavy-blog"];

pub fn workloads() -> Vec<Workload> {
    let ask = |name, count, path: &str| {
        Workload::of_one(name, Numbers::Uniform(count), Request::design(&format!("GET /v1/{path}"), ""))
    };
    let tell = |name, path: &str, body: String| {
        Workload::of_one(name, Numbers::New { each: 1 }, Request::design(&format!("POST /v1/{path}"), &body))
    };
    vec![
        ask("Open an inbox", READERS, "stak-inbox/patterns/inbox?tenant_key=acme&inbox_key=main&uid=u<n:6>")
            .expecting("Your invoice"),
        ask("Browse stories", 1, "story-hub/patterns/latest-stories").expecting("cursor"),
        ask("List a category", CATEGORIES, "wavy-blog/patterns/posts-by-category?Category=cat<n:2>")
            .expecting("cursor"),
        tell("Add a branch", "story-hub/operations/add-branch", branch()),
        tell("Publish to 50 users", "stak-inbox/operations/publish-to-users", publishing()),
    ]
}

fn branch() -> String {
    format!(
        r#"{{"storyId":"01HMZ7<n%{STORIES}:20>","parentNodeId":"01HMZ2<n%{STORIES}:20>","authorId":"u<n%{AUTHORS}:6>","title":"The stairs","content":"{}","depth":1}}"#,
        WORDS.repeat(3)
    )
}

fn publishing() -> String {
    let uids: Vec<String> = (0..50).map(|place| format!(r#""u<n*50+{place}%{RECIPIENTS}:6>""#)).collect();
    format!(
        r#"{{"tenant_key":"acme","inbox_key":"main","uids":[{}],"sender":"billing","taxonomy":{{"category":"invoices"}},"message":{{"title":"Your invoice","body":"{WORDS}"}}}}"#,
        uids.join(",")
    )
}
