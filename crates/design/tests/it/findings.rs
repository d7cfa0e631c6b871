//! A design test is a design file with the expected findings as comments at its end.

use std::fs;
use std::path::{Path, PathBuf};

use monotable_design::{Source, check, json, sarif, text};

/// What separates a design from its expected findings.
const MARK: &str = "# ---- findings\n";

fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut files =
        entries.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect::<Vec<_>>();
    files.sort();
    assert!(!files.is_empty(), "no designs in {folder}");
    files
}

fn source(path: &Path, text: &str) -> Source {
    Source::new(path.file_name().unwrap().to_string_lossy(), text)
}

/// The findings as comments.
fn shown(source: &Source) -> String {
    let found = text(source, &check(source).findings);
    if found.is_empty() {
        return "# none\n".to_owned();
    }
    found.lines().map(|line| if line.is_empty() { "#\n".to_owned() } else { format!("# {line}\n") }).collect()
}

fn compare(path: &Path) {
    let whole = fs::read_to_string(path).unwrap();
    let (design, expected) = whole.split_once(MARK).unwrap_or((whole.as_str(), ""));
    let found = shown(&source(path, design));
    if found == expected {
        return;
    }
    if std::env::var_os("UPDATE").is_some() {
        let design = if design.ends_with("\n\n") { design.to_owned() } else { format!("{design}\n") };
        fs::write(path, format!("{design}{MARK}{}", shown(&source(path, &design)))).unwrap();
        return;
    }
    panic!(
        "{}: the findings differ; UPDATE=1 rewrites them. Found:\n{found}\nExpected:\n{expected}",
        path.display()
    );
}

#[test]
fn documents_as_written_have_the_findings_at_their_end() {
    for path in files("tests/designs/as-written") {
        compare(&path);
    }
}

#[test]
fn designs_of_strangers_have_no_findings() {
    for path in files("tests/designs/strangers") {
        compare(&path);
        assert!(fs::read_to_string(&path).unwrap().ends_with("# none\n"), "{}", path.display());
    }
}

#[test]
fn the_five_designs_have_no_findings() {
    for path in files("../../designs") {
        let source = source(&path, &fs::read_to_string(&path).unwrap());
        let report = check(&source);
        assert!(report.findings.is_empty(), "\n{}", text(&source, &report.findings));
        assert!(report.design.is_some());
    }
}

#[test]
fn every_pattern_and_operation_of_the_five_designs_has_an_example() {
    use monotable_design::ExampleKind;
    for path in files("../../designs") {
        let report = check(&source(&path, &fs::read_to_string(&path).unwrap()));
        let design = report.design.unwrap();
        for pattern in &design.patterns {
            let shown = design.examples.iter().any(
                |example| matches!(&example.kind, ExampleKind::Pattern(name) if name.value == pattern.name.value),
            );
            assert!(shown, "{}: pattern {}", path.display(), pattern.name.value);
        }
        for operation in &design.operations {
            let shown = design.examples.iter().any(
                |example| matches!(&example.kind, ExampleKind::Operation(name) if name.value == operation.name.value),
            );
            assert!(shown, "{}: operation {}", path.display(), operation.name.value);
        }
    }
}

#[test]
fn findings_can_be_read_by_machines() {
    let path = files("tests/designs/as-written").remove(0);
    let source = source(&path, &fs::read_to_string(&path).unwrap());
    let findings = check(&source).findings;
    let parsed: serde_json::Value = serde_json::from_str(&json(&[(&source, &findings)])).unwrap();
    assert_eq!(parsed["files"][0]["findings"].as_array().unwrap().len(), findings.len());
    let log: serde_json::Value = serde_json::from_str(&sarif(&[(&source, &findings)])).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), findings.len());
}
