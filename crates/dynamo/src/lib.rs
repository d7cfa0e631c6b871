//! DynamoDB's words as types.
