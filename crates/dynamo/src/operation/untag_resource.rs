//! UntagResource: removes tags from a table.

use crate::rules::{REQUIRED, RESOURCE_ARN};

shape! {
    /// Removes tags from a table.
    pub struct UntagResource {
        resource_arn: Option<String> = "ResourceArn" => RESOURCE_ARN,
        tag_keys: Option<Vec<String>> = "TagKeys" => REQUIRED,
    }
}

shape! {
    /// Answers UntagResource.
    pub struct UntagResourceReply {
    }
}
