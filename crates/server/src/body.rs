//! The body of a request, read within limits of size, time and memory.
//!
//! Always true: no more than [`BODY_BYTES_MAX`] of a body is held, inflated or not, and all large bodies together stay within the
//! budget.
//!
//! Path of a body: frames -> [`read`] (as it was sent: signatures cover that) -> [`inflate`] -> JSON.

use std::io::Read;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, HeaderMap};

use crate::limits::{BODY_BYTES_MAX, DISCARDED_BYTES_MAX, SMALL_BODY_BYTES};

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// Larger than [`BODY_BYTES_MAX`].
    TooLarge,
    /// The client took too long.
    TooSlow,
    /// The client went away, or broke the rules of HTTP.
    Broken,
    /// The server holds as many large bodies as it may.
    NoMemory,
    /// Not what its Content-Encoding says.
    NotCompressed,
    /// A Content-Encoding that is not gzip, deflate or identity.
    UnknownEncoding,
}

/// A body and its share of the budget, which goes back when it is dropped.
pub(crate) struct RequestBody {
    pub(crate) bytes: Bytes,
    share: Share,
}

impl RequestBody {
    /// A body that is too small to count, or none.
    pub(crate) fn small(bytes: Bytes, budget: &Budget) -> RequestBody {
        debug_assert!(bytes.len() <= SMALL_BODY_BYTES, "the caller reads no more");
        RequestBody { bytes, share: budget.share() }
    }
}

/// Memory for large bodies, shared by all connections.
#[derive(Clone)]
pub(crate) struct Budget {
    left: Arc<AtomicUsize>,
}

/// What one body holds of the budget.
struct Share {
    budget: Budget,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Budget {
        Budget { left: Arc::new(AtomicUsize::new(bytes)) }
    }

    fn share(&self) -> Share {
        Share { budget: self.clone(), bytes: 0 }
    }
}

impl Share {
    /// Grows the share so that it covers a body of this size.
    fn cover(&mut self, body_bytes: usize) -> Result<(), BodyError> {
        if body_bytes <= SMALL_BODY_BYTES.max(self.bytes) {
            return Ok(());
        }
        let more = body_bytes - self.bytes;
        let take = |left: usize| left.checked_sub(more);
        self.budget.left.fetch_update(Relaxed, Relaxed, take).map_err(|_| BodyError::NoMemory)?;
        self.bytes = body_bytes;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.budget.left.fetch_add(self.bytes, Relaxed);
        }
    }
}

/// Reads a body to its end.
pub(crate) async fn read(body: Incoming, budget: &Budget, limit: Duration) -> Result<RequestBody, BodyError> {
    let mut reading = pin!(Reading { body, kept: Kept::Nothing, share: Some(budget.share()) }.run());
    // Nearly every body has arrived with its head: only the others need a timer.
    match poll_once(reading.as_mut()).await {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => tokio::time::timeout(limit, reading).await.unwrap_or(Err(BodyError::TooSlow)),
    }
}

async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
}

/// A body while it arrives.
struct Reading {
    body: Incoming,
    kept: Kept,
    share: Option<Share>,
}

/// What has arrived so far.
enum Kept {
    Nothing,
    /// A single frame: kept as it is, without a copy.
    One(Bytes),
    Several(BytesMut),
}

impl Kept {
    fn len(&self) -> usize {
        match self {
            Kept::Nothing => 0,
            Kept::One(bytes) => bytes.len(),
            Kept::Several(bytes) => bytes.len(),
        }
    }

    fn push(&mut self, data: Bytes) {
        match self {
            Kept::Nothing => *self = Kept::One(data),
            Kept::One(first) => {
                let mut bytes = BytesMut::with_capacity((first.len() + data.len()) * 2);
                bytes.extend_from_slice(first);
                bytes.extend_from_slice(&data);
                *self = Kept::Several(bytes);
            }
            Kept::Several(bytes) => bytes.extend_from_slice(&data),
        }
    }

    fn freeze(self) -> Bytes {
        match self {
            Kept::Nothing => Bytes::new(),
            Kept::One(bytes) => bytes,
            Kept::Several(bytes) => bytes.freeze(),
        }
    }
}

impl Reading {
    async fn run(mut self) -> Result<RequestBody, BodyError> {
        if self.body.size_hint().lower() > BODY_BYTES_MAX as u64 {
            return self.discard(0, BodyError::TooLarge).await;
        }
        while let Some(data) = self.next().await? {
            let size = self.kept.len() + data.len();
            if size > BODY_BYTES_MAX {
                return self.discard(size as u64, BodyError::TooLarge).await;
            }
            if let Some(Err(refusal)) = self.share.as_mut().map(|share| share.cover(size)) {
                return self.discard(size as u64, refusal).await;
            }
            self.kept.push(data);
        }
        let share = self.share.take().ok_or(BodyError::Broken)?;
        Ok(RequestBody { bytes: self.kept.freeze(), share })
    }

    /// Reads the rest of a body that is refused, so that the client is ready to hear so; not for ever.
    async fn discard(mut self, mut seen: u64, refusal: BodyError) -> Result<RequestBody, BodyError> {
        self.kept = Kept::Nothing;
        self.share = None;
        let announced = self.body.size_hint().lower();
        while seen + announced <= DISCARDED_BYTES_MAX {
            let Some(data) = self.next().await? else { break };
            seen += data.len() as u64;
        }
        Err(refusal)
    }

    /// The next piece of data; trailers are not looked at.
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            let body = &mut self.body;
            let frame =
                std::future::poll_fn(|context: &mut Context<'_>| Pin::new(&mut *body).poll_frame(context));
            match frame.await {
                None => return Ok(None),
                Some(Err(_)) => return Err(BodyError::Broken),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if data.is_empty() => {}
                    Ok(data) => return Ok(Some(data)),
                    Err(_) => {}
                },
            }
        }
    }
}

/// Undoes the Content-Encoding of a body. `None` is a body that is sent as it is.
pub(crate) fn inflate(headers: &HeaderMap, body: &mut RequestBody) -> Result<Option<Bytes>, BodyError> {
    let Some(encoding) = headers.get(CONTENT_ENCODING) else { return Ok(None) };
    let encoding = encoding.as_bytes().trim_ascii();
    let input = body.bytes.clone();
    if encoding.eq_ignore_ascii_case(b"gzip") || encoding.eq_ignore_ascii_case(b"x-gzip") {
        inflate_from(MultiGzDecoder::new(&input[..]), body).map(Some)
    } else if encoding.eq_ignore_ascii_case(b"deflate") {
        inflate_from(ZlibDecoder::new(&input[..]), body).map(Some)
    } else if encoding.is_empty() || encoding.eq_ignore_ascii_case(b"identity") {
        Ok(None)
    } else {
        Err(BodyError::UnknownEncoding)
    }
}

/// Inflates piece by piece and stops at the limit, so that a bomb costs no more than an honest body.
fn inflate_from(mut decoder: impl Read, body: &mut RequestBody) -> Result<Bytes, BodyError> {
    let mut inflated = Vec::new();
    let mut piece = [0; 16 << 10];
    loop {
        let count = decoder.read(&mut piece).map_err(|_| BodyError::NotCompressed)?;
        let Some(data) = piece.get(..count).filter(|data| !data.is_empty()) else { break };
        if inflated.len() + data.len() > BODY_BYTES_MAX {
            return Err(BodyError::TooLarge);
        }
        body.share.cover(body.bytes.len() + inflated.len() + data.len())?;
        inflated.extend_from_slice(data);
    }
    Ok(inflated.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn body(bytes: Vec<u8>) -> RequestBody {
        RequestBody { bytes: bytes.into(), share: Budget::new(64 << 20).share() }
    }

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn encoded_as(encoding: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_ENCODING, encoding.parse().unwrap())])
    }

    #[test]
    fn a_gzip_body_is_inflated() {
        let inflated = inflate(&encoded_as("GZIP"), &mut body(gzip(b"{}"))).unwrap();
        assert_eq!(inflated.as_deref(), Some(&b"{}"[..]));
    }

    #[test]
    fn a_bomb_stops_at_the_limit() {
        let bomb = gzip(&vec![b' '; BODY_BYTES_MAX + 1]);
        assert!(bomb.len() < 64 << 10);
        assert_eq!(inflate(&encoded_as("gzip"), &mut body(bomb)), Err(BodyError::TooLarge));
        let largest = gzip(&vec![b' '; BODY_BYTES_MAX]);
        assert!(inflate(&encoded_as("gzip"), &mut body(largest)).is_ok());
    }

    #[test]
    fn what_is_not_compressed_is_refused() {
        assert_eq!(inflate(&encoded_as("gzip"), &mut body(b"{}".to_vec())), Err(BodyError::NotCompressed));
        assert_eq!(inflate(&encoded_as("br"), &mut body(b"{}".to_vec())), Err(BodyError::UnknownEncoding));
        assert_eq!(inflate(&encoded_as("identity"), &mut body(b"{}".to_vec())), Ok(None));
    }

    #[test]
    fn large_bodies_share_a_budget_and_give_it_back() {
        let budget = Budget::new(1 << 20);
        let mut first = budget.share();
        first.cover(SMALL_BODY_BYTES).unwrap();
        first.cover(700 << 10).unwrap();
        let mut second = budget.share();
        assert_eq!(second.cover(700 << 10), Err(BodyError::NoMemory));
        drop(first);
        second.cover(700 << 10).unwrap();
    }
}
