//! DynamoDB as an embedded, durable library.
