//! `monotable explain`: the DynamoDB requests behind a pattern, an operation or a write.

use clap::Args;
use design::{CheckedDesign, Sizes};

use crate::failure::Failure;
use crate::size::parse_size;
use crate::{design_file, output};

/// Shows the plan of patterns, operations and writes: the requests, what can come back, and what it costs.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Explain {
    /// A design file, or the name of a built-in design.
    design: String,
    /// A pattern, an operation or an entity; without it, all of them.
    name: Option<String>,
    /// What an item is taken to weigh.
    #[arg(long, value_name = "SIZE", default_value = "1KB", value_parser = parse_size)]
    item_size: u64,
    /// How many items an answer is taken to have, where no limit says otherwise.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    items: u32,
}

const EXAMPLES: &str = "\
Examples:
  monotable explain kefir                                 everything in a built-in design
  monotable explain kefir upcoming-reminders              one pattern
  monotable explain shop.toml pay                         one operation, as its transaction
  monotable explain shop.toml Order                       what creating an Order writes
  monotable explain shop.toml orders-of-user --item-size 4KB --items 100";

impl Explain {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let design = design_file::checked(&self.design)?;
        let sizes = Sizes {
            item_bytes: usize::try_from(self.item_size).unwrap_or(usize::MAX).min(ITEM_BYTES_MAX),
            items: usize::try_from(self.items).unwrap_or(usize::MAX),
        };
        match design::explain(&design, self.name.as_deref(), sizes) {
            Some(text) => output::text(&text),
            None => Err(unknown(&design, self.name.as_deref().unwrap_or_default())),
        }
    }
}

/// DynamoDB takes none larger.
const ITEM_BYTES_MAX: usize = 400 << 10;

/// A name that the design does not have.
pub(crate) fn unknown(design: &CheckedDesign, name: &str) -> Failure {
    let patterns = design.patterns.iter().map(|pattern| pattern.name.value.as_str());
    let operations = design.operations.iter().map(|operation| operation.name.value.as_str());
    let entities = design.entities.iter().map(|entity| entity.name.value.as_str());
    let help = match design::nearest(name, patterns.clone().chain(operations.clone()).chain(entities)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let known = patterns.chain(operations).collect::<Vec<_>>();
            format!("it has the patterns and operations {}", known.join(", "))
        }
    };
    Failure::with_help(format!("`{}` has nothing called `{name}`", design.name), help).into_misuse()
}
