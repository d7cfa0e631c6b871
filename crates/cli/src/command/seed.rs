//! `monotable seed`: items to start from.

use clap::Args;

use crate::command::run::refused;
use crate::design_place::{DesignPlace, Work};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::progress;

/// Makes the items that a design starts from, and any number of made-up ones.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Seed {
    /// A design file, or the name of a built-in design.
    design: String,
    /// Also make about so many made-up things of each kind, with what belongs to them.
    #[arg(long, value_name = "COUNT")]
    scale: Option<u32>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    place: DesignPlace,
}

const EXAMPLES: &str = "\
Examples:
  monotable seed kefir                       the items in the design; those that are there stay as they are
  monotable seed kefir --scale 1000          and realistic amounts of fake data, through the design's own writes
  monotable seed shop.toml --set stage=test";

impl Seed {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let work = Work::start()?;
        let service = self.place.open(&self.design, &work)?;
        let mut seeded = work.wait(service.seed()).map_err(refused)?;
        if let Some(scale) = self.scale {
            let bar = progress::bar(Some(0), "items");
            let mut progress = |done: u64, all: u64| {
                bar.set_length(all);
                bar.set_position(done);
            };
            let more = work.wait(service.seed_scaled(scale, &mut progress)).map_err(refused)?;
            bar.finish_and_clear();
            seeded.created += more.created;
            seeded.existing += more.existing;
        }
        match self.format {
            Format::Json => output::line(
                &serde_json::json!({ "created": seeded.created, "existing": seeded.existing }).to_string(),
            ),
            Format::Text => output::line(&format!(
                "{} items made, {} were there already",
                seeded.created, seeded.existing
            )),
        }
    }
}
