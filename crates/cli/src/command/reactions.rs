//! `monotable reactions`: how far what happens by itself has come, and what could not be done.

use std::fmt::Write as _;
use std::sync::Arc;

use clap::Args;
use service::{HttpPoster, ReactionStatus};

use crate::command::run::refused;
use crate::design_place::{DesignPlace, Work};
use crate::failure::Failure;
use crate::output::{self, Format};

/// Shows how far the reactions of a design are behind, which events wait to be delivered, and what failed for good.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Reactions {
    /// A design file, or the name of a built-in design.
    design: String,
    /// First apply everything that the streams have.
    #[arg(long)]
    catch_up: bool,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    place: DesignPlace,
}

const EXAMPLES: &str = "\
Examples:
  monotable reactions story-hub
  monotable reactions story-hub --catch-up --format json

`monotable serve` carries reactions out by itself; this shows how far it has come.
Ends with 0 if nothing failed, 1 if there are dead letters.";

impl Reactions {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let work = Work::start()?;
        let service = self.place.open(&self.design, &work)?;
        let reactions = service.reactions(Arc::new(HttpPoster));
        if self.catch_up {
            let applied = work.wait(reactions.catch_up()).map_err(refused)?;
            eprintln!("{applied} changes applied");
        }
        let status = work.wait(reactions.status()).map_err(refused)?;
        match self.format {
            Format::Text => output::text(&as_text(&status))?,
            Format::Json => output::line(&as_json(&status))?,
        }
        match status.dead_letters.len() {
            0 => Ok(()),
            count => Err(Failure::new(format!("{count} could not be applied or delivered"))),
        }
    }
}

fn as_text(status: &ReactionStatus) -> String {
    let mut text = String::new();
    for shard in &status.shards {
        let lag = match shard.lag_milliseconds {
            None => "up to date".to_owned(),
            Some(lag) => format!("{}.{:03} s behind", lag / 1000, lag % 1000),
        };
        let _ =
            writeln!(text, "{} {}: {lag}, {} failures in a row", shard.table, shard.shard, shard.failures);
    }
    let _ = match status.waiting.len() {
        1 => writeln!(text, "1 event waits to be delivered"),
        count @ 100.. => writeln!(text, "at least {count} events wait to be delivered"),
        count => writeln!(text, "{count} events wait to be delivered"),
    };
    for event in &status.waiting {
        let _ = write!(text, "waits: {} to {}", event.id, event.url);
        let _ = match &event.error {
            Some(error) => writeln!(text, ", sent {} times in vain: {error}", event.attempts),
            None => writeln!(text),
        };
    }
    for letter in &status.dead_letters {
        let _ = writeln!(text, "dead letter: {} {}: {}", letter.what, letter.name, letter.error);
    }
    text
}

fn as_json(status: &ReactionStatus) -> String {
    let shards = status.shards.iter().map(|shard| {
        serde_json::json!({
            "table": shard.table,
            "shard": shard.shard,
            "lagMilliseconds": shard.lag_milliseconds,
            "failures": shard.failures,
        })
    });
    let letters = status.dead_letters.iter().map(|letter| {
        serde_json::json!({ "what": letter.what, "name": letter.name, "error": letter.error, "body": letter.body })
    });
    let waiting = status.waiting.iter().map(|event| {
        serde_json::json!({ "id": event.id, "url": event.url, "attempts": event.attempts, "error": event.error })
    });
    serde_json::json!({
        "shards": shards.collect::<Vec<_>>(),
        "waiting": waiting.collect::<Vec<_>>(),
        "deadLetters": letters.collect::<Vec<_>>(),
    })
    .to_string()
}
