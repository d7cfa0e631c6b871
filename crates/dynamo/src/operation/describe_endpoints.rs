//! DescribeEndpoints: where the service answers.

shape! {
    /// Tells where the service answers.
    pub struct DescribeEndpoints {
    }
}

shape! {
    /// An address of the service.
    pub struct Endpoint {
        address: String = "Address",
        cache_period_in_minutes: i64 = "CachePeriodInMinutes",
    }
}

shape! {
    /// Answers DescribeEndpoints.
    pub struct DescribeEndpointsReply {
        endpoints: Vec<Endpoint> = "Endpoints",
    }
}
