//! Who may talk to the server from a browser: nobody, unless it was started so.
//!
//! A page of any site can send requests to a server on the same machine. Its browser adds an Origin header to them, so a request with
//! an Origin is refused unless that origin was allowed. A page whose own name was pointed at this machine after it was loaded
//! (DNS rebinding) sends no Origin, but its own name as Host: so a Host must be a name that this server is known by.

use std::net::IpAddr;

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, VARY,
};

use crate::head::{Head, plain_text};

/// Why a request is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// It names no host, or two.
    NoHost,
    /// It names a host that this server is not known by.
    Host(String),
    /// It comes from a page of this origin.
    Origin(String),
}

impl Stranger {
    /// What to tell whoever reads the answer: what to do about it.
    pub(crate) fn message(&self) -> String {
        match self {
            Stranger::NoHost => "The request must have exactly one Host".to_owned(),
            Stranger::Host(name) => format!(
                "The server does not answer to the host '{name}'. If it should, start it with --allowed-host {name}"
            ),
            Stranger::Origin(origin) => format!(
                "The server does not answer to pages of '{origin}'. If it should, start it with --cors {origin}"
            ),
        }
    }
}

/// The hosts and origins that are let in.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    bound: IpAddr,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Door {
    /// For a server bound to an address, known by further names, open to pages of some origins. `*` allows any.
    pub(crate) fn new(bound: IpAddr, hosts: &[String], origins: &[String]) -> Door {
        let lower = |names: &[String]| names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Door { bound, hosts: lower(hosts), origins: lower(origins) }
    }

    /// Lets a request in, or says why not. The origin is returned that the answer must allow.
    pub(crate) fn check<'a>(&self, request: &Head<'a>) -> Result<Option<&'a [u8]>, Stranger> {
        let host = host(request).ok_or(Stranger::NoHost)?;
        if !self.knows_host(host) {
            return Err(Stranger::Host(host.to_owned()));
        }
        let Some(origin) = request.headers.get(&ORIGIN) else { return Ok(None) };
        if self.knows_origin(origin) {
            Ok(Some(origin))
        } else {
            Err(Stranger::Origin(String::from_utf8_lossy(origin).into_owned()))
        }
    }

    fn knows_host(&self, host: &str) -> bool {
        let name = without_port(host);
        if is_local_name(name) {
            return true;
        }
        if let Ok(address) = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            // A rebound name is never an address, so where every address is bound every address may be named.
            if address.is_loopback() || address == self.bound || self.bound.is_unspecified() {
                return true;
            }
        }
        self.is_allowed_host(name)
    }

    fn is_allowed_host(&self, name: &str) -> bool {
        self.hosts.iter().any(|allowed| allowed == "*" || allowed.eq_ignore_ascii_case(name))
    }

    fn knows_origin(&self, origin: &[u8]) -> bool {
        self.origins.iter().any(|allowed| allowed == "*" || origin.eq_ignore_ascii_case(allowed.as_bytes()))
    }
}

/// The host that a request is for: `:authority` in HTTP/2, the one Host header in HTTP/1.1.
pub(crate) fn host<'a>(request: &Head<'a>) -> Option<&'a str> {
    let (mut host, mut count) = (None, 0);
    request.headers.for_each_value(HOST.as_str(), |value| {
        host = Some(value);
        count += 1;
    });
    match (host, count) {
        (Some(host), 1) => plain_text(host).map(str::trim).filter(|host| !host.is_empty()),
        (Some(_), _) => None,
        (None, _) => request.authority,
    }
}

fn without_port(host: &str) -> &str {
    let end_of_address = host.rfind(']').map_or(0, |index| index + 1);
    match host.rfind(':') {
        Some(colon) if colon >= end_of_address => host.get(..colon).unwrap_or(host),
        _ => host,
    }
}

/// Names that mean this machine whatever a name server says (RFC 6761).
fn is_local_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let local = |end: &str| end.eq_ignore_ascii_case("localhost");
    local(name) || name.rsplit_once('.').is_some_and(|(_, end)| local(end))
}

/// Answers what a browser asks before it sends a request of another origin.
pub(crate) fn allow(request: &HeaderMap, answer: &mut HeaderMap, origin: HeaderValue) {
    const PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");
    answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    answer.insert(VARY, HeaderValue::from_static("origin"));
    answer.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(
            "x-amzn-requestid, x-amz-crc32, date, etag, location, retry-after, idempotency-replayed",
        ),
    );
    let echoes = [
        (ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_ALLOW_HEADERS),
        (ACCESS_CONTROL_REQUEST_METHOD, ACCESS_CONTROL_ALLOW_METHODS),
    ];
    for (asked, allowed) in echoes {
        if let Some(value) = request.get(asked) {
            answer.insert(allowed, value.clone());
        }
    }
    if request.contains_key("access-control-request-private-network") {
        answer.insert(PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    if request.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("172800"));
    }
}

#[cfg(test)]
mod tests {
    use hyper::Request;
    use hyper::http::request::Parts;

    use super::*;

    fn door(hosts: &[&str], origins: &[&str]) -> Door {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        Door::new("127.0.0.1".parse().unwrap(), &own(hosts), &own(origins))
    }

    fn request(host: &str, origin: Option<&str>) -> Parts {
        let mut builder = Request::builder().uri("/").header(HOST, host);
        if let Some(origin) = origin {
            builder = builder.header(ORIGIN, origin);
        }
        builder.body(()).unwrap().into_parts().0
    }

    #[test]
    fn this_machine_is_known_by_its_own_names() {
        for host in [
            "localhost",
            "LOCALHOST:8000",
            "127.0.0.1:8000",
            "127.0.0.2",
            "[::1]:8000",
            "[::1]",
            "a.localhost",
            "localhost.",
        ] {
            assert_eq!(door(&[], &[]).check(&Head::from(&request(host, None))), Ok(None), "{host}");
        }
    }

    #[test]
    fn a_rebound_name_is_refused() {
        for host in [
            "evil.com",
            "evil.com:8000",
            "localhost.evil.com",
            "127.0.0.1.evil.com",
            "10.0.0.1",
            "evillocalhost",
            "[::2]:8000",
        ] {
            assert_eq!(
                door(&[], &[]).check(&Head::from(&request(host, None))),
                Err(Stranger::Host(host.to_owned()))
            );
        }
        assert_eq!(
            door(&["db.internal"], &[]).check(&Head::from(&request("DB.internal:80", None))),
            Ok(None)
        );
        assert!(door(&["*"], &[]).check(&Head::from(&request("any", None))).is_ok());
    }

    #[test]
    fn where_every_address_is_bound_every_address_may_be_named_but_no_name() {
        let door = Door::new("0.0.0.0".parse().unwrap(), &[], &[]);
        assert!(door.check(&Head::from(&request("10.1.2.3:8000", None))).is_ok());
        assert!(door.check(&Head::from(&request("evil.com", None))).is_err());
    }

    #[test]
    fn a_page_is_refused_unless_its_origin_is_allowed() {
        let page = request("localhost", Some("http://localhost:3000"));
        assert!(matches!(door(&[], &[]).check(&Head::from(&page)), Err(Stranger::Origin(_))));
        assert!(matches!(
            door(&[], &["http://localhost:3001"]).check(&Head::from(&page)),
            Err(Stranger::Origin(_))
        ));
        assert!(door(&[], &["http://localhost:3000"]).check(&Head::from(&page)).unwrap().is_some());
        assert!(door(&[], &["*"]).check(&Head::from(&page)).unwrap().is_some());
        assert!(door(&[], &[]).check(&Head::from(&request("localhost", Some("null")))).is_err());
    }

    #[test]
    fn two_hosts_are_none() {
        let two = Request::builder().header(HOST, "localhost").header(HOST, "evil.com").body(()).unwrap();
        assert_eq!(door(&[], &[]).check(&Head::from(&two.into_parts().0)), Err(Stranger::NoHost));
    }
}
