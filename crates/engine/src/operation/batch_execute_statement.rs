//! BatchExecuteStatement: up to 25 PartiQL statements on one item each, every one by itself.
//!
//! A statement that fails is answered with its error in its place; the others are carried out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dynamo::operation::{
    BatchExecuteStatement, BatchExecuteStatementReply, BatchStatementError, BatchStatementRequest,
    BatchStatementResponse, ConsumedCapacity, ReturnConsumedCapacity,
};
use dynamo::{ApiError, Choice, ErrorKind, StoredItem};

use super::{Begun, Decide};
use crate::capacity::{Detail, Units, consumed, is_asked, write_units};
use crate::catalog::Catalog;
use crate::commit::{Changes, Latest, View};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::layout::{CollectionId, ItemKey};
use crate::partiql::{NotWritten, Selection, Statement, StatementError, StatementWrite, parse};
use crate::table::Table;

const MIXED: &str = "Read and write requests together in the same batch is not supported.";
const TWICE: &str = "Provided list of item keys contains duplicates";
const NOT_ONE_ITEM: &str =
    "Select statements within BatchExecuteStatement must specify the primary key in the where clause.";

impl Engine {
    /// Runs up to 25 PartiQL statements, each by itself.
    pub fn batch_execute_statement(
        &self,
        request: BatchExecuteStatement,
    ) -> Result<BatchExecuteStatementReply, ApiError> {
        self.finish(begin(request, self)?)
    }
}

/// Everything up to the decision of writes; SELECTs are read at once.
pub(super) fn begin(
    mut request: BatchExecuteStatement,
    engine: &Engine,
) -> Result<Begun<BatchExecuteStatementReply, impl Decide<BatchExecuteStatementReply> + use<>>, ApiError> {
    request.check_fields()?;
    let statements: Vec<_> = request.statements.take().unwrap_or_default().into_iter().map(check).collect();
    let wanted = request.return_consumed_capacity;
    if check_kind(&statements)? {
        let view = engine.view();
        let bound: Vec<_> =
            statements.into_iter().map(|statement| bind_read(statement, &view.catalog)).collect();
        check_distinct(bound.iter().filter_map(|(_, read)| place_of_read(read.as_ref().ok()?)))?;
        let answers = bound.into_iter().map(|(table, read)| {
            (table, read.and_then(|read| engine.read(&view, |view| read_one(&read, view))))
        });
        return Ok(Begun::Read(reply(answers.collect(), wanted.as_ref())));
    }
    let catalog = engine.catalog();
    let bound: Vec<_> = statements.into_iter().map(|statement| bind_write(statement, &catalog)).collect();
    check_distinct(bound.iter().filter_map(|(_, write)| Some(place_of_write(write.as_ref().ok()?))))?;
    Ok(Begun::Write(move |latest: &Latest<'_>| write(&bound, wanted.as_ref(), latest)))
}

/// A statement that was read, with how; or what is wrong with it.
struct Checked {
    statement: Result<Statement, ApiError>,
    consistent_read: Option<bool>,
}

fn check(request: BatchStatementRequest) -> Checked {
    let parse_it = || {
        request.faults.check("Parameters")?;
        let text = request.statement.as_deref().unwrap_or_default();
        match parse(text, request.parameters.as_deref().unwrap_or_default())? {
            Statement::Exists(_) => Err(StatementError::Exists.into()),
            statement => Ok(statement),
        }
    };
    Checked { statement: parse_it(), consistent_read: request.consistent_read }
}

/// True if all statements read, false if all write. Those that are none take no side.
fn check_kind(statements: &[Checked]) -> Result<bool, ApiError> {
    let kinds: BTreeSet<bool> = statements
        .iter()
        .filter_map(|checked| checked.statement.as_ref().ok())
        .map(Statement::is_read)
        .collect();
    if kinds.len() > 1 {
        return Err(ApiError::validation(MIXED));
    }
    Ok(kinds.first().copied().unwrap_or(true))
}

/// What was made of a statement, with the table that it names.
type Named<T> = (Option<String>, T);

fn bind_read(checked: Checked, catalog: &Catalog) -> Named<Result<Selection, ApiError>> {
    let name = checked.statement.as_ref().ok().map(|statement| statement.source().table.clone());
    let bound = checked.statement.and_then(|statement| match statement {
        Statement::Select(select) => {
            let bound = Selection::bind(select, checked.consistent_read, catalog)?;
            if bound.key().is_some() { Ok(bound) } else { Err(ApiError::validation(NOT_ONE_ITEM)) }
        }
        _ => Err(ApiError::internal().because("a statement of another kind than the batch")),
    });
    (name, bound)
}

fn bind_write(checked: Checked, catalog: &Catalog) -> Named<Result<StatementWrite, ApiError>> {
    let name = checked.statement.as_ref().ok().map(|statement| statement.source().table.clone());
    let bound = checked
        .statement
        .and_then(|statement| StatementWrite::bind(statement, catalog)?.ok_or_else(ApiError::internal));
    (name, bound)
}

fn place_of_read(read: &Selection) -> Option<(CollectionId, &ItemKey)> {
    Some((read.table().id, read.key()?))
}

fn place_of_write(write: &StatementWrite) -> (CollectionId, &ItemKey) {
    (write.write.table.id, &write.write.key)
}

fn check_distinct<'a>(places: impl Iterator<Item = (CollectionId, &'a ItemKey)>) -> Result<(), ApiError> {
    let places: Vec<_> = places.collect();
    if places.iter().collect::<BTreeSet<_>>().len() < places.len() {
        return Err(ApiError::validation(TWICE));
    }
    Ok(())
}

/// What a statement did and cost.
struct Done {
    table: Arc<Table>,
    item: Option<StoredItem>,
    units: Units,
    /// It was refused, which costs as much as what it tried.
    refusal: Option<ApiError>,
}

fn read_one(read: &Selection, view: &View) -> Result<Done, Fault> {
    let page = read.read(view, None, None)?;
    let item = page.items.into_iter().next();
    Ok(Done { table: read.table().clone(), item, units: page.units, refusal: None })
}

fn write(
    bound: &[Named<Result<StatementWrite, ApiError>>],
    wanted: Option<&Choice<ReturnConsumedCapacity>>,
    latest: &Latest<'_>,
) -> Result<(BatchExecuteStatementReply, Changes), Fault> {
    let mut changes = Changes::default();
    let mut answers = Vec::with_capacity(bound.len());
    for (name, write) in bound {
        let done = match write {
            Ok(write) => write_one(write, latest, &mut changes)?,
            Err(error) => Err(error.clone()),
        };
        answers.push((name.clone(), done));
    }
    Ok((reply(answers, wanted), changes))
}

/// Only a failure of the store is one of the whole batch.
fn write_one(
    write: &StatementWrite,
    latest: &Latest<'_>,
    changes: &mut Changes,
) -> Result<Result<Done, ApiError>, Fault> {
    let table = write.write.table.clone();
    let refused = |old: Option<&StoredItem>| Units::of_table(write_units(write.attempted_bytes(old)));
    match write.decide(latest) {
        Ok(written) => {
            match written.add_to(changes, latest) {
                Ok(()) => {}
                Err(Fault::Api(error)) => return Ok(Err(error)),
                Err(fault) => return Err(fault),
            }
            let units = Units::of_write(&written.change(), 1.0);
            Ok(Ok(Done { table, item: write.returned(&written), units, refusal: None }))
        }
        Err(NotWritten::Fault(Fault::Api(error))) => Ok(Err(error)),
        Err(NotWritten::Fault(fault)) => Err(fault),
        Err(refusal) => {
            let (NotWritten::Duplicate(old) | NotWritten::Condition(old)) = &refusal else {
                return Ok(Err(ApiError::internal().because("a write was refused without a reason")));
            };
            let units = refused(old.as_ref());
            let refusal = Some(ApiError::from(refusal.into_fault(false)));
            Ok(Ok(Done { table, item: None, units, refusal }))
        }
    }
}

fn reply(
    answers: Vec<Named<Result<Done, ApiError>>>,
    wanted: Option<&Choice<ReturnConsumedCapacity>>,
) -> BatchExecuteStatementReply {
    let done: Vec<&Done> = answers.iter().filter_map(|(_, answer)| answer.as_ref().ok()).collect();
    let consumed_capacity = capacity_of(&done, wanted);
    BatchExecuteStatementReply {
        responses: Some(answers.into_iter().map(|(name, answer)| response(name, answer)).collect()),
        consumed_capacity,
    }
}

fn response(table_name: Option<String>, answer: Result<Done, ApiError>) -> BatchStatementResponse {
    match answer {
        Ok(Done { item, refusal: None, .. }) => BatchStatementResponse { error: None, table_name, item },
        Ok(Done { refusal: Some(error), .. }) | Err(error) => {
            // A statement that could not be carried out at all does not say where.
            let table_name = table_name.filter(|_| error.kind != ErrorKind::Validation);
            let code = Some(code_of(error.kind).to_owned());
            let error = BatchStatementError { code, message: Some(error.message), item: None };
            BatchStatementResponse { error: Some(error), table_name, item: None }
        }
    }
}

/// The name of an exception within a batch.
fn code_of(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Validation => "ValidationError",
        other => other.name().strip_suffix("Exception").unwrap_or(other.name()),
    }
}

/// What the batch cost, by table. What was refused counts in the total alone, and only for a table where something was done.
fn capacity_of(
    done: &[&Done],
    wanted: Option<&Choice<ReturnConsumedCapacity>>,
) -> Option<Vec<ConsumedCapacity>> {
    if !is_asked(wanted) {
        return None;
    }
    let mut tables: BTreeMap<&str, (&Table, Units, f64)> = BTreeMap::new();
    for done in done.iter().filter(|done| done.refusal.is_none()) {
        let (_, units, _) =
            tables.entry(&done.table.name).or_insert_with(|| (&done.table, Units::default(), 0.0));
        units.add(done.units.clone());
    }
    for done in done.iter().filter(|done| done.refusal.is_some()) {
        if let Some((_, _, refused)) = tables.get_mut(done.table.name.as_str()) {
            *refused += done.units.table;
        }
    }
    let capacities = tables.values().filter_map(|(table, units, refused)| {
        let mut capacity = consumed(wanted, table, units, Detail::Plain)?;
        capacity.capacity_units = capacity.capacity_units.map(|units| units + refused);
        Some(capacity)
    });
    let capacities: Vec<_> = capacities.collect();
    (!capacities.is_empty()).then_some(capacities)
}
