//! Behaviours of DynamoDB, as scripts that anyone can read: `behaviours/<operation>/<what_it_shows>.txt`.
//!
//! A script runs on the engine in this process (in memory and on disk), through the AWS SDK on a server started here, and on any
//! endpoint that MONOTABLE_CONFORMANCE_ENDPOINT names. `UPDATE=1 cargo test -p monotable-conformance` writes what the engine in
//! memory answers into the scripts, for a person to read the difference. SCRIPT=query/ runs those with `query/` in their name.
//!
//! Path of a statement: `script.rs` -> `statement.rs` (short forms, `expression.rs`, `value.rs`) -> a request as JSON -> `database/` ->
//! an answer as JSON -> `answer.rs` (in short, without times and ids) -> compared with the script.

#![allow(
    clippy::panic,
    clippy::format_push_string,
    clippy::single_match_else,
    reason = "a test panics where it fails"
)]

mod answer;
mod database;
mod expression;
mod json;
mod run;
mod script;
mod statement;
mod value;

use database::{Database, Embedded};
use run::Outcome;
use script::Script;

#[test]
fn every_behaviour_holds_in_memory() {
    let update = std::env::var("UPDATE").is_ok();
    check(update, &mut || Box::new(Embedded::in_memory()));
}

#[test]
fn every_behaviour_holds_on_disk() {
    check(false, &mut || Box::new(Embedded::on_disk()));
}

#[cfg(feature = "wire")]
#[test]
fn every_behaviour_holds_through_the_aws_sdk() {
    check(false, &mut || Box::new(database::Endpoint::of_new_server()));
}

#[cfg(feature = "wire")]
#[test]
fn every_behaviour_holds_at_the_given_endpoint() {
    let Ok(url) = std::env::var("MONOTABLE_CONFORMANCE_ENDPOINT") else { return };
    check(false, &mut || Box::new(database::Endpoint::at(&url)));
}

/// Runs every script on a database of its own and reports all that answer otherwise than written.
fn check(update: bool, new_database: &mut dyn FnMut() -> Box<dyn Database>) {
    let scripts = script::all();
    assert!(!scripts.is_empty(), "there are scripts");
    let mut failures = Vec::new();
    for script in &scripts {
        let Outcome::Answered(answers) = run::run(script, &mut *new_database()) else { continue };
        if update {
            script.rewrite(&answers);
        } else if let Some(failure) = difference(script, &answers) {
            failures.push(failure);
        }
    }
    let (failed, all) = (failures.len(), scripts.len());
    assert!(failures.is_empty(), "{failed} of {all} scripts answer otherwise:\n\n{}", failures.join("\n"));
}

/// What a script says and what it got, where they differ.
fn difference(script: &Script, answers: &[Vec<String>]) -> Option<String> {
    let mut text = String::new();
    for (step, got) in script.steps.iter().zip(answers) {
        if &step.answers != got {
            text.push_str(&format!("    {}\n", step.statements().join("\n    ")));
            text.extend(step.answers.iter().map(|line| format!("  - {line}\n")));
            text.extend(got.iter().map(|line| format!("  + {line}\n")));
        }
    }
    (!text.is_empty()).then(|| format!("{}\n{text}", script.name))
}
