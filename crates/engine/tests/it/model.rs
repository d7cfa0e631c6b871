//! The engine against a plain reference under random operations.
//!
//! A run is made of scripts of some thousand steps, each on a new database, in memory or on disk. Every answer is compared, and
//! now and then everything there is: items, index entries, streams, totals. A script that shows a difference is shrunk to the
//! steps that matter and printed, with the seed that made it.
//!
//! `MONOTABLE_MODEL_OPERATIONS` asks for more operations, `MONOTABLE_MODEL_SEED` for a run that was seen before.

mod expression;
mod generate;
mod reference;
mod shrink;
mod step;
mod subject;
mod tables;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use generate::Generator;
use reference::Reference;
use step::Step;
use subject::{Place, Subject};
use tables::TABLES;

use crate::random::Random;
use crate::requests::{Change, stream_all};
use crate::verify::{same, verify_stream, verify_table};

const START_MILLISECONDS: i64 = 1_800_000_000_000;
const OPERATIONS: usize = 150_000;
/// Opening again takes most of the time on disk.
const OPERATIONS_ON_DISK: usize = 40_000;
const SCRIPT_STEPS: usize = 2_500;

#[test]
fn in_memory_the_engine_answers_as_the_reference_does() {
    run_scripts(Place::Memory, OPERATIONS);
}

#[test]
fn on_disk_the_engine_answers_as_the_reference_does() {
    run_scripts(Place::Disk, OPERATIONS_ON_DISK);
}

#[test]
fn encrypted_the_engine_answers_as_the_reference_does() {
    run_scripts(Place::Encrypted, OPERATIONS_ON_DISK / 4);
}

#[test]
fn with_keys_of_tables_the_engine_answers_as_the_reference_does() {
    run_scripts(Place::Keyed, OPERATIONS_ON_DISK / 4);
}

fn run_scripts(place: Place, operations: usize) {
    let asked = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let operations =
        asked("MONOTABLE_MODEL_OPERATIONS").map_or(operations, |asked| usize::try_from(asked).unwrap());
    let first_seed = asked("MONOTABLE_MODEL_SEED").unwrap_or_else(Random::new_seed);
    for number in 0..operations.div_ceil(SCRIPT_STEPS) {
        let seed = first_seed.wrapping_add(number as u64);
        let script = Generator::new(seed, START_MILLISECONDS).script(SCRIPT_STEPS);
        if let Err(failure) = run_script(place, &script) {
            let steps = script[..=failure.step].to_vec();
            let (steps, failure) = shrink::shrink(steps, failure, |steps| run_script(place, steps));
            panic!("{}", report(place, seed, &steps, &failure));
        }
    }
}

fn report(place: Place, seed: u64, steps: &[Step], failure: &Failure) -> String {
    let lines: Vec<String> =
        steps.iter().enumerate().map(|(number, step)| format!("{number:4}  {step}")).collect();
    let (lines, difference) = (lines.join("\n"), &failure.difference);
    shortened(&format!(
        "the engine and the reference differ\n{lines}\n\n{place:?}, MONOTABLE_MODEL_SEED={seed}\n{difference}"
    ))
}

/// Large values are one letter again and again.
fn shortened(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let runs = letters.chunk_by(|left, right| left == right);
    let run = |run: &[char]| match run {
        [letter, ..] if run.len() > 50 => format!("{letter}...({} times)", run.len()),
        run => run.iter().collect(),
    };
    runs.map(run).collect()
}

/// The step that showed a difference, and the difference.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) step: usize,
    pub(crate) difference: String,
}

fn run_script(place: Place, steps: &[Step]) -> Result<(), Failure> {
    let mut subject = Subject::new(place, START_MILLISECONDS);
    let mut reference = Reference::new(START_MILLISECONDS);
    let mut sent = BTreeMap::new();
    for (number, step) in steps.iter().enumerate() {
        let step = resolve(step, &mut sent);
        let expected = reference.run(&step);
        let found = catch_unwind(AssertUnwindSafe(|| {
            let found = subject.run(&step);
            same("answer", &found, &expected)?;
            if matches!(step, Step::Verify) { compare(&subject, &reference) } else { Ok(()) }
        }));
        let found = found.unwrap_or_else(|panic| Err(format!("panic: {}", message_of(&*panic))));
        found.map_err(|difference| Failure { step: number, difference })?;
    }
    Ok(())
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// Remembers transactions with a token, and finds the one that is to be sent again.
fn resolve(step: &Step, sent: &mut BTreeMap<usize, Step>) -> Step {
    match step {
        Step::TransactWrite(_, Some(token)) => {
            sent.insert(*token, step.clone());
            step.clone()
        }
        Step::TransactWriteAgain(token) => sent.get(token).unwrap_or(step).clone(),
        _ => step.clone(),
    }
}

/// Compares all there is.
fn compare(subject: &Subject, reference: &Reference) -> Result<(), String> {
    for (number, design) in TABLES.iter().enumerate() {
        let Some(table) = reference.tables.get(&number) else { continue };
        let items = verify_table(&subject.engine, design)?;
        same(&format!("{}: items", design.name), &items, &table.items)?;
        let changes = if table.is_trimmed {
            stream_all(&subject.engine, design.name).map_err(|error| error.to_string())?
        } else {
            verify_stream(&subject.engine, design, &items)?
        };
        let expected: Vec<Change> = table.stream.iter().map(|(_, change)| change.clone()).collect();
        same(&format!("{}: stream", design.name), in_one_order(changes), in_one_order(expected))?;
    }
    Ok(())
}

/// Items that expire together do so in no particular order.
fn in_one_order(mut changes: Vec<Change>) -> Vec<Change> {
    for run in changes.chunk_by_mut(|left, right| left.by_expiry && right.by_expiry) {
        if run.len() > 1 {
            run.sort_by_key(|change| format!("{change:?}"));
        }
    }
    changes
}
