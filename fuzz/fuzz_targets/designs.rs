//! Designs: whatever text comes is checked, formatted and, if it has no error, planned, explained and written as a document.
#![no_main]

use std::collections::BTreeMap;

use design::{Sizes, Source, check, create_tables, explain, format_design, json, markdown, sarif, text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let source = Source::new("any.toml", input);
    let report = check(&source);
    text(&source, &report.findings);
    json(&[(&source, &report.findings)]);
    sarif(&[(&source, &report.findings)]);
    let formatted = format_design(input);
    assert_eq!(format_design(&formatted), formatted, "what is formatted stays as it is");
    if let Some(design) = report.design {
        create_tables(&design, &BTreeMap::new());
        explain(&design, None, Sizes::default());
        markdown(&design);
    }
});
