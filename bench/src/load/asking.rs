//! A request alone, with its whole answer: for making tables, and for trying a workload out before it is measured.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::answer::Answer;
use super::workload::{Request, Workload};

/// A server that thinks longer about one request has not answered it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Asks a server for an operation of DynamoDB; what it says, if it is pleased, or why it is not.
pub fn ask(server: SocketAddr, operation: &str, body: &str) -> Result<String, String> {
    let request = Request::dynamodb(operation, body).first();
    match exchange(server, &request) {
        Ok((200, text)) => Ok(text),
        Ok((status, text)) => Err(format!("{operation} was answered with {status}: {}", reason(&text))),
        Err(error) => Err(format!("{operation} was not answered: {error}")),
    }
}

/// Whether there is an answer over HTTP, whatever it says.
pub fn is_answered(server: SocketAddr) -> bool {
    exchange(server, &Request::dynamodb("ListTables", "{}").first()).is_ok()
}

/// Sends one operation of each kind of a workload; why the server cannot do it, if so.
pub fn try_out(server: SocketAddr, workload: &mut Workload) -> Result<(), String> {
    for (place, request) in workload.sample().iter().enumerate() {
        match exchange(server, request) {
            Ok((200..300, text)) if place > 0 || text.contains(workload.expects) => {}
            Ok((200..300, _)) => return Err("wrong answer".to_owned()),
            Ok((_, text)) => return Err(format!("refused: {}", reason(&text))),
            Err(error) => return Err(format!("no answer: {error}")),
        }
    }
    Ok(())
}

fn exchange(server: SocketAddr, request: &[u8]) -> io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(server)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(request)?;
    let (mut answer, mut all, mut room) = (Answer::default(), Vec::new(), vec![0; 64 << 10]);
    loop {
        let count = stream.read(&mut room)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        all.extend_from_slice(&room[..count]);
        let wrong = |_| io::Error::new(io::ErrorKind::InvalidData, "not an answer of HTTP/1.1");
        if let Some(status) = answer.take(&room[..count]).map_err(wrong)? {
            return Ok((status, String::from_utf8_lossy(&all).into_owned()));
        }
    }
}

/// What an answer complains of, in a few words.
fn reason(answer: &str) -> String {
    let body = answer.split_once("\r\n\r\n").map_or(answer, |(_, body)| body);
    let value: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let member =
        |name: &str| value.get(name).and_then(serde_json::Value::as_str).filter(|text| !text.is_empty());
    let text =
        member("message").or(member("Message")).or(member("detail")).or(member("__type")).unwrap_or(body);
    text.rsplit('#').next().unwrap_or(text).chars().take(60).collect()
}
