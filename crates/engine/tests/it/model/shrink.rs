//! Leaves out steps of a script for as long as it still shows a difference.

use std::time::{Duration, Instant};

use super::Failure;
use super::step::Step;

/// Shrinking ends after this time with what it has reached.
const TIME_MAX: Duration = Duration::from_mins(1);

/// The shortest script found, and what it shows.
pub(crate) fn shrink(
    mut steps: Vec<Step>,
    mut failure: Failure,
    run: impl Fn(&[Step]) -> Result<(), Failure>,
) -> (Vec<Step>, Failure) {
    let start = Instant::now();
    let mut chunk = steps.len() / 2;
    while chunk > 0 && start.elapsed() < TIME_MAX {
        let mut place = 0;
        let before = steps.len();
        while place < steps.len() && start.elapsed() < TIME_MAX {
            let mut shorter = steps.clone();
            shorter.drain(place..(place + chunk).min(steps.len()));
            match run(&shorter) {
                Err(found) => {
                    shorter.truncate(found.step + 1);
                    (steps, failure) = (shorter, found);
                }
                Ok(()) => place += chunk,
            }
        }
        if chunk > 1 || steps.len() == before {
            chunk /= 2;
        }
    }
    (steps, failure)
}
