//! The head of a request as the checks see it, whichever road it came by: hyper's types, or headers in the buffer of a connection.
//!
//! Always true: names are compared without regard to case, and a header that stands several times has all its values in the order
//! in which they were sent.

use hyper::Method;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;

/// What a request asks for, without its body.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    /// `:authority` in HTTP/2.
    pub(crate) authority: Option<&'a str>,
    pub(crate) headers: Headers<'a>,
}

/// The headers of a request.
#[derive(Clone, Copy)]
pub(crate) enum Headers<'a> {
    Map(&'a HeaderMap),
    List(&'a [httparse::Header<'a>]),
}

impl<'a> From<&'a Parts> for Head<'a> {
    fn from(parts: &'a Parts) -> Head<'a> {
        Head {
            method: &parts.method,
            path: parts.uri.path(),
            query: parts.uri.query().unwrap_or(""),
            authority: parts.uri.authority().map(Authority::as_str),
            headers: Headers::Map(&parts.headers),
        }
    }
}

impl<'a> Headers<'a> {
    /// The first value of a header.
    pub(crate) fn get(self, name: &HeaderName) -> Option<&'a [u8]> {
        match self {
            Headers::Map(map) => map.get(name).map(HeaderValue::as_bytes),
            Headers::List(list) => {
                list.iter().find(|header| is_named(header, name.as_str())).map(|header| header.value)
            }
        }
    }

    /// The first value of a header, if it is plain text.
    pub(crate) fn text(self, name: &HeaderName) -> Option<&'a str> {
        self.get(name).and_then(plain_text)
    }

    pub(crate) fn contains(self, name: &HeaderName) -> bool {
        self.get(name).is_some()
    }

    /// Calls `each` with the values of a header, in their order.
    pub(crate) fn for_each_value(self, name: &str, mut each: impl FnMut(&'a [u8])) {
        match self {
            Headers::Map(map) => map.get_all(name).iter().for_each(|value| each(value.as_bytes())),
            Headers::List(list) => {
                list.iter().filter(|header| is_named(header, name)).for_each(|header| each(header.value));
            }
        }
    }

    /// The first name that fits, in lower case.
    pub(crate) fn find_name(self, mut fits: impl FnMut(&str) -> bool) -> Option<String> {
        match self {
            Headers::Map(map) => map.keys().find(|name| fits(name.as_str())).map(ToString::to_string),
            Headers::List(list) => {
                list.iter().map(|header| header.name.to_ascii_lowercase()).find(|name| fits(name))
            }
        }
    }
}

/// Most names differ in their length: nobody looks further then.
#[inline]
fn is_named(header: &httparse::Header<'_>, name: &str) -> bool {
    header.name.len() == name.len() && header.name.eq_ignore_ascii_case(name)
}

/// A value as text, if it has visible characters of ASCII only. Neither road lets control characters through.
pub(crate) fn plain_text(value: &[u8]) -> Option<&str> {
    std::str::from_utf8(value).ok().filter(|text| text.is_ascii())
}

#[cfg(test)]
mod tests {
    use hyper::Request;
    use hyper::header::{ACCEPT, HOST, ORIGIN};

    use super::*;

    /// What both kinds of headers answer to the same questions.
    type Answers = (Option<Vec<u8>>, bool, Vec<Vec<u8>>, Option<String>, Option<String>);

    fn answers(headers: Headers<'_>) -> Answers {
        let mut values = Vec::new();
        headers.for_each_value("accept", |value| values.push(value.to_vec()));
        (
            headers.get(&HOST).map(<[u8]>::to_vec),
            headers.contains(&ORIGIN),
            values,
            headers.find_name(|name| name.starts_with("x-amz-")),
            headers.text(&ACCEPT).map(str::to_owned),
        )
    }

    #[test]
    fn both_kinds_of_headers_answer_alike() {
        let sent = [("Host", "localhost"), ("ACCEPT", "a"), ("accept", "b"), ("X-Amz-Date", "d\u{e9}")];
        let mut builder = Request::builder();
        for (name, value) in sent {
            builder = builder.header(name, value.as_bytes());
        }
        let parts = builder.body(()).unwrap().into_parts().0;
        let list = sent.map(|(name, value)| httparse::Header { name, value: value.as_bytes() });
        let expected = (
            Some(b"localhost".to_vec()),
            false,
            vec![b"a".to_vec(), b"b".to_vec()],
            Some("x-amz-date".to_owned()),
            Some("a".to_owned()),
        );
        assert_eq!(answers(Headers::Map(&parts.headers)), expected);
        assert_eq!(answers(Headers::List(&list)), expected);
    }

    #[test]
    fn a_value_beyond_ascii_is_no_text() {
        assert_eq!(plain_text("d\u{e9}".as_bytes()), None);
        assert_eq!(plain_text(b"\xff"), None);
        assert_eq!(plain_text(b"a\tb"), Some("a\tb"));
    }
}
