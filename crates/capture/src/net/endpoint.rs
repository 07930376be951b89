//! The first event of a stream, which names the endpoint in 2024-11-05.
//!
//! An event may come in several reads, and in several chunks. What could be the beginning of `endpoint` is
//! held until its URL is whole; all other bytes pass at once, comments and events without data among them.

use super::changes::at_ours;
use super::credentials::Syntax;
use super::edits::Passed;
use super::held::HeldBody;
use super::settings::{Edit, Settings};
use memchr::memchr2;
use std::ops::Range;

/// A longer event is none that names an endpoint.
const LONGEST: usize = 8 * 1024;

/// The beginning of a stream of events, as far as it was read.
pub(super) struct FirstEvent(pub(super) HeldBody);

/// What content says of the endpoint.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// Comments, and events without data, so far: the event may come behind them.
    Before,
    Undecided,
    /// Where in the content its URL stands.
    Url(Range<usize>),
}

impl FirstEvent {
    /// Whether nothing more has to come before it goes on.
    pub(super) fn can_be_released(&self) -> bool {
        let Self(body) = self;
        body.raw.len() > LONGEST
            || body.follower.is_done()
            || match find(&body.content()) {
                Found::Undecided => false,
                // The size of a chunk goes on with its beginning.
                Found::Before => body.follower.is_at_chunk_end(),
                Found::Nothing | Found::Url(_) => true,
            }
    }

    /// Whether the event may still come behind it.
    pub(super) fn is_before(&self) -> bool {
        self.0.follower.is_at_chunk_end() && find(&self.0.content()) == Found::Before
    }

    /// Lets it go on, with our origin in the URL where that names the server's.
    pub(super) fn release(self, settings: &Settings, ours: &str, passed: &mut Passed) {
        let Self(body) = &self;
        let mut content = body.content();
        let at = passed.recorded.len();
        let Found::Url(url) = find(&content) else {
            return passed.as_it_is(&body.raw);
        };
        let changed = |url: &[u8]| at_ours(settings, ours, std::str::from_utf8(url).ok()?);
        let new = changed(&content[url.clone()]);
        match &new {
            Some(new) => self.pass_changed(&url, new.as_bytes(), &mut passed.forwarded),
            None => passed.forwarded.extend_from_slice(&body.raw),
        }
        let query = memchr2(b'?', b'#', &content[url.clone()]);
        if let (Some(credentials), Some(query)) = (&settings.credentials, query) {
            let query = url.start + query + 1..url.end;
            credentials.hide_in_body(Syntax::Form, &mut content[query]);
        }
        // Old and new have the same tokens as the event on record, by which readers match them.
        let old = String::from_utf8_lossy(&content[url.clone()]).into_owned();
        let new = new.and_then(|_| changed(old.as_bytes()));
        passed
            .recorded
            .extend_from_slice(&body.with_content(&content));
        let mut places = body.chunks.iter().cloned().flatten();
        let place = places.nth(url.start).unwrap_or_default();
        passed.edits.extend(new.map(|new| Edit {
            at: at + place,
            what: "endpoint",
            old,
            new,
        }));
    }

    /// Passes all of it with `new` in the place of `url`, in the chunk in which that begins.
    fn pass_changed(&self, url: &Range<usize>, new: &[u8], forwarded: &mut Vec<u8>) {
        let HeldBody { raw, chunks, .. } = &self.0;
        let (mut from, mut before) = (0, 0);
        for chunk in chunks {
            let content = before..before + chunk.len();
            let cut = url.start.max(content.start)..url.end.min(content.end);
            if cut.is_empty() {
                forwarded.extend_from_slice(&raw[from..chunk.end]);
            } else {
                let new = if cut.start == url.start { new } else { &[] };
                let framing = &raw[from..chunk.start];
                let in_raw = |at: usize| chunk.start + at - content.start;
                if resize(framing, cut.len(), new.len(), forwarded) {
                    forwarded.extend_from_slice(&raw[chunk.start..in_raw(cut.start)]);
                    forwarded.extend_from_slice(new);
                    forwarded.extend_from_slice(&raw[in_raw(cut.end)..chunk.end]);
                }
            }
            (from, before) = (chunk.end, content.end);
        }
        forwarded.extend_from_slice(&raw[from..]);
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

/// Looks for the URL in content that begins with the event `endpoint`. Its id may stand before its name, and
/// comments before all of it.
fn find(content: &[u8]) -> Found {
    let (mut start, mut is_endpoint, mut has_fields) = (0, false, false);
    for line in content.split_inclusive(|byte| matches!(byte, b'\r' | b'\n')) {
        let Some(whole) = line.strip_suffix(b"\r").or(line.strip_suffix(b"\n")) else {
            return if is_endpoint || may_come_first(line) {
                Found::Undecided
            } else {
                Found::Nothing
            };
        };
        let is_second_half = line == b"\n" && content[..start].ends_with(b"\r");
        match (is_endpoint, field(whole, "event"), field(whole, "data")) {
            (false, Some((_, b"endpoint")), _) => is_endpoint = true,
            (true, _, Some((at, _))) => return Found::Url(start + at..start + whole.len()),
            (true, ..) if whole.is_empty() && !is_second_half => return Found::Nothing,
            (false, ..) if whole.is_empty() => has_fields &= is_second_half,
            (false, ..) if whole.starts_with(b":") => {}
            (false, ..) if field(whole, "id").or(field(whole, "retry")).is_some() => {
                has_fields = true;
            }
            (false, ..) => return Found::Nothing,
            _ => {}
        }
        start += line.len();
    }
    if content.is_empty() || is_endpoint || has_fields {
        Found::Undecided
    } else {
        Found::Before
    }
}

/// Whether a line, as far as it came, may stand before the data of the event `endpoint`.
fn may_come_first(line: &[u8]) -> bool {
    let is_begun = |text: &str| text.as_bytes().starts_with(line);
    ["event:endpoint", "event: endpoint", "id:", "retry:"]
        .into_iter()
        .any(is_begun)
        || [":", "id:", "retry:"]
            .into_iter()
            .any(|text| line.starts_with(text.as_bytes()))
}
