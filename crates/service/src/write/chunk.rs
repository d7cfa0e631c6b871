//! Operations over lists that may be too long for one transaction: done in ordered chunks that can be resumed.
//!
//! Always true: how far an operation got is put down and moved on in the same transaction as each chunk, under the condition that it is still
//! where the chunk began. So every element is done once, whoever resumes it and however often. Time and ids are those of the first attempt.
//!
//! Path of an operation: how many elements fit -> chunk after chunk, the first with the beginning, the last with the outcome. What fits one
//! chunk and has no idempotency key is a transaction like any other.

use design::{EachOver, Operation, PlannedWrite, Write};
use dynamo::operation::{TransactWriteItem, Update};
use dynamo::{Item, Number, Value};

use super::outcome::{self, Remembered};
use super::send::actions_max;
use super::{Done, Left, Plan, Sent, left, plan, send};
use crate::ids::Ids;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::state;

/// DynamoDB takes 4 MB in a transaction; conditions and names count too.
const TRANSACTION_BYTES_MAX: usize = 3_500_000;
/// So few elements are tried together without a guess.
const ELEMENTS_FEW: usize = 8;
/// An outcome names so many items at most: the first ones.
const ITEMS_MAX: usize = 100;

/// An operation over lists that is being carried out.
struct Run<'s, 'o> {
    service: &'s Service,
    operation: &'o Operation,
    /// What the caller gave.
    inputs: Item,
    /// The key of the caller; without one nobody can resume it, but its own attempts must not do a chunk twice.
    key: String,
    is_callers_key: bool,
    fingerprint: String,
    /// How many elements the longest of its lists has.
    total: usize,
}

/// Carries out an operation whose lists may be long.
pub(crate) async fn operate<'s>(
    service: &'s Service,
    operation: &Operation,
    inputs: Item,
    idempotency_key: Option<String>,
) -> Result<Done<'s>, Refusal> {
    let write = Write::Operation { name: &operation.name.value, inputs, part: None };
    let fingerprint = outcome::fingerprint_of(&write);
    let Write::Operation { inputs, .. } = write else { return Err(Refusal::strange("an operation")) };
    let (key, remembered, is_callers_key) = match idempotency_key {
        Some(key) => {
            outcome::check_key(service, &key)?;
            let remembered = outcome::remembered(service, &key).await?;
            (key, remembered, true)
        }
        None => (state::fingerprint(&[&service.options().random.bytes()]), None, false),
    };
    let total = total(operation, &inputs);
    let run = Run { service, operation, inputs, key, is_callers_key, fingerprint, total };
    let progress = match &remembered {
        None => Progress::start(service),
        Some(first) => match run.resumed(first)? {
            Some(progress) => progress,
            None => return outcome::repeated(service, first, &run.fingerprint).await.map(Done::from),
        },
    };
    match run.chunks(progress).await {
        Err(refusal) if is_callers_key && remembered.is_none() => run.refused(refusal).await,
        outcome => outcome,
    }
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

impl<'s> Run<'s, '_> {
    /// Does chunk after chunk. What is answered are the first items of this call.
    async fn chunks(&self, mut progress: Progress) -> Result<Done<'s>, Refusal> {
        let service = self.service;
        let mut size = self.guess(&progress).await?;
        let mut items = Vec::new();
        let mut attempt = 0;
        // An operation without elements still has its other steps.
        let end = self.total.max(1);
        while progress.done < end {
            let to = progress.done.saturating_add(size).min(end);
            let mut plan = self.plan(&progress, to).await?;
            if !is_small(service, &plan) && to - progress.done > 1 {
                size = (to - progress.done) / 2;
                continue;
            }
            let before = items.len();
            items.extend(left(service, &mut plan.writes).into_iter().take(ITEMS_MAX - before.min(ITEMS_MAX)));
            let moved = self.moved(&progress, to, (to == end).then_some(items.as_slice()));
            let sent = send(service, plan, moved.into_iter().collect()).await;
            let sent = sent.map_err(|refusal| self.partly(&progress, refusal))?;
            if sent != Sent::Done {
                items.truncate(before);
            }
            match sent {
                Sent::Done => {
                    progress = Progress { done: to, is_put_down: true, ..progress };
                    attempt = 0;
                }
                Sent::Lost | Sent::ExtraFailed if attempt >= service.options().attempts_max => {
                    return Err(self.partly(&progress, Refusal::Busy));
                }
                Sent::Lost => {
                    crate::backoff::pause(service, attempt).await;
                    attempt += 1;
                }
                // Somebody else is carrying it out, too.
                Sent::ExtraFailed => {
                    crate::backoff::pause(service, attempt).await;
                    attempt += 1;
                    let now = outcome::remembered(service, &self.key).await?.ok_or(Refusal::Busy)?;
                    match self.resumed(&now)? {
                        Some(now) => progress = now,
                        None => {
                            let repeated = outcome::repeated(service, &now, &self.fingerprint).await;
                            return repeated.map(Done::from);
                        }
                    }
                }
            }
        }
        Ok(Done { items, repeated: false })
    }

    /// The same request, sent twice, may have been faster: then this one has seen what that one did, and was refused for it.
    async fn refused(&self, refusal: Refusal) -> Result<Done<'s>, Refusal> {
        let first = match refusal {
            Refusal::Partly { .. } => None,
            _ => outcome::remembered(self.service, &self.key).await?,
        };
        let Some(first) = first else { return Err(refusal) };
        match self.resumed(&first)? {
            Some(progress) => self.chunks(progress).await,
            None => outcome::repeated(self.service, &first, &self.fingerprint).await.map(Done::from),
        }
    }

    /// How far it got according to what is remembered; none if it is finished.
    fn resumed(&self, remembered: &Remembered) -> Result<Option<Progress>, Refusal> {
        if remembered.fingerprint != self.fingerprint {
            return Err(Refusal::KeyReused);
        }
        Ok(Progress::of(remembered).filter(|progress| progress.done < self.total.max(1)))
    }

    /// How many elements to try together: all, or as many as seem to fit when each writes what the second one writes.
    async fn guess(&self, progress: &Progress) -> Result<usize, Refusal> {
        let left = self.total.saturating_sub(progress.done);
        if left <= ELEMENTS_FEW {
            return Ok(left.max(1));
        }
        let one = self.plan(progress, progress.done + 1).await?.writes.len();
        let two = self.plan(progress, progress.done + 2).await?.writes.len();
        let each = two.saturating_sub(one).max(1);
        let shared = one.saturating_sub(each);
        let room = actions_max(self.service).saturating_sub(1 + shared);
        Ok((room / each).clamp(1, left))
    }

    /// The writes of the elements up to here.
    async fn plan(&self, progress: &Progress, to: usize) -> Result<Plan, Refusal> {
        let mut inputs = self.inputs.clone();
        // By the progress: whoever goes on with what another has begun must make the same ids.
        complete(self.operation, &mut inputs, progress);
        let name = &self.operation.name.value;
        let write = Write::Operation { name, inputs, part: Some(progress.done..to) };
        let ids = progress.ids(&progress.done.to_string());
        plan(self.service, &write, &ids).await.map_err(|refusal| self.partly(progress, refusal))
    }

    /// The action that puts down how far a chunk leads; the last one keeps the outcome. None for a transaction that is all there is.
    fn moved(
        &self,
        progress: &Progress,
        to: usize,
        outcome: Option<&[Left<'s>]>,
    ) -> Option<TransactWriteItem> {
        let kept = outcome.map(|items| outcome::kept(self.service, items));
        if progress.is_put_down {
            return Some(self.advance(progress.done, to, kept));
        }
        let fingerprint = ("fingerprint".to_owned(), Value::from(self.fingerprint.as_str()));
        let content = match kept {
            Some(_) if !self.is_callers_key => return None,
            Some(kept) => Item::from([fingerprint, ("items".to_owned(), kept)]),
            None => Item::from([
                fingerprint,
                ("seed".to_owned(), Value::B(progress.seed.to_vec().into())),
                ("now".to_owned(), Value::from(progress.now_milliseconds)),
                ("done".to_owned(), number(to)),
            ]),
        };
        Some(outcome::remember(self.service, &self.key, content))
    }

    fn advance(&self, from: usize, to: usize, kept: Option<Value>) -> TransactWriteItem {
        let place = outcome::place(self.service, &self.key);
        let mut values = Item::from([(":from".to_owned(), number(from)), (":to".to_owned(), number(to))]);
        let mut update = Update {
            key: Some(place.key),
            table_name: Some(place.table),
            update_expression: Some("SET done = :to".to_owned()),
            condition_expression: Some("done = :from".to_owned()),
            ..Update::default()
        };
        if let Some(kept) = kept {
            update.update_expression = Some("SET done = :to, #items = :items REMOVE seed".to_owned());
            update.expression_attribute_names = Some([("#items".to_owned(), "items".to_owned())].into());
            values.insert(":items".to_owned(), kept);
        }
        update.expression_attribute_values = Some(values);
        TransactWriteItem { update: Some(update), ..TransactWriteItem::default() }
    }

    /// A refusal, perhaps after some chunks were done.
    fn partly(&self, progress: &Progress, refusal: Refusal) -> Refusal {
        if progress.done == 0 {
            return refusal;
        }
        Refusal::Partly { done: progress.done, total: self.total, because: Box::new(refusal) }
    }
}

fn number(number: usize) -> Value {
    Value::N(Number::from(i64::try_from(number).unwrap_or(i64::MAX)))
}

/// True if a plan and one more action fit one transaction.
fn is_small(service: &Service, plan: &Plan) -> bool {
    let size = |write: &PlannedWrite| {
        let put = write.action.put.as_ref().and_then(|put| put.item.as_ref());
        let update =
            write.action.update.as_ref().and_then(|update| update.expression_attribute_values.as_ref());
        put.map_or(0, dynamo::StoredItem::size_bytes) + update.map_or(0, dynamo::item_size_bytes) + 200
    };
    let bytes = plan.writes.iter().map(size).sum::<usize>();
    plan.writes.len() < actions_max(service) && bytes <= TRANSACTION_BYTES_MAX
}

/// How far an operation got, and what its ids are made from.
#[derive(Clone, Copy)]
struct Progress {
    done: usize,
    now_milliseconds: i64,
    seed: [u8; 32],
    is_put_down: bool,
}

impl Progress {
    /// Nothing is done yet.
    fn start(service: &Service) -> Progress {
        let seed = service.options().random.bytes();
        Progress { done: 0, now_milliseconds: service.now_milliseconds(), seed, is_put_down: false }
    }

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
        Some(Progress { done, now_milliseconds: number("now")?, seed, is_put_down: true })
    }

    /// Ids for what is made once for the whole operation, and for each chunk by where it begins.
    fn ids(&self, part: &str) -> Ids {
        let seed = state::digest(&[&self.seed, part.as_bytes()]);
        Ids::new(&seed, self.now_milliseconds)
    }
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
