//! Prints results as rows: what, ours, theirs, ratio.

use std::time::Instant;

/// Operations per second of `operation`, called `count` times.
pub fn rate(count: usize, mut operation: impl FnMut(usize)) -> f64 {
    let started = Instant::now();
    for n in 0..count {
        operation(n);
    }
    count as f64 / started.elapsed().as_secs_f64()
}

pub fn heading(ours: &str, theirs: &str) {
    println!("{:<34} {ours:>14} {theirs:>18} {:>9}", "", "ratio");
}

pub fn row(what: &str, ours: f64, theirs: f64) {
    println!("{what:<34} {ours:>12.0}/s {theirs:>16.0}/s {:>8.2}x", ours / theirs);
}
