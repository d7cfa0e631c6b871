//! A consistent read on a global index.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::PatternKind;

pub(crate) const RULE: Rule = Rule {
    code: "D015",
    title: "a consistent read on a global index",
    family: Family::Impossible,
    severity: Severity::Error,
    why: "Global indexes follow their table a moment later, and DynamoDB refuses ConsistentRead on them. Tables and local indexes \
          can be read consistently.",
    wrong: shop_with_index!(
        "[entity.Order]\nkey  = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\nGSI1 = { GSI1PK = \"USER#{userId}\", GSI1SK = \"ORDER#{createdAt}\" }\n\n\
         [entity.Order.attributes]\norderId   = \"ulid\"\nuserId    = \"key\"\ncreatedAt = \"created\"\n\n\
         [pattern.orders-of-user]\nindex = \"GSI1\"\nwhere = 'GSI1PK = \"USER#{userId}\"'\nconsistent = true\n"
    ),
    right: shop_with_index!(
        "[entity.Order]\nkey  = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\nGSI1 = { GSI1PK = \"USER#{userId}\", GSI1SK = \"ORDER#{createdAt}\" }\n\n\
         [entity.Order.attributes]\norderId   = \"ulid\"\nuserId    = \"key\"\ncreatedAt = \"created\"\n\n\
         [pattern.orders-of-user]\nindex = \"GSI1\"\nwhere = 'GSI1PK = \"USER#{userId}\"'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for pattern in &context.design.patterns {
        let PatternKind::Query { index: Some(name), .. } = &pattern.kind else { continue };
        let Some(index) = context.design.index(&name.value) else { continue };
        let Some(consistent) = pattern.consistent.as_ref().filter(|consistent| consistent.value) else { continue };
        if !index.local {
            let sentence = format!("pattern `{}` is refused: `{}` is a global index and cannot be read consistently", pattern.name.value, name.value);
            findings.push(Finding::new(&RULE, consistent.span, sentence).help("leave `consistent` out, or read the table itself"));
        }
    }
    findings
}
