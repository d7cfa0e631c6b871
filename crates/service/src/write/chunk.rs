//! Operations over lists that are too long for one transaction: done in ordered chunks that can be resumed.
//!
//! Always true: how far an operation got is moved on in the same transaction as each chunk, under the condition that it is still where the chunk
//! began. So every element is done once, whoever resumes it and however often. Time and ids are those of the first attempt.
//!
//! Path of an operation: everything at once if it fits -> else its beginning is put down -> chunk after chunk -> the outcome is kept.

use design::{EachOver, Operation, Write};
use dynamo::operation::{Delete, TransactWriteItem, Update};
use dynamo::{Item, Number, Value};

use super::outcome::{self, Remembered};
use super::send::actions_max;
use super::{Plan, Sent, left, plan, send};
use crate::answer::Written;
use crate::ids::Ids;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::state;

/// DynamoDB takes 4 MB in a transaction; conditions and names count too.
const TRANSACTION_BYTES_MAX: usize = 3_500_000;
/// Elements in the first chunk that is tried.
const ELEMENTS_FIRST: usize = 32;
/// An outcome names so many items at most: the first ones.
const ITEMS_MAX: usize = 100;

/// Carries out an operation whose lists may be long.
pub(crate) async fn operate(
    service: &Service,
    operation: &Operation,
    mut inputs: Item,
    idempotency_key: Option<String>,
) -> Result<Written, Refusal> {
    let total = total(operation, &inputs);
    let write =
        |inputs: &Item| Write::Operation { name: &operation.name.value, inputs: inputs.clone(), part: None };
    let fingerprint = outcome::fingerprint_of(&write(&inputs));
    let key = match &idempotency_key {
        Some(key) => {
            outcome::check_key(key)?;
            key.clone()
        }
        // Without a key of the caller nobody can resume it, but its own attempts must not do a chunk twice.
        None => state::fingerprint(&[&service.options().random.bytes()]),
    };
    let first = match &idempotency_key {
        Some(key) => outcome::remembered(service, key).await?,
        None => None,
    };
    let first = match first {
        Some(first) => first,
        None if fits(service, write(&inputs), total).await? => {
            return super::carry_out(service, write(&inputs), idempotency_key).await.map(Written::from);
        }
        None => begin(service, &key, &fingerprint).await?,
    };
    if first.fingerprint != fingerprint {
        return Err(Refusal::KeyReused);
    }
    let Some(progress) = Progress::of(&first) else {
        return outcome::repeated(service, &first, &fingerprint).await;
    };
    complete(operation, &mut inputs, &progress);
    match run(service, operation, &inputs, &key, progress, total).await {
        Ok(items) => Ok(Written { items, repeated: false }),
        Err(refusal) => {
            if !matches!(refusal, Refusal::Partly { .. }) {
                forget(service, &key).await?;
            }
            Err(refusal)
        }
    }
}

/// Takes the beginning of an operation back of which nothing was done: its key is free again.
async fn forget(service: &Service, key: &str) -> Result<(), Refusal> {
    let place = outcome::place(service, key);
    let delete = Delete {
        key: Some(place.key),
        table_name: Some(place.table),
        condition_expression: Some("done = :nothing".to_owned()),
        expression_attribute_values: Some(Item::from([(":nothing".to_owned(), Value::from(0))])),
        ..Delete::default()
    };
    let action = TransactWriteItem { delete: Some(delete), ..TransactWriteItem::default() };
    // Where somebody else has done a chunk meanwhile, or it could not be taken back, it stays and can be resumed.
    send(service, Plan::default(), vec![action]).await.map(drop)
}

/// How many elements the longest of its lists has.
fn total(operation: &Operation, inputs: &Item) -> usize {
    let lists = operation.steps.iter().filter_map(|step| match &step.each.as_ref()?.over {
        EachOver::Input(name) => match inputs.get(&name.value)? {
            Value::L(list) => Some(list.len()),
            _ => None,
        },
        EachOver::Pattern(_) => None,
    });
    lists.max().unwrap_or(0)
}

/// True if the whole operation fits one transaction. Of a long list only the beginning is tried: what is wrong with the input is told
/// before anything is put down.
async fn fits(service: &Service, mut write: Write<'_>, total: usize) -> Result<bool, Refusal> {
    if let Write::Operation { part, .. } = &mut write
        && total >= actions_max(service)
    {
        *part = Some(0..1);
    }
    let ids = Ids::new(&service.options().random.bytes(), service.now_milliseconds());
    let plan = plan(service, &write, &ids).await?;
    Ok(total < actions_max(service) && is_small(service, &plan))
}

/// True if a plan and one more action fit one transaction.
fn is_small(service: &Service, plan: &Plan) -> bool {
    let size = |write: &design::PlannedWrite| {
        let put = write.action.put.as_ref().and_then(|put| put.item.as_ref());
        let update =
            write.action.update.as_ref().and_then(|update| update.expression_attribute_values.as_ref());
        put.map_or(0, dynamo::StoredItem::size_bytes) + update.map_or(0, dynamo::item_size_bytes) + 200
    };
    let bytes = plan.writes.iter().map(size).sum::<usize>();
    plan.writes.len() < actions_max(service) && bytes <= TRANSACTION_BYTES_MAX
}

/// How far an operation got, and what its ids are made from.
struct Progress {
    done: usize,
    now_milliseconds: i64,
    seed: [u8; 32],
}

impl Progress {
    /// The progress that is remembered; none if the operation is finished.
    fn of(remembered: &Remembered) -> Option<Progress> {
        let number = |name: &str| match remembered.item.get(name) {
            Some(Value::N(number)) => number.to_string().parse::<i64>().ok(),
            _ => None,
        };
        let seed = match remembered.item.get("seed") {
            Some(Value::B(bytes)) => <[u8; 32]>::try_from(bytes.as_ref()).ok()?,
            _ => return None,
        };
        let done = usize::try_from(number("done")?).ok()?;
        Some(Progress { done, now_milliseconds: number("now")?, seed })
    }

    /// Ids for what is made once for the whole operation, and for each chunk by where it begins.
    fn ids(&self, part: &str) -> Ids {
        let seed = state::digest(&[&self.seed, part.as_bytes()]);
        Ids::new(&seed, self.now_milliseconds)
    }
}

/// Puts down that an operation begins, or finds that it has begun.
async fn begin(service: &Service, key: &str, fingerprint: &str) -> Result<Remembered, Refusal> {
    let content = Item::from([
        ("fingerprint".to_owned(), Value::from(fingerprint)),
        ("seed".to_owned(), Value::B(service.options().random.bytes().to_vec().into())),
        ("now".to_owned(), Value::from(service.now_milliseconds())),
        ("done".to_owned(), Value::from(0)),
    ]);
    for attempt in 0..service.options().attempts_max {
        let sent =
            send(service, Plan::default(), vec![outcome::remember(service, key, content.clone())]).await?;
        if sent == Sent::Lost {
            crate::backoff::pause(service, attempt).await;
            continue;
        }
        if let Some(first) = outcome::remembered(service, key).await? {
            return Ok(first);
        }
    }
    Err(Refusal::Busy)
}

/// Gives the operation the ids that are made once for all chunks.
fn complete(operation: &Operation, inputs: &mut Item, progress: &Progress) {
    let ids = progress.ids("operation");
    for (number, input) in operation.inputs.iter().enumerate() {
        let attribute = &input.attribute;
        let name = &attribute.name.value;
        let is_id = attribute.kind.is_generated()
            && attribute.optional
            && attribute.kind.value_type() == Some(dynamo::ValueType::S);
        let is_time = matches!(attribute.kind, design::Type::Timestamp(..));
        if is_id && !is_time && !inputs.contains_key(name) {
            inputs.insert(name.clone(), Value::S(ids.make(&attribute.kind, number)));
        }
    }
}

/// Does chunk after chunk, and keeps the outcome. What is answered are the first items of this call.
async fn run(
    service: &Service,
    operation: &Operation,
    inputs: &Item,
    key: &str,
    mut progress: Progress,
    total: usize,
) -> Result<Vec<crate::answer::Entity>, Refusal> {
    let mut size = ELEMENTS_FIRST;
    let mut items = Vec::new();
    let mut attempt = 0;
    // An operation without elements still has its other steps.
    while progress.done < total.max(1) {
        let part = progress.done..progress.done.saturating_add(size).min(total.max(1));
        let write = Write::Operation {
            name: &operation.name.value,
            inputs: inputs.clone(),
            part: Some(part.clone()),
        };
        let bound = plan(service, &write, &progress.ids(&part.start.to_string())).await;
        let mut plan = bound.map_err(|refusal| partly(&progress, total, refusal))?;
        if !is_small(service, &plan) && part.len() > 1 {
            size = part.len() / 2;
            continue;
        }
        let moved = advance(service, key, part.start, part.end);
        let made = left(service, &mut plan.writes);
        let sent =
            send(service, plan, vec![moved]).await.map_err(|refusal| partly(&progress, total, refusal))?;
        match sent {
            Sent::Done => {
                let room = ITEMS_MAX - items.len().min(ITEMS_MAX);
                items.extend(made.into_iter().take(room));
                progress.done = part.end;
                attempt = 0;
            }
            Sent::Lost | Sent::ExtraFailed => {
                if attempt >= service.options().attempts_max {
                    return Err(partly(&progress, total, Refusal::Busy));
                }
                crate::backoff::pause(service, attempt).await;
                attempt += 1;
                // Somebody else may be resuming it too.
                let Some(remembered) = outcome::remembered(service, key).await? else {
                    return Err(Refusal::Busy);
                };
                match Progress::of(&remembered) {
                    Some(now) => progress = now,
                    None => break,
                }
            }
        }
    }
    finish(service, key, &items).await?;
    Ok(items)
}

/// The action that moves the progress on from where a chunk begins to where it ends.
fn advance(service: &Service, key: &str, from: usize, to: usize) -> TransactWriteItem {
    let place = outcome::place(service, key);
    let number = |number: usize| Value::N(Number::from(i64::try_from(number).unwrap_or(i64::MAX)));
    let update = Update {
        key: Some(place.key),
        table_name: Some(place.table),
        update_expression: Some("SET done = :to".to_owned()),
        condition_expression: Some("done = :from".to_owned()),
        expression_attribute_values: Some(Item::from([
            (":from".to_owned(), number(from)),
            (":to".to_owned(), number(to)),
        ])),
        ..Update::default()
    };
    TransactWriteItem { update: Some(update), ..TransactWriteItem::default() }
}

/// Keeps the outcome in place of the progress.
async fn finish(service: &Service, key: &str, items: &[crate::answer::Entity]) -> Result<(), Refusal> {
    let place = outcome::place(service, key);
    let update = Update {
        key: Some(place.key),
        table_name: Some(place.table),
        update_expression: Some("SET #items = if_not_exists(#items, :items) REMOVE seed".to_owned()),
        expression_attribute_names: Some([("#items".to_owned(), "items".to_owned())].into()),
        expression_attribute_values: Some(Item::from([(":items".to_owned(), outcome::kept(service, items))])),
        ..Update::default()
    };
    let action = TransactWriteItem { update: Some(update), ..TransactWriteItem::default() };
    for attempt in 0..service.options().attempts_max {
        if send(service, Plan::default(), vec![action.clone()]).await? == Sent::Done {
            return Ok(());
        }
        crate::backoff::pause(service, attempt).await;
    }
    Err(Refusal::Busy)
}

/// A refusal after some chunks were done.
fn partly(progress: &Progress, total: usize, refusal: Refusal) -> Refusal {
    if progress.done == 0 {
        return refusal;
    }
    Refusal::Partly { done: progress.done, total, because: Box::new(refusal) }
}
