//! ListTagsOfResource: the tags of a table.

use super::Tag;
use crate::rules::RESOURCE_ARN;

shape! {
    /// The tags of a table.
    pub struct ListTagsOfResource {
        resource_arn: Option<String> = "ResourceArn" => RESOURCE_ARN,
        next_token: Option<String> = "NextToken",
    }
}

shape! {
    /// Answers ListTagsOfResource.
    pub struct ListTagsOfResourceReply {
        tags: Vec<Tag> = "Tags",
        next_token: Option<String> = "NextToken",
    }
}
