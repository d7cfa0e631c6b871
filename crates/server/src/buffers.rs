//! Buffers of a thread that its connections take turns with: a connection has some only while a request is on its way, so thousands that
//! are idle hold nothing.

use std::cell::RefCell;

use bytes::Bytes;

/// What is read at once. Most requests are smaller, so a read that does not fill it has emptied the socket.
const INPUT_BYTES: usize = 16 << 10;
/// A buffer that grew larger is not kept.
const KEPT_BYTES: usize = 128 << 10;
/// A smaller answer of hyper's is copied out of its buffer, so that it costs one allocation of its exact size.
const COPIED_BYTES: usize = 64 << 10;
/// Buffers of each kind that a thread keeps. More are in use only while many writes wait for the disk.
const KEPT: usize = 64;

thread_local! {
    static INPUTS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    static OUTPUTS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A buffer to read into: as long as its room, 16 KB at least.
pub(crate) fn input() -> Vec<u8> {
    INPUTS.with_borrow_mut(Vec::pop).unwrap_or_else(|| vec![0; INPUT_BYTES])
}

/// Gives a buffer back that was read into.
pub(crate) fn give_input(buffer: Vec<u8>) {
    if buffer.len() >= INPUT_BYTES {
        INPUTS.with_borrow_mut(|kept| keep(kept, buffer));
    }
}

/// An empty buffer to write an answer into.
pub(crate) fn output() -> Vec<u8> {
    OUTPUTS.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Gives a buffer back that was written into.
pub(crate) fn give_output(mut buffer: Vec<u8>) {
    buffer.clear();
    OUTPUTS.with_borrow_mut(|kept| keep(kept, buffer));
}

/// What was written, as bytes.
pub(crate) fn freeze(buffer: Vec<u8>) -> Bytes {
    if buffer.len() > COPIED_BYTES {
        return buffer.into();
    }
    let bytes = Bytes::copy_from_slice(&buffer);
    give_output(buffer);
    bytes
}

fn keep(kept: &mut Vec<Vec<u8>>, buffer: Vec<u8>) {
    if buffer.capacity() <= KEPT_BYTES && kept.len() < KEPT {
        kept.push(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again_unless_it_grew_too_large() {
        let mut first = input();
        assert_eq!(first.len(), INPUT_BYTES);
        first[0] = 1;
        give_input(first);
        assert_eq!(input()[0], 1);
        give_input(vec![2; KEPT_BYTES + 1]);
        assert_eq!(input(), vec![0; INPUT_BYTES]);
    }

    #[test]
    fn an_output_is_empty_whatever_it_had() {
        give_output(b"before".to_vec());
        assert!(output().is_empty());
        assert_eq!(freeze(b"answer".to_vec()), "answer");
        assert_eq!(freeze(vec![1; COPIED_BYTES + 1]).len(), COPIED_BYTES + 1);
    }
}
