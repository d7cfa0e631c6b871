//! What went wrong, and what to do about it.

use std::fmt::Display;
use std::io::IsTerminal;

/// A failure of a command: a sentence and, where there is one, a next step.
#[derive(Debug)]
pub(crate) struct Failure {
    sentence: String,
    help: Option<String>,
    status: u8,
}

/// How a command ends that could not do what was asked.
const FAILED: u8 = 1;
/// How a command ends that was asked for something it cannot even begin.
const MISUSED: u8 = 2;

impl Failure {
    /// A failure that says all there is to say.
    pub(crate) fn new(sentence: impl Display) -> Failure {
        Failure { sentence: sentence.to_string(), help: None, status: FAILED }
    }

    /// A failure that its reader can do something about.
    pub(crate) fn with_help(sentence: impl Display, help: impl Into<String>) -> Failure {
        Failure { sentence: sentence.to_string(), help: Some(help.into()), status: FAILED }
    }

    /// The same, as a mistake in how the command was called: a file that cannot be read, a name that means nothing.
    pub(crate) fn into_misuse(self) -> Failure {
        Failure { status: MISUSED, ..self }
    }

    /// How the command ends.
    pub(crate) fn status(&self) -> u8 {
        self.status
    }

    /// Whether it only means that the reader of our output went away.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.sentence.contains("Broken pipe")
    }

    /// As it is printed; in colour on a terminal.
    pub(crate) fn text(&self) -> String {
        let coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let (red, bold, plain) = if coloured { ("\x1b[1;31m", "\x1b[1m", "\x1b[0m") } else { ("", "", "") };
        let help = self.help.as_ref().map(|help| format!("\n{bold}help:{plain} {help}")).unwrap_or_default();
        format!("{red}error:{plain} {}{help}", self.sentence)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure { sentence: error.to_string(), help: None, status: FAILED }
    }
}
