//! `monotable run`: a pattern or an operation of a design, from the shell.

use clap::Args;
use service::{PageRequest, Refusal, Service, WriteOptions};

use crate::arguments::{input_type, parameter_type, values};
use crate::command::explain;
use crate::design_place::{DesignPlace, Work, parse_pair};
use crate::failure::Failure;
use crate::output::{self, Format};

/// Asks a pattern or carries out an operation, and prints what comes of it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Run {
    /// A design file, or the name of a built-in design.
    design: String,
    /// The pattern or operation.
    name: String,
    /// Its parameters or inputs. Maps and lists are written as JSON.
    #[arg(value_name = "KEY=VALUE", value_parser = parse_pair)]
    values: Vec<(String, String)>,
    /// Items in a page, at most.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Where the page begins: the cursor of the page before.
    #[arg(long)]
    cursor: Option<String>,
    /// Done once, however often it is run.
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// How the result is printed: an item on each line, or one JSON document.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    place: DesignPlace,
}

const EXAMPLES: &str = "\
Examples:
  monotable run kefir batches userId=ada
  monotable run stak-inbox inbox tenant_key=acme inbox_key=main uid=ada --limit 5
  monotable run stak-inbox publish-to-users tenant_key=acme inbox_key=main uids='[\"ada\"]' \\
      sender=office message='{\"title\":\"Hello\",\"body\":\"Good morning\"}'

Ends with 0 if it was done, 1 if it was refused, 2 if there is nothing of this name.";

impl Run {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let work = Work::start()?;
        let service = self.place.open(&self.design, &work)?;
        if service.design().pattern(&self.name).is_some() {
            return self.ask(&service, &work);
        }
        if service.design().operation(&self.name).is_some() {
            return self.operate(&service, &work);
        }
        Err(explain::unknown(service.design(), &self.name))
    }

    fn ask(&self, service: &Service, work: &Work) -> Result<(), Failure> {
        let parameters = values(&self.values, |name| parameter_type(service.design(), &self.name, name))?;
        let page = PageRequest { limit: self.limit, cursor: self.cursor.clone() };
        let answer = work.wait(service.ask(&self.name, parameters, page)).map_err(refused)?;
        if self.format == Format::Json {
            let pattern = service.design().pattern(&self.name);
            return output::line(
                &pattern.map(|pattern| service::answer_json(pattern, &answer)).unwrap_or_default(),
            );
        }
        for item in answer.items.iter().chain(answer.parts.iter().flat_map(|part| &part.items)) {
            print_item(item)?;
        }
        if let Some(cursor) = &answer.cursor {
            eprintln!("there is more: --cursor {cursor}");
        }
        Ok(())
    }

    fn operate(&self, service: &Service, work: &Work) -> Result<(), Failure> {
        let input = values(&self.values, |name| input_type(service.design(), &self.name, name))?;
        let options = WriteOptions { idempotency_key: self.idempotency_key.clone(), expected_version: None };
        let written = work.wait(service.operate(&self.name, input, options)).map_err(refused)?;
        if written.repeated {
            eprintln!("this had been done before, with the same key");
        }
        match self.format {
            Format::Json => output::line(&service::items_json(&written.items)),
            Format::Text => written.items.iter().try_for_each(print_item),
        }
    }
}

/// One item on one line: its entity, then its attributes as JSON.
fn print_item(item: &service::Entity) -> Result<(), Failure> {
    output::line(&format!("{} {}", item.name, service::value_json(&dynamo::Value::M(item.item.clone()))))
}

/// Every problem on a line of its own.
pub(crate) fn refused(refusal: Refusal) -> Failure {
    match &refusal {
        Refusal::Invalid(problems) => {
            let lines = problems.iter().map(|problem| format!("\n  {} {}", problem.name, problem.message));
            Failure::new(format!("some values are not what they must be:{}", lines.collect::<String>()))
        }
        other => Failure::new(other),
    }
}
