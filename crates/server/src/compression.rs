//! Compressed answers, for clients that ask for them: worth their time only where the answer is large.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use hyper::header::ACCEPT_ENCODING;

use crate::head::Headers;

/// A smaller answer fits into a few packets anyway.
const LARGE_BYTES: usize = 4 << 10;
/// A larger answer takes longer than other requests of this thread should wait.
const ELSEWHERE_BYTES: usize = 128 << 10;

/// How an answer can be compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
}

/// Compresses an answer, which begins at `start`, where the client asks for it. Says what it is encoded with.
pub(crate) async fn compress(
    coding: Option<Coding>,
    out: &mut Vec<u8>,
    start: usize,
) -> Option<&'static str> {
    let answer = out.get(start..).unwrap_or_default();
    let coding = coding.filter(|_| answer.len() >= LARGE_BYTES)?;
    let compressed = if answer.len() < ELSEWHERE_BYTES {
        encode(coding, answer)
    } else {
        let answer = answer.to_vec();
        tokio::task::spawn_blocking(move || encode(coding, &answer)).await.ok().flatten()
    }?;
    out.truncate(start);
    out.extend_from_slice(&compressed);
    Some(coding.name())
}

/// The coding that a client asks for. Only a client that names one gets it; `*` and `;q=0` do not.
pub(crate) fn wanted(request: Headers<'_>) -> Option<Coding> {
    let accepted = request.text(&ACCEPT_ENCODING)?;
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
    fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
        }
    }
}

fn encode(coding: Coding, data: &[u8]) -> Option<Vec<u8>> {
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
    encoded.ok()
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderMap, HeaderValue};

    use super::*;

    fn coding_for(accepted: &'static str) -> Option<Coding> {
        let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(accepted))]);
        wanted(Headers::Map(&headers))
    }

    #[test]
    fn a_coding_is_used_only_where_it_is_asked_for() {
        assert_eq!(wanted(Headers::List(&[])), None);
        assert_eq!(coding_for("identity"), None);
        assert_eq!(coding_for("*"), None);
        assert_eq!(coding_for("gzip"), Some(Coding::Gzip));
        assert_eq!(coding_for("deflate, gzip;q=0.5"), Some(Coding::Gzip));
        assert_eq!(coding_for("gzip;q=0, deflate"), Some(Coding::Deflate));
    }
}
