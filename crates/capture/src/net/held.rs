//! Bodies of OAuth: tokens are asked for and given out in them.
//!
//! They are held until they are whole, since a name and its value may come in different reads, and
//! only then go on record and on. They are few and small. One that turns out to be longer goes on as
//! far as it came, and the rest of it as it comes.

use super::credentials::{Credentials, Syntax};
use flate2::{Compression, GzBuilder};
use mcpreel_wire::http::{Body, BodyLength, Coding, Head, Malformed};
use std::io::Write as _;
use std::ops::Range;

/// A longer body is none of OAuth's.
const LONGEST: usize = 64 * 1024;

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
    let path = |target: &str| target.split(['?', '#']).next().map(str::to_ascii_lowercase);
    let Some(asked) = head.target().and_then(path) else {
        return false;
    };
    let mut segments = asked.split('/');
    path(own_target).is_none_or(|own| own != asked)
        && (asked.contains("oauth") || segments.any(|segment| PLACES.contains(&segment)))
}

fn syntax(head: &Head) -> Option<Syntax> {
    let kind = head.content_type()?;
    if kind == "application/x-www-form-urlencoded" {
        Some(Syntax::Form)
    } else if kind == "application/json" || kind.ends_with("+json") {
        Some(Syntax::Json)
    } else {
        None
    }
}

/// A body that is held.
pub struct Held {
    pub body: Body,
    raw: Vec<u8>,
    /// Where in it the content stands, without what frames it.
    content: Vec<Range<usize>>,
    syntax: Syntax,
    /// The coding, where there is one.
    coding: Option<Coding>,
}

impl Held {
    /// The body behind a head of OAuth; `None`: it has nothing to hide, or is too long for it.
    pub fn new(head: &Head, length: BodyLength) -> Option<Self> {
        let is_long = matches!(length, BodyLength::Length(length) if length > LONGEST as u64);
        let coded = head.list("content-encoding");
        let is_coded = coded.iter().any(|coding| coding != "identity");
        Some(Self {
            body: Body::new(length),
            raw: Vec::new(),
            content: Vec::new(),
            syntax: syntax(head).filter(|_| !is_long)?,
            coding: is_coded.then(|| Coding::of(head)),
        })
    }

    /// Takes what `bytes` have of the body, or of its next piece: how much that is.
    pub fn take(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        let (taken, content) = self.body.take(bytes)?;
        let end = self.raw.len() + taken;
        self.raw.extend_from_slice(&bytes[..taken]);
        self.content.push(end - content.len()..end);
        Ok(taken)
    }

    /// Whether it has come so far that it must go on.
    pub fn is_due(&self) -> bool {
        self.body.is_over() || self.raw.len() > LONGEST
    }

    /// The body as it goes on record, which is as long as it is, and as it is.
    pub fn release(self, credentials: &Credentials) -> (Vec<u8>, Vec<u8>) {
        let mut recorded = self.raw.clone();
        let pieces = self.content.iter().map(|it| &self.raw[it.clone()]);
        let mut content = pieces.collect::<Vec<_>>().concat();
        match self.coding {
            None => drop(credentials.hide_in_body(self.syntax, &mut content)),
            Some(coding) => hide_in_coded(credentials, self.syntax, coding, &mut content),
        }
        let mut from = 0;
        for place in self.content {
            let to = from + place.len();
            recorded[place].copy_from_slice(&content[from..to]);
            from = to;
        }
        (recorded, self.raw)
    }
}

/// Takes credentials out of a body that is coded. Where it cannot be coded again all of it goes.
fn hide_in_coded(
    credentials: &Credentials,
    syntax: Syntax,
    mut coding: Coding,
    content: &mut [u8],
) {
    let is_known = !coding.is_plain();
    let recoded = match coding.push(content) {
        Ok(mut plain) if is_known => {
            if !credentials.hide_in_body(syntax, &mut plain) {
                return;
            }
            let is_gzip = content.starts_with(&[0x1f, 0x8b]);
            is_gzip.then(|| gzip(&plain, content.len())).flatten()
        }
        _ => None,
    };
    match recoded {
        Some(recoded) => content.copy_from_slice(&recoded),
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

    fn held(headers: &str, framed: &[u8], cut: usize) -> (Head, Vec<u8>) {
        let raw = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{headers}\r\n\r\n");
        let head = Head::parse(raw.as_bytes()).unwrap();
        let length = BodyLength::of_response(&head, "POST").unwrap();
        let mut held = Held::new(&head, length).unwrap();
        for part in framed.chunks(cut) {
            let mut rest = part;
            while !rest.is_empty() {
                let taken = held.take(rest).unwrap();
                rest = &rest[taken..];
            }
        }
        let (recorded, raw) = held.release(&Credentials::new([1; 32]));
        assert_eq!((raw, recorded.len()), (framed.to_vec(), framed.len()));
        (head, recorded)
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
            let (_, recorded) = held("Transfer-Encoding: chunked", framed.as_bytes(), cut);
            assert!(recorded.starts_with(b"1e\r\n{\"access_token\":\"\xe2\x80\xb9cred:1"));
            assert!(recorded.ends_with(b"\r\n0\r\n\r\n"));
        }
    }

    #[test]
    fn a_packed_body_is_packed_again() {
        let json = format!(r#"{{"access_token":"{TOKEN}","expires_in":3600}}"#);
        let mut encoder = GzBuilder::new().write(Vec::new(), Compression::fast());
        encoder.write_all(json.as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        let (head, recorded) = held("Content-Encoding: gzip", &packed, 10);
        let plain = String::from_utf8(Coding::of(&head).push(&recorded).unwrap()).unwrap();
        assert!(
            plain.contains("‹cred:1 ") && plain.contains("3600"),
            "{plain}"
        );
        // What cannot be read is a secret as a whole.
        let (_, recorded) = held("Content-Encoding: br", &packed, 10);
        assert!(recorded.starts_with("‹cred:1 ".as_bytes()));
    }
}
