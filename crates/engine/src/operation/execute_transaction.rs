//! ExecuteTransaction: up to 100 PartiQL statements on one item each, all or none.

use std::collections::{BTreeMap, BTreeSet};

use dynamo::operation::{
    ConsumedCapacity, ExecuteTransaction, ExecuteTransactionReply, ItemResponse, ParameterizedStatement,
    ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure,
};
use dynamo::{ApiError, CancellationReason, Choice, ErrorKind};

use super::transact_write_items::{
    ONE_ITEM_TWICE, add_all, cancelled, capacity_again, capacity_of, condition_failed, is_reason, refused,
};
use super::{Begun, Decide};
use crate::capacity::{Detail, ReadKind, Units, consumed, is_asked, read_units};
use crate::catalog::Catalog;
use crate::commit::{Changes, Latest, View};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::layout::{CollectionId, ItemKey};
use crate::partiql::{NotWritten, Selected, Selection, Statement, StatementWrite, parse};
use crate::table::Table;
use crate::token::Token;
use crate::write::Written;

const MIXED: &str =
    "ExecuteTransaction API does not support both read and write operations in the same request.";

impl Engine {
    /// Runs up to 100 PartiQL statements, all or none.
    pub fn execute_transaction(
        &self,
        request: ExecuteTransaction,
    ) -> Result<ExecuteTransactionReply, ApiError> {
        self.finish(begin(request, self)?)
    }
}

/// Everything up to the decision of writes; SELECTs are read at once, all as of one moment.
pub(super) fn begin(
    request: ExecuteTransaction,
    engine: &Engine,
) -> Result<Begun<ExecuteTransactionReply, impl Decide<ExecuteTransactionReply> + use<>>, ApiError> {
    let checked = check(request)?;
    if checked.reads {
        let view = engine.view();
        let bound = bind_reads(checked.statements, &view.catalog)?;
        let read_all = |view: &View| bound.iter().map(|read| read.read(view, None, None)).collect();
        let pages = engine.read(&view, read_all)?;
        return Ok(Begun::Read(reply_to_reads(&bound, pages, checked.wanted.as_ref())));
    }
    let writes = bind_writes(checked.statements, &engine.catalog())?;
    let bound = Bound { writes, token: checked.token, wanted: checked.wanted };
    Ok(Begun::Write(move |latest: &Latest<'_>| write(&bound, latest)))
}

struct Checked {
    statements: Vec<CheckedStatement>,
    /// True if all statements read, false if all write.
    reads: bool,
    token: Option<Token>,
    wanted: Option<Choice<ReturnConsumedCapacity>>,
}

struct CheckedStatement {
    statement: Statement,
    with_item: bool,
}

struct Bound {
    writes: Vec<BoundWrite>,
    token: Option<Token>,
    wanted: Option<Choice<ReturnConsumedCapacity>>,
}

struct BoundWrite {
    write: StatementWrite,
    with_item: bool,
}

fn check(mut request: ExecuteTransaction) -> Result<Checked, ApiError> {
    request.check_fields()?;
    let token = Token::of_statements(&request);
    let statements = request.transact_statements.take().unwrap_or_default();
    let statements = statements
        .into_iter()
        .enumerate()
        .map(|(place, statement)| check_statement(place, &statement))
        .collect::<Result<Vec<_>, _>>()?;
    let kinds: BTreeSet<bool> = statements.iter().map(|checked| checked.statement.is_read()).collect();
    if kinds.len() > 1 {
        return Err(ApiError::validation(MIXED));
    }
    let reads = kinds.first().copied().unwrap_or(true);
    Ok(Checked { statements, reads, token, wanted: request.return_consumed_capacity })
}

fn check_statement(place: usize, request: &ParameterizedStatement) -> Result<CheckedStatement, ApiError> {
    request.faults.check("Parameters")?;
    let text = request.statement.as_deref().unwrap_or_default();
    let statement = parse(text, request.parameters.as_deref().unwrap_or_default())
        .map_err(|error| invalid(place, &ApiError::from(error).message))?;
    if statement.has_returning() {
        return Err(invalid(place, "RETURNING clause is not supported in ExecuteTransaction."));
    }
    if statement.is_read() && statement.source().index.is_some() {
        return Err(invalid(place, "Reads on indices are not supported within transactions."));
    }
    let wanted = request.return_values_on_condition_check_failure.as_ref();
    let with_item = wanted.is_some_and(|wanted| *wanted == ReturnValuesOnConditionCheckFailure::AllOld);
    Ok(CheckedStatement { statement, with_item })
}

fn invalid(place: usize, words: &str) -> ApiError {
    ApiError::validation(format!("Validation failed in TransactStatements[{place}]: {words}"))
}

fn bind_reads(statements: Vec<CheckedStatement>, catalog: &Catalog) -> Result<Vec<Selection>, ApiError> {
    let bind = |(place, checked): (usize, CheckedStatement)| match checked.statement {
        Statement::Select(select) => {
            let bound = Selection::bind(select, None, catalog)?;
            let words = "Select statements within ExecuteTransaction must specify the primary key in the where clause.";
            if bound.key().is_some() { Ok(bound) } else { Err(invalid(place, words)) }
        }
        _ => Err(ApiError::validation(MIXED)),
    };
    let bound = statements.into_iter().enumerate().map(bind).collect::<Result<Vec<_>, _>>()?;
    check_distinct(bound.iter().filter_map(|read| Some((read.table().id, read.key()?))))?;
    Ok(bound)
}

fn bind_writes(statements: Vec<CheckedStatement>, catalog: &Catalog) -> Result<Vec<BoundWrite>, ApiError> {
    let mut writes = Vec::with_capacity(statements.len());
    let mut reasons = vec![CancellationReason::NONE; statements.len()];
    for (place, (checked, reason)) in statements.into_iter().zip(&mut reasons).enumerate() {
        let is_check = matches!(checked.statement, Statement::Exists(_));
        match StatementWrite::bind(checked.statement, catalog) {
            Err(error) if is_check && error.kind == ErrorKind::Validation => {
                return Err(invalid(place, &error.message));
            }
            Ok(Some(write)) => writes.push(BoundWrite { write, with_item: checked.with_item }),
            Ok(None) => return Err(ApiError::validation(MIXED)),
            Err(error) if is_reason(&error) => *reason = refused(error),
            Err(error) => return Err(error),
        }
    }
    check_distinct(writes.iter().map(|bound| (bound.write.write.table.id, &bound.write.write.key)))?;
    if writes.len() < reasons.len() {
        return Err(cancelled(reasons));
    }
    Ok(writes)
}

fn check_distinct<'a>(places: impl Iterator<Item = (CollectionId, &'a ItemKey)>) -> Result<(), ApiError> {
    let places: Vec<_> = places.collect();
    if places.iter().collect::<BTreeSet<_>>().len() < places.len() {
        return Err(ApiError::validation(ONE_ITEM_TWICE));
    }
    Ok(())
}

fn write(bound: &Bound, latest: &Latest<'_>) -> Result<(ExecuteTransactionReply, Changes), Fault> {
    let wanted = bound.wanted.as_ref();
    if let Some(token) = &bound.token
        && token.was_used(latest)?
    {
        let writes = bound.writes.iter().map(|bound| &bound.write.write);
        return Ok((reply(capacity_again(wanted, writes, latest)?), Changes::default()));
    }
    let written = decide_all(bound, latest)?;
    let mut changes = Changes::default();
    add_all(&written, &mut changes, latest)?;
    if let Some(token) = &bound.token {
        token.add_to(&mut changes, latest);
    }
    Ok((reply(capacity_of(wanted, &written)), changes))
}

/// Every statement is decided even after one was refused: the client learns all reasons.
fn decide_all(bound: &Bound, latest: &Latest<'_>) -> Result<Vec<Written>, Fault> {
    let mut written = Vec::with_capacity(bound.writes.len());
    let mut reasons = vec![CancellationReason::NONE; bound.writes.len()];
    for (BoundWrite { write, with_item }, reason) in bound.writes.iter().zip(&mut reasons) {
        match write.decide(latest) {
            Ok(decided) => written.push(decided),
            Err(NotWritten::Condition(item)) => *reason = condition_failed(item.filter(|_| *with_item)),
            Err(refusal @ NotWritten::Duplicate(_)) => *reason = duplicate_item(refusal),
            Err(NotWritten::Fault(Fault::Api(error))) if is_reason(&error) => *reason = refused(error),
            Err(NotWritten::Fault(fault)) => return Err(fault),
        }
    }
    if written.len() == bound.writes.len() { Ok(written) } else { Err(Fault::Api(cancelled(reasons))) }
}

fn duplicate_item(refusal: NotWritten) -> CancellationReason {
    let error = ApiError::from(refusal.into_fault(false));
    CancellationReason { code: "DuplicateItem", message: Some(error.message), item: None }
}

/// Writes are answered with an empty list: there is nothing to say about any of them.
fn reply(consumed_capacity: Option<Vec<ConsumedCapacity>>) -> ExecuteTransactionReply {
    ExecuteTransactionReply { responses: Some(Vec::new()), consumed_capacity }
}

fn reply_to_reads(
    bound: &[Selection],
    pages: Vec<Selected>,
    wanted: Option<&Choice<ReturnConsumedCapacity>>,
) -> ExecuteTransactionReply {
    let mut units: BTreeMap<&str, (&Table, Units)> = BTreeMap::new();
    let mut responses = Vec::with_capacity(pages.len());
    for (read, page) in bound.iter().zip(pages) {
        let table = read.table();
        let (_, sum) = units.entry(&table.name).or_insert_with(|| (table, Units::default()));
        sum.table += read_units(page.scanned_bytes, ReadKind::Transactional);
        responses.push(ItemResponse { item: page.items.into_iter().next() });
    }
    let capacity = units.values().filter_map(|(table, units)| consumed(wanted, table, units, Detail::Reads));
    ExecuteTransactionReply {
        responses: Some(responses),
        consumed_capacity: is_asked(wanted).then(|| capacity.collect()),
    }
}
