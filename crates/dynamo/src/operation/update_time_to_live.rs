//! UpdateTimeToLive: which attribute says when an item expires.

use crate::rules::{ATTRIBUTE_NAME, CONTROL_TABLE, REQUIRED};

shape! {
    /// Whether items expire, and by which attribute.
    pub struct TimeToLiveSpecification {
        enabled: Option<bool> = "Enabled" => REQUIRED,
        attribute_name: Option<String> = "AttributeName" => ATTRIBUTE_NAME,
    }
}

shape! {
    /// Says which attribute tells when an item expires.
    pub struct UpdateTimeToLive {
        table_name: Option<String> = "TableName" => CONTROL_TABLE,
        time_to_live_specification: Option<TimeToLiveSpecification> = "TimeToLiveSpecification" => REQUIRED,
    }
}

shape! {
    /// Answers UpdateTimeToLive.
    pub struct UpdateTimeToLiveReply {
        time_to_live_specification: Option<TimeToLiveSpecification> = "TimeToLiveSpecification",
    }
}
