//! An attribute that the index does not carry.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Entity, Index, Projection};
use crate::resolve::{attributes_of, condition_span};

pub(crate) const RULE: Rule = Rule {
    code: "D016",
    title: "an attribute that the index does not carry",
    family: Family::Impossible,
    severity: Severity::Error,
    why: "An index has the keys of table and index and the attributes that its projection names. A filter on anything else never holds, \
          and selecting anything else from a global index is refused.",
    wrong: concat!(
        "design = \"shop\"\n\n[table.Shop]\npartition-key = \"PK\"\n\n[index.ByUser]\npartition-key = \"userId\"\nprojection    = [\"total\"]\n\n",
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\nuserId  = \"key\"\ntotal   = \"number\"\nstatus  = [\"open\", \"paid\"]\n\n",
        "[pattern.open-orders]\nindex  = \"ByUser\"\nwhere  = 'userId = \"{userId}\"'\nfilter = 'status = \"open\"'\n"
    ),
    right: concat!(
        "design = \"shop\"\n\n[table.Shop]\npartition-key = \"PK\"\n\n[index.ByUser]\npartition-key = \"userId\"\nprojection    = [\"total\", \"status\"]\n\n",
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\nuserId  = \"key\"\ntotal   = \"number\"\nstatus  = [\"open\", \"paid\"]\n\n",
        "[pattern.open-orders]\nindex  = \"ByUser\"\nwhere  = 'userId = \"{userId}\"'\nfilter = 'status = \"open\"'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (query, answer) in context.sound_queries() {
        let name = &query.pattern.name.value;
        if let Some(filter) = &query.pattern.filter {
            for path in filter.condition.paths() {
                if !answer.iter().any(|entity| entity.type_at(&path.dotted()).is_some()) && !answer.is_empty() {
                    let sentence = format!("the filter of pattern `{name}` looks at `{}`, which nothing in its answer has", path.dotted());
                    let span = condition_span(context.source, filter, path.at);
                    findings.push(Finding::new(&RULE, span, sentence).help(suggestion(answer, &path.dotted())));
                }
            }
        }
        let Some(index) = query.index.and_then(|index| context.design.index(index)) else { continue };
        let carried = |path: &str| carries(context, index, path);
        if let Some(filter) = &query.pattern.filter {
            for path in attributes_of(&filter.condition).filter(|path| !carried(path)) {
                let sentence = format!("the filter of pattern `{name}` looks at `{path}`, which index `{}` does not carry", index.name.value);
                findings.push(Finding::new(&RULE, filter.span, sentence).help(format!("add \"{path}\" to the projection of `{}`", index.name.value)).related(index.name.span, "the index"));
            }
        }
        for selected in query.pattern.select.iter().filter(|selected| !carried(&selected.value)) {
            let sentence = format!("pattern `{name}` selects `{}`, which index `{}` does not carry", selected.value, index.name.value);
            findings.push(Finding::new(&RULE, selected.span, sentence).help(format!("add \"{}\" to the projection of `{}`", selected.value, index.name.value)).related(index.name.span, "the index"));
        }
    }
    findings
}

fn suggestion(answer: &[&Entity], path: &str) -> String {
    let known = answer.iter().flat_map(|entity| crate::resolve::names_in(entity)).collect::<Vec<_>>();
    match crate::suggest::nearest(path, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "name an attribute of an entity in the answer".to_owned(),
    }
}

fn carries(context: &Context<'_>, index: &Index, path: &str) -> bool {
    let top = path.split('.').next().unwrap_or(path);
    let Projection::Include(included) = &index.projection else {
        return index.projection == Projection::All || is_key(context, index, top);
    };
    included.iter().any(|name| name.value == top) || is_key(context, index, top)
}

fn is_key(context: &Context<'_>, index: &Index, name: &str) -> bool {
    let table = context.design.table(&index.table.value);
    index.key_attributes().chain(table.into_iter().flat_map(crate::model::Table::key_attributes)).any(|key| key.name.value == name)
}
