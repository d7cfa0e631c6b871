//! Something that no key condition can have.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::query::Problem;
use crate::resolve::condition_span;

pub(crate) const RULE: Rule = Rule {
    code: "D013",
    title: "not a key condition",
    family: Family::Impossible,
    severity: Severity::Error,
    why: "A key condition is an AND of conditions on key attributes: `=` for the partition key; `=`, `<`, `<=`, `>`, `>=`, BETWEEN or \
          begins_with for the sort key. Sort keys of several attributes are asked for from the left, and only the last one by anything \
          but `=`. Everything else belongs into `filter`.",
    wrong: shop!(
        "[entity.Order]\nkey = { PK = \"USER#{userId}\", SK = \"ORDER#{orderId}\" }\n\n[entity.Order.attributes]\nuserId  = \"key\"\norderId = \"ulid\"\nstatus  = [\"open\", \"paid\"]\n\n\
         [pattern.open-orders]\nwhere = 'PK = \"USER#{userId}\" AND status = \"open\"'\n"
    ),
    right: shop!(
        "[entity.Order]\nkey = { PK = \"USER#{userId}\", SK = \"ORDER#{orderId}\" }\n\n[entity.Order.attributes]\nuserId  = \"key\"\norderId = \"ulid\"\nstatus  = [\"open\", \"paid\"]\n\n\
         [pattern.open-orders]\nwhere  = 'PK = \"USER#{userId}\"'\nfilter = 'status = \"open\"'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (query, _) in &context.queries {
        let name = &query.pattern.name.value;
        for problem in &query.problems {
            let (sentence, help, at) = match problem {
                Problem::NotInKey { attribute, at } => {
                    let place = query.index.map_or_else(|| format!("table `{}`", query.table), |name| format!("index `{name}`"));
                    let sentence = format!("pattern `{name}` is refused: `{attribute}` is not in the key of {place}");
                    (sentence, "move it to `filter`, or ask an index that has it in its key".to_owned(), *at)
                }
                Problem::NotAllowed { what, at } => {
                    let sentence = format!("pattern `{name}` is refused: a key condition cannot have {what}");
                    (sentence, "ask for one partition and one range of sort keys; the rest belongs into `filter`".to_owned(), *at)
                }
                Problem::Gap { attribute, before, at } => {
                    let sentence = format!("pattern `{name}` is refused: `{attribute}` is asked for, but `{before}` before it is not given by `=`");
                    (sentence, format!("ask for {before} = \"…\", too"), *at)
                }
                _ => continue,
            };
            let span = condition_span(context.source, query.condition, at);
            findings.push(Finding::new(&RULE, span, sentence).help(help));
        }
    }
    findings
}
