//! One connection of HTTP/1.1 that is kept alive: a request out, an answer in, without waiting for either.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::answer::Answer;

pub struct Connection {
    stream: TcpStream,
    answer: Answer,
    /// Whether nothing of the answer has come.
    is_silent: bool,
    /// What of the request the system has not taken yet.
    unsent: Vec<u8>,
}

impl Connection {
    /// Connects. A connection that waits blocks in [`Connection::receive`] until something is there.
    pub fn open(server: SocketAddr, waits: bool) -> io::Result<Connection> {
        let stream = TcpStream::connect(server)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(!waits)?;
        stream.set_read_timeout(waits.then_some(Duration::from_secs(1)))?;
        Ok(Connection { stream, answer: Answer::default(), is_silent: true, unsent: Vec::new() })
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Whether nothing of an answer has come.
    pub fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// Sends a request, as far as the system takes it; [`Connection::send_rest`] goes on.
    pub fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.answer = Answer::default();
        self.is_silent = true;
        let sent = self.write(request)?;
        self.unsent.clear();
        self.unsent.extend_from_slice(&request[sent..]);
        Ok(())
    }

    /// Sends what is left of a request, if anything is.
    pub fn send_rest(&mut self) -> io::Result<()> {
        if !self.unsent.is_empty() {
            let unsent = std::mem::take(&mut self.unsent);
            let sent = self.write(&unsent)?;
            self.unsent = unsent;
            self.unsent.drain(..sent);
        }
        Ok(())
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<usize> {
        let all = bytes.len();
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(all - bytes.len())
    }

    /// Reads what is there; the status of the answer once it is whole. `room` is where bytes go that nobody looks at again.
    pub fn receive(&mut self, room: &mut [u8]) -> io::Result<Option<u16>> {
        loop {
            let count = match self.stream.read(room) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.is_silent = false;
            let wrong = |_| io::Error::new(ErrorKind::InvalidData, "not an answer of HTTP/1.1");
            let status = self.answer.take(&room[..count]).map_err(wrong)?;
            // Where there was more room than bytes, nothing is left, and the system tells when more comes.
            if status.is_some() || count < room.len() {
                return Ok(status);
            }
        }
    }
}
