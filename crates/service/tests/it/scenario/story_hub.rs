//! Story Hub: stories branch, readers vote and bookmark, and whoever wrote something hears of it.

use serde_json::{Value, json};

use super::world::{World, all};

stories! { "story-hub":
    a_story_starts_is_published_and_is_found,
    branches_are_counted_listed_and_approved,
    votes_are_one_each_can_be_changed_and_withdrawn,
    reading_is_counted_and_places_are_kept,
    a_version_keeps_two_editors_apart,
    notifications_are_read,
    whoever_wrote_something_hears_of_it,
    a_new_name_is_everywhere_it_was,
    lists_come_in_pages_of_twenty_latest_first,
    a_branch_that_is_deleted_leaves_every_count_and_list,
    changes_of_stories_go_to_the_event_bus,
}

const STORY: &str = "01HMZ700000000000000000001";
const FOG: &str = "01HMZ200000000000000000001";
const STAIRS: &str = "01HMZ200000000000000000002";

fn story(world: &World) -> Value {
    world.ask("story", &[("storyId", STORY)])[0].clone()
}

fn chapter(world: &World, node: &str) -> Value {
    world.ask("chapter", &[("storyId", STORY), ("nodeId", node)])[0].clone()
}

fn profile(world: &World, user: &str) -> Value {
    world.ask("user-profile", &[("userId", user)])[0].clone()
}

fn a_story_starts_is_published_and_is_found(world: &World) {
    world.does("sign-in", json!({ "userId": "eve", "email": "eve@example.com", "displayName": "Eve" }));
    let made = world.does("start-story", json!({ "authorId": "eve", "title": "Salt", "synopsis": "Of the sea.", "genre": "drama", "ageRating": "6", "chapterTitle": "One", "content": "It began." }));
    assert_eq!(all(&made, "_entity"), ["Story", "Chapter"]);
    let id = made[0]["storyId"].as_str().unwrap();
    let found = &world.ask("story", &[("storyId", id)])[0];
    assert_eq!(
        (&found["status"], &found["authorName"], &found["stats"]["totalChapters"]),
        (&json!("DRAFT"), &json!("Eve"), &json!(1))
    );
    world
        .tries("publish-story", json!({ "storyId": id, "userId": "ada" }))
        .is_refused(409, "only its author can publish a draft");
    world.does("publish-story", json!({ "storyId": id, "userId": "eve" }));

    assert_eq!(all(&world.ask("latest-stories", &[("limit", "1")]), "title"), ["Salt"], "latest first");
    assert_eq!(all(&world.ask("stories-of-user", &[("userId", "eve")]), "status"), ["PUBLISHED"]);
    assert_eq!(profile(world, "eve")["stats"]["storiesCreated"], 1);
    let several = world.get(&format!("patterns/stories-by-id?storyId={id}&storyId={STORY}"));
    assert_eq!(several.body["items"].as_array().map(Vec::len), Some(2), "{}", several.text);

    world.does(
        "sign-in",
        json!({ "userId": "eve", "email": "eve@example.com", "displayName": "Eve of the sea" }),
    );
    world.things_happen();
    assert_eq!(world.ask("story", &[("storyId", id)])[0]["authorName"], "Eve of the sea", "names follow");
    world.assert_sound();
}

fn branches_are_counted_listed_and_approved(world: &World) {
    for number in 0..11 {
        let branch = json!({ "storyId": STORY, "parentNodeId": FOG, "authorId": "ben", "title": format!("Branch {number}"), "content": "…", "depth": 1 });
        world.does("add-branch", branch);
    }
    let children = world.ask("children", &[("parentNodeId", FOG)]);
    let orders = children.iter().map(|child| child["order"].as_i64().unwrap()).collect::<Vec<_>>();
    assert_eq!(orders, (0..12).collect::<Vec<_>>(), "10 comes after 2");
    assert_eq!(chapter(world, FOG)["stats"]["childCount"], 12);
    let stats = story(world)["stats"].clone();
    assert_eq!((&stats["totalBranches"], &stats["totalChapters"]), (&json!(12), &json!(13)));
    assert_eq!(profile(world, "ben")["stats"]["branchesContributed"], 12);
    assert_eq!(world.ask("branches-of-user", &[("userId", "ben")]).len(), 12);
    assert_eq!(world.ask("chapters-of-story", &[("storyId", STORY)]).len(), 13);
    let lost = json!({ "storyId": STORY, "parentNodeId": "01HMZ200000000000000000009", "authorId": "ben", "title": "x", "content": "x", "depth": 1 });
    world.tries("add-branch", lost).is_refused(404, "there is no such chapter to branch from");

    let approve = |user: &str| {
        world.tries("approve-branch", json!({ "storyId": STORY, "nodeId": STAIRS, "userId": user }))
    };
    approve("ben").is_refused(409, "only the author of the story approves branches");
    assert_eq!(approve("ada").status, 200);
    approve("ada").is_refused(409, "the branch is approved already");
    assert_eq!(chapter(world, STAIRS)["authorApproved"], true);
    world.assert_sound();
}

fn votes_are_one_each_can_be_changed_and_withdrawn(world: &World) {
    let vote = |user: &str, kind: &str| {
        world.does("vote", json!({ "userId": user, "storyId": STORY, "nodeId": FOG, "voteType": kind }))
    };
    let upvotes = || {
        let (chapter, story, author) = (chapter(world, FOG), story(world), profile(world, "ada"));
        [&chapter["stats"]["upvotes"], &story["stats"]["totalUpvotes"], &author["stats"]["totalUpvotes"]]
            .map(|n| n.as_i64().unwrap())
    };
    assert_eq!(upvotes(), [1, 1, 1]);
    vote("ben", "UPVOTE");
    assert_eq!(upvotes(), [1, 1, 1], "one for each user");
    vote("ada", "UPVOTE");
    assert_eq!(upvotes(), [2, 2, 2]);
    vote("ben", "DOWNVOTE");
    assert_eq!(upvotes(), [1, 1, 1]);
    assert_eq!(world.ask("vote", &[("userId", "ben"), ("nodeId", FOG)])[0]["voteType"], "DOWNVOTE");
    world.does("withdraw-vote", json!({ "userId": "ada", "nodeId": FOG }));
    assert_eq!(upvotes(), [0, 0, 0]);
    world
        .tries("withdraw-vote", json!({ "userId": "ada", "nodeId": FOG }))
        .is_refused(404, "there is no vote to withdraw");
    world.assert_sound();
}

fn reading_is_counted_and_places_are_kept(world: &World) {
    for _ in 0..3 {
        world.does("read-chapter", json!({ "storyId": STORY, "nodeId": STAIRS }));
    }
    assert_eq!(chapter(world, STAIRS)["stats"]["reads"], 3);
    assert_eq!(story(world)["stats"]["totalReads"], 3);
    assert_eq!(profile(world, "ben")["stats"]["totalReads"], 3);

    world.does("bookmark", json!({ "userId": "ben", "storyId": STORY, "currentNodeId": STAIRS }));
    assert_eq!(world.ask("bookmark", &[("userId", "ben"), ("storyId", STORY)])[0]["currentNodeId"], STAIRS);
    assert_eq!(world.ask("bookmarks", &[("userId", "ben")]).len(), 1);
    world.assert_sound();
}

fn a_version_keeps_two_editors_apart(world: &World) {
    let path = format!("entities/Story/{STORY}");
    let seen = world.get(&path);
    let tag = seen.header("etag").unwrap().to_owned();
    let edit = |tag: &str, title: &str| {
        world.send("PATCH", &path, &[("If-Match", tag)], Some(&json!({ "title": title }).to_string()))
    };
    let first = edit(&tag, "The dark lighthouse");
    assert_eq!(first.status, 200, "{first:?}");
    assert_ne!(first.header("etag"), Some(tag.as_str()));
    edit(&tag, "The bright lighthouse").is_refused(412, "has changed");
    assert_eq!(world.get(&path).body["title"], "The dark lighthouse");
    let current = first.header("etag").unwrap();
    assert_eq!(world.send("GET", &path, &[("If-None-Match", current)], None).status, 304);
    assert_eq!(world.send("DELETE", &path, &[("If-Match", &tag)], None).status, 412);
}

fn notifications_are_read(world: &World) {
    let found = world.ask("notifications", &[("userId", "ada")]);
    assert_eq!(all(&found, "type"), ["NEW_BRANCH"]);
    let id = found[0]["notificationId"].as_str().unwrap();
    world.does(
        "notification-read",
        json!({ "userId": "ada", "createdAt": found[0]["createdAt"], "notificationId": id }),
    );
    assert_eq!(world.ask("notification", &[("notificationId", id)])[0]["read"], true);
}

fn whoever_wrote_something_hears_of_it(world: &World) {
    world.things_happen();
    let heard = |user: &str| {
        let found = world.ask("notifications", &[("userId", user)]);
        let mut kinds = all(&found, "type").into_iter().map(str::to_owned).collect::<Vec<_>>();
        kinds.sort();
        kinds
    };
    let (ada, ben) = (heard("ada"), heard("ben"));
    let more = |before: &[String], kind: &str| {
        let mut all = before.to_vec();
        all.push(kind.to_owned());
        all.sort();
        all
    };
    world.does("add-branch", json!({ "storyId": STORY, "parentNodeId": STAIRS, "authorId": "ada", "title": "The lamp", "content": "…", "depth": 2 }));
    world.things_happen();
    let ben = {
        assert_eq!(heard("ben"), more(&ben, "NEW_BRANCH"));
        heard("ben")
    };
    world.does("vote", json!({ "userId": "ada", "storyId": STORY, "nodeId": STAIRS, "voteType": "UPVOTE" }));
    world.does("approve-branch", json!({ "storyId": STORY, "nodeId": STAIRS, "userId": "ada" }));
    world.things_happen();
    let ben = {
        assert_eq!(heard("ben"), more(&more(&ben, "UPVOTE"), "AUTHOR_APPROVED"));
        heard("ben")
    };
    world
        .tries("complete-story", json!({ "storyId": STORY, "userId": "ben" }))
        .is_refused(409, "only its author can complete");
    world.does("complete-story", json!({ "storyId": STORY, "userId": "ada" }));
    world.things_happen();
    assert_eq!(heard("ben"), more(&ben, "STORY_COMPLETED"), "once, however many chapters");
    assert_eq!(heard("ada"), more(&ada, "STORY_COMPLETED"));
    world.things_happen();
    assert_eq!(heard("ben"), more(&ben, "STORY_COMPLETED"));
    world.assert_sound();
}

fn a_new_name_is_everywhere_it_was(world: &World) {
    world.does("sign-in", json!({ "userId": "ben", "email": "ben@example.com", "displayName": "Benjamin" }));
    world.things_happen();
    assert_eq!(chapter(world, STAIRS)["authorName"], "Benjamin");
    assert_eq!(chapter(world, FOG)["authorName"], "Ada");
    world.assert_sound();
}

fn lists_come_in_pages_of_twenty_latest_first(world: &World) {
    for number in 0..24 {
        world.clock.advance_milliseconds(1_000);
        let title = format!("Story {number:02}");
        world.does("start-story", json!({ "authorId": "ben", "title": title, "synopsis": "…", "genre": "drama", "ageRating": "6", "chapterTitle": "One", "content": "…" }));
        world.makes(
            "Notification",
            json!({ "userId": "ben", "type": "UPVOTE", "title": title, "message": "…" }),
        );
    }
    let expected = |seeded: &[&str]| {
        let new = (0..24).rev().map(|number| format!("Story {number:02}"));
        new.chain(seeded.iter().map(|title| (*title).to_owned())).collect::<Vec<_>>()
    };
    let stories = world.pages("latest-stories", &[], |_| {});
    assert_eq!(stories.iter().map(Vec::len).collect::<Vec<_>>(), [20, 5]);
    assert_eq!(all(&stories.concat(), "title"), expected(&["The lighthouse"]));
    let notifications = world.pages("notifications", &[("userId", "ben")], |_| {});
    assert_eq!(notifications.iter().map(Vec::len).collect::<Vec<_>>(), [20, 4]);
    assert_eq!(all(&notifications.concat(), "title"), expected(&[]));
}

fn a_branch_that_is_deleted_leaves_every_count_and_list(world: &World) {
    assert_eq!(world.delete(&format!("Chapter/{STORY}/{STAIRS}")).status, 204);
    assert_eq!(chapter(world, FOG)["stats"]["childCount"], 0);
    let stats = story(world)["stats"].clone();
    assert_eq!((&stats["totalBranches"], &stats["totalChapters"]), (&json!(0), &json!(1)));
    assert_eq!(profile(world, "ben")["stats"]["branchesContributed"], 0);
    assert!(world.ask("children", &[("parentNodeId", FOG)]).is_empty());
    assert!(world.ask("branches-of-user", &[("userId", "ben")]).is_empty());
    world.assert_sound();
}

fn changes_of_stories_go_to_the_event_bus(world: &World) {
    let events = world.things_happen_and_are_told();
    let about_stories = events.iter().filter(|event| event["subject"].as_str().is_some());
    assert!(about_stories.count() > 0, "the seeded story was made: {events:?}");
    world.does("complete-story", json!({ "storyId": STORY, "userId": "ada" }));
    let events = world.things_happen_and_are_told();
    assert_eq!(events.len(), 1, "{events:?}");
    let event = &events[0];
    assert_eq!(event["specversion"], "1.0");
    assert_eq!(
        (&event["data"]["old"]["status"], &event["data"]["new"]["status"]),
        (&json!("PUBLISHED"), &json!("COMPLETED"))
    );
}
