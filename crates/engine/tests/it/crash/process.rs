//! A child process: this test program again, with one of its tests, which is meant to be killed.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;

/// The directory of the database, in the environment of a child.
pub(crate) const DIRECTORY: &str = "MONOTABLE_CHILD_DIRECTORY";
/// Begins each report, so that it is told from what the test program prints.
const REPORT: &str = "report:";

/// A child that runs.
pub(crate) struct Child {
    process: std::process::Child,
    reports: JoinHandle<Vec<String>>,
    coming: mpsc::Receiver<String>,
}

impl Child {
    /// Starts the test with this name as a child.
    pub(crate) fn start(test: &str, directory: &Path, variables: &[(&str, String)]) -> Child {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--ignored", "--nocapture"])
            .env(DIRECTORY, directory)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (comes, coming) = mpsc::channel();
        let reports = std::thread::spawn(move || read_reports(output, &comes));
        Child { process, reports, coming }
    }

    /// Waits for the child's first report, or its end.
    pub(crate) fn wait_for_report(&self) {
        let _ = self.coming.recv();
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

    /// Waits for the child's end.
    pub(crate) fn wait(mut self) -> (ExitStatus, Vec<String>) {
        let status = self.process.wait().unwrap();
        (status, self.reports.join().unwrap())
    }
}

/// Whole lines only: what was cut off was not reported.
fn read_reports(mut output: impl BufRead, comes: &mpsc::Sender<String>) -> Vec<String> {
    let mut reports = Vec::new();
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line).unwrap() > 0 {
        let text = String::from_utf8_lossy(&line);
        // The test program prints the name of the test without ending the line.
        if let Some((_, report)) = text.split_once(REPORT).filter(|_| text.ends_with('\n')) {
            reports.push(report.trim_end().to_owned());
            let _ = comes.send(report.trim_end().to_owned());
        }
        line.clear();
    }
    reports
}

/// Reports something to the parent.
pub(crate) fn report(text: &str) {
    let line = format!("{REPORT}{text}\n");
    let mut output = std::io::stdout().lock();
    output.write_all(line.as_bytes()).unwrap();
    output.flush().unwrap();
}
