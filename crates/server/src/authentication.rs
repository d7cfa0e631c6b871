//! What a request says about its own signature, and whether it says everything.
//!
//! These checks are made whether or not there are credentials to verify against, in DynamoDB's order and words
//! (known from the tests of the open-source server dynalite, which were recorded against DynamoDB).

use std::borrow::Cow;
use std::fmt::Write;

use dynamo::{ApiError, ErrorKind};
use hyper::header::{AUTHORIZATION, DATE, HeaderName};

use crate::head::{Head, plain_text};
use crate::query_string::parameters;

const AMZ_DATE: HeaderName = HeaderName::from_static("x-amz-date");
const SECURITY_TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");

/// What a request says about its signature; not yet believed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Claim<'a> {
    pub(crate) algorithm: Cow<'a, str>,
    pub(crate) credential: Cow<'a, str>,
    pub(crate) signed_headers: Cow<'a, str>,
    pub(crate) signature: Cow<'a, str>,
    pub(crate) date: Cow<'a, str>,
    /// Seconds for which a signature in the query string is good.
    pub(crate) expires_seconds: Option<i64>,
    /// The session that the signature belongs to.
    pub(crate) security_token: Option<Cow<'a, str>>,
}

/// The claim of a request.
pub(crate) fn claim<'a>(request: &Head<'a>) -> Result<Claim<'a>, ApiError> {
    let query = request.query;
    let in_query =
        query.contains("X-Amz-Algorithm") && parameters(query).any(|(name, _)| name == "X-Amz-Algorithm");
    let header = request.headers.get(&AUTHORIZATION).filter(|value| !value.is_empty());
    match (header, in_query) {
        (Some(_), true) => Err(both()),
        (None, false) => Err(missing()),
        (None, true) => query_claim(query),
        (Some(header), false) => {
            let text = plain_text(header).ok_or_else(missing)?;
            if text.trim().starts_with("AWS4-") { header_claim(request, text) } else { Err(missing()) }
        }
    }
}

fn missing() -> ApiError {
    ApiError::new(ErrorKind::MissingAuthenticationToken, "Request is missing Authentication Token")
}

fn both() -> ApiError {
    ApiError::new(
        ErrorKind::InvalidSignature,
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
    )
}

fn incomplete(message: String) -> ApiError {
    ApiError::new(ErrorKind::IncompleteSignature, message)
}

/// Reads `AWS4-HMAC-SHA256 Credential=..., SignedHeaders=..., Signature=...`.
fn header_claim<'a>(request: &Head<'a>, text: &'a str) -> Result<Claim<'a>, ApiError> {
    let (mut algorithm, mut credential, mut signature, mut signed_headers) = ("", "", "", "");
    let mut start = 0;
    for end in memchr::memchr2_iter(b',', b' ', text.as_bytes()).chain([text.len()]) {
        let part = text.get(start..end).unwrap_or("");
        start = end + 1;
        if algorithm.is_empty() {
            algorithm = part;
        } else if let Some(value) = part.strip_prefix("Credential=") {
            credential = value;
        } else if let Some(value) = part.strip_prefix("SignedHeaders=") {
            signed_headers = value;
        } else if let Some(value) = part.strip_prefix("Signature=") {
            signature = value;
        }
    }
    let headers = request.headers;
    let date = headers.text(&AMZ_DATE).or_else(|| headers.text(&DATE)).unwrap_or("");
    let named = [("Credential", credential), ("Signature", signature), ("SignedHeaders", signed_headers)];
    let mut lacks = String::new();
    for (name, _) in named.iter().filter(|(_, value)| value.is_empty()) {
        // Writing to a String cannot fail.
        let _ = write!(lacks, "Authorization header requires '{name}' parameter. ");
    }
    if date.is_empty() {
        lacks.push_str(
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ",
        );
    }
    if !lacks.is_empty() {
        return Err(incomplete(format!("{lacks}Authorization={text}")));
    }
    Ok(Claim {
        algorithm: algorithm.into(),
        credential: credential.into(),
        signed_headers: signed_headers.into(),
        signature: signature.into(),
        date: date.into(),
        expires_seconds: None,
        security_token: headers.text(&SECURITY_TOKEN).map(Cow::Borrowed),
    })
}

/// Reads `?X-Amz-Algorithm=...&X-Amz-Credential=...`.
fn query_claim(query: &str) -> Result<Claim<'_>, ApiError> {
    const NEEDED: [&str; 5] =
        ["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date"];
    let find = |wanted: &str| parameters(query).find(|(name, _)| name == wanted).map(|(_, value)| value);
    let mut found = NEEDED.map(|name| find(name).unwrap_or_default());
    let mut lacks = String::new();
    for (name, _) in NEEDED.iter().zip(&found).filter(|(_, value)| value.is_empty()) {
        let _ = write!(lacks, "AWS query-string parameters must include '{name}'. ");
    }
    if !lacks.is_empty() {
        return Err(incomplete(format!("{lacks}Re-examine the query-string parameters.")));
    }
    let [algorithm, credential, signature, signed_headers, date] = found.each_mut().map(std::mem::take);
    Ok(Claim {
        algorithm,
        credential,
        signed_headers,
        signature,
        date,
        expires_seconds: find("X-Amz-Expires").and_then(|seconds| seconds.parse().ok()),
        security_token: find("X-Amz-Security-Token"),
    })
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn refusal(uri: &str, headers: &[(&str, &str)]) -> String {
        let mut builder = Request::builder().uri(uri);
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        let parts = builder.body(()).unwrap().into_parts().0;
        claim(&Head::from(&parts)).unwrap_err().to_string()
    }

    #[test]
    fn a_request_without_a_signature_lacks_its_token() {
        let missing = "MissingAuthenticationTokenException: Request is missing Authentication Token";
        assert_eq!(refusal("/", &[]), missing);
        assert_eq!(refusal("/", &[("authorization", "AWS4")]), missing);
        assert_eq!(refusal("/?X-Amz-Algorith", &[("authorization", "X")]), missing);
        assert_eq!(
            refusal("/?X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-SignedHeaders=c&X-Amz-Date=d", &[]),
            missing
        );
    }

    #[test]
    fn a_signature_comes_in_one_place() {
        assert_eq!(
            refusal("/?X-Amz-Algorithm", &[("authorization", "X")]),
            "InvalidSignatureException: Found both 'X-Amz-Algorithm' as a query-string param and \
             'Authorization' as HTTP header."
        );
    }

    #[test]
    fn everything_that_a_header_lacks_is_named() {
        assert_eq!(
            refusal("/", &[("authorization", "AWS4-")]),
            "IncompleteSignatureException: Authorization header requires 'Credential' parameter. \
             Authorization header requires 'Signature' parameter. \
             Authorization header requires 'SignedHeaders' parameter. \
             Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4-"
        );
        for header in [
            "AWS4- Signature=b Credential=a",
            "AWS4- Signature=b,Credential=a",
            "AWS4- Signature=b, Credential=a",
        ] {
            let expected = format!(
                "IncompleteSignatureException: Authorization header requires 'SignedHeaders' parameter. Authorization={header}"
            );
            assert_eq!(refusal("/", &[("authorization", header), ("date", "a")]), expected);
        }
    }

    #[test]
    fn everything_that_a_query_lacks_is_named() {
        assert_eq!(
            refusal("/?X-Amz-Algorithm", &[]),
            "IncompleteSignatureException: AWS query-string parameters must include 'X-Amz-Algorithm'. \
             AWS query-string parameters must include 'X-Amz-Credential'. \
             AWS query-string parameters must include 'X-Amz-Signature'. \
             AWS query-string parameters must include 'X-Amz-SignedHeaders'. \
             AWS query-string parameters must include 'X-Amz-Date'. Re-examine the query-string parameters."
        );
        assert_eq!(
            refusal("/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d", &[]),
            "IncompleteSignatureException: AWS query-string parameters must include 'X-Amz-SignedHeaders'. \
             Re-examine the query-string parameters."
        );
    }
}
