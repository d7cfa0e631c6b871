//! `monotable new`: a design to start from.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};

use clap::Args;

use crate::failure::Failure;
use crate::output;

/// Writes a small commented design to start from.
#[derive(Args)]
#[command(
    after_help = "Example:\n  monotable new shop      writes shop.toml; an existing file is never overwritten"
)]
pub(crate) struct New {
    /// The name of the design: lower-case letters, digits and `-`.
    #[arg(value_parser = parse_name)]
    name: String,
}

fn parse_name(name: &str) -> Result<String, String> {
    let name = name.strip_suffix(".toml").unwrap_or(name);
    let sound = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if sound {
        Ok(name.to_owned())
    } else {
        Err("use lower-case letters, digits and `-`, as in web-shop".to_owned())
    }
}

impl New {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let path = format!("{}.toml", self.name);
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(|error| {
            match error.kind() {
                ErrorKind::AlreadyExists => Failure::with_help(
                    format!("{path} exists already"),
                    "choose another name, or move it away",
                ),
                _ => Failure::new(format!("cannot write {path}: {error}")),
            }
        })?;
        file.write_all(design::new_design(&self.name).as_bytes())?;
        output::line(&format!(
            "wrote {path}\n\nNext:\n  monotable check {path}      every mistake in it, with a way out\n  \
             monotable explain {path}    the DynamoDB requests behind it\n  \
             monotable docs {path}       the same as a document"
        ))
    }
}
