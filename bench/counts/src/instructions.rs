//! Instructions of one operation: valgrind counts a run and a run that is longer; the difference is what the operations cost.

use std::process::{Command, Stdio};

use crate::operations::TIMES;

pub fn is_possible() -> bool {
    let version =
        Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Instructions of one operation, in memory, run in one way: `run` in this process, `serve` over HTTP.
pub fn count(way: &str, operation: &str) -> u64 {
    // The first are dearer than the rest: caches of expressions are still empty.
    (total(way, operation, TIMES * 3) - total(way, operation, TIMES)) / (TIMES as u64 * 2)
}

fn total(way: &str, operation: &str, count: usize) -> u64 {
    let out = tempfile::NamedTempFile::new().expect("a file");
    let program = std::env::current_exe().expect("this program");
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", out.path().display()))
        .arg(program)
        .args([way, operation, &count.to_string()])
        .stdout(Stdio::null())
        .status()
        .expect("valgrind");
    assert!(status.success(), "valgrind ran {operation}");
    let text = std::fs::read_to_string(out.path()).expect("what valgrind wrote");
    let totals = text.lines().find_map(|line| line.strip_prefix("totals: "));
    totals.and_then(|number| number.trim().parse().ok()).expect("a total")
}
