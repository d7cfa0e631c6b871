//! `monotable test`: the examples of a design, carried out.

mod trial;

use std::fmt::Write as _;

use clap::Args;
use design::CheckedDesign;
use service::{ExampleOutcome, Service, test_examples};

use crate::design_file;
use crate::design_place::{RemotePlace, Variables, Work};
use crate::failure::Failure;
use crate::output::{self, Format};

use trial::Trial;

/// Carries out the examples of designs: each on new tables with the design's seed data.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Test {
    /// Design files, or names of built-in designs.
    #[arg(required = true, value_name = "DESIGN")]
    designs: Vec<String>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    remote: TestPlace,
    #[command(flatten)]
    variables: Variables,
}

#[derive(Args)]
struct TestPlace {
    /// Carry them out on a server that speaks DynamoDB, on tables with names of their own that are deleted afterwards.
    #[arg(long, value_name = "URL", env = "MONOTABLE_ENDPOINT_URL")]
    endpoint_url: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  monotable test shop.toml                          in memory; nothing is left behind
  monotable test designs/*.toml --format json
  monotable test shop.toml --endpoint-url http://127.0.0.1:8000

An example in a design:
  [example.orders]
  pattern = \"orders-of-user\"
  with    = { userId = \"01HMZ000000000000000000001\" }
  answer  = [{ status = \"open\" }]

Ends with 0 if every example holds, 1 if one does not.";

impl Test {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let work = Work::start()?;
        let (mut held, mut failed) = (0, 0);
        let mut documents = Vec::new();
        for given in &self.designs {
            let design = design_file::checked(given)?;
            let outcomes = self.carry_out(&design, &work)?;
            failed += outcomes.iter().filter(|outcome| outcome.problem.is_some()).count();
            held += outcomes.iter().filter(|outcome| outcome.problem.is_none()).count();
            match self.format {
                Format::Text => output::text(&as_text(&design, &outcomes))?,
                Format::Json => documents.push(as_json(&design, &outcomes)),
            }
        }
        if self.format == Format::Json {
            output::line(&serde_json::json!({ "designs": documents }).to_string())?;
        }
        match failed {
            0 => Ok(()),
            _ => Err(Failure::new(format!("{failed} of {} examples do not hold", held + failed))),
        }
    }

    fn carry_out(&self, design: &CheckedDesign, work: &Work) -> Result<Vec<ExampleOutcome>, Failure> {
        let variables = self.variables.of(std::slice::from_ref(design))?;
        let remote = RemotePlace::at(self.remote.endpoint_url.as_deref()).connect(work)?;
        let trial = Trial::new(remote);
        let fresh = || {
            let options = service::Options { variables: variables.clone(), ..service::Options::default() };
            let backend = trial.backend();
            let service = Service::new(design.clone(), backend, options);
            async move {
                service.prepare().await?;
                Ok(service)
            }
        };
        let outcomes = work.wait(test_examples(design, fresh));
        work.wait(trial.clean_up())?;
        Ok(outcomes)
    }
}

fn as_text(design: &CheckedDesign, outcomes: &[ExampleOutcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        match &outcome.problem {
            None => {
                let _ = writeln!(text, "{}: {} ok", design.name, outcome.example);
            }
            Some(problem) => {
                let _ = writeln!(text, "{}: {} FAILED\n    {problem}", design.name, outcome.example);
            }
        }
    }
    let failed = outcomes.iter().filter(|outcome| outcome.problem.is_some()).count();
    let _ = writeln!(text, "{}: {} examples, {failed} failed", design.name, outcomes.len());
    text
}

fn as_json(design: &CheckedDesign, outcomes: &[ExampleOutcome]) -> serde_json::Value {
    let examples = outcomes.iter().map(|outcome| {
        serde_json::json!({ "example": outcome.example, "about": outcome.about, "problem": outcome.problem })
    });
    serde_json::json!({ "design": design.name, "examples": examples.collect::<Vec<_>>() })
}
