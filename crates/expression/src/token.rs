//! The tokens of an expression. Every text has tokens: what the grammar knows nothing of becomes a token of one
//! character, for the parser to refuse.

use crate::tree::Comparator;

/// A token and its place in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A letter, then letters, digits and underscores: an attribute, a function or a keyword.
    Name,
    /// `#name`.
    NamePlaceholder,
    /// `:value`.
    ValuePlaceholder,
    /// Digits.
    Number,
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    Dot,
    Comma,
    Compare(Comparator),
    Plus,
    Minus,
    /// A character that no token begins with.
    Unknown,
    /// After the last token; never the text's own.
    End,
}

/// The tokens of a text, the last one being [`TokenKind::End`].
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 3 + 2);
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        if let [b' ' | b'\t' | b'\r' | b'\n', ..] = rest.as_bytes() {
            start += 1;
            continue;
        }
        let (kind, length) = first_token(rest);
        tokens.push(Token { kind, start, end: start + length });
        start += length;
    }
    tokens.push(Token { kind: TokenKind::End, start: text.len(), end: text.len() });
    tokens
}

/// The token at the start of a text that is not empty, and its length.
fn first_token(text: &str) -> (TokenKind, usize) {
    match text.as_bytes() {
        [b'a'..=b'z' | b'A'..=b'Z', rest @ ..] => (TokenKind::Name, 1 + word_length(rest)),
        [b'0'..=b'9', rest @ ..] => {
            (TokenKind::Number, 1 + rest.iter().take_while(|byte| byte.is_ascii_digit()).count())
        }
        [b'#', rest @ ..] if word_length(rest) > 0 => (TokenKind::NamePlaceholder, 1 + word_length(rest)),
        [b':', rest @ ..] if word_length(rest) > 0 => (TokenKind::ValuePlaceholder, 1 + word_length(rest)),
        [b'<', b'>', ..] => (TokenKind::Compare(Comparator::Ne), 2),
        [b'<', b'=', ..] => (TokenKind::Compare(Comparator::Le), 2),
        [b'>', b'=', ..] => (TokenKind::Compare(Comparator::Ge), 2),
        [b'<', ..] => (TokenKind::Compare(Comparator::Lt), 1),
        [b'>', ..] => (TokenKind::Compare(Comparator::Gt), 1),
        [b'=', ..] => (TokenKind::Compare(Comparator::Eq), 1),
        [b'(', ..] => (TokenKind::Open, 1),
        [b')', ..] => (TokenKind::Close, 1),
        [b'[', ..] => (TokenKind::OpenBracket, 1),
        [b']', ..] => (TokenKind::CloseBracket, 1),
        [b'.', ..] => (TokenKind::Dot, 1),
        [b',', ..] => (TokenKind::Comma, 1),
        [b'+', ..] => (TokenKind::Plus, 1),
        [b'-', ..] => (TokenKind::Minus, 1),
        _ => (TokenKind::Unknown, text.chars().next().map_or(1, char::len_utf8)),
    }
}

fn word_length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}

/// True for a placeholder as the keys of ExpressionAttributeNames and ExpressionAttributeValues must be.
pub(crate) fn is_placeholder(key: &str, sign: u8) -> bool {
    let Some((first, rest)) = key.as_bytes().split_first() else { return false };
    *first == sign && !rest.is_empty() && word_length(rest) == rest.len()
}
