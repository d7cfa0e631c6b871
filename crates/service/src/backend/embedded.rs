//! The engine in this process, without HTTP in between.

use dynamo::{ApiError, Operation};
use engine::Engine;
use tokio::sync::oneshot;

use super::{Backend, Capabilities, Running};

/// The embedded database.
#[derive(Clone)]
pub struct Embedded {
    engine: Engine,
}

impl Embedded {
    /// A backend on this engine.
    pub fn new(engine: Engine) -> Embedded {
        Embedded { engine }
    }

    /// The engine itself.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

impl Backend for Embedded {
    /// A read is answered before this returns, so its future is ready at once. A write is answered by the thread that commits.
    fn run(&self, operation: Operation) -> Running<'_> {
        let (sender, receiver) = oneshot::channel();
        self.engine.submit(operation, move |outcome| {
            // Nobody listens any more when the caller has gone away; the write stands all the same.
            let _ = sender.send(outcome);
            None
        });
        Box::pin(async move { receiver.await.unwrap_or_else(|_| Err(ApiError::internal())) })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn name(&self) -> String {
        "the embedded database".to_owned()
    }
}
