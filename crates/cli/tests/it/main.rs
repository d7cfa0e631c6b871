//! The command line as its users see it: what it prints, where, and how it ends.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "everything here is a test")]

mod backup;
mod key;
mod kills;
mod transcripts;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn monotable(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_monotable"));
    for name in
        ["MONOTABLE_DATA", "MONOTABLE_PORT", "MONOTABLE_ENDPOINT_URL", "MONOTABLE_HOST", "MONOTABLE_KEY"]
    {
        command.env_remove(name);
    }
    command.args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A server that is killed when the test ends.
struct Serving {
    child: Child,
    endpoint: String,
}

impl Serving {
    fn start(directory: &Path, arguments: &[&str]) -> Serving {
        Serving::start_with(directory, arguments, &[])
    }

    fn start_with(directory: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Serving {
        let ready = directory.join("ready");
        let child = Command::new(env!("CARGO_BIN_EXE_monotable"))
            .args(["serve", "--port", "0", "--ready-file"])
            .arg(&ready)
            .args(arguments)
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let end = Instant::now() + Duration::from_secs(30);
        while !ready.exists() {
            assert!(Instant::now() < end, "the server did not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        let endpoint = std::fs::read_to_string(&ready).unwrap().trim().to_owned();
        Serving { child, endpoint }
    }

    #[cfg(unix)]
    fn terminate(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn without_arguments_it_shows_help_with_examples() {
    let output = monotable(&[]);
    let help = format!("{}{}", stdout(&output), stderr(&output));
    assert!(help.contains("monotable serve --in-memory"), "{help}");
    assert_eq!(monotable(&["--help"]).status.code(), Some(0));
    for command in ["serve", "import", "export", "check-data"] {
        assert!(stdout(&monotable(&[command, "--help"])).contains("Examples:"), "{command}");
    }
}

#[test]
fn wrong_usage_ends_with_2_and_a_failure_with_1() {
    assert_eq!(monotable(&["serve", "--in-memory", "--data", "directory"]).status.code(), Some(2));
    assert_eq!(monotable(&["nonsense"]).status.code(), Some(2));
    assert_eq!(monotable(&["serve", "--in-memory", "--durability", "maybe"]).status.code(), Some(2));
    let output = monotable(&["table", "list", "--data", "does-not-exist"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("help: `monotable table create` makes one"), "{}", stderr(&output));
    let output = monotable(&["table", "list", "--endpoint-url", "http://127.0.0.1:1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("monotable serve"), "{}", stderr(&output));
}

#[test]
fn a_server_without_credentials_stays_on_this_machine() {
    let output = monotable(&["serve", "--in-memory", "--host", "0.0.0.0"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("--credentials FILE"), "{}", stderr(&output));
    assert!(!stderr(&output).contains('\u{1b}'), "colour is for terminals");
}

#[test]
fn items_go_in_and_come_out_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let data = path("data");
    let created = monotable(&[
        "table",
        "create",
        "Orders",
        "--partition-key",
        "pk:S",
        "--sort-key",
        "sk:N",
        "--data",
        &data,
    ]);
    assert_eq!(stdout(&created), "created Orders\n", "{}", stderr(&created));
    let line =
        |number: usize| format!("{{\"Item\":{{\"pk\":{{\"S\":\"a\"}},\"sk\":{{\"N\":\"{number}\"}}}}}}\n");
    let mut lines: String = (0..60).map(line).collect::<Vec<_>>().concat();
    // The last key twice: the later item stays.
    lines.push_str("{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"59\"},\"late\":{\"BOOL\":true}}\n");
    std::fs::write(path("in.json"), &lines).unwrap();
    let imported = monotable(&["import", "Orders", &path("in.json"), "--data", &data, "--format", "json"]);
    assert_eq!(stdout(&imported), "{\"imported\":61}\n", "{}", stderr(&imported));
    let exported = monotable(&["export", "Orders", "--data", &data, "--output", &path("out.json.gz")]);
    assert!(exported.status.success(), "{}", stderr(&exported));
    let plain = monotable(&["export", "Orders", "--data", &data]);
    let text = stdout(&plain);
    assert_eq!(text.lines().count(), 60);
    assert!(text.contains("\"late\":{\"BOOL\":true}"));
    let copy = path("copy");
    monotable(&[
        "table",
        "create",
        "Orders",
        "--partition-key",
        "pk:S",
        "--sort-key",
        "sk:N",
        "--data",
        &copy,
    ]);
    let again = monotable(&["import", "Orders", &path("out.json.gz"), "--data", &copy]);
    assert_eq!(stdout(&again), "imported 60 items into Orders\n", "{}", stderr(&again));
    assert_eq!(stdout(&monotable(&["export", "Orders", "--data", &copy])), text);
}

#[test]
fn a_line_that_is_no_item_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data").to_str().unwrap().to_owned();
    let file = directory.path().join("in.json");
    std::fs::write(&file, "{\"pk\":{\"S\":\"a\"}}\n{\"pk\":\"a\"}\n").unwrap();
    monotable(&["table", "create", "Orders", "--partition-key", "pk:S", "--data", &data]);
    let output = monotable(&["import", "Orders", file.to_str().unwrap(), "--data", &data]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("line 2 of"), "{}", stderr(&output));
}

#[test]
fn tables_are_managed_through_a_server_with_credentials() {
    let directory = tempfile::tempdir().unwrap();
    let keys = directory.path().join("keys.ini");
    std::fs::write(&keys, "[a]\naws_access_key_id=local\naws_secret_access_key=local\n").unwrap();
    let server = Serving::start(directory.path(), &["--in-memory", "--credentials", keys.to_str().unwrap()]);
    let at = ["--endpoint-url", server.endpoint.as_str()];
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_monotable"))
            .args(arguments)
            .args(at)
            .env_remove("MONOTABLE_DATA")
            .env("AWS_ACCESS_KEY_ID", "local")
            .env("AWS_SECRET_ACCESS_KEY", "local")
            .env("AWS_REGION", "us-east-1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    run(&[
        "table",
        "create",
        "Orders",
        "--partition-key",
        "pk:S",
        "--index",
        "ByDay=day:S,pk:S",
        "--stream",
        "NEW_IMAGE",
        "--ttl",
        "ttl",
    ]);
    assert_eq!(run(&["table", "list"]), "Orders\n");
    assert_eq!(run(&["table", "list", "--format", "json"]), "{\"TableNames\":[\"Orders\"]}\n");
    let described = run(&["table", "describe", "Orders"]);
    assert!(described.contains("index      ByDay: day:S, pk:S"), "{described}");
    assert!(
        run(&["table", "describe", "Orders", "--format", "json"])
            .contains("\"StreamViewType\": \"NEW_IMAGE\"")
    );
    run(&["table", "delete", "Orders", "--yes"]);
    assert_eq!(run(&["table", "list"]), "");
}

#[cfg(unix)]
#[test]
fn a_terminated_server_ends_well_and_says_where_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let mut server = Serving::start(directory.path(), &["--data", data.to_str().unwrap()]);
    let address = server.endpoint.strip_prefix("http://").unwrap().to_owned();
    let mut idle = TcpStream::connect(&address).unwrap();
    idle.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = [0; 15];
    idle.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
    server.terminate();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    let mut said = String::new();
    server.child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said.trim_end(), format!("Monotable {} ready on http://{address}", env!("CARGO_PKG_VERSION")));
}

/// Sends a request and gives the whole answer.
fn ask(server: &Serving, request: &str) -> String {
    let mut stream = TcpStream::connect(server.endpoint.strip_prefix("http://").unwrap()).unwrap();
    stream
        .write_all(format!("{request}\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn designs_are_served_beside_the_protocol_and_run_on_it_from_elsewhere() {
    let directory = tempfile::tempdir().unwrap();
    let server = Serving::start(directory.path(), &["kefir", "--in-memory", "--seed"]);
    let batches = ask(&server, "GET /v1/kefir/patterns/batches?userId=ada HTTP/1.1");
    assert!(batches.starts_with("HTTP/1.1 200") && batches.contains("Ginger and lemon"), "{batches}");
    assert!(ask(&server, "GET /v1/kefir HTTP/1.1").contains("<h1>kefir</h1>"));
    assert!(ask(&server, "GET /v1/nothing HTTP/1.1").starts_with("HTTP/1.1 404"));

    // The same tables, through the AWS SDK.
    let at = ["--endpoint-url", server.endpoint.as_str()];
    let tables = monotable(&[&["table", "list"][..], &at].concat());
    assert!(stdout(&tables).contains("kefir-app-dev-table"), "{}", stderr(&tables));
    let asked = monotable(&[&["run", "kefir", "batches", "userId=ada"][..], &at].concat());
    assert!(stdout(&asked).contains("Raspberry"), "{}", stderr(&asked));
    let verified = monotable(&[&["verify", "kefir"][..], &at].concat());
    assert!(verified.status.success(), "{}{}", stdout(&verified), stderr(&verified));
    let examples = monotable(&[&["test", "story-nodes"][..], &at].concat());
    assert!(examples.status.success(), "{}{}", stdout(&examples), stderr(&examples));
    let left = monotable(&[&["table", "list"][..], &at].concat());
    assert_eq!(stdout(&left), stdout(&tables), "nothing is left of the examples");
}

#[test]
fn made_up_items_in_any_number_are_as_sound_as_others() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data").to_str().unwrap().to_owned();
    let number = |text: &str, name: &str| -> u64 {
        let (_, rest) = text.split_once(&format!("\"{name}\":")).unwrap_or_else(|| panic!("{text}"));
        rest.split([',', '}']).next().unwrap().parse().unwrap()
    };
    for design in ["kefir", "stak-inbox", "story-hub", "story-nodes", "wavy-blog"] {
        let plain = monotable(&["seed", design, "--data", &data, "--format", "json"]);
        let first = number(&stdout(&plain), "created");
        let scaled = monotable(&["seed", design, "--scale", "5", "--data", &data, "--format", "json"]);
        let text = stdout(&scaled);
        assert!(
            scaled.status.success() && number(&text, "created") >= 5,
            "{design}: {text}{}",
            stderr(&scaled)
        );
        assert!(number(&text, "existing") >= first, "what was there stays: {text}");
        let found = monotable(&["verify", design, "--data", &data, "--format", "json"]);
        let text = stdout(&found);
        assert!(found.status.success() && number(&text, "items") > first + 5, "{design}: {text}");
    }
}

#[test]
fn data_is_checked_in_a_directory_and_on_a_server_and_damage_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let made = monotable(&["table", "create", "Orders", "--partition-key", "pk:S", "--data", data]);
    assert!(made.status.success(), "{}", stderr(&made));
    let output = monotable(&["check-data", "--data", data]);
    assert!(stdout(&output).contains("everything fits together"), "{}", stderr(&output));
    {
        let server = Serving::start(directory.path(), &["--data", data]);
        let output = monotable(&["check-data", "--endpoint-url", &server.endpoint, "--format", "json"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stdout(&output).contains("\"Status\": \"DONE\""), "{}", stdout(&output));
    }
    let manifest = directory.path().join("data/fjall/keyspaces/1/current");
    let mut bytes = std::fs::read(&manifest).unwrap();
    bytes[9] ^= 1;
    std::fs::write(&manifest, bytes).unwrap();
    let output = monotable(&["check-data", "--data", data]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("the database is damaged: the manifest"), "{}", stderr(&output));
}
