//! The first event of a stream, which names the endpoint in 2024-11-05.
//!
//! An event may come in several reads, and in several chunks. What could be the beginning of `endpoint` is
//! held until its URL is whole; all other bytes pass at once.

use super::changes::at_ours;
use super::credentials::Syntax;
use super::edits::Passed;
use super::rules::{Edit, Rules};
use mcpreel_wire::http::body::{Eaten, Follower};
use memchr::memchr2;
use std::ops::Range;

/// A longer event is none that names an endpoint.
const LONGEST: usize = 8 * 1024;

/// The beginning of a stream of events, as far as it was read.
pub(super) struct FirstEvent {
    pub(super) body: Follower,
    raw: Vec<u8>,
    /// Where in it the content of each chunk stands.
    chunks: Vec<Range<usize>>,
}

/// What content says of the endpoint.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    Undecided,
    /// Where in the content its URL stands.
    Url(Range<usize>),
}

impl FirstEvent {
    pub(super) fn new(body: Follower) -> Self {
        Self {
            body,
            raw: Vec::new(),
            chunks: Vec::new(),
        }
    }

    /// Consumes the next piece of the body from `bytes`; returns its length. `None`: the framing is broken.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let eaten = self.body.eat(bytes);
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

    /// Whether nothing more has to come before it goes on.
    pub(super) fn can_be_released(&self) -> bool {
        self.raw.len() > LONGEST || self.body.is_done() || find(&self.content()) != Found::Undecided
    }

    fn content(&self) -> Vec<u8> {
        let chunks = self.chunks.iter().cloned();
        chunks.flat_map(|chunk| &self.raw[chunk]).copied().collect()
    }

    /// Lets it go on, with our origin in the URL where that names the server's.
    pub(super) fn release(self, rules: &Rules, ours: &str, passed: &mut Passed) {
        let mut content = self.content();
        let at = passed.recorded.len();
        passed.recorded.extend_from_slice(&self.raw);
        let Found::Url(url) = find(&content) else {
            passed.forwarded.extend_from_slice(&self.raw);
            return;
        };
        let changed = |url: &[u8]| at_ours(rules, ours, std::str::from_utf8(url).ok()?);
        match changed(&content[url.clone()]) {
            Some(new) => self.pass_changed(&url, new.as_bytes(), &mut passed.forwarded),
            None => passed.forwarded.extend_from_slice(&self.raw),
        }
        let query = memchr2(b'?', b'#', &content[url.clone()]);
        if let (Some(credentials), Some(query)) = (&rules.credentials, query) {
            let query = url.start + query + 1..url.end;
            credentials.hide_in_body(Syntax::Form, &mut content[query]);
        }
        // Old and new have the same tokens as the event on record, by which readers match them.
        let old = String::from_utf8_lossy(&content[url.clone()]).into_owned();
        let new = changed(old.as_bytes());
        let places = self.chunks.iter().cloned().flatten();
        for (place, byte) in places.clone().zip(content) {
            passed.recorded[at + place] = byte;
        }
        let place = places.clone().nth(url.start).unwrap_or_default();
        passed.edits.extend(new.map(|new| Edit {
            at: at + place,
            what: "endpoint",
            old,
            new,
        }));
    }

    /// Passes all of it with `new` in the place of `url`, in the chunk in which that begins.
    fn pass_changed(&self, url: &Range<usize>, new: &[u8], forwarded: &mut Vec<u8>) {
        let (mut from, mut before) = (0, 0);
        for chunk in &self.chunks {
            let content = before..before + chunk.len();
            let cut = url.start.max(content.start)..url.end.min(content.end);
            if cut.is_empty() {
                forwarded.extend_from_slice(&self.raw[from..chunk.end]);
            } else {
                let new = if cut.start == url.start { new } else { &[] };
                let framing = &self.raw[from..chunk.start];
                let in_raw = |at: usize| chunk.start + at - content.start;
                if resize(framing, cut.len(), new.len(), forwarded) {
                    forwarded.extend_from_slice(&self.raw[chunk.start..in_raw(cut.start)]);
                    forwarded.extend_from_slice(new);
                    forwarded.extend_from_slice(&self.raw[in_raw(cut.end)..chunk.end]);
                }
            }
            (from, before) = (chunk.end, content.end);
        }
        forwarded.extend_from_slice(&self.raw[from..]);
    }
}

/// Passes what stands between two chunks with another size of the second. `false`: nothing is left of that
/// chunk, which would end the body.
fn resize(framing: &[u8], less: usize, more: usize, forwarded: &mut Vec<u8>) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_hexdigit();
    let Some(start) = framing.iter().position(is_digit) else {
        // Without chunks there is no size.
        return true;
    };
    let digits = framing[start..].iter().take_while(|byte| is_digit(byte));
    let end = start + digits.count();
    let size = std::str::from_utf8(&framing[start..end]).unwrap_or_default();
    let size = usize::from_str_radix(size, 16).unwrap_or_default();
    let size = size.saturating_sub(less).saturating_add(more);
    if size > 0 {
        forwarded.extend_from_slice(&framing[..start]);
        forwarded.extend(format!("{size:x}").bytes());
        forwarded.extend_from_slice(&framing[end..]);
    }
    size > 0
}

/// The value of the field `name` of an event, and where in the line it begins, if `line` is that field. The
/// space behind the colon may be missing (HTML, "Server-sent events").
fn field<'l>(line: &'l [u8], name: &str) -> Option<(usize, &'l [u8])> {
    let value = line.strip_prefix(name.as_bytes())?.strip_prefix(b":")?;
    let value = value.strip_prefix(b" ").unwrap_or(value);
    Some((line.len() - value.len(), value))
}

/// Looks for the URL in content that begins with the event `endpoint`.
fn find(content: &[u8]) -> Found {
    let mut start = 0;
    for line in content.split_inclusive(|byte| matches!(byte, b'\r' | b'\n')) {
        let Some(whole) = line.strip_suffix(b"\r").or(line.strip_suffix(b"\n")) else {
            let first = ["event:endpoint", "event: endpoint"];
            let could_be = start > 0 || first.iter().any(|it| it.as_bytes().starts_with(line));
            return if could_be {
                Found::Undecided
            } else {
                Found::Nothing
            };
        };
        let is_second_half = line == b"\n" && content[..start].ends_with(b"\r");
        if start == 0 {
            if field(whole, "event").is_none_or(|(_, value)| value != b"endpoint") {
                return Found::Nothing;
            }
        } else if let Some((at, _)) = field(whole, "data") {
            return Found::Url(start + at..start + whole.len());
        } else if whole.is_empty() && !is_second_half {
            return Found::Nothing;
        }
        start += line.len();
    }
    Found::Undecided
}
