//! Credentials are taken out on the way into the spool; what is forwarded has them.
//!
//! A value that lets its owner in becomes `‹cred:1 9f3c›`. The number counts the distinct values of the
//! recording; the digits are a hash under a key that is thrown away with the proxy. So it stays visible
//! which requests carried a token, whether it is the one that the token endpoint gave out, and when it
//! changed, but not the token. In URLs and forms the space is a `+`, as it is written there.
//!
//! Looked for are headers by name, parameters of URLs by name (in request lines, `Location`, `Referer`),
//! and members of OAuth's forms and JSON by name. `Mcp-Session-Id` stays: sessions are told apart by it.
//! Bodies of MCP are not looked at: `redact` does that, for copies that leave.

use super::changes::Line;
use mcpreel_wire::http::head::percent_decoded;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Values that are told apart by number. Proofs of possession are new with each request; values beyond this all
/// have the number 0.
const MOST: usize = 1 << 16;

/// Headers whose value is a credential.
const HEADERS: [&str; 5] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "dpop",
];

/// Parameters and members whose value is a credential, beside those that end with a word of [`ENDINGS`].
const NAMES: [&str; 7] = [
    "code",
    "device_code",
    "state",
    "code_verifier",
    "client_assertion",
    "assertion",
    "key",
];

/// `access_token`, `clientSecret`, `X-Api-Key`: how names of credentials end.
const ENDINGS: [&str; 6] = [
    "token", "secret", "password", "apikey", "api_key", "api-key",
];

/// Takes credentials out.
pub struct Credentials {
    key: [u8; 32],
    /// Names of headers that the user adds, in lower case.
    added: Vec<String>,
    /// The values seen so far, by their hash.
    seen: Mutex<HashMap<[u8; 16], u32>>,
}

/// What stands in a recording for a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token {
    number: u32,
    fingerprint: u16,
    /// A space, or what is one in a URL.
    space: char,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            number,
            fingerprint,
            space,
        } = self;
        write!(f, "‹cred:{number}{space}{fingerprint:04x}›")
    }
}

/// How a text writes the names and values that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `name=value&name=value`, percent-encoded.
    Form,
    Json,
    /// Not known: all of it is one value.
    Opaque,
}

impl Credentials {
    /// With a key that nobody else has. The values of headers that the user `adds` are credentials,
    /// whatever their names.
    pub fn new(key: [u8; 32], adds: &[(String, String)]) -> Self {
        let names = adds.iter().map(|(name, _)| name.to_ascii_lowercase());
        Self {
            key,
            added: names.collect(),
            seen: Mutex::default(),
        }
    }

    /// Whether the value of a header is a credential.
    fn is_secret(&self, name: &[u8]) -> bool {
        is_secret_header(name) || is_one_of(name, &self.added)
    }

    /// Where in the value of a header the credentials stand.
    fn in_header(&self, name: &[u8], value: &[u8]) -> Vec<Range<usize>> {
        if self.is_secret(name) {
            in_secret_header(name, value)
        } else {
            Vec::new()
        }
    }

    /// A URL without the values of its parameters that are credentials.
    pub fn hide_in_url(&self, url: &str) -> String {
        match in_url(url.as_bytes()) {
            none if none.is_empty() => url.to_owned(),
            found => {
                String::from_utf8_lossy(&self.replace(url.as_bytes(), &found, '+')).into_owned()
            }
        }
    }

    /// The value of a header as it goes on record.
    pub fn hide_in_header(&self, name: &str, value: &str) -> String {
        let value = value.as_bytes();
        let hidden = self.replace(value, &self.in_header(name.as_bytes(), value), ' ');
        String::from_utf8_lossy(&hidden).into_owned()
    }

    /// Takes credentials out of a head, line by line.
    pub fn head_hider(&self) -> HeadHider<'_> {
        HeadHider {
            credentials: self,
            is_first: true,
            folds_secret: false,
        }
    }

    /// Takes credentials out of a body and leaves it as long as it is, so that its framing on record
    /// stays right. Whether there were any.
    pub fn hide_in_body(&self, syntax: Syntax, body: &mut [u8]) -> bool {
        let (found, space, filler) = match syntax {
            Syntax::Form => (in_pairs(body, 0, b"&"), '+', b'&'),
            Syntax::Json => (in_json(body), ' ', b' '),
            Syntax::Opaque => (only_filled(0..body.len()), ' ', b' '),
        };
        let mut hidden = self.replace(body, &found, space).into_owned();
        if hidden.len() > body.len() {
            // Short values only: a token has no room for itself then.
            hidden = body.to_vec();
            for place in &found {
                hidden[place.clone()].fill(b'*');
            }
        }
        hidden.resize(body.len(), filler);
        body.copy_from_slice(&hidden);
        !found.is_empty()
    }

    /// `text` with tokens in these places.
    fn replace<'t>(&self, text: &'t [u8], places: &[Range<usize>], space: char) -> Cow<'t, [u8]> {
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut replaced, mut from) = (Vec::with_capacity(text.len()), 0);
        for place in places {
            let token = self.token(&text[place.clone()], space).to_string();
            replaced.extend_from_slice(&text[from..place.start]);
            replaced.extend_from_slice(token.as_bytes());
            from = place.end;
        }
        replaced.extend_from_slice(&text[from..]);
        Cow::Owned(replaced)
    }

    /// The token of a value, which is the same however the value is written.
    fn token(&self, value: &[u8], space: char) -> Token {
        let plain = match space {
            '+' => percent_decoded(value),
            _ => unescaped(value),
        };
        let hash = Sha256::new_with_prefix(self.key).chain_update(plain);
        let hash: [u8; 32] = hash.finalize().into();
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let next = seen.len() + 1;
        let number = match seen.get(&id) {
            Some(number) => *number,
            None if next > MOST => 0,
            None => {
                let number = u32::try_from(next).unwrap_or(0);
                *seen.entry(id).or_insert(number)
            }
        };
        Token {
            number,
            fingerprint: u16::from_be_bytes([hash[16], hash[17]]),
            space,
        }
    }
}

/// Takes credentials out of the lines of a head, in order.
pub struct HeadHider<'c> {
    credentials: &'c Credentials,
    is_first: bool,
    /// The line before was a field whose value is a credential.
    folds_secret: bool,
}

impl HeadHider<'_> {
    /// The next line as it goes on record.
    pub(super) fn hide<'h>(&mut self, line: &Line<'h>) -> Cow<'h, [u8]> {
        let start = line.value.start;
        let value = &line.whole[line.value.clone()];
        let (mut found, space) = if std::mem::take(&mut self.is_first) {
            (in_url(value), '+')
        } else if line.name.is_empty() {
            // It goes on with the value of the line before: obsolete since RFC 7230, and still passed on
            // by some.
            let is_secret = self.folds_secret && !value.is_empty();
            (Vec::from_iter(is_secret.then_some(0..value.len())), ' ')
        } else if is_one_of(line.name, &["location", "referer"]) {
            self.folds_secret = false;
            (in_url(value), '+')
        } else {
            self.folds_secret = self.credentials.is_secret(line.name);
            let found = self
                .folds_secret
                .then(|| in_secret_header(line.name, value));
            (found.unwrap_or_default(), ' ')
        };
        for place in &mut found {
            *place = place.start + start..place.end + start;
        }
        self.credentials.replace(line.whole, &found, space)
    }
}

/// The key must not be printed.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

fn is_secret_name(name: &[u8]) -> bool {
    is_one_of(name, &NAMES) || ends_as_secret(name)
}

fn is_secret_header(name: &[u8]) -> bool {
    let start = name.get(..4).unwrap_or_default();
    let is_of_mcp = start.eq_ignore_ascii_case(b"mcp-");
    is_one_of(name, &HEADERS) || ends_as_secret(name) && !is_of_mcp
}

fn is_one_of(name: &[u8], names: &[impl AsRef<[u8]>]) -> bool {
    names
        .iter()
        .any(|it| it.as_ref().eq_ignore_ascii_case(name))
}

fn ends_as_secret(name: &[u8]) -> bool {
    let ends_with = |ending: &&str| {
        let start = name.len().checked_sub(ending.len());
        start.is_some_and(|start| name[start..].eq_ignore_ascii_case(ending.as_bytes()))
    };
    ENDINGS.iter().any(ends_with)
}

fn leading_spaces(text: &[u8]) -> usize {
    text.len() - text.trim_ascii_start().len()
}

/// The ranges of the credentials in the value of a header for which `Credentials::is_secret` holds.
fn in_secret_header(name: &[u8], value: &[u8]) -> Vec<Range<usize>> {
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    if is("cookie") {
        in_cookies(value)
    } else if is("set-cookie") {
        // What follows the first pair are attributes.
        in_cookies(value.split(|byte| *byte == b';').next().unwrap_or(value))
    } else if is("authorization") || is("proxy-authorization") {
        // The scheme stays: `Bearer`, `Basic`, `DPoP`.
        let scheme = value.iter().position(|byte| *byte == b' ');
        let start = scheme.map_or(0, |at| at + leading_spaces(&value[at..]));
        only_filled(start..value.len())
    } else {
        only_filled(0..value.len())
    }
}

fn in_cookies(value: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let pairs = value.split(|byte| *byte == b';').flat_map(|pair| {
        let name = pair.iter().position(|byte| *byte == b'=');
        let from = start + name.map_or(0, |at| at + 1);
        let to = start + pair.len();
        start = to + 1;
        only_filled(from..to)
    });
    pairs.collect()
}

fn only_filled(range: Range<usize>) -> Vec<Range<usize>> {
    if range.is_empty() {
        Vec::new()
    } else {
        vec![range]
    }
}

/// Where in a URL, or in a line with one in it, values of parameters are credentials.
fn in_url(url: &[u8]) -> Vec<Range<usize>> {
    let query = url.iter().position(|byte| matches!(byte, b'?' | b'#'));
    query.map_or_else(Vec::new, |at| in_pairs(url, at + 1, b"&# \t"))
}

fn in_pairs(text: &[u8], start: usize, separators: &[u8]) -> Vec<Range<usize>> {
    let (mut start, mut found) = (start, Vec::new());
    for pair in text[start..].split(|byte| separators.contains(byte)) {
        let end = start + pair.len();
        if let Some(at) = pair.iter().position(|byte| *byte == b'=') {
            let name = percent_decoded(&pair[..at]);
            if is_secret_name(&name) {
                found.extend(only_filled(start + at + 1..end));
            }
        }
        start = end + 1;
    }
    found
}

/// Where in JSON, as far as it came, strings are values of members with a secret name.
fn in_json(text: &[u8]) -> Vec<Range<usize>> {
    let (mut at, mut found) = (0, Vec::new());
    let mut last: Option<Range<usize>> = None;
    let mut is_named = false;
    while at < text.len() {
        match text[at] {
            b'"' => {
                let string = at + 1..string_end(text, at + 1);
                at = string.end;
                if is_named && !string.is_empty() {
                    found.push(string.clone());
                }
                (last, is_named) = (Some(string), false);
            }
            b':' => {
                let name = last.take().map(|name| unescaped(&text[name]));
                is_named = name.is_some_and(|it| is_secret_name(&it));
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => (last, is_named) = (None, false),
        }
        at += 1;
    }
    found
}

/// The place of the quote at the end of the string that begins at `from`.
fn string_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at.min(text.len())
}

/// The text of a JSON string.
fn unescaped(string: &[u8]) -> Vec<u8> {
    if !string.contains(&b'\\') {
        return string.to_vec();
    }
    let quoted = [b"\"", string, b"\""].concat();
    serde_json::from_slice::<String>(&quoted).map_or_else(|_| string.to_vec(), String::into_bytes)
}

#[cfg(test)]
mod tests {
    use super::super::changes::lines;
    use super::*;
    use mcpreel_wire::http::Head;

    fn credentials() -> Credentials {
        Credentials::new([7; 32], &[("X-My-Own".to_owned(), String::new())])
    }

    /// A text with the fingerprints left out, which no test can know.
    fn told(hidden: &[u8]) -> String {
        let text = String::from_utf8_lossy(hidden).into_owned();
        let mut parts = text.split("‹cred:");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |told, part| {
            let (token, rest) = part.split_once('›').expect("a token has an end");
            format!("{told}‹{}›{rest}", &token[..token.len() - 5])
        })
    }

    fn hidden(raw: &[u8]) -> Vec<u8> {
        let credentials = credentials();
        let mut hider = credentials.head_hider();
        let lines = lines(raw);
        let hidden: Vec<_> = lines.iter().map(|line| hider.hide(line)).collect();
        hidden.concat()
    }

    fn head(raw: &str) -> String {
        told(&hidden(raw.as_bytes()))
    }

    #[test]
    fn credentials_in_heads_are_hidden_and_nothing_else_is() {
        for (line, hidden) in [
            ("Authorization: Bearer abc.def", "Authorization: Bearer ‹1›"),
            ("authorization:  Basic  eDp5", "authorization:  Basic  ‹1›"),
            ("AUTHORIZATION:raw", "AUTHORIZATION:‹1›"),
            (
                "Proxy-Authorization: Digest a=\"b\", c=d",
                "Proxy-Authorization: Digest ‹1›",
            ),
            ("Cookie: a=1; b=2; c=1", "Cookie: a=‹1›; b=‹2›; c=‹1›"),
            (
                "Set-Cookie: sid=abc; Path=/; HttpOnly",
                "Set-Cookie: sid=‹1›; Path=/; HttpOnly",
            ),
            ("DPoP: eyJ.x.y", "DPoP: ‹1›"),
            ("X-Api-Key: k", "X-Api-Key: ‹1›"),
            (
                "Location: /cb?code=x&iss=i&state=y#access_token=z",
                "Location: /cb?code=‹1›&iss=i&state=‹2›#access_token=‹3›",
            ),
            (
                "Referer: http://a/?%63ode=x",
                "Referer: http://a/?%63ode=‹1›",
            ),
            (
                "Authorization: Bearer a\r\n b",
                "Authorization: Bearer ‹1›\r\n ‹2›",
            ),
            // The value may stand on the next line alone.
            ("Authorization:\r\n b", "Authorization:\r\n ‹1›"),
            ("X-My-Own: a\r\n b", "X-My-Own: ‹1›\r\n ‹2›"),
            ("Mcp-Session-Id: s", "Mcp-Session-Id: s"),
            ("Mcp-Param-Token: s", "Mcp-Param-Token: s"),
            ("Cookie: ", "Cookie: "),
            (
                "WWW-Authenticate: Bearer resource_metadata=\"http://a/?code=x\"",
                "WWW-Authenticate: Bearer resource_metadata=\"http://a/?code=x\"",
            ),
        ] {
            let start = "GET /mcp HTTP/1.1\r\n";
            assert_eq!(
                head(&format!("{start}{line}\r\n\r\n")),
                format!("{start}{hidden}\r\n\r\n")
            );
        }
        // As far as it came.
        assert_eq!(
            head("GET / HTTP/1.1\r\nCookie: a=b"),
            "GET / HTTP/1.1\r\nCookie: a=‹1›"
        );
    }

    #[test]
    fn a_request_line_stays_one() {
        let raw = b"GET /cb?code=a%20b&x=1&token=t HTTP/1.1\r\nCookie: a=a b\r\n\r\n";
        let hidden = hidden(raw);
        assert_eq!(
            told(&hidden),
            "GET /cb?code=‹1›&x=1&token=‹2› HTTP/1.1\r\nCookie: a=‹1›\r\n\r\n"
        );
        let head = Head::parse(&hidden).unwrap();
        assert!(head.target().unwrap().ends_with('›'));
    }

    fn body(syntax: Syntax, text: &str) -> String {
        let mut body = text.as_bytes().to_vec();
        credentials().hide_in_body(syntax, &mut body);
        assert_eq!(body.len(), text.len(), "{text}");
        told(&body)
    }

    #[test]
    fn credentials_in_bodies_are_hidden_and_the_length_stays() {
        let long = "x".repeat(30);
        let form = format!("grant_type=authorization_code&code={long}&code_verifier={long}");
        let hidden = body(Syntax::Form, &form);
        let shown = "grant_type=authorization_code&code=‹1›&code_verifier=‹1›";
        assert_eq!(hidden.trim_end_matches('&'), shown);
        let json = format!(
            r#"{{"access_token" : "{long}", "token_type":"Bearer","a":["code"],"nested":{{"client_secret":"{long}y"}}}}"#
        );
        let shown = r#"{"access_token" : "‹1›", "token_type":"Bearer","a":["code"],"nested":{"client_secret":"‹2›"}}"#;
        assert_eq!(body(Syntax::Json, &json).trim_end(), shown);
        // Cut in the middle, and with no room for a token.
        assert_eq!(
            body(Syntax::Json, &format!(r#"{{"id_token":"{long}"#)).trim_end(),
            r#"{"id_token":"‹1›"#
        );
        assert_eq!(body(Syntax::Form, "code=1234&a=b"), "code=****&a=b");
        assert_eq!(
            body(Syntax::Json, r#"{"code":404,"error":"x"}"#),
            r#"{"code":404,"error":"x"}"#
        );
    }

    #[test]
    fn a_value_has_one_number_however_it_is_written() {
        let credentials = credentials();
        let long = "a/b".repeat(20);
        let mut json = format!(r#"{{"access_token":"{}"}}"#, long.replace('/', "\\/")).into_bytes();
        assert!(credentials.hide_in_body(Syntax::Json, &mut json));
        let json = String::from_utf8(json).unwrap();
        let header = credentials.hide_in_header("Authorization", &format!("Bearer {long}"));
        let token = header.strip_prefix("Bearer ").unwrap();
        assert!(json.contains(token), "{json} {token}");
        let url = format!("/?token={}", long.replace('/', "%2F"));
        assert_eq!(
            credentials.hide_in_url(&url),
            format!("/?token={}", token.replace(' ', "+"))
        );
        let other = Credentials::new([8; 32], &[]).hide_in_header("DPoP", &long);
        assert_ne!(other, token, "the key is the recording's");
    }
}
