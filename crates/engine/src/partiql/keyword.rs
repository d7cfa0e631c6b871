//! Words that are never names, unless they stand between double quotes: those of SQL-92 without the parts of a date, and PartiQL's
//! own. DynamoDB reads statements with the grammar of the open-source PartiQL library and answers in its words: `key` where
//! a value is expected is an "Unexpected keyword" (PyDynamoDB issue 26), and after a dot `size` is an "Invalid path dot component"
//! (PyDynamoDB issue 28).

/// True for a keyword, in any case.
pub(super) fn is_keyword(word: &str) -> bool {
    let upper = word.to_ascii_uppercase();
    KEYWORDS.binary_search(&upper.as_str()).is_ok()
}

/// True for a keyword that joins or tests values, in any case.
pub(super) fn is_operator(word: &str) -> bool {
    OPERATORS.iter().any(|operator| operator.eq_ignore_ascii_case(word))
}

const OPERATORS: [&str; 9] = ["AND", "BETWEEN", "EXCEPT", "IN", "INTERSECT", "IS", "LIKE", "OR", "UNION"];

/// In ascending order.
#[rustfmt::skip]
const KEYWORDS: [&str; 252] = [
    "ABSOLUTE", "ACTION", "ADD", "ALL", "ALLOCATE", "ALTER", "AND", "ANY", "ARE", "AS", "ASC", "ASSERTION",
    "AT", "AUTHORIZATION", "AVG", "BAG", "BEGIN", "BETWEEN", "BIGINT", "BIT", "BIT_LENGTH", "BLOB", "BOOL",
    "BOOLEAN", "BY", "CAN_CAST", "CAN_LOSSLESS_CAST", "CASCADE", "CASCADED", "CASE", "CAST", "CATALOG",
    "CHAR", "CHARACTER", "CHARACTER_LENGTH", "CHAR_LENGTH", "CHECK", "CLOB", "CLOSE", "COALESCE", "COLLATE",
    "COLLATION", "COLUMN", "COMMIT", "CONFLICT", "CONNECT", "CONNECTION", "CONSTRAINT", "CONSTRAINTS",
    "CONTINUE", "CONVERT", "CORRESPONDING", "COUNT", "CREATE", "CROSS", "CURRENT", "CURRENT_DATE",
    "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "CURSOR", "DATE", "DATE_ADD", "DATE_DIFF",
    "DEALLOCATE", "DEC", "DECIMAL", "DECLARE", "DEFAULT", "DEFERRABLE", "DEFERRED", "DELETE", "DESC",
    "DESCRIBE", "DESCRIPTOR", "DIAGNOSTICS", "DISCONNECT", "DISTINCT", "DO", "DOMAIN", "DOUBLE", "DROP",
    "ELSE", "END", "ESCAPE", "EXCEPT", "EXCEPTION", "EXEC", "EXECUTE", "EXISTS", "EXTERNAL", "EXTRACT",
    "FALSE", "FETCH", "FIRST", "FLOAT", "FOR", "FOREIGN", "FOUND", "FROM", "FULL", "GET", "GLOBAL", "GO",
    "GOTO", "GRANT", "GROUP", "HAVING", "IDENTITY", "IMMEDIATE", "IN", "INDEX", "INDICATOR", "INITIALLY",
    "INNER", "INPUT", "INSENSITIVE", "INSERT", "INT", "INT2", "INT4", "INT8", "INTEGER", "INTEGER2",
    "INTEGER4", "INTEGER8", "INTERSECT", "INTERVAL", "INTO", "IS", "ISOLATION", "JOIN", "KEY", "LANGUAGE",
    "LAST", "LEFT", "LET", "LEVEL", "LIKE", "LIMIT", "LIST", "LOCAL", "LOWER", "MATCH", "MAX", "MIN",
    "MISSING", "MODIFIED", "MODULE", "NAMES", "NATIONAL", "NATURAL", "NCHAR", "NEW", "NEXT", "NO", "NOT",
    "NOTHING", "NULL", "NULLIF", "NUMERIC", "OCTET_LENGTH", "OF", "OFFSET", "OLD", "ON", "ONLY", "OPEN",
    "OPTION", "OR", "ORDER", "OUTER", "OUTPUT", "OVERLAPS", "PAD", "PARTIAL", "PIVOT", "POSITION",
    "PRECISION", "PREPARE", "PRESERVE", "PRIMARY", "PRIOR", "PRIVILEGES", "PROCEDURE", "PUBLIC", "READ",
    "REAL", "REFERENCES", "RELATIVE", "REMOVE", "RESTRICT", "RETURNING", "REVOKE", "RIGHT", "ROLLBACK",
    "ROWS", "SCHEMA", "SCROLL", "SECTION", "SELECT", "SESSION", "SESSION_USER", "SET", "SEXP", "SIZE",
    "SMALLINT", "SOME", "SPACE", "SQL", "SQLCODE", "SQLERROR", "SQLSTATE", "STRING", "STRUCT", "SUBSTRING",
    "SUM", "SYMBOL", "SYSTEM_USER", "TABLE", "TEMPORARY", "THEN", "TIME", "TIMESTAMP", "TO", "TRANSACTION",
    "TRANSLATE", "TRANSLATION", "TRIM", "TRUE", "TUPLE", "UNION", "UNIQUE", "UNKNOWN", "UNPIVOT", "UPDATE",
    "UPPER", "USAGE", "USER", "USING", "VALUE", "VALUES", "VARCHAR", "VARYING", "VIEW", "WHEN", "WHENEVER",
    "WHERE", "WITH", "WORK", "WRITE", "ZONE",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_in_ascending_order_and_found_in_any_case() {
        assert!(KEYWORDS.is_sorted());
        assert!(is_keyword("size") && is_keyword("Select") && is_keyword("KEY"));
        assert!(!is_keyword("year") && !is_keyword("status") && !is_keyword(""));
    }
}
