//! HTTPS, and HTTP/2 where the client asks for it. The certificate is for tests only and signed by nobody but itself.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use monotable_server::{Limits, Settings, Tls};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::support::{Running, post};

fn directory() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/certificate")
}

fn server(limits: Limits) -> Running {
    let tls = Tls::from_files(&directory().join("certificate.pem"), &directory().join("key.pem")).unwrap();
    Running::with(Settings { tls: Some(tls), limits, ..Settings::default() })
}

fn connect(server: &Running, protocols: &[&str]) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(directory().join("certificate.pem")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let client = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    StreamOwned::new(client, TcpStream::connect(server.address).unwrap())
}

#[test]
fn requests_are_answered_over_tls() {
    let server = server(Limits::default());
    let mut stream = connect(&server, &["http/1.1"]);
    stream.write_all(&post("ListTables", "{}")).unwrap();
    let mut answer = [0; 512];
    let count = stream.read(&mut answer).unwrap();
    assert!(answer[..count].starts_with(b"HTTP/1.1 200 OK"), "{}", String::from_utf8_lossy(&answer[..count]));
}

#[test]
fn a_client_that_offers_http2_gets_it() {
    let server = server(Limits::default());
    let mut stream = connect(&server, &["h2", "http/1.1"]);
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00").unwrap();
    let mut head = [0; 9];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head[3], 4);
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"h2"[..]));
}

#[test]
fn a_handshake_that_does_not_end_is_closed() {
    let server = server(Limits { head: Duration::from_millis(200), ..Limits::default() });
    let mut client = server.connect();
    client.send(b"\x16\x03\x01\x02");
    assert!(client.is_closed());
    let mut silent = server.connect();
    assert!(silent.is_closed());
}

#[test]
fn files_that_are_no_certificate_are_named() {
    let wrong = directory().join("key.pem");
    let error = Tls::from_files(&wrong, &wrong).unwrap_err().to_string();
    assert!(error.contains("key.pem"), "{error}");
}
