//! The head of an answer, as hyper writes it.

use std::cell::RefCell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use hyper::{Response, StatusCode};

use crate::operation::Answered;
use crate::request_id::RequestId;

/// Room that is left for the head before the body: more than the longest head takes.
pub(super) const ROOM: usize = 384;

/// What the head of an answer says.
pub(super) struct Head<'a> {
    pub(super) answered: &'a Answered,
    pub(super) request_id: &'a RequestId,
    pub(super) closes: bool,
}

impl Head<'_> {
    /// Writes the head into the room before the body, up to it. Returns where it begins.
    pub(super) fn write_before(&self, out: &mut [u8]) -> usize {
        let answered = self.answered;
        let body_bytes = out.len().saturating_sub(ROOM);
        let mut head = Text { bytes: [0; ROOM], length: 0 };
        head.push(b"HTTP/1.1 ");
        head.push(answered.status.as_str().as_bytes());
        head.push(b" ");
        head.push(answered.status.canonical_reason().unwrap_or("<none>").as_bytes());
        head.push(b"\r\nx-amz-crc32: ");
        head.push_number(u64::from(answered.crc32));
        head.push(b"\r\ncontent-type: ");
        head.push(answered.content_type.as_bytes());
        if let Some(encoding) = answered.encoding {
            head.push(b"\r\ncontent-encoding: ");
            head.push(encoding.as_bytes());
        }
        head.push(b"\r\nx-amzn-requestid: ");
        head.push(self.request_id.as_bytes());
        head.push(b"\r\nserver: Server");
        if self.closes {
            head.push(b"\r\nconnection: close");
        }
        head.push(b"\r\ncontent-length: ");
        head.push_number(body_bytes as u64);
        head.push(b"\r\ndate: ");
        date_at(answered.ended, |date| head.push(date));
        head.push(b"\r\n\r\n");
        let start = ROOM - head.length;
        if let (Some(room), Some(text)) = (out.get_mut(start..ROOM), head.bytes.get(..head.length)) {
            room.copy_from_slice(text);
        }
        start
    }
}

/// Appends the head of a page as hyper writes it: its own headers, and those that every answer has.
pub(super) fn write_page(page: &Response<Bytes>, request_id: &RequestId, closes: bool, out: &mut Vec<u8>) {
    let status = page.status();
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(status.as_str().as_bytes());
    out.push(b' ');
    out.extend_from_slice(status.canonical_reason().unwrap_or("<none>").as_bytes());
    for (name, value) in page.headers() {
        push_header(name.as_str(), value.as_bytes(), out);
    }
    push_header("x-amzn-requestid", request_id.as_bytes(), out);
    push_header("server", b"Server", out);
    if closes {
        push_header("connection", b"close", out);
    }
    if !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        push_header("content-length", page.body().len().to_string().as_bytes(), out);
    }
    date_at(Instant::now(), |date| push_header("date", date, out));
    out.extend_from_slice(b"\r\n\r\n");
}

fn push_header(name: &str, value: &[u8], out: &mut Vec<u8>) {
    for part in [b"\r\n", name.as_bytes(), b": ", value] {
        out.extend_from_slice(part);
    }
}

/// Text of bounded length.
struct Text {
    bytes: [u8; ROOM],
    length: usize,
}

impl Text {
    fn push(&mut self, part: &[u8]) {
        let end = self.length + part.len();
        let room = self.bytes.get_mut(self.length..end).expect("every head is shorter than its room");
        room.copy_from_slice(part);
        self.length = end;
    }

    fn push_number(&mut self, mut number: u64) {
        let mut digits = [b'0'; 20];
        let mut count = 0;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
            number /= 10;
            count += 1;
            if number == 0 {
                break;
            }
        }
        self.push(digits.get(digits.len() - count..).unwrap_or_default());
    }
}

/// The date as answers have it, and until when it is right.
struct Date {
    text: String,
    until: Option<Instant>,
}

thread_local! {
    static DATE: RefCell<Date> = const { RefCell::new(Date { text: String::new(), until: None }) };
}

/// Gives the date at a moment that is about now. It is written once a second.
fn date_at(moment: Instant, give: impl FnOnce(&[u8])) {
    DATE.with_borrow_mut(|date| {
        if date.until.is_none_or(|until| until <= moment) {
            let now = SystemTime::now();
            let part = now.duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos();
            let rest = Duration::from_secs(1).saturating_sub(Duration::from_nanos(part.into()));
            date.text = httpdate::fmt_http_date(now);
            date.until = moment.checked_add(rest);
        }
        give(date.text.as_bytes());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_head_fits_into_its_room() {
        for status in (100..600).filter_map(|code| StatusCode::from_u16(code).ok()) {
            let answered = Answered {
                status,
                content_type: crate::operation::AMZ_JSON,
                encoding: Some("deflate"),
                crc32: u32::MAX,
                ended: Instant::now(),
            };
            let mut out = vec![0; ROOM];
            out.extend_from_slice(b"{}");
            let head = Head { answered: &answered, request_id: &crate::request_id::next(), closes: true };
            let start = head.write_before(&mut out);
            let text = std::str::from_utf8(&out[start..]).unwrap();
            assert!(text.starts_with(&format!("HTTP/1.1 {} ", status.as_u16())), "{text}");
            assert!(text.contains("\r\ncontent-length: 2\r\n"), "{text}");
            assert!(text.ends_with(" GMT\r\n\r\n{}"), "{text}");
            // A body of any size has room for its length, too.
            assert!(start > 20, "{start}");
        }
    }

    #[test]
    fn numbers_are_written_digit_by_digit() {
        for number in [0, 7, 10, 4_294_967_295, u64::MAX] {
            let mut text = Text { bytes: [0; ROOM], length: 0 };
            text.push_number(number);
            assert_eq!(&text.bytes[..text.length], number.to_string().as_bytes());
        }
    }

    #[test]
    fn the_date_moves_on() {
        let (now, mut first, mut second) = (Instant::now(), Vec::new(), Vec::new());
        date_at(now, |date| first = date.to_vec());
        DATE.with_borrow_mut(|date| date.text = "old".to_owned());
        date_at(now, |date| second = date.to_vec());
        assert_eq!(second, b"old");
        date_at(now + Duration::from_secs(1), |date| second = date.to_vec());
        assert_eq!(second.len(), first.len());
    }
}
