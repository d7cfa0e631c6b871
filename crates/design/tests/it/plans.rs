//! A plan test prints the requests, what they are for and what they cost, and compares the text.

use std::fs;
use std::path::Path;

use monotable_design::{Sizes, Source, check, explain};

#[test]
fn the_plans_of_the_five_designs_are_as_they_were() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for entry in fs::read_dir(root.join("../../designs")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let source = Source::new(format!("{stem}.toml"), fs::read_to_string(&path).unwrap());
        let design = check(&source).design.unwrap();
        let found = explain(&design, None, Sizes::default()).unwrap();
        assert!(!found.contains("not shown"), "{stem}:\n{}", lines_around(&found, "not shown"));
        let expected_path = root.join(format!("tests/designs/plans/{stem}.plan"));
        let expected = fs::read_to_string(&expected_path).unwrap_or_default();
        if found != expected {
            assert!(std::env::var_os("UPDATE").is_some(), "{stem}: the plan differs; UPDATE=1 rewrites it");
            fs::write(expected_path, found).unwrap();
        }
    }
}

fn lines_around(text: &str, word: &str) -> String {
    let lines = text.lines().collect::<Vec<_>>();
    let found = lines.iter().enumerate().filter(|(_, line)| line.contains(word));
    found.map(|(at, _)| lines[at.saturating_sub(12)..=at].join("\n")).collect::<Vec<_>>().join("\n…\n")
}

#[test]
fn a_name_that_means_nothing_has_no_plan() {
    let source = Source::new("a.toml", "design = \"a\"\n");
    assert!(explain(&check(&source).design.unwrap(), Some("nothing"), Sizes::default()).is_none());
}

#[test]
fn the_documents_of_the_five_designs_name_everything_in_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for entry in fs::read_dir(root.join("../../designs")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let formatted = monotable_design::format_design(&text);
        if formatted != text {
            assert!(
                std::env::var_os("UPDATE").is_some(),
                "{} is not formatted; UPDATE=1 formats it",
                path.display()
            );
            fs::write(&path, formatted).unwrap();
        }
        let design = check(&Source::new("design.toml", text)).design.unwrap();
        let document = monotable_design::markdown(&design);
        assert!(document.contains("```mermaid\nerDiagram\n"));
        for entity in &design.entities {
            assert!(document.contains(&format!("### {}\n", entity.name.value)), "{}", entity.name.value);
        }
        for pattern in &design.patterns {
            assert!(document.contains(&format!("| `{}` ", pattern.name.value)), "{}", pattern.name.value);
        }
    }
}
