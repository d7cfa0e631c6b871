//! A server as a process: from its start to its first answer, what it holds of memory and disk, and how often it syncs.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::load;
use crate::servers::{Server, Start};

/// What all servers are started with.
#[derive(Clone)]
pub struct Place {
    /// The program of Monotable.
    pub monotable: PathBuf,
    /// Where the directories of databases are made.
    pub scratch: PathBuf,
    /// Memory for data read from disk, as Monotable's `--cache` takes it.
    pub cache: String,
}

/// A server that was started; it is stopped when this is dropped.
pub struct Running {
    pub server: Server,
    pub address: SocketAddr,
    /// From the start of the process to its first answer over HTTP.
    pub first_answer: Duration,
    place: Place,
    child: Child,
    directory: TempDir,
}

impl Running {
    /// Starts a server on an empty directory and waits until it answers.
    pub fn start(server: Server, place: &Place) -> Result<Running, String> {
        let directory = tempfile::Builder::new().prefix("monotable-bench-").tempdir_in(&place.scratch);
        let directory =
            directory.map_err(|error| format!("no directory in {}: {error}", place.scratch.display()))?;
        std::fs::create_dir(directory.path().join("data")).map_err(|error| error.to_string())?;
        let (child, address, first_answer) = spawn(server, place, directory.path())?;
        Ok(Running { server, address, first_answer, place: place.clone(), child, directory })
    }

    /// Kills the process without a warning, and starts the server again on what it left.
    pub fn restart_after_kill(&mut self) -> Result<(), String> {
        self.stop();
        (self.child, self.address, self.first_answer) =
            spawn(self.server, &self.place, self.directory.path())?;
        Ok(())
    }

    /// The memory that the server holds now.
    pub fn resident_bytes(&self) -> u64 {
        resident_bytes(self.child.id())
    }

    /// The size of its files, once they have stopped changing.
    pub fn settled_disk_bytes(&self) -> u64 {
        let data = self.directory.path().join("data");
        let mut before = disk_bytes(&data);
        let mut quiet = 0;
        for _ in 0..60 {
            std::thread::sleep(Duration::from_millis(500));
            let now = disk_bytes(&data);
            quiet = if now == before { quiet + 1 } else { 0 };
            before = now;
            if quiet == 4 {
                break;
            }
        }
        before
    }

    /// How often the server asks the disk to sync while `work` is done, if strace can tell.
    pub fn syncs_while(&self, work: impl FnOnce()) -> Option<u64> {
        let counts = self.directory.path().join("strace");
        let mut tracer = Command::new("strace")
            .args(["-f", "-qq", "-e", "trace=fsync,fdatasync,msync,sync_file_range,syncfs", "-o"])
            .arg(&counts)
            .args(["-p", &self.child.id().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        std::thread::sleep(Duration::from_millis(500));
        work();
        std::thread::sleep(Duration::from_millis(100));
        let is_running = tracer.try_wait().ok()?.is_none();
        interrupt(&tracer);
        let _ = tracer.wait();
        let text = std::fs::read_to_string(&counts).ok()?;
        // A call that another thread interrupts is told in two lines, of which the second begins with "<...".
        is_running.then(|| {
            text.lines().filter(|line| line.contains("sync") && !line.contains("<...")).count() as u64
        })
    }

    fn stop(&mut self) {
        // It may have gone by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Asks a process to end by itself, so that it lets go of what it traces.
fn interrupt(child: &Child) {
    let id = i32::try_from(child.id()).expect("ids of processes are small");
    // SAFETY: the call touches no memory; the process is a child that has not been waited for, so its id is its own.
    unsafe { libc::kill(id, libc::SIGINT) };
}

fn spawn(server: Server, place: &Place, directory: &Path) -> Result<(Child, SocketAddr, Duration), String> {
    let port = free_port().map_err(|error| error.to_string())?;
    let data = directory.join("data").to_string_lossy().into_owned();
    let start = Start { port, directory: &data, monotable: &place.monotable, cache: &place.cache };
    let mut command = server.command(&start).ok_or("not installed")?;
    let log = File::create(directory.join("log")).map_err(|error| error.to_string())?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let started = Instant::now();
    let mut child =
        command.spawn().map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    while !load::is_answered(address) {
        let is_gone = child.try_wait().is_ok_and(|status| status.is_some());
        if is_gone || started.elapsed() > Duration::from_secs(120) {
            let _ = child.kill();
            let _ = child.wait();
            let log = std::fs::read_to_string(directory.join("log")).unwrap_or_default();
            return Err(format!("did not start: {}", log.lines().last().unwrap_or("it says nothing")));
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok((child, address, started.elapsed()))
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

/// What the files of a directory take on disk; files made larger beforehand count as far as they are written.
fn disk_bytes(directory: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => disk_bytes(&entry.path()),
        Ok(metadata) => metadata.len().min(metadata.blocks() * 512),
        // It was removed meanwhile.
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
