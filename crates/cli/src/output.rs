//! How results are printed: for people, or for programs.

use std::io::Write;

use clap::ValueEnum;
use dynamo::operation::Reply;

use crate::failure::Failure;

/// The form of what a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// DynamoDB's JSON.
    Json,
}

/// Prints a line. A reader that went away has seen enough.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        outcome => Ok(outcome?),
    }
}

/// Prints a text that has its own line ends.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    match write!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        outcome => Ok(outcome?),
    }
}

/// A size as people read it.
pub(crate) fn bytes(count: u64) -> String {
    indicatif::HumanBytes(count).to_string()
}

/// So many of something: `1 entry`, `2 entries`, `1 part`, `0 parts`.
pub(crate) fn count(count: u64, one: &str) -> String {
    match one.strip_suffix('y') {
        _ if count == 1 => format!("1 {one}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{count} {stem}ies"),
        _ => format!("{count} {one}s"),
    }
}

/// Prints a reply as JSON.
pub(crate) fn reply(reply: &Reply) -> Result<(), Failure> {
    let mut json = Vec::new();
    reply.write_json(&mut json);
    let value: serde_json::Value = serde_json::from_slice(&json)?;
    line(&serde_json::to_string_pretty(&value)?)
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn one_of_something_is_not_several() {
        let counts =
            [0, 1, 2].map(|number| [count(number, "entry"), count(number, "part"), count(number, "key")]);
        assert_eq!(counts[0], ["0 entries", "0 parts", "0 keys"]);
        assert_eq!(counts[1], ["1 entry", "1 part", "1 key"]);
        assert_eq!(counts[2], ["2 entries", "2 parts", "2 keys"]);
    }
}
