//! The examples of a design, carried out: given these items, this answers that; after this, those items are there.

use std::future::Future;
use std::sync::Arc;

use design::{Action, CheckedDesign, Example, ExampleKind, Seed};
use dynamo::{Item, Value};
use engine::ManualClock;

use crate::answer::{Answer, Changes, Entity, PageRequest, WriteOptions};
use crate::ids::Ids;
use crate::refusal::Refusal;
use crate::seed::values;
use crate::service::Service;
use crate::shape;

/// When examples happen that do not say when.
const NOW: &str = "2024-06-01T12:00:00.000Z";

/// What came of an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleOutcome {
    /// Its name.
    pub example: String,
    /// What it shows.
    pub about: String,
    /// What is not as the example says; none if all is.
    pub problem: Option<String>,
}

/// Carries out every example of a design, each on a service of its own whose tables `fresh` has prepared and left empty.
pub async fn test_examples<F, R>(design: &CheckedDesign, fresh: F) -> Vec<ExampleOutcome>
where
    F: Fn() -> R,
    R: Future<Output = Result<Service, Refusal>>,
{
    let mut outcomes = Vec::new();
    for example in &design.examples {
        let problem = match fresh().await {
            Ok(service) => test(&service, example).await.err(),
            Err(refusal) => Some(refusal.to_string()),
        };
        outcomes.push(ExampleOutcome {
            example: example.name.value.clone(),
            about: example.about.clone(),
            problem,
        });
    }
    outcomes
}

async fn test(service: &Service, example: &Example) -> Result<(), String> {
    let words = |refusal: Refusal| refusal.to_string();
    at(service, NOW)?.seed().await.map_err(words)?;
    let now = example.now.as_ref().map_or(NOW, |now| now.value.as_str());
    let service = at(service, now)?;
    for given in &example.given {
        service.sow(&given.entity.value, values(&given.attributes)).await.map_err(words)?;
    }
    let done = carry_out(&service, example).await;
    match (&example.fails, done) {
        (Some(expected), Err(refusal)) => {
            let told = refusal.to_string();
            if !told.contains(&expected.value) {
                return Err(format!("it fails with \"{told}\" instead of \"{}\"", expected.value));
            }
        }
        (Some(expected), Ok(_)) => {
            return Err(format!("it works, and should fail with \"{}\"", expected.value));
        }
        (None, Err(refusal)) => return Err(refusal.to_string()),
        (None, Ok(answer)) => compare(example, &answer)?,
    }
    for expected in &example.then {
        afterwards(&service, expected, true).await?;
    }
    for expected in &example.gone {
        afterwards(&service, expected, false).await?;
    }
    Ok(())
}

/// The service at a time that stands still.
fn at(service: &Service, now: &str) -> Result<Service, String> {
    let milliseconds = design::milliseconds_of(now).ok_or_else(|| format!("{now} is not a time"))?;
    Ok(service.with_options(|options| {
        options.clock = Arc::new(ManualClock::at_milliseconds(milliseconds));
    }))
}

async fn carry_out(service: &Service, example: &Example) -> Result<Answer, Refusal> {
    let (with, given) = (values(&example.with), WriteOptions::default());
    match &example.kind {
        ExampleKind::Pattern(name) => return service.ask(&name.value, with, PageRequest::default()).await,
        ExampleKind::Operation(name) => service.operate(&name.value, with, given).await?,
        ExampleKind::Write(action, entity) => {
            let slots = service.entity(&entity.value)?.identity();
            let (key, set): (Item, Item) =
                with.clone().into_iter().partition(|(name, _)| slots.contains(&name.as_str()));
            match action {
                Action::Delete => service.delete(&entity.value, key, given).await?,
                Action::Update => {
                    let changes = Changes { set, remove: Vec::new() };
                    service.update(&entity.value, key, changes, given).await?
                }
                _ => service.create(&entity.value, with, given).await?,
            }
        }
    };
    Ok(Answer::default())
}

fn compare(example: &Example, answer: &Answer) -> Result<(), String> {
    let Some(expected) = &example.answer else { return Ok(()) };
    let of_part = |part: Option<&str>| {
        let items = expected.iter().filter(|item| item.part.as_ref().map(|part| part.value.as_str()) == part);
        items.map(|item| values(&item.attributes)).collect::<Vec<_>>()
    };
    if answer.parts.is_empty() {
        return same_items("the answer", &of_part(None), &answer.items);
    }
    for part in &answer.parts {
        same_items(&part.name, &of_part(Some(&part.name)), &part.items)?;
    }
    Ok(())
}

fn same_items(what: &str, expected: &[Item], found: &[Entity]) -> Result<(), String> {
    if expected.len() != found.len() {
        let items = found.iter().map(|entity| shown(&entity.item)).collect::<Vec<_>>().join(", ");
        return Err(format!("{what} has {} items instead of {}: {items}", found.len(), expected.len()));
    }
    for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
        same_attributes(&format!("item {} of {what}", number + 1), expected, &found.item)?;
    }
    Ok(())
}

fn same_attributes(what: &str, expected: &Item, found: &Item) -> Result<(), String> {
    for (name, value) in expected {
        if found.get(name) != Some(value) {
            let found = found.get(name).map_or_else(|| "absent".to_owned(), shown_value);
            return Err(format!("{name} of {what} is {found} instead of {}", shown_value(value)));
        }
    }
    Ok(())
}

async fn afterwards(service: &Service, expected: &Seed, there: bool) -> Result<(), String> {
    let words = |refusal: Refusal| refusal.to_string();
    let name = &expected.entity.value;
    let attributes = values(&expected.attributes);
    let entity = service.entity(name).map_err(words)?;
    let place = service.with_context(&Ids::none(), |context| {
        design::item_key(service.design(), entity, &attributes, context)
    });
    let place = place.ok_or_else(|| format!("the example does not give the whole key of {name}"))?;
    let found = crate::read::items(service, &[place], true).await.map_err(words)?;
    match (found.into_iter().flatten().next(), there) {
        (Some(stored), true) => {
            let item = shape::whole(service.design(), entity, stored);
            same_attributes(&format!("{name} {}", shown(&attributes)), &attributes, &item)
        }
        (None, false) => Ok(()),
        (None, true) => Err(format!("there is no {name} {}", shown(&attributes))),
        (Some(_), false) => Err(format!("{name} {} is still there", shown(&attributes))),
    }
}

fn shown(item: &Item) -> String {
    shown_value(&Value::M(item.clone()))
}

fn shown_value(value: &Value) -> String {
    let mut bytes = Vec::new();
    dynamo::write_value(value, &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
