//! Bodies that are held: those of OAuth, in which tokens are asked for and given out.
//!
//! They are held until they are whole, since a name and its value may come in different reads, and
//! only then go on record and on. They are few and small. One that turns out to be longer goes on as
//! far as it came, and the rest of it as it comes.

use super::credentials::{Credentials, Syntax};
use flate2::read::MultiGzDecoder;
use flate2::{Compression, GzBuilder};
use mcpreel_wire::http::Head;
use mcpreel_wire::http::body::{BodyLength, Eaten, Follower};
use std::io::{Read as _, Write as _};
use std::ops::Range;

/// Bodies of OAuth are shorter.
const LONGEST: usize = 64 * 1024;

/// Limit of the decompressed size.
const MOST: u64 = 1024 * 1024;

/// Segments of paths behind which OAuth answers, where the path does not say `oauth` anyway. Servers
/// choose them freely; these are what specifications and products use.
const PLACES: [&str; 6] = [
    "token",
    "register",
    "registration",
    "revoke",
    "introspect",
    "device_authorization",
];

/// Whether a request is about OAuth, and its answer likewise: forms are what OAuth has and MCP has
/// not; JSON is told by the path, which is not that of the server's own URL.
pub fn is_oauth(head: &Head, own_target: &str) -> bool {
    if syntax(head) == Some(Syntax::Form) {
        return true;
    }
    let path = |target: &'_ str| target.find(['?', '#']).unwrap_or(target.len());
    let asked = head.target().unwrap_or_default();
    let (asked, own) = (&asked[..path(asked)], &own_target[..path(own_target)]);
    if asked.eq_ignore_ascii_case(own) {
        return false;
    }
    let is_place = |segment: &str| PLACES.iter().any(|it| it.eq_ignore_ascii_case(segment));
    let mut names = asked.as_bytes().windows("oauth".len());
    names.any(|it| it.eq_ignore_ascii_case(b"oauth")) || asked.split('/').any(is_place)
}

fn syntax(head: &Head) -> Option<Syntax> {
    let kind = head.content_type()?;
    let is = |known: &str| kind.eq_ignore_ascii_case(known);
    let suffix = kind.rsplit_once('+').map_or("", |(_, suffix)| suffix);
    if is("application/x-www-form-urlencoded") {
        Some(Syntax::Form)
    } else if is("application/json") || suffix.eq_ignore_ascii_case("json") {
        Some(Syntax::Json)
    } else {
        None
    }
}

/// The beginning of a body, which has not gone on yet.
pub struct HeldBody {
    pub follower: Follower,
    pub raw: Vec<u8>,
    /// Where in it the content of each chunk stands.
    pub chunks: Vec<Range<usize>>,
}

impl HeldBody {
    pub fn new(follower: Follower) -> Self {
        Self {
            follower,
            raw: Vec::new(),
            chunks: Vec::new(),
        }
    }

    /// Consumes the next piece of the body from `bytes`; returns its length. `None`: the framing is broken.
    pub fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let eaten = self.follower.eat(bytes);
        let (Eaten::Content(taken) | Eaten::Framing(taken) | Eaten::Trailers(taken)) = eaten else {
            return None;
        };
        let start = self.raw.len();
        self.raw.extend_from_slice(&bytes[..taken]);
        if matches!(eaten, Eaten::Content(_)) {
            match self.chunks.last_mut() {
                Some(last) if last.end == start => last.end += taken,
                _ => self.chunks.push(start..start + taken),
            }
        }
        Some(taken)
    }

    /// The content, without what frames it.
    pub fn content(&self) -> Vec<u8> {
        let chunks = self.chunks.iter().cloned();
        chunks.flat_map(|chunk| &self.raw[chunk]).copied().collect()
    }

    /// All of it, with other content that is as long.
    pub fn with_content(&self, content: &[u8]) -> Vec<u8> {
        let (mut raw, mut from) = (self.raw.clone(), 0);
        for chunk in self.chunks.iter().cloned() {
            let to = from + chunk.len();
            raw[chunk].copy_from_slice(&content[from..to]);
            from = to;
        }
        raw
    }
}

/// A body with credentials, which is held.
pub struct Held {
    pub body: HeldBody,
    syntax: Syntax,
    coding: Coding,
}

/// The content coding of a body. Only with gzip is what it says looked at: another coding can be undone,
/// but nothing here could do it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Plain,
    Gzip,
    Other,
}

impl Coding {
    fn of(head: &Head) -> Self {
        let names: Vec<_> = head
            .list("content-encoding")
            .map(str::to_ascii_lowercase)
            .collect();
        match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            _ if !head.is_encoded() => Self::Plain,
            ["gzip" | "x-gzip"] => Self::Gzip,
            _ => Self::Other,
        }
    }
}

impl Held {
    /// The body behind a head of OAuth; `None`: it has nothing to hide, or is too long for it.
    pub fn new(head: &Head, length: BodyLength) -> Option<Self> {
        let is_long = matches!(length, BodyLength::Known(length) if length > LONGEST as u64);
        let coding = Coding::of(head);
        // An error has no credentials in it; what it says is worth more than to be hidden as a whole.
        let is_error = head.status().is_some_and(|status| status >= 400);
        if is_long || is_error && coding == Coding::Other {
            return None;
        }
        Some(Self {
            body: HeldBody::new(Follower::new(length)),
            syntax: syntax(head)?,
            coding,
        })
    }

    /// Whether the body is whole, or too long to hold.
    pub fn can_be_released(&self) -> bool {
        self.body.follower.is_done() || self.body.raw.len() > LONGEST
    }

    /// Returns the bytes to record and the bytes to forward, which are as many.
    pub fn release(self, credentials: &Credentials) -> (Vec<u8>, Vec<u8>) {
        let mut content = self.body.content();
        match self.coding {
            Coding::Plain if is_mcp(&content) => {}
            Coding::Plain => drop(credentials.hide_in_body(self.syntax, &mut content)),
            Coding::Gzip => hide_in_gzip(credentials, self.syntax, &mut content),
            Coding::Other => drop(credentials.hide_in_body(Syntax::Opaque, &mut content)),
        }
        (self.body.with_content(&content), self.body.raw)
    }
}

/// Whether a body is a message of JSON-RPC, or some of them. Their arguments may have the names of credentials.
fn is_mcp(body: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Message {
        #[serde(rename = "jsonrpc")]
        _version: serde::de::IgnoredAny,
    }
    serde_json::from_slice::<Message>(body).is_ok()
        || serde_json::from_slice::<Vec<Message>>(body).is_ok_and(|batch| !batch.is_empty())
}

/// Takes credentials out of a body that is packed. Where that cannot be done all of it goes.
fn hide_in_gzip(credentials: &Credentials, syntax: Syntax, content: &mut [u8]) {
    let mut plain = Vec::new();
    let unpacked = MultiGzDecoder::new(&*content)
        .take(MOST)
        .read_to_end(&mut plain);
    let is_whole = unpacked.is_ok_and(|length| (length as u64) < MOST);
    if is_whole && (is_mcp(&plain) || !credentials.hide_in_body(syntax, &mut plain)) {
        return;
    }
    match gzip(&plain, content.len()).filter(|_| is_whole) {
        Some(packed) => content.copy_from_slice(&packed),
        None => drop(credentials.hide_in_body(Syntax::Opaque, content)),
    }
}

/// `plain` packed into exactly so many bytes. What is too much room is filled with a comment, which the
/// format has.
fn gzip(plain: &[u8], length: usize) -> Option<Vec<u8>> {
    let pack = |builder: GzBuilder| {
        let mut encoder = builder.write(Vec::new(), Compression::best());
        encoder.write_all(plain).ok()?;
        encoder.finish().ok()
    };
    let packed = pack(GzBuilder::new())?;
    // A comment ends with a zero byte.
    match length.checked_sub(packed.len())? {
        0 => Some(packed),
        room => pack(GzBuilder::new().comment(vec![b' '; room - 1])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "c2VjcmV0LXRva2VuLW9mLWEtc2VydmVyLWluLXRoZS1jbG91ZA.9-8_7";

    fn held(headers: &str, framed: &[u8], cut: usize) -> Vec<u8> {
        let raw = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{headers}\r\n\r\n");
        let head = Head::parse(raw.as_bytes()).unwrap();
        let length = BodyLength::of(&head, Some("POST"));
        let mut body = Held::new(&head, length).unwrap();
        for part in framed.chunks(cut) {
            let mut rest = part;
            while !rest.is_empty() {
                let taken = body.body.take(rest).unwrap();
                rest = &rest[taken..];
            }
        }
        let (recorded, raw) = body.release(&Credentials::new([1; 32], &[]));
        assert_eq!((raw, recorded.len()), (framed.to_vec(), framed.len()));
        recorded
    }

    #[test]
    fn a_body_in_chunks_keeps_them() {
        let json = format!(r#"{{"access_token":"{TOKEN}"}}"#);
        let (left, right) = json.split_at(30);
        let framed = format!(
            "{:x}\r\n{left}\r\n{:x};a=b\r\n{right}\r\n0\r\n\r\n",
            left.len(),
            right.len()
        );
        for cut in [1, 7, 1000] {
            let recorded = held("Transfer-Encoding: chunked", framed.as_bytes(), cut);
            assert!(recorded.starts_with(b"1e\r\n{\"access_token\":\"\xe2\x80\xb9cred:1"));
            assert!(recorded.ends_with(b"\r\n0\r\n\r\n"));
        }
    }

    #[test]
    fn a_body_that_says_it_is_not_packed_is_read() {
        let json = format!(r#"{{"access_token":"{TOKEN}","expires_in":3600}}"#);
        let headers = format!("Content-Encoding: none\r\nContent-Length: {}", json.len());
        let recorded = held(&headers, json.as_bytes(), 10);
        let recorded = String::from_utf8(recorded).unwrap();
        assert!(
            recorded.trim_end().ends_with(r#","expires_in":3600}"#),
            "{recorded}"
        );
    }

    #[test]
    fn arguments_of_a_call_stay_as_they_are() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"code":"x = 1"}}}"#;
        for body in [call.to_owned(), format!("[{call}]")] {
            assert_eq!(held("X: y", body.as_bytes(), 10), body.as_bytes());
        }
    }

    #[test]
    fn a_packed_body_is_packed_again() {
        let json = format!(r#"{{"access_token":"{TOKEN}","expires_in":3600}}"#);
        let mut encoder = GzBuilder::new().write(Vec::new(), Compression::fast());
        encoder.write_all(json.as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        let recorded = held("Content-Encoding: gzip", &packed, 10);
        let mut plain = String::new();
        MultiGzDecoder::new(&*recorded)
            .read_to_string(&mut plain)
            .unwrap();
        assert!(
            plain.contains("‹cred:1 ") && plain.contains("3600"),
            "{plain}"
        );
        // What cannot be read is a secret as a whole.
        let recorded = held("Content-Encoding: br", &packed, 10);
        assert!(recorded.starts_with("‹cred:1 ".as_bytes()));
    }
}
