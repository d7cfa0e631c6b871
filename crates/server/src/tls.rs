//! HTTPS: a certificate and its key, from PEM files.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A certificate that a server can show.
#[derive(Clone)]
pub struct Tls {
    acceptor: TlsAcceptor,
}

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Tls")
    }
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file that cannot be read, or is not PEM.
    #[error("cannot read {path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Certificate and key do not belong together, or are of an unknown kind.
    #[error("the certificate and the key cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
}

impl Tls {
    /// Reads a chain of certificates and the key of the first from PEM files.
    pub fn from_files(certificates: &Path, key: &Path) -> Result<Tls, TlsError> {
        let failed = |path: &Path, reason: String| TlsError::File { path: path.to_owned(), reason };
        let chain = CertificateDer::pem_file_iter(certificates)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| failed(certificates, error.to_string()))?;
        if chain.is_empty() {
            return Err(failed(certificates, "it holds no certificate".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, error.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Tls { acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    /// Shakes hands with a client.
    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.acceptor.accept(stream).await
    }
}
