//! The DynamoDB expression language.
