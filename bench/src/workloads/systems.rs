//! The traffic of the designs as requests of DynamoDB: what `monotable explain` prints for them, and what somebody would write by hand.
//!
//! One thing is simpler than what a design does: a branch takes its place from its number and not from the count that was just read, so it
//! need not try again when another came first. [`super::designs`] sends the same through the routes of the designs.

use crate::load::{Kind, Numbers, Request, Workload};

/// Users who have messages, and messages of each of them.
pub const READERS: u64 = 200;
const MESSAGES: u64 = 20;
/// Users who get messages.
pub const RECIPIENTS: u64 = 2_000;
pub const STORIES: u64 = 500;
pub const AUTHORS: u64 = 200;
pub const CATEGORIES: u64 = 20;
const POSTS: u64 = 1_000;

const STAK: &str = "stak-inbox";
const STORY_HUB: &str = "nlmonorepo-tsh-datatable-dev";
const WAVY_BLOG: &str = "WavyBlog";

/// What a message, a chapter and a post have to say: some hundred bytes each.
pub const WORDS: &str = "The fog came in at noon and stayed. Whoever went out to look for the boats came back with wet sleeves and no news, \
    and by the evening the lamp had burned down twice, so that the keeper wrote it into his book: twice, and nobody knows why. Then he slept.";

/// The tables as DynamoDB makes them: name and request.
pub fn tables() -> Vec<(&'static str, String)> {
    vec![
        (STAK, table(STAK, ("pk", "sk"), &[])),
        (STORY_HUB, table(STORY_HUB, ("PK", "SK"), &[("GSI1", "GSI1PK", "GSI1SK")])),
        (
            WAVY_BLOG,
            table(
                WAVY_BLOG,
                ("PK", "SK"),
                &[("GSI1", "GSI1PK", "GSI1SK"), ("GSI2", "GSI2PK", "GSI2SK"), ("GSI3", "EntityType", "PK")],
            ),
        ),
    ]
}

fn table(name: &str, key: (&str, &str), indexes: &[(&str, &str, &str)]) -> String {
    let schema = |(partition, sort): (&str, &str)| {
        format!(
            r#""KeySchema":[{{"AttributeName":"{partition}","KeyType":"HASH"}},{{"AttributeName":"{sort}","KeyType":"RANGE"}}]"#
        )
    };
    let mut names = vec![key.0, key.1];
    names.extend(indexes.iter().flat_map(|(_, partition, sort)| [*partition, *sort]));
    names.sort_unstable();
    names.dedup();
    let definitions: Vec<String> =
        names.iter().map(|name| format!(r#"{{"AttributeName":"{name}","AttributeType":"S"}}"#)).collect();
    let index = |(name, partition, sort): &(&str, &str, &str)| {
        format!(
            r#"{{"IndexName":"{name}",{},"Projection":{{"ProjectionType":"ALL"}}}}"#,
            schema((partition, sort))
        )
    };
    let indexes: Vec<String> = indexes.iter().map(index).collect();
    let indexes = match indexes.as_slice() {
        [] => String::new(),
        indexes => format!(r#","GlobalSecondaryIndexes":[{}]"#, indexes.join(",")),
    };
    format!(
        r#"{{"TableName":"{name}","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{}],{}{indexes}}}"#,
        definitions.join(","),
        schema(key)
    )
}

/// Text attributes as JSON, without the braces around them.
fn texts(attributes: &[(&str, &str)]) -> String {
    let text = |(name, value): &(&str, &str)| format!(r#""{name}":{{"S":"{value}"}}"#);
    attributes.iter().map(text).collect::<Vec<_>>().join(",")
}

/// A message to a user of the inbox: who, and its id.
fn message(uid: &str, id: &str) -> String {
    let keys = texts(&[
        ("pk", &format!("t#acmeU#{uid}#main")),
        ("sk", &format!("m#{id}")),
        ("id", id),
        ("kind", "UM"),
        ("sender", "billing"),
        ("tenant_key", "acme"),
        ("inbox_key", "main"),
        ("uid", uid),
    ]);
    format!("{{{keys},{}}}", of_message("users", ""))
}

/// A message with the list of those who get it, as each of them has it.
fn broadcast(uid: &str) -> String {
    let uids: Vec<String> = (0..50).map(|place| format!(r#"{{"S":"u{place:06}"}}"#)).collect();
    let list = format!(r#","uids":{{"L":[{}]}}"#, uids.join(","));
    message(uid, "lrg7<n:16>").replacen(&of_message("users", ""), &of_message("users", &list), 1)
}

fn public_message(id: &str) -> String {
    let keys = texts(&[
        ("pk", "t#acmeG#$public#main"),
        ("sk", &format!("m#{id}")),
        ("id", id),
        ("kind", "UM"),
        ("sender", "office"),
        ("tenant_key", "acme"),
        ("inbox_key", "main"),
        ("uid", "$public"),
    ]);
    format!("{{{keys},{}}}", of_message("everyone", ""))
}

fn of_message(audience: &str, more: &str) -> String {
    format!(
        r#""audiences":{{"M":{{"kind":{{"S":"{audience}"}}{more}}}}},"received":{{"N":"1705312800"}},"delivered":{{"N":"1705312800"}},"expiredat":{{"N":"4102444800"}},"taxonomy":{{"M":{{"category":{{"S":"invoices"}}}}}},"message":{{"M":{{"title":{{"S":"Your invoice"}},"body":{{"S":"{WORDS}"}}}}}}"#
    )
}

fn story(number: &str) -> String {
    let (id, time) = (format!("01HMZ7<{number}:20>"), format!("2024-03-01T09:00:00.<{number}%1000:3>Z"));
    let texts = texts(&[
        ("PK", &format!("STORY#{id}")),
        ("SK", "METADATA"),
        ("GSI1PK", "STORY_LIST"),
        ("GSI1SK", &format!("{time}#{id}")),
        ("storyId", &id),
        ("title", "The lighthouse"),
        ("synopsis", WORDS),
        ("authorId", "u000001"),
        ("authorName", "Ada"),
        ("genre", "mystery"),
        ("ageRating", "12"),
        ("status", "PUBLISHED"),
        ("createdAt", &time),
        ("updatedAt", &time),
    ]);
    let stats = stats(&["totalReads", "totalUpvotes", "totalBranches", "totalChapters"]);
    format!(r#"{{{texts},"version":{{"N":"1"}},{stats}}}"#)
}

fn stats(names: &[&str]) -> String {
    let zeros: Vec<String> = names.iter().map(|name| format!(r#""{name}":{{"N":"0"}}"#)).collect();
    format!(r#""stats":{{"M":{{{}}}}}"#, zeros.join(","))
}

/// A chapter of a story: the numbers of its story, of itself, of its parent, if it has one, and of its author.
fn chapter(story: &str, node: &str, parent: Option<&str>, author: &str) -> String {
    let time = "2024-03-02T22:30:00.000Z";
    let mut attributes = vec![
        ("PK", format!("STORY#{story}")),
        ("SK", format!("CHAPTER#{node}")),
        ("GSI1PK", format!("USER#{author}")),
        ("GSI1SK", format!("BRANCH#{time}#{node}")),
        ("storyId", story.to_owned()),
        ("nodeId", node.to_owned()),
        ("authorId", author.to_owned()),
        ("authorName", "Ada".to_owned()),
        ("title", "The stairs".to_owned()),
        ("content", WORDS.repeat(3)),
        ("createdAt", time.to_owned()),
        ("updatedAt", time.to_owned()),
    ];
    attributes.extend(parent.map(|parent| ("parentNodeId", parent.to_owned())));
    let attributes: Vec<(&str, &str)> =
        attributes.iter().map(|(name, value)| (*name, value.as_str())).collect();
    format!(
        r#"{{{},"matchesVision":{{"BOOL":false}},"authorApproved":{{"BOOL":false}},"depth":{{"N":"1"}},"order":{{"N":"0"}},"version":{{"N":"1"}},{}}}"#,
        texts(&attributes),
        stats(&["reads", "upvotes", "childCount"])
    )
}

fn author(id: &str) -> String {
    let time = "2024-03-01T08:00:00.000Z";
    let texts = texts(&[
        ("PK", &format!("USER#{id}")),
        ("SK", &format!("PROFILE#{id}")),
        ("userId", id),
        ("email", &format!("{id}@example.com")),
        ("displayName", "Ada"),
        ("createdAt", time),
        ("lastLoginAt", time),
    ]);
    format!("{{{texts},{}}}", stats(&["storiesCreated", "branchesContributed", "totalReads", "totalUpvotes"]))
}

fn post(number: &str) -> String {
    let time = format!("2024-01-15T10:<{number}/60%60:2>:<{number}%60:2>Z");
    let texts = texts(&[
        ("PK", &format!("POST#post-<{number}:6>")),
        ("SK", &format!("METADATA#post-<{number}:6>")),
        ("GSI1PK", "POSTS_BY_USER#john_doe"),
        ("GSI1SK", &format!("POST#{time}")),
        ("GSI2PK", &format!("POSTS_BY_CAT#cat<{number}%{CATEGORIES}:2>")),
        ("GSI2SK", &format!("POST#{time}")),
        ("EntityType", "POST"),
        ("PostID", &format!("p<{number}:6>")),
        ("Slug", &format!("post-<{number}:6>")),
        ("Title", "Waves"),
        ("Content", WORDS),
        ("AuthorID", "john_doe"),
        ("Category", &format!("cat<{number}%{CATEGORIES}:2>")),
        ("CreatedAt", &time),
        ("UpdatedAt", &time),
    ]);
    format!(r#"{{{texts},"IsPublished":{{"BOOL":true}}}}"#)
}

/// What fills the tables: workloads, and how many of their operations.
pub fn fillings() -> Vec<(Workload, u64)> {
    let stories = |number: &str| {
        chapter(&format!("01HMZ7<{number}:20>"), &format!("01HMZ2<{number}:20>"), None, "u000001")
    };
    vec![
        filling(STAK, READERS * MESSAGES, |n| {
            message(&format!("u<{n}/{MESSAGES}:6>"), &format!("lrg5<{n}:16>"))
        }),
        filling(STAK, 50, |n| public_message(&format!("lrg6<{n}:16>"))),
        filling(STORY_HUB, STORIES, story),
        filling(STORY_HUB, STORIES, stories),
        filling(STORY_HUB, AUTHORS, |n| author(&format!("u<{n}:6>"))),
        filling(WAVY_BLOG, POSTS, post),
    ]
}

fn filling(table: &str, count: u64, item: impl Fn(&str) -> String) -> (Workload, u64) {
    let put = |more: u64| format!(r#"{{"PutRequest":{{"Item":{}}}}}"#, item(&format!("n+{more}")));
    let puts: Vec<String> = (0..25).map(put).collect();
    let body = format!(r#"{{"RequestItems":{{"{table}":[{}]}}}}"#, puts.join(","));
    let request = Request::dynamodb("BatchWriteItem", &body);
    (Workload::of_one("filling", Numbers::New { each: 25 }, request), count / 25)
}

pub fn workloads() -> Vec<Workload> {
    let query = |body: String| Request::dynamodb("Query", &body);
    let inbox = |partition: &str| {
        query(format!(
            r#"{{"TableName":"{STAK}","Limit":20,"ScanIndexForward":false,"KeyConditionExpression":"pk = :p AND begins_with(sk, :m)","ExpressionAttributeValues":{{":p":{{"S":"{partition}"}},":m":{{"S":"m#"}}}}}}"#
        ))
    };
    let listing = |table: &str, index: &str, partition: &str| {
        query(format!(
            r#"{{"TableName":"{table}","IndexName":"{index}","Limit":20,"ScanIndexForward":false,"KeyConditionExpression":"{index}PK = :p","ExpressionAttributeValues":{{":p":{{"S":"{partition}"}}}}}}"#
        ))
    };
    let steps = |name, numbers, steps| Workload::new(name, vec![Kind::new(100, numbers, steps)]);
    let category = format!("POSTS_BY_CAT#cat<n%{CATEGORIES}:2>");
    vec![
        steps(
            "Open an inbox",
            Numbers::Uniform(READERS),
            vec![inbox("t#acmeU#u<n:6>#main"), inbox("t#acmeG#$public#main")],
        )
        .expecting("Your invoice"),
        Workload::of_one("Browse stories", Numbers::Uniform(1), listing(STORY_HUB, "GSI1", "STORY_LIST"))
            .expecting("LastEvaluatedKey"),
        Workload::of_one(
            "List a category",
            Numbers::Uniform(CATEGORIES),
            listing(WAVY_BLOG, "GSI2", &category),
        )
        .expecting("LastEvaluatedKey"),
        steps(
            "Add a branch",
            Numbers::New { each: 1 },
            before_branch().into_iter().chain([branch()]).collect(),
        )
        .expecting("childCount"),
        steps("Publish to 50 users, batches", Numbers::New { each: 1 }, (0..2).map(messages).collect()),
        steps("Publish to 50 users", Numbers::New { each: 1 }, (0..2).map(publishing).collect()),
    ]
}

fn recipient(place: u64) -> String {
    format!("u<n*50+{place}%{RECIPIENTS}:6>")
}

/// Half of the messages alone, as many as a batch takes.
fn messages(half: u64) -> Request {
    let put = |place| format!(r#"{{"PutRequest":{{"Item":{}}}}}"#, broadcast(&recipient(place)));
    let puts: Vec<String> = (half * 25..half * 25 + 25).map(put).collect();
    Request::dynamodb("BatchWriteItem", &format!(r#"{{"RequestItems":{{"{STAK}":[{}]}}}}"#, puts.join(",")))
}

/// Half of the messages with what they count for, in one transaction.
fn publishing(half: u64) -> Request {
    let count = |uid: &str, category: &str, kind: &str| {
        let set = "SET inbox_key = if_not_exists(inbox_key, :i), kind = if_not_exists(kind, :k), tenant_key = if_not_exists(tenant_key, :t), uid = if_not_exists(uid, :u)";
        let values = texts(&[(":i", "main"), (":k", kind), (":t", "acme"), (":u", uid)]);
        format!(
            r#"{{"Update":{{"TableName":"{STAK}","Key":{{"pk":{{"S":"t#acmeU#{uid}#main"}},"sk":{{"S":"c#{category}"}}}},"UpdateExpression":"{set} ADD published :one","ExpressionAttributeValues":{{{values},":one":{{"N":"1"}}}}}}}}"#
        )
    };
    let actions = |place| {
        let put = format!(
            r#"{{"Put":{{"TableName":"{STAK}","Item":{},"ConditionExpression":"attribute_not_exists(pk)"}}}}"#,
            broadcast(&recipient(place))
        );
        [put, count(&recipient(place), "*", "US"), count(&recipient(place), "invoices", "CS")]
    };
    let actions: Vec<String> = (half * 25..half * 25 + 25).flat_map(actions).collect();
    Request::dynamodb("TransactWriteItems", &format!(r#"{{"TransactItems":[{}]}}"#, actions.join(",")))
}

/// What a branch is made from: its parent and its author.
fn before_branch() -> [Request; 2] {
    let read = |partition: String, sort: String| {
        let key = texts(&[("PK", &partition), ("SK", &sort)]);
        Request::dynamodb(
            "GetItem",
            &format!(r#"{{"TableName":"{STORY_HUB}","Key":{{{key}}},"ConsistentRead":true}}"#),
        )
    };
    let author = format!("u<n%{AUTHORS}:6>");
    [
        read(format!("STORY#01HMZ7<n%{STORIES}:20>"), format!("CHAPTER#01HMZ2<n%{STORIES}:20>")),
        read(format!("USER#{author}"), format!("PROFILE#{author}")),
    ]
}

fn branch() -> Request {
    let (story, parent) = (format!("01HMZ7<n%{STORIES}:20>"), format!("01HMZ2<n%{STORIES}:20>"));
    let (node, author) = ("01HMZ3<n:20>", format!("u<n%{AUTHORS}:6>"));
    let put = |item: String| {
        format!(
            r#"{{"Put":{{"TableName":"{STORY_HUB}","Item":{item},"ConditionExpression":"attribute_not_exists(PK)"}}}}"#
        )
    };
    let child = texts(&[
        ("PK", &format!("CHAPTER#{parent}")),
        ("SK", &format!("CHILD#<n%1000000:6>#{node}")),
        ("nodeId", node),
        ("parentNodeId", &parent),
        ("storyId", &story),
        ("authorId", &author),
        ("createdAt", "2024-03-02T22:30:00.000Z"),
    ]);
    let actions = [
        put(chapter(&story, node, Some(&parent), &author)),
        put(format!("{{{child}}}")),
        counting(&format!("STORY#{story}"), &format!("CHAPTER#{parent}"), &["childCount"]),
        counting(&format!("STORY#{story}"), "METADATA", &["totalChapters", "totalBranches"]),
        counting(&format!("USER#{author}"), &format!("PROFILE#{author}"), &["branchesContributed"]),
    ];
    Request::dynamodb("TransactWriteItems", &format!(r#"{{"TransactItems":[{}]}}"#, actions.join(",")))
}

/// Adds one to counters of an item that is there.
fn counting(partition: &str, sort: &str, counters: &[&str]) -> String {
    let changes: Vec<String> = counters.iter().map(|name| format!("#s.{name} :one")).collect();
    format!(
        r##"{{"Update":{{"TableName":"{STORY_HUB}","Key":{{"PK":{{"S":"{partition}"}},"SK":{{"S":"{sort}"}}}},"UpdateExpression":"ADD {}","ConditionExpression":"attribute_exists(PK)","ExpressionAttributeNames":{{"#s":"stats"}},"ExpressionAttributeValues":{{":one":{{"N":"1"}}}}}}}}"##,
        changes.join(", ")
    )
}
