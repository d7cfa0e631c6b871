//! Ships a running database: a backup now and then, and the log of commits every few seconds.
//!
//! Always true: nothing is shipped that a loss of power could take from the database itself, so the two never differ. A destination
//! that cannot be reached delays shipping and nothing else; the log waits in the database, up to its limit. After a gap a new backup
//! is made, from which the log leads on.
//!
//! Path of a turn: freeze -> parts of the log -> head -> records are forgotten -> a backup, if one is due.

mod link;
mod status;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::Engine;
use parking_lot::{Condvar, Mutex};
use seal::MasterKey;

use crate::destination::{Address, Destination, objects};
use crate::objects::Objects;
use crate::{BackupError, Create, Keep, create, prune};

use link::Link;
pub use status::ShipStatus;

/// How a database is shipped.
#[derive(Clone, Debug)]
pub struct ShipSettings {
    /// How often the log is shipped.
    pub every: Duration,
    /// How often a backup of everything is made; what did not change since the last is not uploaded again.
    pub backup_every: Duration,
    /// How many backups stay; `None` keeps all.
    pub keep: Option<usize>,
    /// What the log may take in the database while it waits.
    pub log_bytes_max: u64,
}

impl Default for ShipSettings {
    fn default() -> ShipSettings {
        ShipSettings {
            every: Duration::from_secs(5),
            backup_every: Duration::from_hours(24),
            keep: None,
            log_bytes_max: 1 << 30,
        }
    }
}

/// Without commits the head is written so often, to show that there were none.
const HEARTBEAT: Duration = Duration::from_mins(1);

/// A thread that ships.
pub struct Shipper {
    signal: Arc<(Mutex<bool>, Condvar)>,
    status: Arc<ShipStatus>,
    thread: Option<JoinHandle<()>>,
}

impl Shipper {
    /// Starts shipping. An address that means nothing is an error at once; one that cannot be reached is tried again and again.
    pub fn start(
        engine: Engine,
        address: Address,
        key: Option<Arc<dyn MasterKey>>,
        settings: ShipSettings,
    ) -> Result<Shipper, BackupError> {
        Shipper::on(engine, objects(&address)?, address.text, key, settings)
    }

    pub(crate) fn on(
        engine: Engine,
        objects: Arc<dyn Objects>,
        place: String,
        key: Option<Arc<dyn MasterKey>>,
        settings: ShipSettings,
    ) -> Result<Shipper, BackupError> {
        engine.start_shipping(settings.log_bytes_max, 0)?;
        engine.offer_backups(Some(&place));
        let status = Arc::new(ShipStatus::new(engine.clone()));
        let signal = Arc::new((Mutex::new(false), Condvar::new()));
        let link = Link::new(objects, place, key);
        let work = Turns { engine, link, settings, status: status.clone(), is_closing: false };
        let waiting = signal.clone();
        let thread =
            std::thread::Builder::new().name("monotable-ship".to_owned()).spawn(move || live(work, &waiting));
        let thread = thread.map_err(|error| BackupError::Unreachable {
            doing: "starting a thread".to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Shipper { signal, status, thread: Some(thread) })
    }

    /// How shipping goes.
    pub fn status(&self) -> &Arc<ShipStatus> {
        &self.status
    }
}

impl Drop for Shipper {
    /// Ships what is left and waits for that.
    fn drop(&mut self) {
        *self.signal.0.lock() = true;
        self.signal.1.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported by then.
            let _ = thread.join();
        }
    }
}

fn live(mut work: Turns, signal: &(Mutex<bool>, Condvar)) {
    let mut is_last = false;
    while !is_last {
        work.turn();
        let until = Instant::now() + work.settings.every;
        let mut stop = signal.0.lock();
        while !*stop && !signal.1.wait_until(&mut stop, until).timed_out() {}
        is_last = *stop;
    }
    work.is_closing = true;
    work.turn();
    work.engine.offer_backups(None);
    work.engine.stop_shipping();
}

/// What the thread works with.
struct Turns {
    engine: Engine,
    link: Link,
    settings: ShipSettings,
    status: Arc<ShipStatus>,
    /// Nobody waits for a new backup at the end; what was committed is shipped.
    is_closing: bool,
}

impl Turns {
    fn turn(&mut self) {
        match self.try_turn() {
            Ok(()) => self.status.succeeded(),
            Err(error) => {
                // Whether the last object arrived is not known: all is read again before the next one is written.
                self.link.disconnect();
                self.status.failed();
                if self.engine.is_backup_wanted() {
                    self.engine.backup_ended(Err(error.to_string()));
                }
                tracing::warn!(%error, place = self.link.place(), "the log was not shipped; it waits");
            }
        }
    }

    fn try_turn(&mut self) -> Result<(), BackupError> {
        let connected = self.link.connect(&self.engine, self.settings.log_bytes_max)?;
        if let Some(time) = connected.take_newest_backup() {
            self.status.backed_up(time);
        }
        let is_wanted = self.engine.is_backup_wanted();
        let is_old = is_wanted || self.status.is_backup_due(self.settings.backup_every);
        let is_due = !self.is_closing && (connected.needs_backup() || is_old);
        let has_news = connected.has_news(&self.engine);
        if !is_due && !has_news && connected.head_age() < HEARTBEAT {
            self.status.quiet();
            return Ok(());
        }
        let frozen = self.engine.freeze()?;
        connected.ship(&frozen)?;
        self.status.shipped(frozen.time_milliseconds());
        if has_news {
            connected.forget(&self.engine)?;
        }
        // Shipping may have met a gap.
        if self.is_closing || !(connected.needs_backup() || is_old) {
            return Ok(());
        }
        let (destination, database) = (connected.destination.clone(), connected.database.clone());
        let work = Create { frozen: &frozen, database: &database, is_full: false };
        let created = create(&destination, &work, &|_, _| {})?;
        connected.backed_up();
        self.status.backed_up(created.time_milliseconds);
        if is_wanted {
            self.engine.backup_ended(Ok((created.id.clone(), created.time_milliseconds)));
        }
        tracing::info!(id = created.id, new_chunks = created.new_chunks, "backed up");
        self.prune(&destination)
    }

    fn prune(&self, destination: &Destination) -> Result<(), BackupError> {
        let Some(count) = self.settings.keep else { return Ok(()) };
        prune(destination, Keep::Newest(count), &|_, _| {}).map(drop)
    }
}
