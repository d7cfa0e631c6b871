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
use aws_sdk_dynamodb::primitives::SdkBody;

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
        let server = server::Server::bind(engine::Engine::in_memory(), server::Settings::default());
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

#[aws_smithy_runtime_api_macros_free::intercept]
impl Intercept for Exchange {
    fn name(&self) -> &'static str {
        "Exchange"
    }
}
