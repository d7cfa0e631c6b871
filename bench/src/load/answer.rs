//! An answer of HTTP/1.1 as it comes in, piece by piece. Nothing of it is kept but its status and how much is still to come.

use memchr::{memchr, memmem};

/// How far an answer has come.
#[derive(Default)]
pub enum Answer {
    /// Nothing of it is there.
    #[default]
    Awaited,
    /// A part of its head.
    Head(Vec<u8>),
    /// So many bytes of its body are missing.
    Body { status: u16, missing: usize },
    /// A body in chunks, and the end of what came of it.
    Chunks { status: u16, tail: Vec<u8> },
}

/// What ends a body in chunks. JSON has no such line.
const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

impl Answer {
    /// Takes what came; the status once the answer is whole, or nothing if it is not an answer.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Option<u16>, NotAnAnswer> {
        let (status, is_whole) = match std::mem::take(self) {
            Answer::Awaited => return self.read_head(bytes),
            Answer::Head(mut head) => {
                head.extend_from_slice(bytes);
                return self.read_head(&head);
            }
            Answer::Body { status, missing } if bytes.len() < missing => {
                *self = Answer::Body { status, missing: missing - bytes.len() };
                (status, false)
            }
            Answer::Body { status, .. } => (status, true),
            Answer::Chunks { status, mut tail } => {
                tail.extend_from_slice(bytes);
                let is_whole = tail.ends_with(LAST_CHUNK);
                if !is_whole {
                    let old = tail.len().saturating_sub(LAST_CHUNK.len());
                    tail.drain(..old);
                    *self = Answer::Chunks { status, tail };
                }
                (status, is_whole)
            }
        };
        Ok(is_whole.then_some(status))
    }

    fn read_head(&mut self, bytes: &[u8]) -> Result<Option<u16>, NotAnAnswer> {
        let Some(end) = memmem::find(bytes, b"\r\n\r\n") else {
            *self = Answer::Head(bytes.to_vec());
            return Ok(None);
        };
        let (head, body) = bytes.split_at(end + 4);
        let status = head.get(9..12).and_then(number).ok_or(NotAnAnswer)?;
        let status = u16::try_from(status).map_err(|_| NotAnAnswer)?;
        *self = match length(&head[..end + 2]) {
            Some(missing) => Answer::Body { status, missing },
            // The line before the first chunk belongs to what may end the body.
            None => Answer::Chunks { status, tail: b"\r\n".to_vec() },
        };
        self.take(body)
    }
}

/// What came does not begin like an answer of HTTP/1.1.
#[derive(Debug)]
pub struct NotAnAnswer;

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.trim().parse().ok()
}

/// What a head says of the length of the body; nothing where it comes in chunks.
fn length(mut head: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    while let Some(end) = memchr(b'\n', head) {
        let line = &head[..end];
        if line.len() > NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME) {
            return number(&line[NAME.len()..]);
        }
        head = &head[end + 1..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::Answer;

    /// The status of an answer that comes in pieces of this size, and how many pieces it took.
    fn status(answer: &[u8], piece: usize) -> Option<u16> {
        let mut state = Answer::default();
        let mut pieces = answer.chunks(piece).peekable();
        while let Some(bytes) = pieces.next() {
            if let Some(status) = state.take(bytes).expect("an answer") {
                assert!(pieces.peek().is_none(), "whole before its end");
                return Some(status);
            }
        }
        None
    }

    #[test]
    fn an_answer_is_whole_at_its_last_byte_however_it_is_cut() {
        let answers: [&[u8]; 3] = [
            b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 12\r\n\r\n{\"Item\":{}}\n",
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n",
            b"HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n",
        ];
        for (answer, expected) in answers.into_iter().zip([200, 400, 201]) {
            for piece in 1..=answer.len() {
                assert_eq!(status(answer, piece), Some(expected), "in pieces of {piece}");
            }
            assert_eq!(status(&answer[..answer.len() - 1], 7), None);
        }
    }

    #[test]
    fn what_is_not_http_is_refused() {
        assert!(Answer::default().take(b"SSH-2.0-x\r\n\r\n").is_err());
    }
}
