//! WavyBlog: users and posts with e-mails and slugs that stay unique through every rename, categories, and hashes that nobody sees.

use serde_json::{Value, json};

use super::world::{World, all};

stories! { "wavy-blog":
    users_have_names_and_addresses_of_their_own,
    a_password_hash_is_never_answered,
    posts_are_found_by_slug_author_and_category,
    a_post_keeps_everything_when_its_slug_changes,
    categories_are_listed,
    of_many_who_want_one_address_or_slug_one_gets_it,
}

fn user(name: &str, email: &str) -> Value {
    json!({ "UserID": format!("usr_{name}"), "Username": name, "Email": email, "PasswordHash": "$2a$10$secretsecretsecret" })
}

fn post(slug: &str, author: &str, category: &str) -> Value {
    json!({ "PostID": format!("post_{slug}"), "Slug": slug, "Title": slug, "Content": "…", "AuthorID": author, "Category": category })
}

fn users_have_names_and_addresses_of_their_own(world: &World) {
    world.does("register", user("kim", "kim@example.com"));
    world.tries("register", user("kim", "other@example.com")).is_refused(409, "User");
    let taken = world.tries("register", user("kim2", "john@example.com"));
    taken.is_refused(409, "Email");
    assert!(world.ask("user", &[("Username", "kim2")]).is_empty(), "and nothing of it is left");

    let by_email = |email: &str| {
        let parts = world.answer("user-by-email", &[("Email", email)]).body["parts"].clone();
        parts["user"][0]["Username"].as_str().map(str::to_owned)
    };
    assert_eq!(by_email("kim@example.com").as_deref(), Some("kim"));
    world
        .tries("change-email", json!({ "Username": "kim", "Email": "jane@example.com" }))
        .is_refused(409, "Email");
    world.does("change-email", json!({ "Username": "kim", "Email": "kim@example.org" }));
    assert_eq!((by_email("kim@example.com"), by_email("kim@example.org").as_deref()), (None, Some("kim")));
    world.does("register", user("leo", "kim@example.com"));
    assert_eq!(
        world.ask("user-email", &[("Email", "kim@example.com")])[0]["Username"],
        "leo",
        "it was free again"
    );

    assert_eq!(all(&world.ask("users", &[]), "Username"), ["jane", "john_doe", "kim", "leo"]);
    assert_eq!(world.delete("User/leo").status, 204);
    assert!(by_email("kim@example.com").is_none(), "the address went with its user");
    world.assert_sound();
}

fn a_password_hash_is_never_answered(world: &World) {
    let said = [
        world.tries("register", user("kim", "kim@example.com")).text,
        world.get("entities/User/kim").text,
        world.answer("user", &[("Username", "kim")]).text,
        world.answer("users", &[]).text,
        world.answer("user-by-email", &[("Email", "kim@example.com")]).text,
        world
            .patch("User/kim", json!({ "Role": "admin", "PasswordHash": "$2a$10$anothersecretsecret" }))
            .text,
    ];
    for text in said {
        assert!(text.contains("kim") && !text.contains("secretsecret"), "{text}");
    }
}

fn posts_are_found_by_slug_author_and_category(world: &World) {
    world.tries("write-post", post("a", "nobody", "sea")).is_refused(409, "there is no such author");
    world.tries("write-post", post("a", "jane", "nowhere")).is_refused(409, "there is no such category");
    world.does("write-post", post("tides", "jane", "sea"));
    world.tries("write-post", post("tides", "john_doe", "sea")).is_refused(409, "Post");
    assert_eq!(world.ask("slug", &[("Slug", "tides")]).len(), 1);
    assert!(world.ask("slug", &[("Slug", "free")]).is_empty());

    let slugs = |pattern: &str, parameters: &[(&str, &str)]| {
        all(&world.ask(pattern, parameters), "Slug").into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(slugs("posts-by-category", &[("Category", "sea")]), ["tides", "waves"], "newest first");
    assert_eq!(slugs("posts-by-user", &[("Username", "john_doe")]), ["waves", "my-first-post"]);
    assert_eq!(slugs("posts", &[]).len(), 3);

    world.does("publish-post", json!({ "Slug": "tides" }));
    assert_eq!(world.ask("post", &[("Slug", "tides")])[0]["IsPublished"], true);
    world.does("move-post", json!({ "Slug": "tides", "Category": "technology" }));
    assert_eq!(slugs("posts-by-category", &[("Category", "sea")]), ["waves"]);
    assert_eq!(slugs("posts-by-category", &[("Category", "technology")]), ["tides", "my-first-post"]);
    world
        .tries("move-post", json!({ "Slug": "tides", "Category": "gone" }))
        .is_refused(409, "there is no such category");
    world.assert_sound();
}

fn a_post_keeps_everything_when_its_slug_changes(world: &World) {
    world.tries("rename-post", json!({ "Slug": "waves", "NewSlug": "my-first-post" })).is_refused(409, "");
    world.does("rename-post", json!({ "Slug": "waves", "NewSlug": "breakers" }));
    assert!(world.ask("post", &[("Slug", "waves")]).is_empty());
    let renamed = &world.ask("post", &[("Slug", "breakers")])[0];
    assert_eq!((&renamed["Title"], &renamed["CreatedAt"]), (&json!("Waves"), &json!("2024-01-20T08:00:00Z")));
    assert_eq!(all(&world.ask("posts-by-category", &[("Category", "sea")]), "Slug"), ["breakers"]);
    world.does("write-post", post("waves", "jane", "sea"));
    assert_eq!(world.delete("Post/breakers").status, 204);
    assert!(world.ask("slug", &[("Slug", "breakers")]).is_empty());
    world.assert_sound();
}

fn categories_are_listed(world: &World) {
    world.makes("Category", json!({ "CategoryID": "cat_1", "Slug": "art", "Name": "Art" }));
    assert_eq!(all(&world.ask("categories", &[]), "Slug"), ["art", "sea", "technology"]);
    assert_eq!(world.patch("Category/art", json!({ "Name": "Arts" })).body["Name"], "Arts");
}

fn of_many_who_want_one_address_or_slug_one_gets_it(world: &World) {
    let at_once = |attempt: &(dyn Fn(u32) -> u16 + Sync)| {
        let mut statuses = std::thread::scope(|scope| {
            let threads = (0..8).map(|number| scope.spawn(move || attempt(number))).collect::<Vec<_>>();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        statuses.sort_unstable();
        statuses
    };
    let registered =
        at_once(&|number| world.tries("register", user(&format!("racer{number}"), "one@example.com")).status);
    assert_eq!(registered, [vec![200], vec![409; 7]].concat());
    let written = at_once(&|number| {
        let author = if number.is_multiple_of(2) { "jane" } else { "john_doe" };
        world.tries("write-post", post("scoop", author, "sea")).status
    });
    assert_eq!(written, [vec![200], vec![409; 7]].concat());
    let changed = at_once(&|number| {
        let name = if number.is_multiple_of(2) { "jane" } else { "john_doe" };
        world.patch(&format!("User/{name}"), json!({ "Email": "shared@example.com" })).status
    });
    assert!(changed.contains(&200) && changed.contains(&409), "{changed:?}");
    assert_eq!(world.ask("users", &[]).len(), 3);
    world.assert_sound();
}
