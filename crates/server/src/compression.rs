//! Compressed answers, for clients that ask for them: worth their time only where the answer is large.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use hyper::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};

/// A smaller answer fits into a few packets anyway.
const LARGE_BYTES: usize = 4 << 10;
/// A larger answer takes longer than other requests of this thread should wait.
const ELSEWHERE_BYTES: usize = 128 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
}

/// The answer as the client wants it, and what it is encoded with.
pub(crate) async fn compress(request: &HeaderMap, answer: Bytes) -> (Bytes, Option<HeaderValue>) {
    let Some(coding) = wanted(request).filter(|_| answer.len() >= LARGE_BYTES) else { return (answer, None) };
    let compressed = if answer.len() < ELSEWHERE_BYTES {
        encode(coding, &answer)
    } else {
        let answer = answer.clone();
        tokio::task::spawn_blocking(move || encode(coding, &answer)).await.ok().flatten()
    };
    match compressed {
        Some(compressed) => (compressed, Some(coding.name())),
        None => (answer, None),
    }
}

/// The coding that a client asks for. Only a client that names one gets it; `*` and `;q=0` do not.
fn wanted(request: &HeaderMap) -> Option<Coding> {
    let accepted = request.get(ACCEPT_ENCODING)?.to_str().ok()?;
    let mut wanted = None;
    for part in accepted.split(',') {
        let (name, quality) = part.split_once(';').unwrap_or((part, ""));
        let refused = matches!(quality.trim().strip_prefix("q="), Some("0" | "0.0" | "0.00" | "0.000"));
        match name.trim() {
            "gzip" if !refused => return Some(Coding::Gzip),
            "deflate" if !refused => wanted = Some(Coding::Deflate),
            _ => {}
        }
    }
    wanted
}

impl Coding {
    fn name(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
        })
    }
}

fn encode(coding: Coding, data: &[u8]) -> Option<Bytes> {
    let room = Vec::with_capacity(data.len() / 4);
    let encoded = match coding {
        Coding::Gzip => {
            let mut encoder = GzEncoder::new(room, Compression::fast());
            encoder.write_all(data).and_then(|()| encoder.finish())
        }
        Coding::Deflate => {
            let mut encoder = ZlibEncoder::new(room, Compression::fast());
            encoder.write_all(data).and_then(|()| encoder.finish())
        }
    };
    encoded.ok().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coding_for(accepted: &'static str) -> Option<Coding> {
        wanted(&HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(accepted))]))
    }

    #[test]
    fn a_coding_is_used_only_where_it_is_asked_for() {
        assert_eq!(wanted(&HeaderMap::new()), None);
        assert_eq!(coding_for("identity"), None);
        assert_eq!(coding_for("*"), None);
        assert_eq!(coding_for("gzip"), Some(Coding::Gzip));
        assert_eq!(coding_for("deflate, gzip;q=0.5"), Some(Coding::Gzip));
        assert_eq!(coding_for("gzip;q=0, deflate"), Some(Coding::Deflate));
    }
}
