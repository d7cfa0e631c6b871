//! The words and signs of a statement, each with its place.

use std::fmt::{self, Display, Formatter};
use std::iter::Peekable;
use std::str::Chars;

use super::error::{Malformed, StatementError};

/// A word or sign and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) place: Place,
}

/// What it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a name.
    Word(String),
    /// A name between double quotes.
    Quoted(String),
    /// A text between single quotes.
    Text(String),
    /// A number without sign.
    Number(String),
    /// An operator, bracket, comma or question mark.
    Sign(&'static str),
}

/// Line and column, from one, and the length in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    line: usize,
    column: usize,
    length: usize,
}

impl Display for Place {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.line, self.column, self.length)
    }
}

/// Longer signs before those that they begin with.
const SIGNS: [&str; 25] = [
    "<<", ">>", "<=", ">=", "<>", "!=", "||", "<", ">", "=", "(", ")", "[", "]", "{", "}", ",", ".", ":",
    "*", "+", "-", "/", "%", "?",
];

/// Takes a statement apart.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, StatementError> {
    let mut scanner = Scanner { rest: text.chars().peekable(), line: 1, column: 1 };
    let mut tokens = Vec::new();
    while let Some(token) = scanner.token()? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Scanner<'a> {
    rest: Peekable<Chars<'a>>,
    line: usize,
    column: usize,
}

impl Scanner<'_> {
    fn token(&mut self) -> Result<Option<Token>, StatementError> {
        self.skip_blanks()?;
        let (line, column) = (self.line, self.column);
        let Some(first) = self.rest.peek().copied() else { return Ok(None) };
        let kind = match first {
            '\'' => Kind::Text(self.quoted('\'')?),
            '"' => Kind::Quoted(self.quoted('"')?),
            _ if is_name_start(first) => Kind::Word(self.while_true(is_name_part)),
            _ if first.is_ascii_digit() || self.is_fraction() => Kind::Number(self.number()?),
            // The statement may end with a semicolon.
            ';' if self.is_last() => return Ok(None),
            _ => self.sign()?,
        };
        let length = if self.line == line { self.column - column } else { 1 };
        Ok(Some(Token { kind, place: Place { line, column, length } }))
    }

    /// Skips what says nothing: blanks, `--` with the rest of its line, and what stands between `/*` and `*/`.
    fn skip_blanks(&mut self) -> Result<(), StatementError> {
        loop {
            if self.take_pair(['-', '-']) {
                while self.take(|next| next != '\n').is_some() {}
            } else if self.take_pair(['/', '*']) {
                while !self.take_pair(['*', '/']) {
                    if self.take(|_| true).is_none() {
                        return Err(Malformed::Text.into());
                    }
                }
            } else if self.take(char::is_whitespace).is_none() {
                return Ok(());
            }
        }
    }

    /// Takes two characters if they come next.
    fn take_pair(&mut self, pair: [char; 2]) -> bool {
        let is_next = self.rest.clone().take(2).eq(pair);
        if is_next {
            self.take(|_| true);
            self.take(|_| true);
        }
        is_next
    }

    /// The next character, if it is such a one.
    fn take(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let found = self.rest.next_if(|next| wanted(*next))?;
        if found == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(found)
    }

    fn while_true(&mut self, wanted: impl Fn(char) -> bool) -> String {
        std::iter::from_fn(|| self.take(&wanted)).collect()
    }

    /// What stands between two quotes; a quote in it is written twice.
    fn quoted(&mut self, quote: char) -> Result<String, StatementError> {
        self.take(|next| next == quote);
        let mut text = String::new();
        loop {
            text.push_str(&self.while_true(|next| next != quote));
            if self.take(|next| next == quote).is_none() {
                return Err(Malformed::Text.into());
            }
            match self.take(|next| next == quote) {
                Some(doubled) => text.push(doubled),
                None => return Ok(text),
            }
        }
    }

    /// True before a point and a digit: a number without digits before its point.
    fn is_fraction(&self) -> bool {
        let mut ahead = self.rest.clone();
        ahead.next() == Some('.') && ahead.next().is_some_and(|next| next.is_ascii_digit())
    }

    fn number(&mut self) -> Result<String, StatementError> {
        let is_digit = |next: char| next.is_ascii_digit();
        let mut text = self.while_true(is_digit);
        let mut fraction = String::new();
        if let Some(point) = self.take(|next| next == '.') {
            fraction = self.while_true(is_digit);
            text.push(point);
            text.push_str(&fraction);
        }
        if let Some(mark) = self.take(|next| matches!(next, 'e' | 'E')) {
            let mut exponent: String = self.take(|next| matches!(next, '+' | '-')).into_iter().collect();
            exponent.push_str(&self.while_true(is_digit));
            check_scale(&fraction, &exponent)?;
            text.push(mark);
            text.push_str(&exponent);
        }
        Ok(text)
    }

    fn sign(&mut self) -> Result<Kind, StatementError> {
        let mut ahead = self.rest.clone();
        let (first, second) = (ahead.next(), ahead.next());
        let is_next = |sign: &str| {
            let mut chars = sign.chars();
            chars.next() == first && chars.next().is_none_or(|wanted| Some(wanted) == second)
        };
        let Some(sign) = SIGNS.into_iter().find(|sign| is_next(sign)) else {
            return Err(Malformed::Text.into());
        };
        for _ in sign.chars() {
            self.take(|_| true);
        }
        Ok(Kind::Sign(sign))
    }

    /// True if nothing but blanks follows the next character.
    fn is_last(&self) -> bool {
        let mut after = Scanner { rest: self.rest.clone(), line: 1, column: 1 };
        after.take(|_| true);
        after.skip_blanks().is_ok() && after.rest.peek().is_none()
    }
}

/// An exponent must fit 32 bits, and so must the digits after the point without it.
fn check_scale(fraction: &str, exponent: &str) -> Result<(), StatementError> {
    let exponent: i32 = exponent.parse().map_err(|_| Malformed::Text)?;
    let digits = i64::try_from(fraction.len()).unwrap_or(i64::MAX / 2);
    i32::try_from(digits - i64::from(exponent)).map(|_| ()).map_err(|_| Malformed::Text.into())
}

fn is_name_start(character: char) -> bool {
    character.is_ascii_alphabetic() || matches!(character, '_' | '$')
}

fn is_name_part(character: char) -> bool {
    is_name_start(character) || character.is_ascii_digit()
}
