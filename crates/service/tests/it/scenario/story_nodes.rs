//! Stories and nodes: soft delete moves a story between two lists, titles are equal everywhere, nodes stay in their story.

use serde_json::json;

use super::world::{World, all};

stories! { "story-nodes":
    a_story_is_written_renamed_deleted_and_restored,
    nodes_belong_to_a_story_that_is_there,
    lists_are_copies_that_nobody_writes_by_hand,
}

const LIGHTHOUSE: &str = "01HMZ700000000000000000001";
const DRAFT: &str = "01HMZ700000000000000000002";

fn a_story_is_written_renamed_deleted_and_restored(world: &World) {
    let titles = |pattern: &str| {
        let found = world.ask(pattern, &[("userId", "ada")]);
        all(&found, "title").into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let made = world.makes("Story", json!({ "userId": "ada", "title": "Salt" }));
    let id = made["id"].as_str().unwrap();
    assert_eq!(titles("stories"), ["The lighthouse", "Salt"]);
    assert_eq!(titles("deleted-stories"), ["A draft"]);

    world.does("rename-story", json!({ "userId": "ada", "id": id, "title": "Salt and light" }));
    assert_eq!(world.item(&format!("Story/ada/{id}"))["title"], "Salt and light");
    assert_eq!(titles("stories"), ["The lighthouse", "Salt and light"], "the title is equal in both records");

    let input = json!({ "userId": "ada", "id": id });
    let deleted = world.does("delete-story", input.clone());
    assert_eq!(deleted[0]["deleted"], true);
    assert_eq!(titles("stories"), ["The lighthouse"]);
    assert_eq!(titles("deleted-stories"), ["A draft", "Salt and light"]);
    world.tries("delete-story", input.clone()).is_refused(409, "the story is deleted already");

    world.patch(&format!("Story/ada/{id}"), json!({ "title": "Salt" }));
    assert_eq!(titles("deleted-stories"), ["A draft", "Salt"], "titles follow in the other list as well");
    world.does("restore-story", input.clone());
    assert_eq!((titles("stories").len(), titles("deleted-stories").len()), (2, 1));
    world.tries("restore-story", input).is_refused(409, "the story is not deleted");
    let story = world.ask("story", &[("userId", "ada"), ("id", id)]);
    assert_eq!(
        (&story[0]["deleted"], &story[0]["userId"]),
        (&json!(false), &json!("ada")),
        "read from the key"
    );
    world.assert_sound();
}

fn nodes_belong_to_a_story_that_is_there(world: &World) {
    let node = |story: &str| json!({ "userId": "ada", "storyId": story, "nodeOrder": 3, "type": "choice", "prompt": "Jump?", "responses": ["yes", { "text": "no", "weight": 0.5 }] });
    let made = world.does("add-node", node(LIGHTHOUSE));
    let id = made[0]["id"].as_str().unwrap();
    world.tries("add-node", node(DRAFT)).is_refused(409, "there is no such story, or it is deleted");
    world.tries("add-node", node("01HMZ700000000000000000009")).is_refused(409, "there is no such story");

    let story = [("userId", "ada"), ("storyId", LIGHTHOUSE)];
    assert_eq!(all(&world.ask("nodes", &story), "type"), ["choice", "end", "choice"]);
    let whole = world.ask("story-with-nodes", &story);
    assert_eq!(all(&whole, "_entity"), ["Story", "Node", "Node", "Node"], "one partition");
    let found = world.ask("node", &[("userId", "ada"), ("storyId", LIGHTHOUSE), ("id", id)]);
    assert_eq!(found[0]["responses"][1]["weight"], 0.5);

    let path = format!("Node/ada/{LIGHTHOUSE}/{id}");
    assert_eq!(
        world.patch(&path, json!({ "prompt": "Climb?", "media": { "image": "a.png" } })).body["prompt"],
        "Climb?"
    );
    assert_eq!(world.delete(&path).status, 204);
    assert_eq!(world.delete(&path).status, 404);
    assert!(world.ask("nodes", &[("userId", "ben"), ("storyId", LIGHTHOUSE)]).is_empty(), "of another user");
    world.assert_sound();
}

fn lists_are_copies_that_nobody_writes_by_hand(world: &World) {
    let wrong = world.post("StoryIndex", json!({ "userId": "ada", "id": LIGHTHOUSE, "title": "Forged" }));
    assert_eq!(wrong.status, 405, "{wrong:?}");
    assert_eq!(world.item(&format!("StoryIndex/ada/{LIGHTHOUSE}"))["title"], "The lighthouse");
    assert_eq!(world.get(&format!("entities/DeletedStoryIndex/ada/{LIGHTHOUSE}")).status, 404);
}
