//! `monotable key`: makes and replaces the keys of encrypted databases, and encrypts databases that are not.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use engine::{Engine, KeyStatus, Options};
use seal::{KeySource, LocalKey, MasterKey};

use crate::failure::Failure;
use crate::keys::{self, KeyPlace};
use crate::output;
use crate::progress;

/// Makes and replaces keys of encrypted databases, and encrypts databases.
#[derive(Args)]
pub(crate) struct Key {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Makes a master key, in a file that only its owner can read.
    #[command(after_help = NEW)]
    New {
        /// The file, which must not exist.
        file: PathBuf,
    },
    /// Encrypts a database that no server has open.
    #[command(after_help = ENCRYPT)]
    Encrypt {
        #[command(flatten)]
        database: KeyedDatabase,
    },
    /// Replaces the master key, or the data key; a server may have the database open meanwhile.
    #[command(after_help = ROTATE)]
    Rotate(Rotate),
    /// Reads every page of an encrypted database that no server has open: finds all damage, and also pages that were put back as they once
    /// were.
    #[command(after_help = "Example:\n  monotable key check --data ./data --key-file ./key")]
    Check {
        #[command(flatten)]
        database: KeyedDatabase,
    },
    /// Tells which keys a database is encrypted with. This takes no key.
    #[command(after_help = "Example:\n  monotable key status --data ./data")]
    Status {
        /// The directory of the database.
        #[arg(long, value_name = "DIR", env = "MONOTABLE_DATA")]
        data: PathBuf,
    },
}

const NEW: &str = "\
Example:
  monotable key new ./key
  monotable serve --data ./data --key-file ./key

Without its master key an encrypted database cannot be read by anybody: keep a copy of the key in another place.";

const ENCRYPT: &str = "\
Example:
  monotable key encrypt --data ./data --key-file ./key

The database is copied, so there must be room for it twice. The plain files are removed then, but not overwritten: what a disk keeps
of removed files is not for us to say. If this is cut off, do it again.";

const ROTATE: &str = "\
Examples:
  monotable key rotate --data ./data --key-file ./key --new-key-file ./key2     another master key, at once
  monotable key rotate --data ./data --key-file ./key --data-key                a new data key; everything is sealed again

A server that has the database open takes up a new data key within seconds and goes on serving. A new master key is needed when the
database is next opened.";

/// A directory and its key.
#[derive(Args)]
struct KeyedDatabase {
    /// The directory of the database.
    #[arg(long, value_name = "DIR", env = "MONOTABLE_DATA")]
    data: PathBuf,
    #[command(flatten)]
    key: KeyPlace,
}

#[derive(Args)]
struct Rotate {
    #[command(flatten)]
    database: KeyedDatabase,
    #[command(flatten)]
    to: Replacement,
    /// A server that speaks KMS, for --new-kms-key-id.
    #[arg(long, value_name = "URL", requires = "new_kms_key_id")]
    new_kms_endpoint_url: Option<String>,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Replacement {
    /// The file of the next master key.
    #[arg(long, value_name = "FILE")]
    new_key_file: Option<PathBuf>,
    /// The key in AWS KMS that is the next master key.
    #[arg(long, value_name = "ID")]
    new_kms_key_id: Option<String>,
    /// Make a new data key, and seal everything again with it.
    #[arg(long)]
    data_key: bool,
}

impl Key {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.action {
            Action::New { file } => make(&file),
            Action::Encrypt { database } => encrypt(&database),
            Action::Rotate(rotate) => rotate.run(),
            Action::Check { database } => check(&database),
            Action::Status { data } => status(&data),
        }
    }
}

fn make(path: &Path) -> Result<(), Failure> {
    let key = LocalKey::generate()?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::with_help(
            format!("{} exists", path.display()),
            "a key that is overwritten cannot be had again: choose another name",
        ),
        _ => Failure::new(format!("cannot make {}: {error}", path.display())),
    })?;
    writeln!(file, "{}", *key)?;
    file.sync_all()?;
    let id = LocalKey::from_file(path)?.id().to_owned();
    output::line(&format!(
        "{id} in {}\nKeep a copy in another place: without it, what it encrypts cannot be read by anybody.",
        path.display()
    ))
}

fn encrypt(database: &KeyedDatabase) -> Result<(), Failure> {
    let (path, key) = (&database.data, database.key.required()?);
    if let Some(status) = existing(path)? {
        return Err(Failure::with_help(
            format!("{} is encrypted already, with the master key {}", path.display(), status.master_key),
            "`monotable key rotate` replaces keys",
        ));
    }
    let bar = progress::bar(None, "entries");
    let outcome = engine::encrypt(path, &key, |count| bar.set_position(count));
    bar.finish_and_clear();
    outcome?;
    output::line(&format!("{} is encrypted, with the master key {}", path.display(), key.id()))
}

impl Rotate {
    fn run(&self) -> Result<(), Failure> {
        let (path, old) = (&self.database.data, self.database.key.required()?);
        if existing(path)?.is_none() {
            return Err(Failure::with_help(
                format!("{} is not encrypted", path.display()),
                "`monotable key encrypt` encrypts it",
            ));
        }
        match self.new_master()? {
            Some(new) => {
                engine::rotate_master_key(path, &*old, &*new)?;
                output::line(&format!(
                    "{} is opened with the master key {} from now on",
                    path.display(),
                    new.id()
                ))
            }
            None => rotate_data_key(path, &old, self.database.key.table_keys()),
        }
    }

    fn new_master(&self) -> Result<Option<Arc<dyn MasterKey>>, Failure> {
        match (&self.to.new_key_file, &self.to.new_kms_key_id) {
            (Some(path), _) => keys::from_file(path).map(Some),
            (None, Some(id)) => keys::kms(id, self.new_kms_endpoint_url.as_deref()).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// Adds a data key and, unless a server does, seals everything again. What was cut off goes on when the database is next opened.
fn rotate_data_key(
    path: &Path,
    key: &Arc<dyn MasterKey>,
    table_keys: Option<Arc<dyn KeySource>>,
) -> Result<(), Failure> {
    engine::add_data_key(path, &**key)?;
    let options = Options { key: Some(key.clone()), table_keys, housekeeping: None, ..Options::default() };
    let engine = match Engine::open(path, options) {
        Err(error) if error.is_locked() => {
            return output::line(&format!(
                "the server that has {} open seals it again; `monotable key status` tells how far it is",
                path.display()
            ));
        }
        opened => opened?,
    };
    let bar = progress::bar(None, "pages");
    while engine.rotate_keys_once()? {
        bar.set_position(engine.key_rotation().map_or(bar.position(), |(done, _)| done));
    }
    bar.finish_and_clear();
    drop(engine);
    status(path)
}

fn check(database: &KeyedDatabase) -> Result<(), Failure> {
    let key = database.key.required()?;
    existing(&database.data)?;
    engine::check_encrypted(&database.data, &*key).map_err(|error| {
        Failure::with_help(error, "restore a backup; if nobody altered the files, look at the disk")
    })?;
    output::line(&format!("{}: every page is as it was written", database.data.display()))
}

fn status(path: &Path) -> Result<(), Failure> {
    let Some(status) = existing(path)? else {
        return output::line(&format!("{} is not encrypted", path.display()));
    };
    let mut text = format!("master key: {}", status.master_key);
    for (id, pages) in &status.data_keys {
        let _ = write!(text, "\ndata key {id}: {}", output::count(*pages, "page"));
    }
    if status.data_keys.len() > 1 {
        text.push_str("\nthe data key is being replaced: this goes on while the database is open");
    }
    output::line(&text)
}

/// The keys of a database that is there.
fn existing(path: &Path) -> Result<Option<KeyStatus>, Failure> {
    if !path.is_dir() {
        return Err(Failure::new(format!("there is no database in {}", path.display())));
    }
    Ok(KeyStatus::of(path)?)
}
