//! A small commented design to start from: the text of `monotable new`.

/// A design with this name. Names are lower-case letters, digits and `-`; other characters become `-`.
pub fn new_design(name: &str) -> String {
    let name = name.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let name = name.trim_matches('-');
    let name = if name.is_empty() { "my-design" } else { name };
    TEMPLATE.replace("{{name}}", name)
}

const TEMPLATE: &str = r#"# A design: one table, what is in it, what may be asked and what may be done.
# `monotable check {{name}}.toml` checks it, `monotable serve {{name}}.toml` runs it.

design    = "{{name}}"
about     = "What this is for."
variables = { stage = "dev" }

[table.Main]
name          = "{{name}}-{stage}"
partition-key = "PK"
sort-key      = "SK"
stream        = "new-and-old-images"

[index.GSI1]
partition-key = "GSI1PK"
sort-key      = "GSI1SK"

# An entity is a kind of item. Its keys are templates: literals, and slots with the values of attributes.
[entity.User]
key = { PK = "USER#{userId}", SK = "USER" }

[entity.User.attributes]
userId    = "ulid"                        # made when absent
email     = "key"                         # a text that can stand in a key
name      = "string"
createdAt = "created"                     # set once

[entity.User.counters]
orders = { count = "Order" }              # follows every write by itself

# A unique copy: two users cannot have one e-mail address.
[entity.UserEmail]
copy-of    = "User"
unique     = true
key        = { PK = "EMAIL#{email:lower}", SK = "EMAIL" }
attributes = ["userId"]

[entity.Order]
key  = { PK = "USER#{userId}", SK = "ORDER#{orderId}" }
GSI1 = { GSI1PK = "ORDER#{orderId}", GSI1SK = "STATUS#{status}" }

[entity.Order.attributes]
userId  = "ulid"
orderId = "ulid"
status  = { type = ["open", "paid", "sent"], default = "open" }
total   = "number"

# A pattern is what may be asked, in DynamoDB's own words. Slots are parameters.
[pattern.orders-of-user]
about = "Orders of a user, newest first."
where = 'PK = "USER#{userId}" AND begins_with(SK, "ORDER#")'
order = "descending"
limit = 20

[pattern.order]
about = "An order by its id."
index = "GSI1"
where = 'GSI1PK = "ORDER#{orderId}"'

# An operation is a transaction. Creating, changing and deleting single items needs none.
[operation.pay]
about = "An open order is paid."
input = { userId = "Order.userId", orderId = "Order.orderId" }

[[operation.pay.step]]
update    = "Order"
if        = 'status = "open"'
otherwise = "the order is not open"
set       = { status = "paid" }

# Seed data, and examples that must hold: `monotable test {{name}}.toml`.
[[seed.User]]
userId = "01HMZ000000000000000000001"
email  = "ada@example.com"
name   = "Ada"

[[seed.Order]]
userId  = "01HMZ000000000000000000001"
orderId = "01HMZ000000000000000000002"
total   = 12.5

[example.orders-of-user]
pattern = "orders-of-user"
with    = { userId = "01HMZ000000000000000000001" }
answer  = [{ orderId = "01HMZ000000000000000000002", status = "open" }]

[example.pay]
operation = "pay"
with      = { userId = "01HMZ000000000000000000001", orderId = "01HMZ000000000000000000002" }
then      = [{ Order = { userId = "01HMZ000000000000000000001", orderId = "01HMZ000000000000000000002", status = "paid" } }]
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, check, text};

    #[test]
    fn a_new_design_has_no_findings() {
        for name in ["shop", "My Shop!", ""] {
            let source = Source::new("new.toml", new_design(name));
            let report = check(&source);
            assert!(report.findings.is_empty(), "{}", text(&source, &report.findings));
        }
    }
}
