//! Encrypted databases on the command line: keys from a file, the environment and KMS, and what is said without the right one.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Serving, monotable, stderr, stdout};

fn monotable_with(environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_monotable"));
    command.env_remove("MONOTABLE_DATA").envs(environment.iter().copied());
    command.args(arguments).output().unwrap()
}

/// Runs a command that must succeed.
#[track_caller]
fn ok(arguments: &[&str]) -> String {
    let output = monotable(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

/// What a command says that must fail.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = monotable(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", stdout(&output));
    stderr(&output)
}

fn create_table(place: &[&str]) {
    ok(&[&["table", "create", "Orders", "--partition-key", "pk:S"], place].concat());
}

fn paths<const COUNT: usize>(directory: &Path, names: [&str; COUNT]) -> [String; COUNT] {
    names.map(|name| directory.join(name).to_str().unwrap().to_owned())
}

#[test]
fn a_key_file_encrypts_and_opens_a_database_and_nothing_else_does() {
    let directory = tempfile::tempdir().unwrap();
    let [data, key, other] = paths(directory.path(), ["data", "key", "other"]);
    let said = ok(&["key", "new", &key]);
    assert!(said.starts_with("local-") && said.contains("Keep a copy"), "{said}");
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&key).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(refused(&["key", "new", &key]).contains("choose another name"));
    create_table(&["--data", &data, "--key-file", &key]);
    assert_eq!(ok(&["table", "list", "--data", &data, "--key-file", &key]), "Orders\n");
    let text = std::fs::read_to_string(&key).unwrap();
    let listed = monotable_with(&[("MONOTABLE_KEY", text.trim())], &["table", "list", "--data", &data]);
    assert_eq!(stdout(&listed), "Orders\n", "{}", stderr(&listed));

    let missing = refused(&["table", "list", "--data", &data]);
    assert!(missing.contains("is encrypted: give its master key (--key-file FILE"), "{missing}");
    ok(&["key", "new", &other]);
    let wrong = refused(&["table", "list", "--data", &data, "--key-file", &other]);
    assert!(wrong.contains("but the keys are wrapped with local-"), "{wrong}");
    std::fs::write(&other, "no key").unwrap();
    let unreadable = refused(&["table", "list", "--data", &data, "--key-file", &other]);
    assert!(unreadable.contains("64 hexadecimal digits"), "{unreadable}");
}

#[test]
fn a_plain_database_is_encrypted_and_its_keys_are_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let [data, old, new] = paths(directory.path(), ["data", "old", "new"]);
    create_table(&["--data", &data]);
    ok(&["key", "new", &old]);
    ok(&["key", "new", &new]);
    assert!(ok(&["key", "status", "--data", &data]).contains("is not encrypted"));
    let refusal = refused(&["table", "list", "--data", &data, "--key-file", &old]);
    assert!(refusal.contains("monotable key encrypt"), "{refusal}");
    assert_eq!(monotable(&["key", "encrypt", "--data", &data]).status.code(), Some(2));
    ok(&["key", "encrypt", "--data", &data, "--key-file", &old]);
    assert!(refused(&["key", "encrypt", "--data", &data, "--key-file", &old]).contains("encrypted already"));
    assert_eq!(ok(&["table", "list", "--data", &data, "--key-file", &old]), "Orders\n");

    ok(&["key", "rotate", "--data", &data, "--key-file", &old, "--new-key-file", &new]);
    assert!(refused(&["table", "list", "--data", &data, "--key-file", &old]).contains("give that one"));
    let status = ok(&["key", "rotate", "--data", &data, "--key-file", &new, "--data-key"]);
    assert!(ok(&["key", "check", "--data", &data, "--key-file", &new]).contains("as it was written"));
    assert!(status.contains("data key 2: ") && !status.contains("data key 1"), "{status}");
    assert_eq!(ok(&["table", "list", "--data", &data, "--key-file", &new]), "Orders\n");
}

#[test]
fn a_server_goes_on_while_its_keys_are_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let [data, old, new] = paths(directory.path(), ["data", "old", "new"]);
    ok(&["key", "new", &old]);
    ok(&["key", "new", &new]);
    let serving = Serving::start(directory.path(), &["--data", &data, "--key-file", &old]);
    create_table(&["--endpoint-url", &serving.endpoint]);
    let said = ok(&["key", "rotate", "--data", &data, "--key-file", &old, "--data-key"]);
    assert!(said.contains("seals it again"), "{said}");
    let end = Instant::now() + Duration::from_secs(20);
    while ok(&["key", "status", "--data", &data]).contains("data key 1") {
        assert!(Instant::now() < end, "the server did not take up the new key");
        std::thread::sleep(Duration::from_millis(50));
    }
    ok(&["key", "rotate", "--data", &data, "--key-file", &old, "--new-key-file", &new]);
    assert_eq!(ok(&["table", "list", "--endpoint-url", &serving.endpoint]), "Orders\n");
    drop(serving);
    assert_eq!(ok(&["table", "list", "--data", &data, "--key-file", &new]), "Orders\n");
}

#[test]
fn a_key_in_kms_wraps_the_keys_of_a_database() {
    let directory = tempfile::tempdir().unwrap();
    let [data, key] = paths(directory.path(), ["data", "key"]);
    let endpoint = start_kms();
    let environment =
        [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("AWS_REGION", "us-east-1")];
    let kms = ["--data", &data, "--kms-key-id", "alias/database", "--kms-endpoint-url", &endpoint];
    let run = |arguments: &[&str]| monotable_with(&environment, arguments);
    let created = run(&[&["table", "create", "Orders", "--partition-key", "pk:S"], &kms[..]].concat());
    assert!(created.status.success(), "{}", stderr(&created));
    assert_eq!(stdout(&run(&[&["table", "list"], &kms[..]].concat())), "Orders\n");
    let status = ok(&["key", "status", "--data", &data]);
    assert!(status.contains("master key: arn:aws:kms:us-east-1:123456789012:key/database"), "{status}");

    let unknown = ["--data", &data, "--kms-key-id", "alias/none", "--kms-endpoint-url", &endpoint];
    let refused = run(&[&["table", "list"], &unknown[..]].concat());
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("NotFoundException") && stderr(&refused).contains("kms:Decrypt"));
    ok(&["key", "new", &key]);
    let rotated = run(&[&["key", "rotate", "--new-key-file", &key], &kms[..]].concat());
    assert!(rotated.status.success(), "{}", stderr(&rotated));
    assert_eq!(ok(&["table", "list", "--data", &data, "--key-file", &key]), "Orders\n");
}

fn sealed_table(key: &str) -> String {
    json!({
        "TableName": "Orders", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{ "AttributeName": "pk", "AttributeType": "S" }],
        "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }],
        "SSESpecification": { "Enabled": true, "SSEType": "KMS", "KMSMasterKeyId": key },
    })
    .to_string()
}

/// The server's answer: its status, and its body.
fn ask(endpoint: &str, operation: &str, body: &str) -> (String, String) {
    let address = endpoint.trim_start_matches("http://");
    let mut connection = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST / HTTP/1.1\r\nHost: {address}\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\nConnection: close\r\n\
         Content-Type: application/x-amz-json-1.0\r\nAuthorization: AWS4-HMAC-SHA256 \
         Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0\r\nX-Amz-Date: \
         20260101T000000Z\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap_or_default().to_owned(), body.to_owned())
}

#[test]
fn a_table_is_refused_while_its_key_is_taken_away() {
    let directory = tempfile::tempdir().unwrap();
    let [data, key, keys] = paths(directory.path(), ["data", "key", "keys"]);
    std::fs::create_dir(&keys).unwrap();
    let orders = format!("{keys}/orders");
    ok(&["key", "new", &key]);
    ok(&["key", "new", &orders]);
    let serving =
        Serving::start(directory.path(), &["--data", &data, "--key-file", &key, "--table-keys", &keys]);
    let ask = |operation: &str, body: &str| ask(&serving.endpoint, operation, body);
    let (status, body) = ask("CreateTable", &sealed_table("orders"));
    assert!(status.contains("200"), "{status}: {body}");
    let put = json!({ "TableName": "Orders", "Item": { "pk": { "S": "a" }, "text": { "S": "secret" } } })
        .to_string();
    assert!(ask("PutItem", &put).0.contains("200"));
    let taken = format!("{orders}.taken");
    let wait_for = |wanted: &str| {
        let end = Instant::now() + Duration::from_mins(1);
        while !ask("DescribeTable", r#"{"TableName":"Orders"}"#).1.contains(wanted) {
            assert!(Instant::now() < end, "the table did not become {wanted}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    std::fs::rename(&orders, &taken).unwrap();
    wait_for("INACCESSIBLE_ENCRYPTION_CREDENTIALS");
    let (status, body) = ask("PutItem", &put);
    assert!(status.contains("400") && body.contains("AccessDeniedException"), "{status}: {body}");
    std::fs::rename(&taken, &orders).unwrap();
    wait_for("\"TableStatus\":\"ACTIVE\"");
    let (status, body) = ask("Scan", r#"{"TableName":"Orders"}"#);
    assert!(status.contains("200") && body.contains("secret"), "{status}: {body}");
}

#[test]
fn keys_of_tables_come_from_kms() {
    let directory = tempfile::tempdir().unwrap();
    let [data, key] = paths(directory.path(), ["data", "key"]);
    ok(&["key", "new", &key]);
    let endpoint = start_kms();
    let environment =
        [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("AWS_REGION", "us-east-1")];
    let arguments =
        ["--data", &data, "--key-file", &key, "--kms-table-keys", "--kms-endpoint-url", &endpoint];
    let serving = Serving::start_with(directory.path(), &arguments, &environment);
    let (status, body) = ask(&serving.endpoint, "CreateTable", &sealed_table("alias/database"));
    assert!(status.contains("200") && body.contains(ARN), "{status}: {body}");
    let (status, body) =
        ask(&serving.endpoint, "CreateTable", &sealed_table("alias/none").replace("Orders", "Others"));
    assert!(status.contains("400") && body.contains("KMS key access denied error"), "{status}: {body}");
    drop(serving);
    // The data is there, but nobody reads it without the key.
    let export = ["export", "Orders", "--data", &data, "--key-file", &key];
    assert!(refused(&export).contains("KMS key access denied error"));
    let exported = monotable_with(&environment, &[&export[..], &arguments[4..]].concat());
    assert!(exported.status.success(), "{}", stderr(&exported));
}

/// A KMS with one key, which remembers what it wrapped.
fn start_kms() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut wrapped = HashMap::new();
        for connection in listener.incoming() {
            answer_one(&connection.unwrap(), &mut wrapped);
        }
    });
    endpoint
}

const ARN: &str = "arn:aws:kms:us-east-1:123456789012:key/database";

fn answer_one(connection: &TcpStream, wrapped: &mut HashMap<String, (Value, Value)>) {
    let mut reader = BufReader::new(connection);
    let Some((target, request)) = read_request(&mut reader) else { return };
    let (status, answer) = answer(&target, &request, wrapped);
    let body = answer.to_string();
    let head = "Content-Type: application/x-amz-json-1.1\r\nConnection: close";
    let length = body.len();
    let text = format!("HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}");
    let mut writer = connection;
    writer.write_all(text.as_bytes()).unwrap();
}

fn read_request(reader: &mut BufReader<&TcpStream>) -> Option<(String, Value)> {
    let (mut target, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("x-amz-target") => value.clone_into(&mut target),
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().unwrap();
            }
            None if line.trim().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((target, serde_json::from_slice(&body).unwrap()))
}

fn answer(
    target: &str,
    request: &Value,
    wrapped: &mut HashMap<String, (Value, Value)>,
) -> (&'static str, Value) {
    let refusal = |kind: &str| ("400 Bad Request", json!({ "__type": kind, "message": "refused" }));
    if ![json!("alias/database"), json!(ARN)].contains(&request["KeyId"]) {
        return refusal("NotFoundException");
    }
    match target {
        "TrentService.DescribeKey" => {
            ("200 OK", json!({ "KeyMetadata": { "KeyId": "database", "Arn": ARN } }))
        }
        "TrentService.Encrypt" => {
            // Eight digits are base64, too.
            let blob = format!("{:08}", wrapped.len());
            wrapped
                .insert(blob.clone(), (request["Plaintext"].clone(), request["EncryptionContext"].clone()));
            ("200 OK", json!({ "KeyId": ARN, "CiphertextBlob": blob }))
        }
        "TrentService.Decrypt" => match wrapped.get(request["CiphertextBlob"].as_str().unwrap()) {
            Some((plain, context)) if *context == request["EncryptionContext"] => {
                ("200 OK", json!({ "KeyId": ARN, "Plaintext": plain }))
            }
            _ => refusal("InvalidCiphertextException"),
        },
        _ => refusal("UnsupportedOperationException"),
    }
}
