//! TagResource: sets tags of a table.

use crate::rules::{REQUIRED, RESOURCE_ARN, TAG_KEY, TAG_VALUE};

shape! {
    /// A tag.
    pub struct Tag {
        key: Option<String> = "Key" => TAG_KEY,
        value: Option<String> = "Value" => TAG_VALUE,
    }
}

shape! {
    /// Sets tags of a table.
    pub struct TagResource {
        resource_arn: Option<String> = "ResourceArn" => RESOURCE_ARN,
        tags: Option<Vec<Tag>> = "Tags" => REQUIRED,
    }
}

shape! {
    /// Answers TagResource.
    pub struct TagResourceReply {
    }
}
