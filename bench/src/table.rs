//! Prints results as rows: what, ours, theirs, ratio.

use std::time::{Duration, Instant};

use crate::item::shuffled;

/// Operations per second of `operation`, called `count` times.
pub fn rate(count: usize, mut operation: impl FnMut(usize)) -> f64 {
    let started = Instant::now();
    for n in 0..count {
        operation(n);
    }
    count as f64 / started.elapsed().as_secs_f64()
}

/// Operations per second of two sides that do the same thing `count` times, in turns: what disturbs the machine meets both.
/// A side makes its requests, which is not timed, and runs them. Turns are short, so requests are as warm as if they had just been parsed.
pub fn versus<A, B>(
    count: usize,
    (make_ours, run_ours): (impl Fn(usize) -> A, impl Fn(A)),
    (make_theirs, run_theirs): (impl Fn(usize) -> B, impl Fn(B)),
) -> (f64, f64) {
    const TURN: usize = 200;
    let (mut ours, mut theirs) = (Duration::ZERO, Duration::ZERO);
    let numbers: Vec<usize> = shuffled(count).collect();
    for turn in numbers.chunks(TURN) {
        ours += time(turn, &make_ours, &run_ours);
        theirs += time(turn, &make_theirs, &run_theirs);
    }
    (count as f64 / ours.as_secs_f64(), count as f64 / theirs.as_secs_f64())
}

fn time<T>(numbers: &[usize], make: &impl Fn(usize) -> T, run: &impl Fn(T)) -> Duration {
    let requests: Vec<T> = numbers.iter().map(|n| make(*n)).collect();
    let started = Instant::now();
    requests.into_iter().for_each(run);
    started.elapsed()
}

pub fn heading(ours: &str, theirs: &str) {
    println!("{:<34} {ours:>14} {theirs:>18} {:>9}", "", "ratio");
}

pub fn row(what: &str, (ours, theirs): (f64, f64)) {
    println!("{what:<34} {ours:>12.0}/s {theirs:>16.0}/s {:>8.2}x", ours / theirs);
}
