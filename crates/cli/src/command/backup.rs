//! `monotable backup`: a whole database to a directory or an object store; what is there, whether it is whole, and what can go.

mod create;
mod list;
mod now;
mod prune;
mod verify;

use std::ffi::OsString;

use clap::{Args, Subcommand};

use crate::failure::Failure;

/// Backs up a whole database, and looks after backups.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    after_help = EXAMPLES,
    override_usage = "monotable backup <DEST> --data <DIR>\n       monotable backup <COMMAND>"
)]
pub(crate) struct Backup {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Create(create::Create),
    List(list::List),
    Verify(verify::Verify),
    Prune(prune::Prune),
    Now(now::Now),
}

const EXAMPLES: &str = "\
Examples:
  monotable backup /mnt/backups --data ./data            only what is new there is copied
  monotable backup s3://bucket/monotable --data ./data
  monotable backup list /mnt/backups
  monotable backup verify /mnt/backups                   ends with 0 if all is well, 1 if something is damaged
  monotable backup prune /mnt/backups --older-than 30d
  monotable restore /mnt/backups --data ./restored

A running server backs itself up, all the time:
  monotable serve --data ./data --backup-to s3://bucket/monotable
  monotable backup now --endpoint-url http://127.0.0.1:8000            and makes a whole backup when it is asked to";

impl Backup {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.action {
            Action::Create(create) => create.run(),
            Action::List(list) => list.run(),
            Action::Verify(verify) => verify.run(),
            Action::Prune(prune) => prune.run(),
            Action::Now(now) => now.run(),
        }
    }
}

/// The arguments of the program with `create` put in where `monotable backup DEST` leaves it out.
pub(crate) fn spelled_out(mut arguments: Vec<OsString>) -> Vec<OsString> {
    const ACTIONS: [&str; 6] = ["create", "list", "verify", "prune", "now", "help"];
    let is_short = match arguments.as_slice() {
        [_, command, first, ..] if command == "backup" => {
            let first = first.to_string_lossy();
            !first.starts_with('-') && !ACTIONS.contains(&&*first)
        }
        _ => false,
    };
    if is_short {
        arguments.insert(2, "create".into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_after_backup_means_that_one_is_made() {
        let spelled = |text: &str| {
            let arguments = spelled_out(text.split(' ').map(OsString::from).collect());
            arguments.join(std::ffi::OsStr::new(" ")).into_string().unwrap()
        };
        assert_eq!(spelled("monotable backup place --data d"), "monotable backup create place --data d");
        for whole in
            ["monotable", "monotable backup", "monotable backup --help", "monotable backup list place"]
        {
            assert_eq!(spelled(whole), whole);
        }
        assert_eq!(spelled("monotable export backup place"), "monotable export backup place");
    }
}
