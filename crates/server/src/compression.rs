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

/// The coding that a client likes best: the highest quality, the one that is named before the one that `*` stands for, then the
/// first. A client that names neither and no `*` gets the answer as it is.
pub(crate) fn wanted(request: Headers<'_>) -> Option<Coding> {
    let accepted = request.text(&ACCEPT_ENCODING)?;
    let parts: Vec<(&str, f32)> = accepted.split(',').filter_map(name_and_quality).collect();
    let place = |coding: Coding| parts.iter().position(|(name, _)| name.eq_ignore_ascii_case(coding.name()));
    let any = parts.iter().find(|(name, _)| *name == "*").map(|(_, quality)| *quality);
    let rank = |coding: Coding| {
        let named = place(coding);
        let quality = named.and_then(|place| parts.get(place)).map(|(_, quality)| *quality).or(any)?;
        (quality > 0.0).then_some((coding, quality, named.unwrap_or(usize::MAX)))
    };
    let ranked = [Coding::Gzip, Coding::Deflate].into_iter().filter_map(rank);
    let best = ranked.reduce(|best, next| {
        let order = next.1.total_cmp(&best.1).then(best.2.cmp(&next.2));
        if order.is_gt() { next } else { best }
    });
    best.map(|(coding, ..)| coding)
}

/// One coding of the header, with how much it is liked.
fn name_and_quality(part: &str) -> Option<(&str, f32)> {
    let Some((name, quality)) = part.split_once(';') else { return Some((part.trim(), 1.0)) };
    let (key, value) = quality.split_once('=')?;
    let quality: f32 = (key.trim() == "q").then(|| value.trim().parse().ok()).flatten()?;
    Some((name.trim(), quality.min(1.0)))
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
        for accepted in
            ["", "identity", "br", "x-gzip", "gzip;q=0", "*;q=0", "identity;q=0", "\"gzip\"", "gzip br"]
        {
            assert_eq!(coding_for(accepted), None, "{accepted}");
        }
    }

    #[test]
    fn the_coding_that_is_liked_best_is_used() {
        for accepted in [
            "gzip",
            "GZIP, identity",
            "dog, gzip ,, cat",
            "gzip, deflate",
            "gzip;q=0.8, deflate;q=0.5",
            "*",
            "*, deflate;q=0.5",
            "*;q=0.5,identity",
            "gzip;q=0.5,identity;q=0.8",
            // More than all is all.
            "gzip;q=31,deflate;q=51",
        ] {
            assert_eq!(coding_for(accepted), Some(Coding::Gzip), "{accepted}");
        }
        for accepted in [
            "br, identity, deflate, gzip",
            "br, gzip;q=0, deflate; q = 0.5 , identity;q=0",
            "*, deflate",
            "*, gzip;q=0.5",
        ] {
            assert_eq!(coding_for(accepted), Some(Coding::Deflate), "{accepted}");
        }
    }
}
