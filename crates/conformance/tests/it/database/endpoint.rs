//! Anything that speaks DynamoDB over HTTP, through the AWS SDK.
//!
//! The SDK resolves, signs, sends, retries never, and reads the answer as it does in an application. Only the body of the request is
//! the script's own, so that a script can also ask what the typed SDK cannot say. What the SDK made of the answer must agree with it.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_dynamodb::config::interceptors::{
    AfterDeserializationInterceptorContextRef, BeforeTransmitInterceptorContextMut,
};
use aws_sdk_dynamodb::config::{
    BehaviorVersion, ConfigBag, Credentials, Intercept, Region, RuntimeComponents, retry::RetryConfig,
};
use aws_sdk_dynamodb::error::{BoxError, ProvideErrorMetadata, SdkError};

use super::Database;
use crate::answer::Answer;
use crate::json::{Json, read_strict};

/// A client, and the server it talks to where it was started here.
pub(crate) struct Endpoint {
    runtime: tokio::runtime::Runtime,
    client: aws_sdk_dynamodb::Client,
    streams: aws_sdk_dynamodbstreams::Client,
    exchange: Exchange,
    server: Option<(server::Stopper, std::thread::JoinHandle<()>)>,
}

impl Endpoint {
    /// A new server on an engine in memory.
    pub(crate) fn of_new_server() -> Endpoint {
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let settings = server::Settings { address, workers: 1, ..server::Settings::default() };
        let server = server::Server::bind(engine::Engine::in_memory(), settings);
        let server = server.expect("a server can be started");
        let (address, stopper) = (server.address(), server.stopper());
        let thread = std::thread::spawn(move || server.run());
        let mut endpoint = Endpoint::at(&format!("http://{address}"));
        endpoint.server = Some((stopper, thread));
        endpoint
    }

    /// The endpoint with this URL.
    pub(crate) fn at(url: &str) -> Endpoint {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime can be made");
        let exchange = Exchange::default();
        let client = aws_sdk_dynamodb::Client::from_conf(
            aws_sdk_dynamodb::Config::builder()
                .behavior_version(BehaviorVersion::latest())
                .endpoint_url(url)
                .region(Region::new(setting("AWS_REGION", "us-east-1")))
                .credentials_provider(credentials())
                .retry_config(RetryConfig::disabled())
                .http_client(http_client())
                .interceptor(exchange.clone())
                .build(),
        );
        let streams = aws_sdk_dynamodbstreams::Client::from_conf(
            aws_sdk_dynamodbstreams::Config::builder()
                .behavior_version(BehaviorVersion::latest())
                .endpoint_url(url)
                .region(Region::new(setting("AWS_REGION", "us-east-1")))
                .credentials_provider(credentials())
                .retry_config(RetryConfig::disabled())
                .http_client(http_client())
                .interceptor(exchange.clone())
                .build(),
        );
        Endpoint { runtime, client, streams, exchange, server: None }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        if let Some((stopper, thread)) = self.server.take() {
            stopper.stop();
            let _ = thread.join();
        }
    }
}

fn setting(name: &str, otherwise: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| otherwise.to_owned())
}

fn credentials() -> Credentials {
    Credentials::new(
        setting("AWS_ACCESS_KEY_ID", "test"),
        setting("AWS_SECRET_ACCESS_KEY", "test"),
        std::env::var("AWS_SESSION_TOKEN").ok(),
        None,
        "environment",
    )
}

#[cfg(not(feature = "tls"))]
fn http_client() -> aws_sdk_dynamodb::config::SharedHttpClient {
    aws_smithy_http_client::Builder::new().build_http()
}

#[cfg(feature = "tls")]
fn http_client() -> aws_sdk_dynamodb::config::SharedHttpClient {
    use aws_smithy_http_client::tls;
    aws_smithy_http_client::Builder::new()
        .tls_provider(tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring))
        .build_https()
}

/// What one call sends and gets, as text.
#[derive(Clone, Default)]
struct Exchange(Arc<Mutex<Texts>>);

#[derive(Default)]
struct Texts {
    operation: String,
    request: String,
    answer: String,
}

impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Exchange")
    }
}

impl Intercept for Exchange {
    fn name(&self) -> &'static str {
        "Exchange"
    }

    fn modify_before_signing(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let texts = self.0.lock().expect("nobody panics with it");
        let request = context.request_mut();
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let service = target.split('.').next().unwrap_or_default().to_owned();
        *request.body_mut() = texts.request.clone().into();
        request.headers_mut().insert("content-length", texts.request.len().to_string());
        request.headers_mut().insert("x-amz-target", format!("{service}.{}", texts.operation));
        Ok(())
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let body = context.response().body().bytes().unwrap_or_default();
        self.0.lock().expect("nobody panics with it").answer = String::from_utf8_lossy(body).into_owned();
        Ok(())
    }
}

/// What the SDK made of an answer: nothing to complain about, or an error with its name and words.
type Outcome = Result<(), (String, String)>;

fn outcome<T, E: ProvideErrorMetadata + fmt::Debug, R: fmt::Debug>(
    sent: Result<T, SdkError<E, R>>,
) -> Outcome {
    match sent {
        Ok(_) => Ok(()),
        Err(SdkError::ServiceError(error)) => {
            let error = error.into_err();
            Err((error.code().unwrap_or_default().to_owned(), error.message().unwrap_or_default().to_owned()))
        }
        Err(other) => panic!("the SDK cannot make sense of the answer: {other:?}"),
    }
}

/// Calls the method of the SDK for an operation.
macro_rules! send {
    ($self:ident, $operation:ident, $($name:literal $client:ident $method:ident,)*) => {
        match $operation {
            $($name => match $self.runtime.block_on($self.$client.$method().send()) {
                Err(SdkError::ConstructionFailure(_)) => $self.send_as_another(),
                sent => outcome(sent),
            },)*
            _ => $self.send_as_another(),
        }
    };
}

impl Endpoint {
    fn send(&self, operation: &str) -> Outcome {
        send! { self, operation,
            "PutItem" client put_item,
            "GetItem" client get_item,
            "UpdateItem" client update_item,
            "DeleteItem" client delete_item,
            "Query" client query,
            "Scan" client scan,
            "BatchGetItem" client batch_get_item,
            "BatchWriteItem" client batch_write_item,
            "TransactGetItems" client transact_get_items,
            "TransactWriteItems" client transact_write_items,
            "CreateTable" client create_table,
            "DescribeTable" client describe_table,
            "UpdateTable" client update_table,
            "DeleteTable" client delete_table,
            "ListTables" client list_tables,
            "TagResource" client tag_resource,
            "UntagResource" client untag_resource,
            "ListTagsOfResource" client list_tags_of_resource,
            "UpdateTimeToLive" client update_time_to_live,
            "DescribeTimeToLive" client describe_time_to_live,
            "DescribeLimits" client describe_limits,
            "DescribeEndpoints" client describe_endpoints,
            "ExecuteStatement" client execute_statement,
            "BatchExecuteStatement" client batch_execute_statement,
            "ExecuteTransaction" client execute_transaction,
            "DescribeContinuousBackups" client describe_continuous_backups,
            "UpdateContinuousBackups" client update_continuous_backups,
            "CreateBackup" client create_backup,
            "DescribeBackup" client describe_backup,
            "ListBackups" client list_backups,
            "DeleteBackup" client delete_backup,
            "RestoreTableFromBackup" client restore_table_from_backup,
            "RestoreTableToPointInTime" client restore_table_to_point_in_time,
            "ExportTableToPointInTime" client export_table_to_point_in_time,
            "DescribeExport" client describe_export,
            "ListExports" client list_exports,
            "ListStreams" streams list_streams,
            "DescribeStream" streams describe_stream,
            "GetShardIterator" streams get_shard_iterator,
            "GetRecords" streams get_records,
        }
    }
}

impl Endpoint {
    /// What the SDK does not have, or would not send, goes out under the name of an operation that needs no parameters.
    fn send_as_another(&self) -> Outcome {
        outcome(self.runtime.block_on(self.client.describe_limits().send()))
    }
}

impl Database for Endpoint {
    fn call(&mut self, operation: &str, body: &str) -> Answer {
        *self.exchange.0.lock().expect("nobody panics with it") =
            Texts { operation: operation.to_owned(), request: body.to_owned(), answer: String::new() };
        let outcome = self.send(operation);
        let text = std::mem::take(&mut self.exchange.0.lock().expect("nobody panics with it").answer);
        // DynamoDB answers these two without a body.
        let has_no_body = ["TagResource", "UntagResource"].contains(&operation) && outcome.is_ok();
        let text = if has_no_body && text.is_empty() { "{}".to_owned() } else { text };
        let body = read_strict(&text).unwrap_or_else(|why| Json::Text(format!("not JSON, {why}: {text}")));
        let answer = Answer { is_error: outcome.is_err(), body };
        if let Err((name, words)) = outcome {
            assert_eq!(
                (name.as_str(), words.as_str()),
                (answer.exception(), answer.message()),
                "{operation}: {text}"
            );
        }
        answer
    }

    fn is_thrown_away(&self) -> bool {
        self.server.is_some()
    }

    fn advance(&mut self, _: i64) -> bool {
        false
    }

    fn pause(&mut self) {
        std::thread::sleep(Duration::from_millis(20));
    }
}
