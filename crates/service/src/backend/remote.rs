//! DynamoDB, or anything that speaks its protocol, through the AWS SDK.
//!
//! The SDK finds credentials and the endpoint, signs, sends and tries again. The bodies are ours: an [`Operation`] is written as the JSON that it is,
//! and the answer is read as a [`Reply`], so that there is one list of operations and one form of values, and nothing is lost in between. The SDK is
//! given an operation without parameters (DescribeLimits, ListStreams), and an interceptor puts the real one in its place before it is signed.

mod error;
mod exchange;

use std::sync::Arc;

use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region, SharedHttpClient};
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_smithy_http_client::tls;
use dynamo::operation::{ListStreams, TransactWriteItem, TransactWriteItems};
use dynamo::{ApiError, ErrorKind, Operation, Reply};

use super::{Backend, Capabilities, Running};
use crate::options::{Random, SystemBytes};
use exchange::Exchange;

/// Where DynamoDB is.
#[derive(Clone, Debug, Default)]
pub struct RemoteSettings {
    /// The endpoint of a server that speaks DynamoDB's protocol; none for DynamoDB itself.
    pub endpoint_url: Option<String>,
    /// The region; none for that of the environment.
    pub region: Option<String>,
    /// The profile in the AWS configuration; none for that of the environment.
    pub profile: Option<String>,
    /// An access key and its secret; none for the usual credentials: environment, profiles, single sign-on, roles.
    pub access_key: Option<(String, String)>,
}

/// DynamoDB, or a server that speaks its protocol.
#[derive(Clone)]
pub struct Remote {
    client: aws_sdk_dynamodb::Client,
    streams: aws_sdk_dynamodbstreams::Client,
    capabilities: Capabilities,
    name: String,
    random: Arc<dyn Random>,
}

impl Remote {
    /// Connects, and finds out what the server can do.
    pub async fn connect(settings: RemoteSettings) -> Result<Remote, ApiError> {
        let mut loader = aws_config::defaults(BehaviorVersion::latest()).http_client(http_client());
        if let Some(region) = settings.region {
            loader = loader.region(Region::new(region));
        }
        if let Some(profile) = settings.profile {
            loader = loader.profile_name(profile);
        }
        if let Some((id, secret)) = settings.access_key {
            loader = loader.credentials_provider(Credentials::new(id, secret, None, None, "settings"));
        }
        if let Some(url) = &settings.endpoint_url {
            loader = loader.endpoint_url(url.clone());
        }
        let config = loader.load().await;
        let name = settings.endpoint_url.clone().unwrap_or_else(|| "DynamoDB".to_owned());
        let mut remote = Remote {
            client: aws_sdk_dynamodb::Client::new(&config),
            streams: aws_sdk_dynamodbstreams::Client::new(&config),
            capabilities: Capabilities::ALL,
            name,
            random: Arc::new(SystemBytes::default()),
        };
        if settings.endpoint_url.is_some() {
            remote.capabilities = remote.probe().await?;
        }
        Ok(remote)
    }

    /// What a server can do that is not DynamoDB itself. A request that is refused for what it says is one that is known.
    async fn probe(&self) -> Result<Capabilities, ApiError> {
        let transaction =
            TransactWriteItems { transact_items: Some(Vec::new()), ..TransactWriteItems::default() };
        let transactions = known(self.call(transaction.into()).await)?;
        let streams = known(self.call(ListStreams::default().into()).await)?;
        let transaction_actions = if transactions { self.probe_actions().await } else { 0 };
        Ok(Capabilities { transactions, streams, transaction_actions })
    }

    /// How many actions a transaction may have. A request with too many of them is refused with words that say how many there may be.
    async fn probe_actions(&self) -> usize {
        let most = Capabilities::ALL.transaction_actions;
        let actions = vec![TransactWriteItem::default(); most + 1];
        let many = TransactWriteItems { transact_items: Some(actions), ..TransactWriteItems::default() };
        let refused = self.call(many.into()).await.err().map(|error| error.message).unwrap_or_default();
        let limit = refused.split_once("length less than or equal to ").map(|(_, rest)| rest);
        let digits = limit.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        digits
            .and_then(|digits| digits.parse().ok())
            .filter(|limit| (1..=most).contains(limit))
            .unwrap_or(most)
    }

    async fn call(&self, mut operation: Operation) -> Result<Reply, ApiError> {
        self.add_token(&mut operation);
        let name = operation.name();
        let exchange = Exchange::new(&operation);
        let outcome = if is_of_streams(&operation) {
            let sent = self.streams.list_streams().customize().interceptor(exchange.clone()).send().await;
            sent.map(|_| ()).map_err(|failure| failed(&failure, &exchange))
        } else {
            let sent = self.client.describe_limits().customize().interceptor(exchange.clone()).send().await;
            sent.map(|_| ()).map_err(|failure| failed(&failure, &exchange))
        };
        outcome?;
        Reply::parse(name, &exchange.answer())
    }

    /// A transaction that the SDK sends twice must count once; the SDK would give it a token too.
    fn add_token(&self, operation: &mut Operation) {
        if let Operation::TransactWriteItems(request) = operation
            && request.client_request_token.is_none()
        {
            let token = crate::state::hexadecimal(self.random.bytes().get(..16).unwrap_or_default());
            request.client_request_token = Some(token);
        }
    }
}

impl Backend for Remote {
    fn run(&self, operation: Operation) -> Running<'_> {
        Box::pin(self.call(operation))
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

fn http_client() -> SharedHttpClient {
    aws_smithy_http_client::Builder::new()
        .tls_provider(tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring))
        .build_https()
}

/// Streams have an endpoint of their own.
fn is_of_streams(operation: &Operation) -> bool {
    use Operation::{DescribeStream, GetRecords, GetShardIterator, ListStreams};
    matches!(operation, DescribeStream(_) | GetRecords(_) | GetShardIterator(_) | ListStreams(_))
}

/// Whether a server knows an operation, by how it answers.
fn known(outcome: Result<Reply, ApiError>) -> Result<bool, ApiError> {
    match outcome {
        Ok(_) => Ok(true),
        Err(error) => match error.kind {
            ErrorKind::UnknownOperation => Ok(false),
            ErrorKind::Validation | ErrorKind::Serialization => Ok(true),
            _ => Err(error),
        },
    }
}

/// What went wrong, from the server's words if there are any.
fn failed<E, R>(failure: &SdkError<E, R>, exchange: &Exchange) -> ApiError
where
    E: std::error::Error + ProvideErrorMetadata + 'static,
    R: std::fmt::Debug,
{
    if let SdkError::ServiceError(service) = failure {
        let code = service.err().code().unwrap_or_default();
        return error::read(&exchange.answer(), code, service.err().message().unwrap_or_default());
    }
    let why = aws_sdk_dynamodb::error::DisplayErrorContext(failure).to_string();
    ApiError::new(ErrorKind::ServiceUnavailable, why)
}
