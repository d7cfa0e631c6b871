//! A pattern without a partition key.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::query::Problem;

pub(crate) const RULE: Rule = Rule {
    code: "D012",
    title: "a pattern that is a scan",
    family: Family::Impossible,
    severity: Severity::Error,
    why: "Without a partition key DynamoDB would have to read every item of the table or index. A pattern asks for one partition; what must be \
          found across partitions needs an index that puts it together, usually spread over a few shards.",
    wrong: shop_with_index!(
        "[entity.Task]\nkey  = { PK = \"USER#{userId}\", SK = \"TASK#{taskId}\" }\nGSI1 = { GSI1PK = \"USER#{userId}\", GSI1SK = \"DUE#{dueAt}\" }\n\n\
         [entity.Task.attributes]\nuserId = \"key\"\ntaskId = \"ulid\"\ndueAt  = \"timestamp\"\n\n\
         [pattern.due]\nindex = \"GSI1\"\nwhere = 'GSI1SK < \"DUE#{now}\"'\n\n[pattern.tasks]\nindex = \"GSI1\"\nwhere = 'GSI1PK = \"USER#{userId}\"'\n"
    ),
    right: shop_with_index!(
        "[entity.Task]\nkey  = { PK = \"USER#{userId}\", SK = \"TASK#{taskId}\" }\nGSI1 = { GSI1PK = \"DUE#{taskId:shard(4)}\", GSI1SK = \"{dueAt}\" }\n\n\
         [entity.Task.attributes]\nuserId = \"key\"\ntaskId = \"ulid\"\ndueAt  = \"timestamp\"\n\n\
         [pattern.due]\nindex = \"GSI1\"\nwhere = 'GSI1PK = \"DUE#{shard}\" AND GSI1SK < \"{now}\"'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (query, _) in &context.queries {
        for problem in &query.problems {
            let Problem::NoPartition { attribute } = problem else { continue };
            let place = query.index.map_or("the table", |_| "the index");
            let sentence = format!(
                "pattern `{}` is a scan: it does not say `{attribute}`, so every item of {place} would be read",
                query.pattern.name.value
            );
            findings.push(Finding::new(&RULE, query.condition.span, sentence).help(format!(
                "ask for one partition ({attribute} = \"…\"); to find items of all partitions, add an index key such as \
                 \"DUE#{{id:shard(8)}}\" and ask for each shard"
            )));
        }
    }
    findings
}
