//! A script: comments that state a behaviour, then steps. A step is statements, `---`, and the answers up to an empty line.
//!
//! A statement begins at the margin and goes on over the indented lines below it.

use std::path::{Path, PathBuf};

/// A script as it is written.
pub(crate) struct Script {
    /// Below `behaviours`, such as `query/limit_counts_before_filter.txt`.
    pub(crate) name: String,
    path: PathBuf,
    pub(crate) steps: Vec<Step>,
}

/// Statements and what they answer.
#[derive(Default)]
pub(crate) struct Step {
    /// All lines before `---`, with comments.
    pub(crate) lines: Vec<String>,
    /// The lines after it.
    pub(crate) answers: Vec<String>,
    /// Where the step begins, from 1.
    pub(crate) line: usize,
}

impl Step {
    /// The statements: one or more lines each.
    pub(crate) fn statements(&self) -> Vec<String> {
        let mut statements: Vec<String> = Vec::new();
        for line in self.lines.iter().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match statements.last_mut() {
                Some(last) if line.starts_with(' ') => {
                    last.push('\n');
                    last.push_str(line);
                }
                _ => statements.push(line.clone()),
            }
        }
        statements
    }
}

impl Script {
    /// Reads a script.
    fn read(path: &Path, root: &Path) -> Script {
        let text = std::fs::read_to_string(path).expect("a script is a text file");
        let name =
            path.strip_prefix(root).expect("scripts are below the root").to_string_lossy().replace('\\', "/");
        Script { name, path: path.to_owned(), steps: steps(&text) }
    }

    /// Writes the script with these answers, one list for each step.
    pub(crate) fn rewrite(&self, answers: &[Vec<String>]) {
        let mut text = String::new();
        for (step, answers) in self.steps.iter().zip(answers) {
            for line in &step.lines {
                text.push_str(line);
                text.push('\n');
            }
            if !answers.is_empty() {
                text.push_str("---\n");
                text.push_str(&answers.join("\n"));
                text.push_str("\n\n");
            }
        }
        std::fs::write(&self.path, text.trim_end().to_owned() + "\n").expect("scripts can be written");
    }
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut step = Step { line: 1, ..Step::default() };
    let mut answering = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_end();
        match (answering, line) {
            (false, "---") => answering = true,
            (false, _) => step.lines.push(line.to_owned()),
            (true, "") => {
                answering = false;
                steps.push(std::mem::replace(&mut step, Step { line: index + 2, ..Step::default() }));
            }
            (true, _) => step.answers.push(line.to_owned()),
        }
    }
    if !step.lines.is_empty() || !step.answers.is_empty() {
        steps.push(step);
    }
    steps
}

/// All scripts, in the order of their names; those whose name contains SCRIPT where it is set.
pub(crate) fn all() -> Vec<Script> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("behaviours");
    let wanted = std::env::var("SCRIPT").unwrap_or_default();
    let mut scripts = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("behaviours is a folder") {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "txt") {
                scripts.push(Script::read(&path, &root));
            }
        }
    }
    scripts.retain(|script| script.name.contains(&wanted));
    scripts.sort_by(|a, b| a.name.cmp(&b.name));
    scripts
}
