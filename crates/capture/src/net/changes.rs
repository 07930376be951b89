//! What has to be changed in a head, and in the event that names the endpoint.

use super::credentials::Syntax;
use super::edits::{Edit, Passed, Rules};
use mcpreel_wire::http::{guard, reference};
use memchr::memchr;
use std::ops::Range;

/// Why a request is not passed on. The lines of its head are looked at as they are, since a server may take
/// a request that cannot be followed here.
pub(super) fn foreign(rules: &Rules, raw: &[u8]) -> Option<String> {
    let names = ["host", "origin", "sec-fetch-site"];
    let mut found = [None; 3];
    for (name, value, _) in lines(raw).filter_map(|line| field_of(line, &names)) {
        for (wanted, found) in names.iter().zip(&mut found) {
            if name.eq_ignore_ascii_case(wanted) {
                found.get_or_insert(value);
            }
        }
    }
    let [host, origin, site] = found;
    let is_ours = |authority: &str| rules.ours.contains(&authority.to_ascii_lowercase());
    guard::foreign(host, origin, site, is_ours)
}

/// The lines of a head, each with its end.
pub(super) fn lines(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    raw.split_inclusive(|byte| *byte == b'\n')
}

/// The name and the value of a field, and where in the line the value stands.
fn field(line: &[u8]) -> Option<(&str, &str, Range<usize>)> {
    let text = std::str::from_utf8(line).ok()?;
    let (name, value) = text.split_once(':')?;
    let start = name.len() + 1 + (value.len() - value.trim_start().len());
    let value = value.trim();
    Some((name, value, start..start + value.len()))
}

/// Like [`field`], for fields with one of these `names` only. Others are skipped before their UTF-8 is
/// checked, which saves most of the work.
fn field_of<'l>(line: &'l [u8], names: &[&str]) -> Option<(&'l str, &'l str, Range<usize>)> {
    let name = &line[..memchr(b':', line)?];
    let is_wanted = |wanted: &&str| name.eq_ignore_ascii_case(wanted.as_bytes());
    names.iter().any(is_wanted).then(|| field(line)).flatten()
}

/// What a field has to say instead, and the name of the change.
pub(super) type Change = Option<(&'static str, String)>;

/// Passes a head with its fields of these `names` changed and others added.
pub(super) fn edit(
    rules: &Rules,
    raw: &[u8],
    names: &[&str],
    change: impl Fn(&str, &str) -> Change,
    added: &[(String, String)],
    passed: &mut Passed,
) {
    for (line, recorded) in lines(raw).zip(rules.recorded(raw)) {
        let at = passed.recorded.len();
        passed.recorded.extend_from_slice(&recorded);
        if line == b"\r\n" || line == b"\n" {
            for (name, value) in added {
                passed
                    .forwarded
                    .extend(format!("{name}: {value}\r\n").bytes());
                passed.edits.push(Edit {
                    at,
                    what: "header",
                    old: String::new(),
                    new: rules.recorded_header(name, value),
                });
            }
        }
        let changed = field_of(line, names)
            .and_then(|(name, value, place)| Some((change(name, value)?, value, place)));
        let Some(((what, new), old, place)) = changed else {
            passed.forwarded.extend_from_slice(line);
            continue;
        };
        passed.forwarded.extend_from_slice(&line[..place.start]);
        passed.forwarded.extend_from_slice(new.as_bytes());
        passed.forwarded.extend_from_slice(&line[place.end..]);
        passed.edits.push(Edit {
            at: at + place.start,
            what,
            old: rules.recorded_url(old),
            new: rules.recorded_url(&new),
        });
    }
}

/// The fields of a request that may have to say something else.
pub(super) const OF_REQUEST: [&str; 3] = ["host", "origin", "referer"];

/// The fields of a response that may have to say something else.
pub(super) const OF_RESPONSE: [&str; 1] = ["location"];

/// What a field of a request has to say instead.
pub(super) fn in_request(rules: &Rules, name: &str, value: &str) -> Change {
    if rules.keep_host {
        return None;
    }
    let is_ours = |authority: &str| rules.ours.contains(&authority.to_ascii_lowercase());
    if name.eq_ignore_ascii_case("host") {
        let authority = rules.upstream.authority();
        return (value != authority).then(|| ("Host", authority.to_owned()));
    }
    let what = if name.eq_ignore_ascii_case("origin") {
        "Origin"
    } else if name.eq_ignore_ascii_case("referer") {
        "Referer"
    } else {
        return None;
    };
    let (_, rest) = value.split_once("://")?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    is_ours(authority).then(|| (what, format!("{}{path}", rules.upstream.origin())))
}

/// What a field of a response has to say instead.
pub(super) fn in_response(rules: &Rules, ours: &str, value: &str) -> Change {
    Some(("Location", at_ours(rules, ours, value)?))
}

/// A URL of the server's own origin, with `ours` in its place; `None`: it is none. A client that did not
/// say how it reached us (HTTP/1.0) gets the path alone, which holds wherever we are.
fn at_ours(rules: &Rules, ours: &str, url: &str) -> Option<String> {
    let (named, rest) = reference::split(url)?;
    let origin = if ours.is_empty() {
        String::new()
    } else {
        format!("http://{ours}")
    };
    reference::is_same_origin(named, &rules.upstream.origin()).then(|| origin + rest)
}

/// The value of the field `name` of an event, if `line` is that field, and whole. The space behind the colon may be
/// missing (HTML, "Server-sent events").
fn event_field<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let line = line.strip_suffix(['\r', '\n'])?;
    let value = line.strip_prefix(name)?.strip_prefix(':')?;
    Some(value.strip_prefix(' ').unwrap_or(value))
}

/// The event `endpoint` at the beginning of a stream: where in what was read its parts stand.
pub(super) struct Endpoint {
    /// Its chunk's content, or all that was read where there are no chunks.
    content: Range<usize>,
    url: Range<usize>,
    /// The end of its chunk.
    end: usize,
}

impl Endpoint {
    /// Finds the event if `bytes` begin with it, whole, in a chunk of its own or without chunks.
    pub(super) fn find(bytes: &[u8], is_unframed: bool) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (content, end) = if is_unframed {
            (0..text.len(), text.len())
        } else {
            let (size, _) = text.split_once("\r\n")?;
            let start = size.len() + 2;
            let content = start..start.checked_add(usize::from_str_radix(size, 16).ok()?)?;
            text.get(content.end..)?.strip_prefix("\r\n")?;
            let end = content.end + 2;
            (content, end)
        };
        let mut ends = content.start;
        let mut lines = text.get(content.clone())?.split_inclusive(['\r', '\n']);
        let first = lines.next()?;
        ends += first.len();
        if event_field(first, "event") != Some("endpoint") {
            return None;
        }
        let url = lines.find_map(|line| {
            ends += line.len();
            event_field(line, "data")
        })?;
        let end_of_url = ends - 1;
        let url = end_of_url - url.len()..end_of_url;
        Some(Self { content, url, end })
    }

    /// Passes the event, with our origin in it where it names the server's; how much of `bytes` that is.
    pub(super) fn pass(
        self,
        rules: &Rules,
        ours: &str,
        bytes: &[u8],
        passed: &mut Passed,
    ) -> usize {
        let Self { content, url, end } = self;
        let at = passed.recorded.len();
        passed.recorded.extend_from_slice(&bytes[..end]);
        let old = String::from_utf8_lossy(&bytes[url.clone()]);
        if let (Some(credentials), Some(query)) = (&rules.credentials, old.find('?')) {
            let query = at + url.start + query + 1..at + url.end;
            credentials.hide_in_body(Syntax::Form, &mut passed.recorded[query]);
        }
        let Some(new) = at_ours(rules, ours, &old) else {
            passed.forwarded.extend_from_slice(&bytes[..end]);
            return end;
        };
        if content.end < end {
            let size = content.len() - url.len() + new.len();
            passed.forwarded.extend(format!("{size:x}\r\n").bytes());
        }
        let before = &bytes[content.start..url.start];
        passed.forwarded.extend_from_slice(before);
        passed.forwarded.extend_from_slice(new.as_bytes());
        passed.forwarded.extend_from_slice(&bytes[url.end..end]);
        passed.edits.push(Edit {
            at: at + url.start,
            what: "endpoint",
            old: rules.recorded_url(&old),
            new: rules.recorded_url(&new),
        });
        end
    }
}
