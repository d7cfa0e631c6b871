//! A table or index that DynamoDB would not create.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Index, Projection, Table};

pub(crate) const RULE: Rule = Rule {
    code: "D019",
    title: "a table or index that cannot be created",
    family: Family::Impossible,
    severity: Severity::Error,
    why: "A table has at most 20 global and 5 local indexes. A local index has the partition key of its table and another sort key, and only tables \
          with a sort key have them. A global index has up to four partition and four sort attributes. Projections name at most 20 attributes in one index \
          and 100 in all. Names have 3 to 255 letters, digits, `_`, `.` and `-`.",
    wrong: concat!(
        "design = \"shop\"\n\n[table.Shop]\npartition-key = \"PK\"\nsort-key      = \"SK\"\n\n[index.ByDate]\nlocal         = true\npartition-key = \"day\"\nsort-key      = \"createdAt\"\n\n",
        "[entity.Order]\nkey = { PK = \"USER#{userId}\", SK = \"ORDER#{orderId}\" }\n\n[entity.Order.attributes]\nuserId    = \"key\"\norderId   = \"ulid\"\nday       = \"date\"\ncreatedAt = \"created\"\n\n",
        "[pattern.by-date]\nindex = \"ByDate\"\nwhere = 'day = \"{day}\"'\n"
    ),
    right: concat!(
        "design = \"shop\"\n\n[table.Shop]\npartition-key = \"PK\"\nsort-key      = \"SK\"\n\n[index.ByDate]\nlocal    = true\nsort-key = \"createdAt\"\n\n",
        "[entity.Order]\nkey = { PK = \"USER#{userId}\", SK = \"ORDER#{orderId}\" }\n\n[entity.Order.attributes]\nuserId    = \"key\"\norderId   = \"ulid\"\ncreatedAt = \"created\"\n\n",
        "[pattern.by-date]\nindex = \"ByDate\"\nwhere = 'PK = \"USER#{userId}\"'\n"
    ),
};

const LOCAL_MAX: usize = 5;
const GLOBAL_MAX: usize = 20;
const KEY_ATTRIBUTES_MAX: usize = 4;
const INCLUDED_MAX: usize = 20;
const NAME_LENGTHS: std::ops::RangeInclusive<usize> = 3..=255;

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for table in &context.design.tables {
        counts(context, table, &mut findings);
        let sample = table.physical_name.value.to_string().replace(['{', '}'], "");
        if !is_name(&sample) {
            let sentence = format!("`{sample}` cannot be the name of a table");
            findings.push(Finding::new(&RULE, table.physical_name.span, sentence).help("use 3 to 255 letters, digits, `_`, `.` and `-`"));
        }
    }
    for index in &context.design.indexes {
        if let Some((sentence, help)) = context.design.table(&index.table.value).and_then(|table| problem(table, index)) {
            findings.push(Finding::new(&RULE, index.name.span, sentence).help(help));
        }
    }
    findings
}

fn is_name(name: &str) -> bool {
    NAME_LENGTHS.contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

fn counts(context: &Context<'_>, table: &Table, findings: &mut Vec<Finding>) {
    let own = || context.design.indexes.iter().filter(|index| index.table.value == table.name.value);
    for (local, most, word) in [(true, LOCAL_MAX, "local"), (false, GLOBAL_MAX, "global")] {
        let count = own().filter(|index| index.local == local).count();
        if count > most {
            let sentence = format!("table `{}` has {count} {word} indexes, and DynamoDB allows {most}", table.name.value);
            findings.push(Finding::new(&RULE, table.name.span, sentence).help("let entities share indexes: that is what GSI1PK and GSI1SK are for"));
        }
    }
}

fn problem(table: &Table, index: &Index) -> Option<(String, &'static str)> {
    let name = &index.name.value;
    if !is_name(name) {
        return Some((format!("`{name}` cannot be the name of an index"), "use 3 to 255 letters, digits, `_`, `.` and `-`"));
    }
    if index.partition_key.len() > KEY_ATTRIBUTES_MAX || index.sort_key.len() > KEY_ATTRIBUTES_MAX {
        return Some((format!("index `{name}` has more than {KEY_ATTRIBUTES_MAX} attributes in a key"), "join attributes in a template"));
    }
    if let Projection::Include(list) = &index.projection
        && list.len() > INCLUDED_MAX
    {
        return Some((format!("index `{name}` projects {} attributes, and DynamoDB allows {INCLUDED_MAX}", list.len()), "project all"));
    }
    if !index.local {
        return None;
    }
    if table.sort_key.is_none() {
        return Some((format!("index `{name}` cannot be local: table `{}` has no sort key", table.name.value), "make it global"));
    }
    let same = matches!(index.partition_key.as_slice(), [key] if key.name.value == table.partition_key.name.value);
    if !same {
        return Some((format!("index `{name}` is local and must have the partition key of its table, `{}`", table.partition_key.name.value), "leave `partition-key` out, or make the index global"));
    }
    (index.sort_key.len() != 1).then(|| (format!("index `{name}` is local and must have one sort key"), "name it: sort-key = \"…\""))
}
