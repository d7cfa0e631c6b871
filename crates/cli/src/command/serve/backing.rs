//! A server that backs itself up all the time.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use backup::{ShipSettings, ShipStatus, Shipper};
use clap::Args;
use engine::Engine;
use seal::MasterKey;
use server::MoreMetrics;

use crate::backup_place::{BackupAccess, explain};
use crate::failure::Failure;
use crate::keys;
use crate::size::{parse_duration, parse_size};

/// Whether, where to and how often a server backs itself up.
#[derive(Args)]
pub(super) struct Backing {
    /// Where the server backs itself up to while it runs: a directory, s3://BUCKET/PATH, gs://BUCKET/PATH or az://CONTAINER/PATH.
    #[arg(long, value_name = "DEST", env = "MONOTABLE_BACKUP_TO")]
    backup_to: Option<String>,
    #[command(flatten)]
    access: BackupAccess,
    /// How often what was committed is copied: what a lost machine loses at most.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration, env = "MONOTABLE_BACKUP_EVERY")]
    backup_every: Duration,
    /// How often a whole backup is made, to which a restore adds the commits since. Only what changed is copied.
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse_duration, env = "MONOTABLE_BACKUP_BASE_EVERY")]
    backup_base_every: Duration,
    /// How many whole backups stay; without it, all.
    #[arg(long, value_name = "COUNT", env = "MONOTABLE_BACKUP_KEEP")]
    backup_keep: Option<usize>,
    /// The master key that seals the backup; without it, that of an encrypted database seals its backup, too.
    #[arg(long, value_name = "FILE", env = "MONOTABLE_BACKUP_KEY_FILE")]
    backup_key_file: Option<PathBuf>,
    /// What commits may take in the database while the destination cannot be reached. Beyond it they wait for a new whole backup.
    #[arg(long, value_name = "SIZE", default_value = "1GB", value_parser = parse_size, env = "MONOTABLE_BACKUP_LOG_MAX")]
    backup_log_max: u64,
}

impl Backing {
    /// Starts it, if it is wanted.
    pub(super) fn start(
        &self,
        engine: &Engine,
        is_elsewhere: bool,
        database_key: Option<Arc<dyn MasterKey>>,
    ) -> Result<Option<Shipper>, Failure> {
        let Some(destination) = &self.backup_to else { return Ok(None) };
        if is_elsewhere {
            return Err(Failure::with_help(
                "only a database in a directory can be backed up",
                "say which one with --data DIR, or leave out --backup-to",
            )
            .into_misuse());
        }
        // What is encrypted here does not lie open elsewhere.
        let key = self.backup_key_file.as_deref().map(keys::from_file).transpose()?.or(database_key);
        let settings = ShipSettings {
            every: self.backup_every,
            backup_every: self.backup_base_every,
            keep: self.backup_keep,
            log_bytes_max: self.backup_log_max,
        };
        let address = self.access.address(destination);
        Shipper::start(engine.clone(), address, key, settings).map(Some).map_err(explain)
    }
}

/// How it goes, for Prometheus.
pub(super) fn metrics(shipper: &Shipper) -> Arc<dyn MoreMetrics> {
    Arc::new(BackupMetrics(shipper.status().clone()))
}

struct BackupMetrics(Arc<ShipStatus>);

impl fmt::Debug for BackupMetrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("BackupMetrics")
    }
}

#[expect(clippy::cast_precision_loss, reason = "Prometheus has no other numbers")]
impl MoreMetrics for BackupMetrics {
    fn read(&self) -> Vec<(&'static str, &'static str, &'static str, Option<f64>)> {
        let status = &self.0;
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        vec![
            (
                "monotable_backup_lag_seconds",
                "gauge",
                "Time since everything was at the destination; absent until it first was.",
                seconds(status.lag()),
            ),
            (
                "monotable_backup_base_age_seconds",
                "gauge",
                "Age of the newest whole backup made since the start.",
                seconds(status.backup_age()),
            ),
            (
                "monotable_backup_waiting_bytes",
                "gauge",
                "Commits that wait to be copied.",
                Some(status.waiting_bytes() as f64),
            ),
            (
                "monotable_backup_log_full",
                "gauge",
                "1 while commits are made that the log has no room for.",
                Some(f64::from(u8::from(status.is_log_full()))),
            ),
            (
                "monotable_backup_turns_total",
                "counter",
                "Times it was looked for commits to copy.",
                Some(status.turns() as f64),
            ),
            (
                "monotable_backup_failures_total",
                "counter",
                "Times the destination failed.",
                Some(status.failures() as f64),
            ),
        ]
    }
}
