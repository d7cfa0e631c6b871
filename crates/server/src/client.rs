//! The other side: a small client of DynamoDB's protocol, for the command line.
//!
//! One connection at a time, opened again when the server closed it; calls wait for their answer.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use dynamo::Operation;
use dynamo::operation::Reply;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::signature::sign;

const TIMEOUT: Duration = Duration::from_mins(1);

/// A client of one endpoint.
pub struct Client {
    runtime: tokio::runtime::Runtime,
    secure: bool,
    host: String,
    port: u16,
    /// As the Host header names it.
    authority: String,
    region: String,
    key_id: String,
    secret: String,
    connection: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

/// Why an operation was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Not an address of a server.
    #[error("`{0}` is not an endpoint such as http://127.0.0.1:8000")]
    Endpoint(String),
    /// Nobody answers there.
    #[error("cannot reach {0}: {1}")]
    Unreachable(String, String),
    /// The server says no.
    #[error("{exception}: {message}")]
    Refused {
        /// The exception, such as `ResourceNotFoundException`.
        exception: String,
        /// Its words.
        message: String,
    },
    /// The answer is not DynamoDB's.
    #[error("the server's answer cannot be understood (HTTP status {0})")]
    Strange(u16),
}

impl Client {
    /// A client of the server at this URL, with an access key and its secret.
    pub fn new(url: &str, region: &str, key_id: &str, secret: &str) -> Result<Client, ClientError> {
        let wrong = || ClientError::Endpoint(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(wrong()),
        };
        let authority = uri.authority().ok_or_else(wrong)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
        Ok(Client {
            runtime: runtime.map_err(|error| ClientError::Unreachable(url.to_owned(), error.to_string()))?,
            secure,
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            authority: authority.as_str().to_owned(),
            region: region.to_owned(),
            key_id: key_id.to_owned(),
            secret: secret.to_owned(),
            connection: Mutex::new(None),
        })
    }

    /// Runs an operation and waits for its reply.
    pub fn run(&self, operation: &Operation) -> Result<Reply, ClientError> {
        let name = operation.name();
        let mut json = Vec::new();
        operation.write_json(&mut json);
        let json = Bytes::from(json);
        let send = async {
            let work = self.send(name, &json);
            tokio::time::timeout(TIMEOUT, work)
                .await
                .unwrap_or_else(|_| Err(self.unreachable("no answer in time")))
        };
        let (status, body) = self.runtime.block_on(send)?;
        if status == StatusCode::OK {
            return Reply::parse(name, &body).map_err(|_| ClientError::Strange(200));
        }
        Err(refusal(status, &body))
    }

    async fn send(&self, name: &str, json: &Bytes) -> Result<(StatusCode, Bytes), ClientError> {
        // A server may close a connection at any time; a request on a new one is then sent once more.
        let kept = self.connection.lock().take();
        if let Some(mut connection) = kept
            && connection.ready().await.is_ok()
            && let Ok(answer) = self.exchange(connection, name, json).await
        {
            return Ok(answer);
        }
        let connection = self.connect().await?;
        self.exchange(connection, name, json).await.map_err(|error| self.unreachable(error))
    }

    async fn exchange(
        &self,
        mut connection: SendRequest<Full<Bytes>>,
        name: &str,
        json: &Bytes,
    ) -> Result<(StatusCode, Bytes), hyper::Error> {
        let answer = connection.send_request(self.request(name, json)).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        *self.connection.lock() = Some(connection);
        Ok((status, body))
    }

    fn request(&self, name: &str, json: &Bytes) -> Request<Full<Bytes>> {
        let api = match name {
            "ListStreams" | "DescribeStream" | "GetShardIterator" | "GetRecords" => {
                "DynamoDBStreams_20120810"
            }
            _ => "DynamoDB_20120810",
        };
        let target = format!("{api}.{name}");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let signed = sign(&self.authority, &target, json, &self.region, (&self.key_id, &self.secret), now);
        let mut request = Request::new(Full::new(json.clone()));
        *request.method_mut() = hyper::Method::POST;
        let headers = [
            (HOST.as_str(), self.authority.as_str()),
            (CONTENT_TYPE.as_str(), "application/x-amz-json-1.0"),
            ("x-amz-target", &target),
            ("x-amz-date", &signed.date),
            (AUTHORIZATION.as_str(), &signed.authorization),
        ];
        for (name, value) in headers {
            let name = hyper::header::HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, value.parse()) {
                request.headers_mut().insert(name, value);
            }
        }
        request
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, ClientError> {
        let stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|error| self.unreachable(error))?;
        let _ = stream.set_nodelay(true);
        if self.secure {
            self.shake_hands(self.encrypt(stream).await?).await
        } else {
            self.shake_hands(stream).await
        }
    }

    async fn shake_hands<S>(&self, stream: S) -> Result<SendRequest<Full<Bytes>>, ClientError>
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| self.unreachable(error))?;
        // It ends with the connection, which tells of its own end.
        tokio::spawn(async move { drop(connection.await) });
        Ok(sender)
    }

    async fn encrypt(
        &self,
        stream: TcpStream,
    ) -> Result<tokio_rustls::client::TlsStream<TcpStream>, ClientError> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| self.unreachable(error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = rustls::pki_types::ServerName::try_from(self.host.clone());
        let name = name.map_err(|error| self.unreachable(error))?;
        TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
            .map_err(|error| self.unreachable(error))
    }

    fn unreachable(&self, reason: impl std::fmt::Display) -> ClientError {
        ClientError::Unreachable(self.authority.clone(), reason.to_string())
    }
}

fn refusal(status: StatusCode, body: &[u8]) -> ClientError {
    let Ok(json) = serde_json::from_slice::<serde_json::Value>(body) else {
        return ClientError::Strange(status.as_u16());
    };
    let text = |name: &str| json.get(name).and_then(serde_json::Value::as_str);
    let Some(kind) = text("__type") else { return ClientError::Strange(status.as_u16()) };
    ClientError::Refused {
        exception: kind.rsplit('#').next().unwrap_or(kind).to_owned(),
        message: text("message").or_else(|| text("Message")).unwrap_or("").to_owned(),
    }
}
