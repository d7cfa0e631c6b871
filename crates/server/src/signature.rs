//! Signatures of version 4: proof that a request was made by whoever knows the secret of its access key, and was not changed.
//!
//! Always true: what a signature does not cover cannot matter. The operation stands in a header, so `host`, the date and every
//! `x-amz-*` header must be signed; otherwise a captured GetItem could be sent again as a DeleteItem.
//!
//! The order of the checks and their words are DynamoDB's.

use std::fmt::Write;

use dynamo::{ApiError, ErrorKind};
use hyper::header::{DATE, HOST, HeaderName};
use ring::{digest, hmac};

use crate::authentication::Claim;
use crate::credentials::{Access, Credentials, Key};
use crate::date::Moment;
use crate::head::Head;
use crate::origin;
use crate::query_string::{encode, parameters, read_hex_32, write_hex};

/// How far a client's clock may be off.
const SKEW_SECONDS: i64 = 15 * 60;
const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const SERVICE: &str = "dynamodb";
const TERMINATOR: &str = "aws4_request";
const CONTENT_TYPE: &str = "application/x-amz-json-1.0";
const AMZ_DATE: HeaderName = HeaderName::from_static("x-amz-date");

/// Verifies signatures against what is known.
#[derive(Debug)]
pub(crate) struct Verifier {
    pub(crate) credentials: Credentials,
    pub(crate) region: String,
}

impl Verifier {
    /// What the request may do. Without credentials to verify against, everything.
    pub(crate) fn verify(
        &self,
        claim: &Claim<'_>,
        request: &Head<'_>,
        body: &[u8],
        now: impl FnOnce() -> Moment,
    ) -> Result<Access, ApiError> {
        if self.credentials.is_empty() {
            return Ok(Access::Full);
        }
        let date = check_date(claim, now())?;
        check_signed_headers(claim, request)?;
        if claim.algorithm != ALGORITHM {
            return Err(incomplete(format!(
                "Unsupported AWS 'algorithm': '{}' (only AWS4-HMAC-SHA256 for now). ",
                claim.algorithm
            )));
        }
        let scope = self.check_scope(claim, &date)?;
        let key = self.credentials.find(scope.key_id).ok_or_else(unknown_key)?;
        check_signature(claim, request, body, key, &scope, &date)?;
        // None of our keys belongs to a session.
        if claim.security_token.is_some() {
            return Err(unknown_key());
        }
        Ok(key.access)
    }

    fn check_scope<'a>(&self, claim: &'a Claim<'_>, date: &str) -> Result<Scope<'a>, ApiError> {
        let scope = Scope::parse(&claim.credential)?;
        let mut wrong = String::new();
        if scope.region != self.region {
            let _ = write!(wrong, "Credential should be scoped to a valid region, not '{}'. ", scope.region);
        }
        if scope.service != SERVICE {
            wrong.push_str("Credential should be scoped to correct service: 'dynamodb'. ");
        }
        if scope.terminator != TERMINATOR {
            let _ = write!(
                wrong,
                "Credential should be scoped with a valid terminator: 'aws4_request', not '{}'. ",
                scope.terminator
            );
        }
        let day = date.get(..8).unwrap_or(date);
        if scope.day != day {
            let _ = write!(
                wrong,
                "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '{}' != '{day}', from '{date}'.",
                scope.day
            );
        }
        if wrong.is_empty() { Ok(scope) } else { Err(invalid(wrong.trim_end())) }
    }
}

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorKind::InvalidSignature, message)
}

fn incomplete(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorKind::IncompleteSignature, message)
}

fn unknown_key() -> ApiError {
    ApiError::new(ErrorKind::UnrecognizedClient, "The security token included in the request is invalid.")
}

/// What a credential is good for: `key/20150830/us-east-1/dynamodb/aws4_request`.
struct Scope<'a> {
    key_id: &'a str,
    day: &'a str,
    region: &'a str,
    service: &'a str,
    terminator: &'a str,
}

impl<'a> Scope<'a> {
    fn parse(credential: &'a str) -> Result<Scope<'a>, ApiError> {
        let trimmed = credential.trim_end_matches('/');
        let parts: Vec<&str> = trimmed.split('/').collect();
        let &[key_id, day, region, service, terminator] = parts.as_slice() else {
            return Err(incomplete(format!(
                "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '{credential}'"
            )));
        };
        Ok(Scope { key_id, day, region, service, terminator })
    }
}

/// The date of the signature in ISO 8601's basic format, if it is near enough to now.
fn check_date(claim: &Claim<'_>, now: Moment) -> Result<String, ApiError> {
    let moment = Moment::parse_basic(&claim.date).or_else(|| Moment::parse_http(&claim.date)).ok_or_else(|| {
        incomplete(format!(
            "Date must be in ISO-8601 'basic format'. Got '{}'. See http://en.wikipedia.org/wiki/ISO_8601",
            claim.date
        ))
    })?;
    let date = moment.basic();
    let (earliest, latest) = (now.plus(-SKEW_SECONDS), now.plus(SKEW_SECONDS));
    // A signature in a query string may be good for longer than the skew, or for less.
    let end = claim.expires_seconds.map_or(moment.plus(SKEW_SECONDS), |seconds| moment.plus(seconds));
    if end < now {
        return Err(invalid(format!(
            "Signature expired: {date} is now earlier than {} ({} - 15 min.)",
            earliest.basic(),
            now.basic()
        )));
    }
    if moment > latest {
        return Err(invalid(format!(
            "Signature not yet current: {date} is still later than {} ({} + 15 min.)",
            latest.basic(),
            now.basic()
        )));
    }
    Ok(date)
}

fn check_signed_headers(claim: &Claim<'_>, request: &Head<'_>) -> Result<(), ApiError> {
    let is_signed =
        |name: &str| claim.signed_headers.split(';').any(|signed| signed.eq_ignore_ascii_case(name));
    let unsigned =
        |name: &str| invalid(format!("'{name}' must be a 'SignedHeader' in the AWS Authorization."));
    if !is_signed("host") {
        return Err(unsigned("Host"));
    }
    let headers = request.headers;
    if claim.expires_seconds.is_none()
        && !headers.contains(&AMZ_DATE)
        && headers.contains(&DATE)
        && !is_signed("date")
    {
        return Err(unsigned("Date"));
    }
    match headers.find_name(|name| name.starts_with("x-amz-") && !is_signed(name)) {
        Some(name) => Err(unsigned(&name)),
        None => Ok(()),
    }
}

fn check_signature(
    claim: &Claim<'_>,
    request: &Head<'_>,
    body: &[u8],
    key: &Key,
    scope: &Scope<'_>,
    date: &str,
) -> Result<(), ApiError> {
    let scope = format!("{}/{}/{}", scope.day, scope.region, scope.service);
    let text = string_to_sign(&canonical_request(request, &claim.signed_headers, body), date, &scope);
    let given = read_hex_32(&claim.signature).unwrap_or_default();
    // Compares in constant time.
    hmac::verify(&key.signing_key(&scope), text.as_bytes(), &given).map_err(|_| {
        invalid(
            "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key \
             and signing method. Consult the service documentation for details.",
        )
    })
}

fn string_to_sign(canonical: &str, date: &str, scope: &str) -> String {
    let mut text = format!("{ALGORITHM}\n{date}\n{scope}/{TERMINATOR}\n");
    write_hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref(), &mut text);
    text
}

/// The key for signatures of one scope, `20150830/us-east-1/dynamodb`.
pub(crate) fn signing_key(secret: &str, scope: &str) -> hmac::Key {
    let mut key = hmac::Key::new(hmac::HMAC_SHA256, format!("AWS4{secret}").as_bytes());
    for part in scope.split('/').chain([TERMINATOR]) {
        key = hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&key, part.as_bytes()).as_ref());
    }
    key
}

/// The headers that prove who sent a request.
#[derive(Clone, Debug)]
pub struct Signed {
    /// X-Amz-Date.
    pub date: String,
    /// Authorization.
    pub authorization: String,
}

/// Signs a POST of JSON to an operation, for a client; `key` is an access key and its secret.
pub fn sign(
    host: &str,
    target: &str,
    body: &[u8],
    region: &str,
    key: (&str, &str),
    now_seconds: i64,
) -> Signed {
    const HEADERS: &str = "content-type;host;x-amz-date;x-amz-target";
    let date = Moment(now_seconds).basic();
    let scope = format!("{}/{region}/{SERVICE}", date.get(..8).unwrap_or(&date));
    let mut text = format!(
        "POST\n/\n\ncontent-type:{CONTENT_TYPE}\nhost:{host}\nx-amz-date:{date}\nx-amz-target:{target}\n\n{HEADERS}\n"
    );
    write_hex(digest::digest(&digest::SHA256, body).as_ref(), &mut text);
    let to_sign = string_to_sign(&text, &date, &scope);
    let mut authorization =
        format!("{ALGORITHM} Credential={}/{scope}/{TERMINATOR}, SignedHeaders={HEADERS}, Signature=", key.0);
    write_hex(hmac::sign(&signing_key(key.1, &scope), to_sign.as_bytes()).as_ref(), &mut authorization);
    Signed { date, authorization }
}

/// The request in the one form that both sides agree on.
fn canonical_request(request: &Head<'_>, signed_headers: &str, body: &[u8]) -> String {
    let mut text = String::with_capacity(512);
    text.push_str(request.method.as_str());
    text.push('\n');
    encode(normalized(request.path).as_ref(), true, &mut text);
    text.push('\n');
    write_canonical_query(request.query, &mut text);
    text.push('\n');
    for name in signed_headers.split(';') {
        text.push_str(name);
        text.push(':');
        write_canonical_header(request, name, &mut text);
        text.push('\n');
    }
    text.push('\n');
    text.push_str(signed_headers);
    text.push('\n');
    write_hex(digest::digest(&digest::SHA256, body).as_ref(), &mut text);
    text
}

/// A path without empty, `.` and `..` segments.
fn normalized(path: &str) -> std::borrow::Cow<'_, str> {
    if path == "/" {
        return path.into();
    }
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            other => segments.push(other),
        }
    }
    let end = if path.ends_with('/') && !segments.is_empty() { "/" } else { "" };
    format!("/{}{end}", segments.join("/")).into()
}

/// The parameters sorted, without the signature itself.
fn write_canonical_query(query: &str, text: &mut String) {
    if query.is_empty() {
        return;
    }
    let encoded = |part: &str| {
        let mut encoded = String::with_capacity(part.len());
        encode(part, false, &mut encoded);
        encoded
    };
    let mut all: Vec<_> = parameters(query)
        .filter(|(name, _)| name != "X-Amz-Signature")
        .map(|(name, value)| (encoded(&name), encoded(&value)))
        .collect();
    all.sort();
    for (place, (name, value)) in all.iter().enumerate() {
        let _ = write!(text, "{}{name}={value}", if place == 0 { "" } else { "&" });
    }
}

/// The values of a header, joined by commas, each trimmed and with single spaces.
fn write_canonical_header(request: &Head<'_>, name: &str, text: &mut String) {
    if name.eq_ignore_ascii_case("host") && !request.headers.contains(&HOST) {
        text.push_str(origin::host(request).unwrap_or(""));
        return;
    }
    let mut is_first = true;
    request.headers.for_each_value(name, |value| {
        if !std::mem::take(&mut is_first) {
            text.push(',');
        }
        write_trimmed(value, text);
    });
}

fn write_trimmed(value: &[u8], text: &mut String) {
    let value = String::from_utf8_lossy(value);
    for (place, word) in value.split([' ', '\t']).filter(|word| !word.is_empty()).enumerate() {
        if place > 0 {
            text.push(' ');
        }
        text.push_str(word);
    }
}

#[cfg(test)]
mod tests;
