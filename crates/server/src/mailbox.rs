//! Answers that come from another thread: each worker has a box for them, and is woken once for all that arrive together.
//!
//! Waking a worker is a call of the operating system, as dear as reading a small item. The engine answers a whole group of writes at once, so the
//! box only says whom to wake, and the engine calls once for each worker instead of once for each write.
//!
//! Path of an answer: [`Mailbox::answer_to`] -> the engine -> the box -> [`Mailbox::deliver`] on the worker -> the waiting request.

use std::cell::RefCell;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::ThreadId;

use dynamo::{ApiError, Reply};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

/// What an operation came to.
type Outcome = Result<Reply, ApiError>;
type Letter = (oneshot::Sender<Outcome>, Outcome);

thread_local! {
    static OWN: RefCell<Option<Arc<Mailbox>>> = const { RefCell::new(None) };
}

/// The box of one worker.
pub(crate) struct Mailbox {
    owner: ThreadId,
    letters: Mutex<Vec<Letter>>,
    arrival: Notify,
}

impl Mailbox {
    /// Makes this thread's box. Its worker runs [`Mailbox::deliver`] beside its connections.
    pub(crate) fn open() -> Arc<Mailbox> {
        let mailbox = Arc::new(Mailbox {
            owner: std::thread::current().id(),
            letters: Mutex::default(),
            arrival: Notify::new(),
        });
        OWN.set(Some(mailbox.clone()));
        mailbox
    }

    /// What hands an outcome to the request that waits on this thread, from whatever thread it comes, and says whom to wake then.
    pub(crate) fn answer_to(
        request: oneshot::Sender<Outcome>,
    ) -> impl FnOnce(Outcome) -> Option<Waker> + Send + 'static {
        let mailbox = OWN.with_borrow(Clone::clone);
        move |outcome| match mailbox {
            Some(mailbox) if mailbox.owner != std::thread::current().id() => mailbox.put((request, outcome)),
            _ => {
                // A request that went away does not want its answer.
                drop(request.send(outcome));
                None
            }
        }
    }

    fn put(self: Arc<Mailbox>, letter: Letter) -> Option<Waker> {
        let mut letters = self.letters.lock();
        let is_first = letters.is_empty();
        letters.push(letter);
        drop(letters);
        // With others in the box the worker is being woken already, and has not looked yet.
        is_first.then(|| Waker::from(self))
    }

    /// Hands over what arrives, for ever.
    pub(crate) async fn deliver(&self) {
        loop {
            let letters = std::mem::take(&mut *self.letters.lock());
            if letters.is_empty() {
                self.arrival.notified().await;
            }
            for (request, outcome) in letters {
                // A request that went away does not want its answer.
                drop(request.send(outcome));
            }
        }
    }
}

impl Wake for Mailbox {
    fn wake(self: Arc<Mailbox>) {
        self.arrival.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn no_such_operation() -> Outcome {
        Err(ApiError::internal())
    }

    #[test]
    fn answers_of_another_thread_reach_the_requests_of_this_one() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mailbox = Mailbox::open();
            let deliveries = tokio::spawn(async move { mailbox.deliver().await });
            for round in 0..50 {
                let (answers, requests): (Vec<_>, Vec<_>) = (0..32)
                    .map(|_| {
                        let (give, take) = oneshot::channel();
                        (Mailbox::answer_to(give), take)
                    })
                    .unzip();
                let committing = std::thread::spawn(move || {
                    for answer in answers {
                        if let Some(sleeper) = answer(no_such_operation()) {
                            sleeper.wake();
                        }
                    }
                });
                for request in requests {
                    let answer = tokio::time::timeout(Duration::from_secs(10), request).await;
                    assert!(answer.unwrap_or_else(|_| panic!("round {round}")).unwrap().is_err());
                }
                committing.join().unwrap();
            }
            deliveries.abort();
        });
    }

    #[test]
    fn an_answer_on_the_thread_of_its_request_takes_no_detour() {
        let _mailbox = Mailbox::open();
        let (give, mut take) = oneshot::channel();
        assert!(Mailbox::answer_to(give)(no_such_operation()).is_none());
        assert!(take.try_recv().unwrap().is_err());
    }

    #[test]
    fn a_thread_without_a_box_is_answered_directly() {
        OWN.set(None);
        let (give, take) = oneshot::channel();
        let answer = Mailbox::answer_to(give);
        assert!(std::thread::spawn(move || answer(no_such_operation())).join().unwrap().is_none());
        assert!(take.blocking_recv().unwrap().is_err());
    }
}
