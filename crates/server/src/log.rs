//! The log of requests. Never values or secrets.

use std::time::Duration;

use dynamo::ApiError;

use crate::request_id::RequestId;
use crate::target::Target;

/// One line for each request, for whoever wants to see them; what failed on our side, with its cause, for everybody.
pub(crate) fn request(
    request_id: &RequestId,
    target: Option<Target>,
    error: Option<&ApiError>,
    time: Duration,
) {
    let operation = target.map_or("unknown", |target| target.name);
    let outcome = error.map_or("success", |error| error.kind.name());
    match error.map(|error| (error.kind.http_status(), error.cause.as_deref().unwrap_or("unknown"))) {
        Some((500, cause)) => {
            tracing::error!(
                request_id = request_id.as_str(),
                operation,
                outcome,
                cause,
                ?time,
                "request failed"
            );
        }
        Some((501.., cause)) => {
            tracing::warn!(
                request_id = request_id.as_str(),
                operation,
                outcome,
                cause,
                ?time,
                "request failed"
            );
        }
        _ => tracing::debug!(request_id = request_id.as_str(), operation, outcome, ?time, "request"),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Write};
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    /// Keeps what is logged as text.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<String>>);

    struct Fields<'a>(&'a mut String);

    impl Visit for Fields<'_> {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            write!(self.0, " {field}={value:?}").unwrap();
        }
    }

    impl Subscriber for Kept {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            let mut text = self.0.lock();
            text.push_str(event.metadata().level().as_str());
            event.record(&mut Fields(&mut text));
            text.push('\n');
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    /// What is logged, and the id of its request.
    fn logged(error: Option<&ApiError>) -> (String, String) {
        let kept = Kept::default();
        let target = Target::parse(b"DynamoDB_20120810.GetItem");
        let id = crate::request_id::next();
        tracing::subscriber::with_default(kept.clone(), || request(&id, target, error, Duration::ZERO));
        let text = kept.0.lock();
        (text.clone(), id.as_str().to_owned())
    }

    #[test]
    fn an_internal_error_is_logged_with_its_request_operation_and_cause() {
        let (text, id) = logged(Some(&ApiError::internal().because("reading failed: no such device")));
        assert!(text.starts_with("ERROR"), "{text}");
        for part in [
            format!("request_id=\"{id}\"").as_str(),
            "operation=\"GetItem\"",
            "outcome=\"InternalServerError\"",
            "cause=\"reading failed: no such device\"",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }

    #[test]
    fn what_a_client_did_wrong_is_not_worth_an_error() {
        assert!(logged(Some(&ApiError::validation("x"))).0.starts_with("DEBUG"));
        assert!(logged(None).0.starts_with("DEBUG"));
    }
}
