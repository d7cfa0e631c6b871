//! A child process: this test program again, with one of its tests, which is meant to be killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;

const FOLDER: &str = "MONOTABLE_CHILD_FOLDER";
/// Begins each report, so that it is told from what the test program prints.
const REPORT: &str = "report:";

/// The folder that a child was given; nothing where the test was not started as a child.
pub(crate) fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// Tells the parent something.
pub(crate) fn report(text: &str) {
    let mut output = std::io::stdout().lock();
    output.write_all(format!("{REPORT}{text}\n").as_bytes()).unwrap();
    output.flush().unwrap();
}

/// A child that runs.
pub(crate) struct Child {
    process: std::process::Child,
    coming: mpsc::Receiver<String>,
    reports: JoinHandle<Vec<String>>,
}

impl Child {
    /// Starts the test with this name as a child.
    pub(crate) fn start(test: &str, folder: &Path) -> Child {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--ignored", "--nocapture"])
            .env(FOLDER, folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (comes, coming) = mpsc::channel();
        let reports = std::thread::spawn(move || {
            let mut reports = Vec::new();
            for line in output.lines().map_while(Result::ok) {
                if let Some((_, report)) = line.split_once(REPORT) {
                    reports.push(report.to_owned());
                    let _ = comes.send(report.to_owned());
                }
            }
            reports
        });
        Child { process, coming, reports }
    }

    /// Waits for a report that is so, or the child's end.
    pub(crate) fn wait_for(&self, mut is_so: impl FnMut(&str) -> bool) {
        while let Ok(report) = self.coming.recv() {
            if is_so(&report) {
                return;
            }
        }
    }

    /// Kills the child and returns what it had reported.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.reports.join().unwrap()
    }
}
