//! `monotable backup create`, or `monotable backup` for short.

use std::path::PathBuf;

use backup::{Created, time_text};
use clap::Args;
use engine::{Engine, KeyStatus, Options};

use crate::backup_place::{BackupPlace, explain};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::progress;

/// Backs up a database that no server has open.
#[derive(Args)]
pub(crate) struct Create {
    #[command(flatten)]
    place: BackupPlace,
    /// The directory of the database.
    #[arg(long, value_name = "DIR", env = "MONOTABLE_DATA")]
    data: PathBuf,
    /// Copy everything again, whatever is there: it may be damaged.
    #[arg(long)]
    full: bool,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Create {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let engine = self.engine()?;
        let destination = self.place.open_or_make()?;
        let database = engine.identity(&backup::fresh_name().map_err(explain)?)?;
        let frozen = engine.freeze()?;
        let bar = progress::bar(None, "entries");
        let work = backup::Create { frozen: &frozen, database: &database, is_full: self.full };
        let outcome = backup::create(&destination, &work, &|done, _| bar.set_position(done));
        bar.finish_and_clear();
        let created = outcome.map_err(explain)?;
        match self.format {
            Format::Json => output::line(&as_json(&created)),
            Format::Text => output::line(&as_text(&created, self.place.text())),
        }
    }

    fn engine(&self) -> Result<Engine, Failure> {
        if !self.data.join("monotable").exists() {
            return Err(Failure::new(format!("there is no database in {}", self.data.display())));
        }
        let is_encrypted = KeyStatus::of(&self.data)?.is_some();
        let key = if is_encrypted { self.place.master_key()? } else { None };
        let options = Options { housekeeping: None, key, ..Options::default() };
        Engine::open(&self.data, options).map_err(|error| {
            if !error.is_locked() {
                return Failure::new(error);
            }
            Failure::with_help(
                error,
                "a server that has it open backs it up itself: monotable serve --backup-to DEST",
            )
        })
    }
}

fn as_text(created: &Created, place: &str) -> String {
    let (all, new) = (output::bytes(created.bytes), output::bytes(created.new_bytes));
    let news = match (created.new_chunks, created.chunks) {
        (0, _) => "all of it was there already".to_owned(),
        (new_chunks, chunks) if new_chunks == chunks => format!("all of it was new, {new} as stored"),
        (new_chunks, chunks) => format!("{new_chunks} of {chunks} chunks were new, {new} as stored"),
    };
    let time = time_text(created.time_milliseconds);
    format!("backed up {all} to {place}: {news}\n{} shows the database at {time}", created.id)
}

fn as_json(created: &Created) -> String {
    serde_json::json!({
        "id": created.id,
        "time": time_text(created.time_milliseconds),
        "commit": created.commit,
        "entries": created.entries,
        "bytes": created.bytes,
        "chunks": created.chunks,
        "newChunks": created.new_chunks,
        "newBytes": created.new_bytes,
    })
    .to_string()
}
