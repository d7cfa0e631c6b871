//! DescribeTimeToLive: how items of a table expire.

use crate::rules::CONTROL_TABLE;

choices! {
    /// Whether items expire.
    pub enum TimeToLiveStatus {
        Enabling = "ENABLING",
        Disabling = "DISABLING",
        Enabled = "ENABLED",
        Disabled = "DISABLED",
    }
}

shape! {
    /// Whether items expire, and by which attribute.
    pub struct TimeToLiveDescription {
        time_to_live_status: Option<TimeToLiveStatus> = "TimeToLiveStatus",
        attribute_name: Option<String> = "AttributeName",
    }
}

shape! {
    /// Tells how items of a table expire.
    pub struct DescribeTimeToLive {
        table_name: Option<String> = "TableName" => CONTROL_TABLE,
    }
}

shape! {
    /// Answers DescribeTimeToLive.
    pub struct DescribeTimeToLiveReply {
        time_to_live_description: Option<TimeToLiveDescription> = "TimeToLiveDescription",
    }
}
