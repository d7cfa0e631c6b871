//! Several things at a time, with their results in order.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};

use parking_lot::{Condvar, Mutex};

use crate::BackupError;

/// Has `work` done for everything that `give` hands out, on so many threads, and has `take` see the results in the order in which
/// the things were handed out. The first error ends it.
///
/// Always true: at most [`AHEAD`] things for each thread are under way, whatever there is to do and however slow one of them is.
pub(crate) fn in_lanes<T: Send, R: Send>(
    lanes: usize,
    give: impl FnOnce(&mut dyn FnMut(T) -> Result<(), BackupError>) -> Result<(), BackupError> + Send,
    work: impl Fn(T) -> Result<R, BackupError> + Sync,
    take: impl FnMut(R) -> Result<(), BackupError>,
) -> Result<(), BackupError> {
    let (things, waiting) = channel::<(u64, T)>();
    let (results, done) = channel();
    let waiting = Mutex::new(waiting);
    let window = Window { ahead: (lanes * AHEAD) as u64, ..Window::default() };
    std::thread::scope(|scope| {
        for _ in 0..lanes {
            let results = results.clone();
            scope.spawn(|| work_through(&waiting, results, &work));
        }
        let window = &window;
        scope.spawn(move || {
            let mut number = 0;
            let mut hand_over = |thing| {
                window.wait_for_room(number)?;
                number += 1;
                things.send((number - 1, thing)).map_err(|_| ended())
            };
            if let Err(error) = give(&mut hand_over) {
                // Where nobody hears it any more, an earlier error is on its way.
                let _ = results.send((u64::MAX, Err(error)));
            }
        });
        let outcome = take_in_order(&done, window, take);
        window.end();
        outcome
    })
}

/// Things under way for each thread.
const AHEAD: usize = 3;

/// How many things have come out, so that only so many more go in.
#[derive(Default)]
struct Window {
    taken: Mutex<u64>,
    moved: Condvar,
    ahead: u64,
}

impl Window {
    fn wait_for_room(&self, number: u64) -> Result<(), BackupError> {
        let mut taken = self.taken.lock();
        while number >= taken.saturating_add(self.ahead) {
            self.moved.wait(&mut taken);
        }
        if *taken == u64::MAX { Err(ended()) } else { Ok(()) }
    }

    fn took(&self) {
        *self.taken.lock() += 1;
        self.moved.notify_one();
    }

    fn end(&self) {
        *self.taken.lock() = u64::MAX;
        self.moved.notify_one();
    }
}

fn work_through<T, R>(
    waiting: &Mutex<Receiver<(u64, T)>>,
    results: Sender<(u64, Result<R, BackupError>)>,
    work: &impl Fn(T) -> Result<R, BackupError>,
) {
    loop {
        let next = waiting.lock().recv();
        let Ok((number, thing)) = next else { return };
        if results.send((number, work(thing))).is_err() {
            return;
        }
    }
}

fn take_in_order<R>(
    done: &Receiver<(u64, Result<R, BackupError>)>,
    window: &Window,
    mut take: impl FnMut(R) -> Result<(), BackupError>,
) -> Result<(), BackupError> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (number, result) in done {
        early.insert(number, result?);
        while let Some(result) = early.remove(&next) {
            take(result)?;
            next += 1;
            window.took();
        }
    }
    Ok(())
}

fn ended() -> BackupError {
    BackupError::Unreachable { doing: "working".to_owned(), reason: "an earlier step failed".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(text: &str) -> BackupError {
        BackupError::damaged(text, "is broken")
    }

    #[test]
    fn results_come_in_order_and_the_first_error_ends_it() {
        let give = |hand: &mut dyn FnMut(u64) -> Result<(), BackupError>| (0..1000).try_for_each(hand);
        let mut seen = Vec::new();
        in_lanes(
            4,
            give,
            |number| Ok(number * 2),
            |number| {
                seen.push(number);
                Ok(())
            },
        )
        .unwrap();
        assert!(seen.into_iter().eq((0..1000).map(|number| number * 2)));

        let broken = |number| if number == 500 { Err(failure("work")) } else { Ok(number) };
        let error = in_lanes(4, give, broken, |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("work"), "{error}");
        let error = in_lanes(4, give, Ok, |number| if number == 3 { Err(failure("take")) } else { Ok(()) });
        assert!(error.unwrap_err().to_string().contains("take"));
        let stop = |hand: &mut dyn FnMut(u64) -> Result<(), BackupError>| {
            (0..10).try_for_each(hand)?;
            Err(failure("give"))
        };
        let error = in_lanes(4, stop, Ok, |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("give"), "{error}");
    }
}
