//! Tells HTTP/2 with prior knowledge from HTTP/1.1 by the first bytes: no method of HTTP/1.1 begins with `PRI`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

const HTTP2: &[u8] = b"PRI";

/// What a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

/// A stream whose first bytes were read to look at, and are read again.
pub(super) struct Reread<S> {
    first: [u8; HTTP2.len()],
    /// Of `first`: what was read, and what was given out again.
    filled: usize,
    given: usize,
    stream: S,
}

/// Reads as many bytes as it takes to tell.
pub(super) async fn tell<S: AsyncRead + Unpin>(mut stream: S) -> io::Result<(Protocol, Reread<S>)> {
    let mut first = [0; HTTP2.len()];
    let mut filled = 0;
    while let Some(room) = first.get_mut(filled..).filter(|room| !room.is_empty()) {
        let count = stream.read(room).await?;
        filled += count;
        if count == 0 || !starts_alike(&first, filled) {
            break;
        }
    }
    let protocol = if first == HTTP2 { Protocol::Http2 } else { Protocol::Http1 };
    Ok((protocol, Reread { first, filled, given: 0, stream }))
}

fn starts_alike(first: &[u8], filled: usize) -> bool {
    first.get(..filled).is_some_and(|read| HTTP2.starts_with(read))
}

impl<S: AsyncRead + Unpin> AsyncRead for Reread<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.given < this.filled {
            let left = this.first.get(this.given..this.filled).unwrap_or_default();
            let part = left.get(..left.len().min(buffer.remaining())).unwrap_or_default();
            buffer.put_slice(part);
            this.given += part.len();
            // What came with the first bytes is read in the same go, so that a request is not seen in two parts.
            if buffer.remaining() > 0
                && let Poll::Ready(Err(error)) = Pin::new(&mut this.stream).poll_read(context, buffer)
            {
                return Poll::Ready(Err(error));
            }
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut this.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Reread<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, data)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
