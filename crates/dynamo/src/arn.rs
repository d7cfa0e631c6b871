//! Amazon resource names of tables and what belongs to them, and the table name inside one.
//!
//! `arn:aws:dynamodb:REGION:ACCOUNT:table/NAME`, followed by `/index/INDEX`, `/stream/LABEL` or `/backup/ID`.

/// The name of the table that a request means: requests may give the table's ARN, or that of an index or stream of it.
pub fn table_name_of(name_or_arn: &str) -> &str {
    table_name_in_arn(name_or_arn).unwrap_or(name_or_arn)
}

/// The table name in an ARN of a table or of what belongs to it.
pub fn table_name_in_arn(arn: &str) -> Option<&str> {
    let rest = arn.strip_prefix("arn:")?;
    let resource = rest.splitn(5, ':').nth(4)?.strip_prefix("table/")?;
    let name = resource.split('/').next()?;
    (!name.is_empty()).then_some(name)
}

/// The ARN of a table.
pub fn table_arn(region: &str, account: &str, table: &str) -> String {
    format!("arn:aws:dynamodb:{region}:{account}:table/{table}")
}

/// The ARN of an index of the table with this ARN.
pub fn index_arn(table_arn: &str, index: &str) -> String {
    format!("{table_arn}/index/{index}")
}

/// The ARN of a stream of the table with this ARN; the label is the time at which it began.
pub fn stream_arn(table_arn: &str, label: &str) -> String {
    format!("{table_arn}/stream/{label}")
}

/// The ARN of a backup of the table with this ARN.
pub fn backup_arn(table_arn: &str, id: &str) -> String {
    format!("{table_arn}/backup/{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_found_in_every_arn_of_it() {
        let table = table_arn("us-east-1", "000000000000", "Orders");
        assert_eq!(table, "arn:aws:dynamodb:us-east-1:000000000000:table/Orders");
        let arns = [
            index_arn(&table, "byDay"),
            stream_arn(&table, "2024-01-01T00:00:00.000"),
            backup_arn(&table, "1"),
        ];
        for arn in arns.iter().chain([&table]) {
            assert_eq!(table_name_in_arn(arn), Some("Orders"), "{arn}");
        }
    }

    #[test]
    fn what_is_no_arn_of_a_table_is_a_name() {
        for name in ["Orders", "arn:", "arn:aws:s3:::bucket", "arn:aws:dynamodb:r:a:table/", ""] {
            assert_eq!((table_name_of(name), table_name_in_arn(name)), (name, None));
        }
    }
}
