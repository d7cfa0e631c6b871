//! AWS's own test vectors for signatures of version 4, and the rules beyond them.

use hyper::Request;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::http::request::Parts;

use super::*;
use crate::authentication::claim;
use crate::head::Headers;

const KEY: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const DATE: &str = "20150830T123600Z";

/// A vector: its name, method, target, headers besides Host and X-Amz-Date, body, and the signature that AWS gives for it.
type Vector = (
    &'static str,
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
    &'static str,
);

const VECTORS: &[Vector] = &[
    ("get-vanilla", "GET", "/", &[], "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    (
        "get-unreserved",
        "GET",
        "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        &[],
        "",
        "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
    ),
    (
        "get-vanilla-query-order-key-case",
        "GET",
        "/?Param2=value2&Param1=value1",
        &[],
        "",
        "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    ),
    (
        "get-vanilla-query-order-encoded",
        "GET",
        "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
        &[],
        "",
        "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac",
    ),
    (
        "get-vanilla-query-unreserved",
        "GET",
        "/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        &[],
        "",
        "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
    ),
    (
        "get-vanilla-utf8-query",
        "GET",
        "/?%E1%88%B4=bar",
        &[],
        "",
        "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04",
    ),
    (
        "get-header-key-duplicate",
        "GET",
        "/",
        &[("my-header1", "value2"), ("my-header1", "value2"), ("my-header1", "value1")],
        "",
        "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
    ),
    (
        "get-header-value-order",
        "GET",
        "/",
        &[
            ("my-header1", "value4"),
            ("my-header1", "value1"),
            ("my-header1", "value3"),
            ("my-header1", "value2"),
        ],
        "",
        "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01",
    ),
    (
        "get-header-value-trim",
        "GET",
        "/",
        &[("my-header1", " value1"), ("my-header2", " \"a   b   c\"")],
        "",
        "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
    ),
    (
        "post-vanilla",
        "POST",
        "/",
        &[],
        "",
        "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    ),
    (
        "post-vanilla-query",
        "POST",
        "/?Param1=value1",
        &[],
        "",
        "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
    ),
    (
        "post-header-value-case",
        "POST",
        "/",
        &[("my-header1", "VALUE1")],
        "",
        "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
    ),
    (
        "post-x-www-form-urlencoded",
        "POST",
        "/",
        &[
            ("content-type", "application/x-www-form-urlencoded"),
            ("content-length", "13"),
            ("x-amz-content-sha256", "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"),
        ],
        "Param1=value1",
        "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b",
    ),
];

fn parts(method: &str, target: &str, headers: &[(&str, &str)]) -> Parts {
    let mut builder = Request::builder().method(method).uri(target);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(()).unwrap().into_parts().0
}

fn names(headers: &HeaderMap) -> String {
    let mut names: Vec<_> = headers.keys().map(hyper::header::HeaderName::as_str).collect();
    names.sort_unstable();
    names.join(";")
}

fn signature(request: &Parts, body: &[u8], scope: &str) -> String {
    let canonical = canonical_request(&Head::from(request), &names(&request.headers), body);
    let text = string_to_sign(&canonical, DATE, scope);
    let mut hex = String::new();
    write_hex(hmac::sign(&signing_key(SECRET, scope), text.as_bytes()).as_ref(), &mut hex);
    hex
}

#[test]
fn signatures_are_those_of_the_official_vectors() {
    for (name, method, target, extra, body, expected) in VECTORS {
        let mut headers = vec![("host", "example.amazonaws.com"), ("x-amz-date", DATE)];
        headers.extend_from_slice(extra);
        let request = parts(method, target, &headers);
        assert_eq!(signature(&request, body.as_bytes(), "20150830/us-east-1/service"), *expected, "{name}");
    }
}

#[test]
fn paths_are_normalized_before_they_are_signed() {
    for (path, expected) in [
        ("/", "/"),
        ("//", "/"),
        ("/a/..", "/"),
        ("/./a", "/a"),
        ("//a//", "/a/"),
        ("/a/b/../..", "/"),
        ("/a/./b", "/a/b"),
    ] {
        assert_eq!(normalized(path), expected);
    }
}

const BODY: &[u8] = b"{}";
const SCOPE: &str = "20150830/us-east-1/dynamodb";

fn now() -> Moment {
    Moment::parse_basic(DATE).unwrap()
}

fn verifier() -> Verifier {
    let credentials = Credentials::default().with(KEY, SECRET, Access::Full).unwrap();
    Verifier { credentials, region: "us-east-1".to_owned() }
}

/// The headers of a request as an SDK sends it, signed.
fn signed(extra: &[(&str, &str)]) -> Parts {
    let mut headers = vec![
        ("host", "localhost:8000"),
        ("x-amz-date", DATE),
        ("x-amz-target", "DynamoDB_20120810.ListTables"),
        ("content-type", "application/x-amz-json-1.0"),
    ];
    headers.extend_from_slice(extra);
    let mut request = parts("POST", "/", &headers);
    let signature = signature(&request, BODY, SCOPE);
    authorize(&mut request, &format!("{KEY}/{SCOPE}/aws4_request"), &signature);
    request
}

fn authorize(request: &mut Parts, credential: &str, signature: &str) {
    request.headers.remove("authorization");
    let header = format!(
        "AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={}, Signature={signature}",
        names(&request.headers)
    );
    request.headers.insert("authorization", header.parse().unwrap());
}

fn verdict_at(request: &Parts, body: &[u8], now: Moment) -> Result<Access, String> {
    let verdict = |head: &Head<'_>| {
        let claim = claim(head).unwrap();
        verifier().verify(&claim, head, body, || now).map_err(|error| error.to_string())
    };
    // Whichever road a request comes by, it is judged alike.
    let list: Vec<httparse::Header<'_>> =
        request.headers.iter().map(|(name, value)| header(name.as_str(), value)).collect();
    let (head, listed) = (Head::from(request), Headers::List(&list));
    let outcome = verdict(&head);
    assert_eq!(verdict(&Head { headers: listed, ..head }), outcome);
    outcome
}

fn header<'a>(name: &'a str, value: &'a HeaderValue) -> httparse::Header<'a> {
    httparse::Header { name, value: value.as_bytes() }
}

fn verdict(request: &Parts) -> Result<Access, String> {
    verdict_at(request, BODY, now())
}

const MISMATCH: &str = "InvalidSignatureException: The request signature we calculated does not match the signature you provided. \
                        Check your AWS Secret Access Key and signing method. Consult the service documentation for details.";

#[test]
fn a_signed_request_is_let_in_and_a_changed_one_is_not() {
    let request = signed(&[]);
    assert_eq!(verdict(&request), Ok(Access::Full));
    assert_eq!(verdict_at(&request, b"{ }", now()), Err(MISMATCH.to_owned()));
    let mut changed = signed(&[]);
    changed.headers.insert("x-amz-target", "DynamoDB_20120810.DeleteTable".parse().unwrap());
    assert_eq!(verdict(&changed), Err(MISMATCH.to_owned()));
    let mut moved = signed(&[]);
    moved.uri = "/?Action=x".parse().unwrap();
    assert_eq!(verdict(&moved), Err(MISMATCH.to_owned()));
}

#[test]
fn no_bit_of_a_signature_may_differ() {
    let good = {
        let request = signed(&[]);
        claim(&Head::from(&request)).unwrap().signature.into_owned()
    };
    for place in 0..64 {
        let mut wrong = good.clone().into_bytes();
        wrong[place] = if wrong[place] == b'0' { b'1' } else { b'0' };
        let mut request = signed(&[]);
        authorize(&mut request, &format!("{KEY}/{SCOPE}/aws4_request"), std::str::from_utf8(&wrong).unwrap());
        assert_eq!(verdict(&request), Err(MISMATCH.to_owned()));
    }
    for wrong in ["x", &good[..63], &format!("{good}0")] {
        let mut request = signed(&[]);
        authorize(&mut request, &format!("{KEY}/{SCOPE}/aws4_request"), wrong);
        assert_eq!(verdict(&request), Err(MISMATCH.to_owned()));
    }
}

#[test]
fn every_amz_header_and_the_host_must_be_signed() {
    for (name, value) in [("x-amz-target", "DynamoDB_20120810.DeleteTable"), ("x-amz-extra", "1")] {
        let mut request = parts("POST", "/", &[("host", "localhost"), ("x-amz-date", DATE)]);
        let signature = signature(&request, BODY, SCOPE);
        authorize(&mut request, &format!("{KEY}/{SCOPE}/aws4_request"), &signature);
        assert_eq!(verdict(&request), Ok(Access::Full));
        request.headers.insert(name, value.parse().unwrap());
        let expected =
            format!("InvalidSignatureException: '{name}' must be a 'SignedHeader' in the AWS Authorization.");
        assert_eq!(verdict(&request), Err(expected));
    }
    let mut request = parts("POST", "/", &[("x-amz-date", DATE)]);
    authorize(&mut request, &format!("{KEY}/{SCOPE}/aws4_request"), "x");
    request.headers.insert("host", "localhost".parse().unwrap());
    let expected = "InvalidSignatureException: 'Host' must be a 'SignedHeader' in the AWS Authorization.";
    assert_eq!(verdict(&request), Err(expected.to_owned()));
}

#[test]
fn a_clock_may_be_a_quarter_of_an_hour_off() {
    let request = signed(&[]);
    assert!(verdict_at(&request, BODY, now().plus(900)).is_ok());
    assert!(verdict_at(&request, BODY, now().plus(-900)).is_ok());
    assert_eq!(
        verdict_at(&request, BODY, now().plus(901)).unwrap_err(),
        "InvalidSignatureException: Signature expired: 20150830T123600Z is now earlier than 20150830T123601Z \
         (20150830T125101Z - 15 min.)"
    );
    assert_eq!(
        verdict_at(&request, BODY, now().plus(-901)).unwrap_err(),
        "InvalidSignatureException: Signature not yet current: 20150830T123600Z is still later than 20150830T123559Z \
         (20150830T122059Z + 15 min.)"
    );
}

#[test]
fn a_credential_must_be_scoped_to_this_service() {
    let with = |credential: &str| {
        let mut request = signed(&[]);
        authorize(&mut request, credential, "x");
        verdict(&request).unwrap_err()
    };
    assert_eq!(
        with("a/b/c/d"),
        "IncompleteSignatureException: Credential must have exactly 5 slash-delimited elements, \
         e.g. keyid/date/region/service/term, got 'a/b/c/d'"
    );
    assert_eq!(
        with("a/b/c/d/e"),
        "InvalidSignatureException: Credential should be scoped to a valid region, not 'c'. \
         Credential should be scoped to correct service: 'dynamodb'. \
         Credential should be scoped with a valid terminator: 'aws4_request', not 'e'. \
         Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: \
         'b' != '20150830', from '20150830T123600Z'."
    );
    assert_eq!(
        with(&format!("OTHER/{SCOPE}/aws4_request")),
        "UnrecognizedClientException: The security token included in the request is invalid."
    );
}

#[test]
fn sessions_are_unknown() {
    let error = verdict(&signed(&[("x-amz-security-token", "token")])).unwrap_err();
    assert_eq!(error, "UnrecognizedClientException: The security token included in the request is invalid.");
}

#[test]
fn a_signature_may_stand_in_the_query_string() {
    let query = format!(
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={KEY}%2F20150830%2Fus-east-1%2Fdynamodb%2Faws4_request\
         &X-Amz-Date={DATE}&X-Amz-Expires=60&X-Amz-SignedHeaders=host"
    );
    let unsigned = parts("POST", &format!("/?{query}"), &[("host", "localhost")]);
    let signature = signature(&unsigned, BODY, SCOPE);
    let request = parts("POST", &format!("/?{query}&X-Amz-Signature={signature}"), &[("host", "localhost")]);
    assert_eq!(verdict(&request), Ok(Access::Full));
    assert!(verdict_at(&request, BODY, now().plus(61)).unwrap_err().contains("Signature expired"));
    assert_eq!(verdict_at(&request, b"[]", now()), Err(MISMATCH.to_owned()));
}

#[test]
fn without_credentials_every_claim_is_believed() {
    let verifier = Verifier { credentials: Credentials::default(), region: "us-east-1".to_owned() };
    let mut request = signed(&[]);
    authorize(&mut request, "anything", "at all");
    let head = Head::from(&request);
    let claim = claim(&head).unwrap();
    assert_eq!(verifier.verify(&claim, &head, BODY, now), Ok(Access::Full));
}
