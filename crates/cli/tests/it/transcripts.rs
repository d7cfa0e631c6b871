//! What a person sees: each file under `tests/transcripts` is a session in a shell, compared word for word.
//!
//! A line that begins with `$ ` is a command, run in one new directory for the whole session; what follows is what it prints, stdout
//! before stderr, and how it ends where that is not 0. `$ cat > FILE` takes the lines after it, up to `EOF`. `UPDATE=1 cargo test` rewrites the answers.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Stands in the place of output that is long and tested elsewhere.
const LINES_MAX: usize = 60;

fn sessions() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    files.sort();
    files
}

/// The session again, with the answers of today.
fn replay(session: &str, directory: &Path) -> String {
    let mut out = String::new();
    let mut lines = session.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with('#') || line.is_empty() {
            out.extend([line, "\n"]);
            continue;
        }
        let Some(command) = line.strip_prefix("$ ") else { continue };
        out.extend([line, "\n"]);
        if let Some(name) = command.strip_prefix("cat > ") {
            let text = lines.by_ref().take_while(|line| *line != "EOF").map(|line| format!("{line}\n"));
            let text = text.collect::<String>();
            out.extend([text.as_str(), "EOF\n"]);
            fs::write(directory.join(name), text).unwrap();
            continue;
        }
        out.push_str(&answer(command, directory));
        while lines.next_if(|line| !line.starts_with("$ ") && !line.starts_with('#')).is_some() {}
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn answer(command: &str, directory: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_monotable"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(directory)
        .env("PATH", path)
        .env_remove("MONOTABLE_DATA")
        .env_remove("MONOTABLE_ENDPOINT_URL")
        .output()
        .unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let count = said.lines().count();
    let mut shown = said.lines().take(LINES_MAX).flat_map(|line| [line, "\n"]).collect::<String>();
    if count > LINES_MAX {
        let _ = writeln!(shown, "[{} more lines]", count - LINES_MAX);
    }
    if let Some(code @ 1..) = output.status.code() {
        let _ = writeln!(shown, "[ends with {code}]");
    }
    // A line that begins like a command or a comment would not be read back as an answer.
    shown
        .lines()
        .map(|line| if line.starts_with(['$', '#']) { format!(" {line}\n") } else { format!("{line}\n") })
        .collect()
}

#[cfg(unix)]
#[test]
fn sessions_in_a_shell_read_as_they_are_written() {
    for path in sessions() {
        let session = fs::read_to_string(&path).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let found = replay(&session, directory.path());
        if found == session {
            continue;
        }
        assert!(
            std::env::var_os("UPDATE").is_some(),
            "{}: UPDATE=1 rewrites it. Found:\n{found}",
            path.display()
        );
        fs::write(&path, found).unwrap();
    }
}
