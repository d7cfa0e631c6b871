//! `monotable backup`: a whole database to a directory or an object store; what is there, whether it is whole, and what can go.

mod create;
mod list;
mod prune;
mod verify;

use clap::{Args, Subcommand};

use crate::failure::Failure;

/// Backs up a whole database, and looks after backups.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    after_help = EXAMPLES,
    override_usage = "monotable backup <DEST> --data <DIR>\n       monotable backup <COMMAND>"
)]
pub(crate) struct Backup {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    create: Option<create::Create>,
}

#[derive(Subcommand)]
enum Action {
    Create(create::Create),
    List(list::List),
    Verify(verify::Verify),
    Prune(prune::Prune),
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
  monotable serve --data ./data --backup-to s3://bucket/monotable";

impl Backup {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match (self.action, self.create) {
            (Some(Action::Create(create)), _) | (None, Some(create)) => create.run(),
            (Some(Action::List(list)), _) => list.run(),
            (Some(Action::Verify(verify)), _) => verify.run(),
            (Some(Action::Prune(prune)), _) => prune.run(),
            (None, None) => {
                Err(Failure::with_help("back up to where?", "monotable backup DEST --data DIR").into_misuse())
            }
        }
    }
}
