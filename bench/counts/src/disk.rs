//! What one operation writes: bytes handed to the operating system, and syncs. The zeros that go ahead of the journal are counted with the rest; they are
//! written a megabyte at a time.

use engine::{Engine, Options};

use crate::operations::{answer, fill, request};

/// How many times an operation runs: each write waits for a sync.
const TIMES: usize = 200;

pub struct Disk {
    pub written_bytes: u64,
    /// In hundredths, so that one in a hundred is seen.
    pub syncs: u64,
}

/// Counts on a database in a new directory; nothing where the system does not tell what a process writes.
pub fn count(operation: &str) -> Option<Disk> {
    let directory = tempfile::tempdir().expect("a directory");
    // What happens by itself would be counted, too.
    let options = Options { housekeeping: None, ..Options::default() };
    let engine = Engine::open(directory.path(), options).expect("a database");
    fill(&engine);
    let requests: Vec<_> = (0..TIMES).map(|turn| request(operation, turn)).collect();
    let mut out = Vec::with_capacity(1 << 20);
    let (bytes, syncs) = (written_bytes()?, engine.metrics().syncs);
    for request in &requests {
        answer(&engine, request, &mut out);
    }
    let times = TIMES as u64;
    Some(Disk {
        written_bytes: (written_bytes()? - bytes) / times,
        syncs: (engine.metrics().syncs - syncs) * 100 / times,
    })
}

fn written_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("wchar: "))?.parse().ok()
}
