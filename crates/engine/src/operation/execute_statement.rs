//! ExecuteStatement: one PartiQL statement.

use dynamo::operation::{ExecuteStatement, ExecuteStatementReply, ReturnValuesOnConditionCheckFailure};
use dynamo::{ApiError, StoredItem, Value};

use super::{Begun, Decide};
use crate::capacity::{Detail, Units, consumed, is_asked};
use crate::commit::{Changes, Latest};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::partiql::{NextToken, Selected, Selection, Statement, StatementError, StatementWrite, parse};
use crate::write::Written;

impl Engine {
    /// Runs one PartiQL statement.
    pub fn execute_statement(&self, request: ExecuteStatement) -> Result<ExecuteStatementReply, ApiError> {
        self.finish(begin(request, self)?)
    }
}

/// Everything up to the decision of a write; a SELECT is read at once.
pub(super) fn begin(
    request: ExecuteStatement,
    engine: &Engine,
) -> Result<Begun<ExecuteStatementReply, impl Decide<ExecuteStatementReply> + use<>>, ApiError> {
    let statement = check(&request)?;
    if let Statement::Select(select) = statement {
        let view = engine.view();
        let bound = Selection::bind(select, request.consistent_read, &view.catalog)?;
        let start = start_of(&request, &bound)?;
        let limit = request.limit.and_then(|limit| usize::try_from(limit).ok());
        let page = engine.read(&view, |view| bound.read(view, limit, start.clone()))?;
        return Ok(Begun::Read(reply(&request, &bound, page)));
    }
    let bound = StatementWrite::bind(statement, &engine.catalog())?.ok_or_else(ApiError::internal)?;
    Ok(Begun::Write(move |latest: &Latest<'_>| write(&request, &bound, latest)))
}

fn check(request: &ExecuteStatement) -> Result<Statement, ApiError> {
    request.check_fields()?;
    request.faults.check("Parameters")?;
    let statement = parse(text_of(request), parameters_of(request))?;
    match statement {
        Statement::Exists(_) => Err(StatementError::Exists.into()),
        Statement::Select(_) => Ok(statement),
        _ if request.next_token.is_some() => Err(StatementError::TokenOfWrite.into()),
        _ => Ok(statement),
    }
}

fn text_of(request: &ExecuteStatement) -> &str {
    request.statement.as_deref().unwrap_or_default()
}

fn parameters_of(request: &ExecuteStatement) -> &[Value] {
    request.parameters.as_deref().unwrap_or_default()
}

fn fingerprint(request: &ExecuteStatement, bound: &Selection) -> u128 {
    bound.fingerprint(text_of(request), parameters_of(request))
}

fn start_of(request: &ExecuteStatement, bound: &Selection) -> Result<Option<NextToken>, ApiError> {
    let token = request.next_token.as_deref();
    Ok(token.map(|token| NextToken::decode(token, fingerprint(request, bound))).transpose()?)
}

fn reply(request: &ExecuteStatement, bound: &Selection, page: Selected) -> ExecuteStatementReply {
    let wanted = request.return_consumed_capacity.as_ref();
    ExecuteStatementReply {
        items: Some(page.items),
        next_token: page.next.map(|next| next.encode(fingerprint(request, bound))),
        consumed_capacity: consumed(wanted, bound.table(), &page.units, Detail::Plain),
        last_evaluated_key: page.last_evaluated_key,
    }
}

fn write(
    request: &ExecuteStatement,
    bound: &StatementWrite,
    latest: &Latest<'_>,
) -> Result<(ExecuteStatementReply, Changes), Fault> {
    let wanted = request.return_values_on_condition_check_failure.as_ref();
    let with_item = wanted.is_some_and(|wanted| *wanted == ReturnValuesOnConditionCheckFailure::AllOld);
    let written = bound.decide(latest).map_err(|refusal| refusal.into_fault(with_item))?;
    let mut changes = Changes::default();
    written.add_to(&mut changes, latest)?;
    Ok((reply_to_write(request, bound.returned(&written), &written), changes))
}

fn reply_to_write(
    request: &ExecuteStatement,
    returned: Option<StoredItem>,
    written: &Written,
) -> ExecuteStatementReply {
    let wanted = request.return_consumed_capacity.as_ref();
    let units = is_asked(wanted).then(|| Units::of_write(&written.change(), 1.0));
    ExecuteStatementReply {
        items: Some(returned.into_iter().collect()),
        consumed_capacity: units.and_then(|units| consumed(wanted, &written.table, &units, Detail::Plain)),
        ..ExecuteStatementReply::default()
    }
}
