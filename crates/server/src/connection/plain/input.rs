//! What a client has sent and was not answered for.

use std::pin::Pin;
use std::task::{Poll, ready};

use tokio::io::ReadBuf;

use super::super::Stream;
use super::super::registry::{Activity, Order};
use crate::buffers;

/// What reading came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// There is more to look at.
    Some,
    /// The connection is at its end, between two requests.
    Nothing,
    /// It ended in the middle of a request.
    Strange,
}

/// Bytes read from a connection. It holds a buffer only while there are some.
#[derive(Default)]
pub(super) struct Input {
    /// All of it may be read into; empty while there is nothing unread.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    /// What is to be looked at.
    pub(super) fn unread(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// So many bytes are dealt with.
    pub(super) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
        if self.is_empty() {
            self.release();
        }
    }

    fn release(&mut self) {
        (self.start, self.end) = (0, 0);
        buffers::give_input(std::mem::take(&mut self.buffer));
    }

    /// What is unread, for somebody else.
    pub(super) fn into_unread(self) -> Vec<u8> {
        self.unread().to_vec()
    }

    /// Makes room to read into. It grows with what has arrived, not with what is announced.
    fn prepare(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = buffers::input();
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.buffer.len() == self.end {
            self.buffer.resize(self.end * 2, 0);
        }
    }

    /// Reads more of a head, once.
    pub(super) async fn read<S: Stream>(&mut self, stream: &mut S, activity: &Activity) -> Read {
        if !self.is_empty() {
            // What came after the last request is the beginning of a head.
            activity.goes_on_with_head();
        }
        self.read_once(stream, activity).await
    }

    /// Reads until so much is unread.
    pub(super) async fn fill<S: Stream>(
        &mut self,
        stream: &mut S,
        activity: &Activity,
        total: usize,
    ) -> Read {
        while self.end - self.start < total {
            let read = self.read_once(stream, activity).await;
            if read != Read::Some {
                return read;
            }
        }
        Read::Some
    }

    async fn read_once<S: Stream>(&mut self, stream: &mut S, activity: &Activity) -> Read {
        std::future::poll_fn(|context| {
            // Who is told to finish between two requests is at its end.
            if self.is_empty() && activity.order() != Order::Serve {
                return Poll::Ready(Read::Nothing);
            }
            self.prepare();
            let mut room = ReadBuf::new(self.buffer.get_mut(self.end..).unwrap_or_default());
            let outcome = Pin::new(&mut *stream).poll_read(context, &mut room);
            let count = room.filled().len();
            if self.is_empty() && count == 0 {
                self.release();
            }
            Poll::Ready(match ready!(outcome) {
                Ok(()) if count > 0 => {
                    self.end += count;
                    Read::Some
                }
                Ok(()) if !self.is_empty() => Read::Strange,
                Ok(()) | Err(_) => Read::Nothing,
            })
        })
        .await
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        if !self.buffer.is_empty() {
            self.release();
        }
    }
}
