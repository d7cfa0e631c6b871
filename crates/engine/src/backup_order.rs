//! Whole backups that somebody asks a running server for: what is awaited of whoever ships the database, and what became of it.

use parking_lot::Mutex;

use crate::engine::Engine;

/// The last whole backup that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    #[default]
    None,
    Awaited,
    Made {
        id: String,
        time_milliseconds: i64,
    },
    Failed {
        reason: String,
    },
}

/// What those who ask and those who ship share.
#[derive(Default)]
pub(crate) struct BackupOrders(Mutex<State>);

#[derive(Default)]
struct State {
    /// Where backups go; nothing while nobody ships.
    place: Option<String>,
    order: Order,
}

impl BackupOrders {
    /// Where backups go.
    pub(crate) fn place(&self) -> Option<String> {
        self.0.lock().place.clone()
    }

    /// Asks for a backup. Whoever asks while one is awaited waits for the same one.
    pub(crate) fn ask(&self) {
        self.0.lock().order = Order::Awaited;
    }

    /// What became of the last one.
    pub(crate) fn order(&self) -> Order {
        self.0.lock().order.clone()
    }
}

impl Engine {
    /// Says that whoever calls this makes whole backups at a place when it is asked to, or no longer.
    pub fn offer_backups(&self, place: Option<&str>) {
        let mut state = self.inner.backup_orders.0.lock();
        state.place = place.map(str::to_owned);
        if state.order == Order::Awaited {
            state.order = Order::Failed { reason: "the server stopped backing up".to_owned() };
        }
    }

    /// Whether somebody waits for a whole backup.
    pub fn is_backup_wanted(&self) -> bool {
        self.inner.backup_orders.0.lock().order == Order::Awaited
    }

    /// Says what became of a whole backup that was wanted: its id and moment, or why there is none.
    pub fn backup_ended(&self, outcome: Result<(String, i64), String>) {
        self.inner.backup_orders.0.lock().order = match outcome {
            Ok((id, time_milliseconds)) => Order::Made { id, time_milliseconds },
            Err(reason) => Order::Failed { reason },
        };
    }
}
