//! Reactions: what happens by itself when items change or expire.
//!
//! A worker follows the streams of the design's tables. Each record has effects, in this order: what follows from it (eventual counters; for an
//! item that expired, everything that a delete would have done), refreshed copies of attributes, the declared reactions, and events for web hooks.
//!
//! Always true: an effect and the checkpoint that says so are one transaction. So a record that is delivered again, by a restart or by a second
//! worker, is applied once. What can never be applied goes to the dead letters, and the stream goes on.
//!
//! Path of a record: `follow` (shards, parents first) -> `change` (the item before and after) -> `effect` -> a transaction with its
//! checkpoint. Events wait in an outbox until `hook` has delivered them.

mod change;
mod checkpoint;
mod effect;
mod event;
mod follow;
mod hook;
mod post;
mod refresh;
mod status;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

pub use post::{HttpPoster, Posted, Poster, Posting};
pub use status::{DeadLetter, ReactionStatus, ShardStatus, WaitingEvent};

use crate::refusal::Refusal;
use crate::service::Service;

/// How long the worker rests when there is nothing to do.
const REST: Duration = Duration::from_millis(250);
/// How long it rests after a failure.
const REST_AFTER_FAILURE: Duration = Duration::from_secs(2);

/// The worker that follows the streams of a design's tables.
#[derive(Clone)]
pub struct Reactions {
    service: Service,
    poster: Arc<dyn Poster>,
}

impl Service {
    /// The reactions of the design. Nothing happens until they run.
    pub fn reactions(&self, poster: Arc<dyn Poster>) -> Reactions {
        Reactions { service: self.clone(), poster }
    }
}

impl Reactions {
    /// Follows the streams until `stop` is ready. Failures are logged and tried again.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        tokio::pin!(stop);
        loop {
            let rest = match self.once().await {
                Ok(0) => REST,
                Ok(_) => Duration::ZERO,
                Err(refusal) => {
                    tracing::warn!(design = self.service.design().name, %refusal, "reactions are held up");
                    REST_AFTER_FAILURE
                }
            };
            tokio::select! {
                () = &mut stop => return,
                () = tokio::time::sleep(rest) => {}
            }
        }
    }

    async fn once(&self) -> Result<u64, Refusal> {
        let applied = self.catch_up().await?;
        Ok(applied + self.deliver().await?)
    }

    /// Applies everything that the streams have now; how many records that were.
    pub async fn catch_up(&self) -> Result<u64, Refusal> {
        follow::catch_up(&self.service).await
    }

    /// Sends the events that are due; how many were delivered.
    pub async fn deliver(&self) -> Result<u64, Refusal> {
        hook::deliver(&self.service, self.poster.as_ref()).await
    }

    /// How far the streams are applied, and what could not be.
    pub async fn status(&self) -> Result<ReactionStatus, Refusal> {
        status::status(&self.service).await
    }
}
