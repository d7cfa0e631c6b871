//! Designs on the server's own database: checked, their tables made, their pages ready.

use std::sync::Arc;

use design::CheckedDesign;
use server::Pages;
use service::{Backend, HttpPoster, Rest, Service, TableChange};

use crate::design_file;
use crate::design_place::{Variables, Work};
use crate::failure::Failure;
use crate::pages;

/// Designs that run.
pub(super) struct Designs {
    services: Vec<Service>,
    /// Carries out what the designs do by themselves.
    _work: Work,
}

impl Designs {
    /// Makes the tables of the designs, and their seed data where the tables are new.
    pub(super) fn start(
        given: &[String],
        backend: Arc<dyn Backend>,
        work: Work,
        variables: &Variables,
        with_seed: bool,
    ) -> Result<Designs, Failure> {
        let designs = given.iter().map(|given| design_file::checked(given)).collect::<Result<Vec<_>, _>>()?;
        refuse_one_name_twice(&designs)?;
        let variables = variables.of(&designs)?;
        let mut services = Vec::new();
        for design in designs {
            let options = service::Options { variables: variables.clone(), ..lasting_options() };
            let service = Service::new(design, backend.clone(), options);
            work.wait(make_ready(&service, with_seed))?;
            work.begin(react(service.clone()));
            services.push(service);
        }
        Ok(Designs { services, _work: work })
    }

    /// The designs as pages of the server.
    pub(super) fn pages(&self) -> Arc<dyn Pages> {
        Arc::new(pages::Designs(Rest::new(self.services.clone())))
    }

    /// Each of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &CheckedDesign> {
        self.services.iter().map(Service::design)
    }
}

/// With MONOTABLE_SECRET, cursors and signatures of web hooks outlive this process. It is not a flag: others can see those.
fn lasting_options() -> service::Options {
    let options = service::Options::default();
    match std::env::var("MONOTABLE_SECRET") {
        Ok(secret) if !secret.is_empty() => options.with_secret(&secret),
        _ => options,
    }
}

/// What happens by itself goes on until the program ends: it can be cut off anywhere, and goes on from there.
async fn react(service: Service) {
    service.reactions(Arc::new(HttpPoster)).run(std::future::pending()).await;
}

/// Tables that are new get their seed data. Items that somebody deleted later do not come back.
async fn make_ready(service: &Service, with_seed: bool) -> Result<(), Failure> {
    let outcomes = service.prepare().await.map_err(Failure::new)?;
    let state = &service.options().state_table;
    let is_new =
        outcomes.iter().any(|outcome| outcome.change == TableChange::Created && outcome.table != *state);
    if with_seed && is_new {
        service.seed().await.map_err(Failure::new)?;
    }
    Ok(())
}

/// Two designs with one name would have one path.
fn refuse_one_name_twice(designs: &[CheckedDesign]) -> Result<(), Failure> {
    for (place, design) in designs.iter().enumerate() {
        if designs.iter().take(place).any(|other| other.name == design.name) {
            let sentence = format!("two designs are called `{}`", design.name);
            return Err(Failure::with_help(sentence, "each is served under its name; give one another name")
                .into_misuse());
        }
    }
    Ok(())
}
