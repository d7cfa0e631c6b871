//! The files of an empty database, as the storage crate leaves them.
//!
//! The storage crate makes them one after the other with 31 syncs, and each has to wait for the disk. What comes out is always the same, so it is
//! kept here and written at once; then everything is synced before the directory is called a database (`creation.rs`). There is no journal among them: the storage
//! crate begins one when it opens a database without.
//!
//! Always true: the storage crate, with our settings, would have made the same keyspace. A test compares; `UPDATE=1 cargo test -p monotable-engine
//! empty_database` takes them anew after a change of the settings or of the storage crate.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
};

use super::super::directory::sync_directory;

const DIRECTORIES: [&str; 5] =
    ["keyspaces", "keyspaces/0", "keyspaces/0/tables", "keyspaces/1", "keyspaces/1/tables"];

/// Names in the database, with their content. The first keyspace is the storage crate's own, with the settings of the second.
const FILES: [(&str, &[u8]); 7] = [
    ("lock", b""),
    ("keyspaces/0/tables/0", include_bytes!("empty/0-table")),
    ("keyspaces/0/v2", include_bytes!("empty/0-v2")),
    ("keyspaces/0/current", include_bytes!("empty/0-current")),
    ("keyspaces/1/v0", include_bytes!("empty/1-v0")),
    ("keyspaces/1/current", include_bytes!("empty/1-current")),
    ("version", include_bytes!("empty/version")),
];

/// Writes an empty database into a directory that is not there yet.
pub(super) fn write(database: &Path) -> io::Result<()> {
    fs::create_dir(database)?;
    for name in DIRECTORIES {
        fs::create_dir(database.join(name))?;
    }
    for (name, content) in FILES {
        File::create_new(database.join(name))?.write_all(content)?;
    }
    Ok(())
}

/// Makes an empty database durable. All is written by then, so the first sync does most of the work for the others.
pub(super) fn sync(database: &Path) -> io::Result<()> {
    for (name, _) in FILES {
        File::open(database.join(name))?.sync_all()?;
    }
    for name in DIRECTORIES {
        sync_directory(&database.join(name))?;
    }
    sync_directory(database)
}

#[cfg(test)]
mod tests {
    use super::super::open::create_with_storage_crate;
    use super::*;

    /// The part of a table that holds its entries: what follows has the time at which it was made.
    fn entries(table: &[u8]) -> &[u8] {
        let time = table.windows(10).position(|window| window == b"created_at").unwrap();
        let head = table[..time].windows(5).rposition(|window| window == b"LSM\x03\x03").unwrap();
        &table[..head]
    }

    #[test]
    fn an_empty_database_is_what_the_storage_crate_makes_of_our_settings() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("fjall");
        create_with_storage_crate(&database).unwrap();
        for (name, content) in FILES {
            let made = fs::read(database.join(name)).unwrap();
            if std::env::var_os("UPDATE").is_some() && !made.is_empty() {
                let kept = name.replace("keyspaces/", "").replace("tables/0", "table").replace('/', "-");
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/fjall/empty");
                fs::write(Path::new(folder).join(kept), &made).unwrap();
            } else if name.contains("tables") {
                assert_eq!(entries(&made), entries(content), "{name}");
            } else if name.starts_with("keyspaces/0") {
                // They hold checksums of the table, and so depend on the time.
                assert_eq!(made.len(), content.len(), "{name}");
            } else {
                assert_eq!(made, content, "{name}");
            }
        }
    }
}
