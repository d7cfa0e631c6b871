//! One connection of HTTP/1.1: a request out, an answer in.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub struct Connection {
    stream: TcpStream,
    /// What was read last; the answer that is being read begins at 0.
    bytes: Vec<u8>,
}

impl Connection {
    pub async fn open(server: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(server).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, bytes: Vec::with_capacity(64 << 10) })
    }

    /// Sends a request and reads its answer to the end; the status of the answer.
    pub async fn exchange(&mut self, request: &[u8]) -> io::Result<u16> {
        self.stream.write_all(request).await?;
        self.bytes.clear();
        let head = loop {
            self.read().await?;
            if let Some(end) = find(&self.bytes, b"\r\n\r\n") {
                break end + 4;
            }
        };
        let (status, length) = read_head(&self.bytes[..head])?;
        match length {
            Some(length) => {
                while self.bytes.len() < head + length {
                    self.read().await?;
                }
            }
            None => self.read_chunks(head).await?,
        }
        Ok(status)
    }

    /// The body of the last answer, as it came.
    pub fn body(&self) -> &[u8] {
        let start = find(&self.bytes, b"\r\n\r\n").map_or(0, |end| end + 4);
        &self.bytes[start..]
    }

    async fn read(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.bytes).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// Reads a body in chunks up to the empty one that ends it.
    async fn read_chunks(&mut self, head: usize) -> io::Result<()> {
        while !self.bytes[head..].ends_with(b"0\r\n\r\n") {
            self.read().await?;
        }
        Ok(())
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, what)
}

/// The status and the length of the body; no length where it comes in chunks.
fn read_head(head: &[u8]) -> io::Result<(u16, Option<usize>)> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "not an answer of HTTP/1.1");
    let text = std::str::from_utf8(head).map_err(|_| wrong())?;
    let status = text.get(9..12).and_then(|status| status.parse().ok()).ok_or_else(wrong)?;
    let mut headers = text.lines().skip(1).filter_map(|line| line.split_once(':'));
    let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    Ok((status, length.and_then(|(_, value)| value.trim().parse().ok())))
}
