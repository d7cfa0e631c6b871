//! Sends events over HTTP and HTTPS.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderName};
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How long a receiver may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What came of sending an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    /// The receiver has it.
    Delivered,
    /// It does not, for this reason.
    Failed(String),
}

/// A delivery under way.
pub type Posting<'a> = Pin<Box<dyn Future<Output = Posted> + Send + 'a>>;

/// Sends events to web hooks.
pub trait Poster: Send + Sync {
    /// Posts a body with these headers to an address.
    fn post(&self, url: &str, headers: Vec<(String, String)>, body: Vec<u8>) -> Posting<'_>;
}

/// Sends events over HTTP/1.1, with TLS for `https`. Redirects are not followed.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpPoster;

impl Poster for HttpPoster {
    fn post(&self, url: &str, headers: Vec<(String, String)>, body: Vec<u8>) -> Posting<'_> {
        let url = url.to_owned();
        Box::pin(async move {
            match tokio::time::timeout(TIMEOUT, send(&url, &headers, body)).await {
                Ok(Ok(status)) if (200..300).contains(&status) => Posted::Delivered,
                Ok(Ok(status)) => Posted::Failed(format!("{url} answers with status {status}")),
                Ok(Err(why)) => Posted::Failed(format!("{url}: {why}")),
                Err(_) => Posted::Failed(format!("{url} does not answer in time")),
            }
        })
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn send(url: &str, headers: &[(String, String)], body: Vec<u8>) -> Result<u16, Failure> {
    let uri: Uri = url.parse()?;
    let authority = uri.authority().ok_or("it has no host")?.clone();
    let secure = match uri.scheme_str() {
        Some("http") => false,
        Some("https") => true,
        _ => return Err("it is neither http nor https".into()),
    };
    let host = authority.host().trim_matches(['[', ']']).to_owned();
    let port = authority.port_u16().unwrap_or(if secure { 443 } else { 80 });
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri.path_and_query().map_or("/", |path| path.as_str()).parse()?;
    request.headers_mut().insert(HOST, authority.as_str().parse()?);
    for (name, value) in headers {
        request.headers_mut().insert(HeaderName::from_bytes(name.as_bytes())?, value.parse()?);
    }
    let stream = TcpStream::connect((host.as_str(), port)).await?;
    if secure {
        exchange(encrypted(stream, host).await?, request).await
    } else {
        exchange(stream, request).await
    }
}

async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<u16, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // It ends with the exchange.
    let driver = tokio::spawn(async move { drop(connection.await) });
    let answer = sender.send_request(request).await?;
    let status = answer.status().as_u16();
    let _ = http_body_util::Limited::new(answer.into_body(), 64 * 1024).collect().await;
    driver.abort();
    Ok(status)
}

async fn encrypted(
    stream: TcpStream,
    host: String,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, Failure> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = rustls::pki_types::ServerName::try_from(host)?;
    Ok(TlsConnector::from(Arc::new(config)).connect(name, stream).await?)
}
