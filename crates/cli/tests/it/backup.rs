//! Backups of a server that runs.

use crate::{Serving, monotable, stderr, stdout};

#[test]
fn a_running_server_makes_a_whole_backup_when_it_is_asked_to() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (data, backups) = (path("data"), path("backups"));
    let server = Serving::start(
        directory.path(),
        &["--data", &data, "--backup-to", &backups, "--backup-every", "100ms"],
    );
    let at = ["--endpoint-url", &server.endpoint];
    let run = |arguments: &[&str]| {
        let output = monotable(&[arguments, &at[..]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    run(&["table", "create", "Orders", "--partition-key", "pk:S"]);
    let said = run(&["backup", "now"]);
    let (id, rest) = said.split_once(' ').unwrap();
    assert!(rest.starts_with(&format!("in {backups} shows the database at 20")), "{said}");
    drop(server);
    let restored = path("restored");
    let output = monotable(&["restore", &backups, "--data", &restored, "--id", id]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&monotable(&["table", "list", "--data", &restored])), "Orders\n");
}

#[test]
fn a_server_that_does_not_back_itself_up_says_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let server = Serving::start(directory.path(), &["--in-memory"]);
    let output = monotable(&["backup", "now", "--endpoint-url", &server.endpoint]);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("--backup-to DEST"), "{}", stderr(&output));
}
