//! Edits to heads: `Host`, `Origin`, `Referer`, `Location`, and the headers that the user adds.

use super::edits::Passed;
use super::settings::{Edit, Settings};
use mcpreel_wire::http::{guard, reference};
use memchr::memchr;
use std::ops::Range;

/// Room for the lines of most heads.
const USUAL_LINES: usize = 16;

/// A line of a head.
pub(super) struct Line<'h> {
    /// With its end.
    pub whole: &'h [u8],
    /// The name of the field; empty if the line is not a field.
    pub name: &'h [u8],
    /// The range in `whole` of the field's value, without surrounding white space; of the whole line if it is not
    /// a field.
    pub value: Range<usize>,
}

impl<'h> Line<'h> {
    fn of(whole: &'h [u8], is_first: bool) -> Self {
        let content = whole.trim_ascii_end();
        let colon = memchr(b':', content);
        // A line that begins with white space continues the value before it (obsolete line folding).
        let is_field = !is_first && !content.first().is_some_and(u8::is_ascii_whitespace);
        let colon = colon.filter(|_| is_field);
        let name = colon.map_or(&[][..], |colon| content[..colon].trim_ascii_end());
        let rest = &content[colon.map_or(0, |colon| colon + 1)..];
        Self {
            whole,
            name,
            value: content.len() - rest.trim_ascii_start().len()..content.len(),
        }
    }

    /// The value of the field, if it has this name.
    fn value_of(&self, name: &str) -> Option<&'h str> {
        let is_it = self.name.eq_ignore_ascii_case(name.as_bytes());
        let value = is_it.then(|| &self.whole[self.value.clone()])?;
        std::str::from_utf8(value).ok()
    }
}

/// The lines of a head, as far as it came.
pub(super) fn lines(raw: &[u8]) -> Vec<Line<'_>> {
    let (mut lines, mut rest) = (Vec::with_capacity(USUAL_LINES), raw);
    while !rest.is_empty() {
        let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, behind) = rest.split_at(end);
        lines.push(Line::of(line, lines.is_empty()));
        rest = behind;
    }
    lines
}

/// Why a request is not passed on. The lines of its head are looked at as they are, since a server may take
/// a request that cannot be followed here.
pub(super) fn foreign(settings: &Settings, lines: &[Line<'_>]) -> Option<String> {
    let names = ["host", "origin", "sec-fetch-site"];
    let found = names.map(|name| lines.iter().find_map(|line| line.value_of(name)));
    let [host, origin, site] = found;
    guard::foreign(host, origin, site, |it| settings.is_ours(it))
}

/// What a field has to say instead.
type Change<'c> = (&'static str, &'c dyn Fn(&str) -> Option<String>);

/// Passes a head with some fields changed and others added.
fn edit(
    settings: &Settings,
    lines: &[Line<'_>],
    changes: &[Change<'_>],
    added: &[(String, String)],
    passed: &mut Passed,
) {
    let mut record = settings.recorder();
    for line in lines {
        let at = passed.recorded.len();
        passed.recorded.extend_from_slice(&record(line));
        if matches!(line.whole, b"\r\n" | b"\n") {
            add(settings, added, at, passed);
        }
        let change = changes.iter().find_map(|(what, change)| {
            let old = line.value_of(what)?;
            Some((*what, old, change(old)?))
        });
        let Some((what, old, new)) = change else {
            passed.forwarded.extend_from_slice(line.whole);
            continue;
        };
        let Range { start, end } = line.value;
        passed.forwarded.extend_from_slice(&line.whole[..start]);
        passed.forwarded.extend_from_slice(new.as_bytes());
        passed.forwarded.extend_from_slice(&line.whole[end..]);
        passed.edits.push(Edit {
            at: at + start,
            what,
            old: settings.recorded_url(old),
            new: settings.recorded_url(&new),
        });
    }
}

/// Adds headers to a head whose end goes on record at `at`.
fn add(settings: &Settings, added: &[(String, String)], at: usize, passed: &mut Passed) {
    for (name, value) in added {
        let line = format!("{name}: {value}\r\n");
        passed.forwarded.extend_from_slice(line.as_bytes());
        passed.edits.push(Edit {
            at,
            what: "header",
            old: String::new(),
            new: settings.recorded_header(name, value),
        });
    }
}

/// Passes the head of a request.
pub(super) fn edit_request(settings: &Settings, lines: &[Line<'_>], passed: &mut Passed) {
    if settings.keep_host {
        return edit(settings, lines, &[], &settings.added, passed);
    }
    let host = |value: &str| {
        let authority = settings.upstream.authority();
        (value != authority).then(|| authority.to_owned())
    };
    let of_ours = |value: &str| {
        let (_, rest) = value.split_once("://")?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let is_ours = settings.is_ours(authority);
        is_ours.then(|| format!("{}{path}", settings.upstream.origin()))
    };
    let changes: [Change<'_>; 3] = [("Host", &host), ("Origin", &of_ours), ("Referer", &of_ours)];
    edit(settings, lines, &changes, &settings.added, passed);
}

/// Passes the head of a response; `ours` is the authority at which the client reached us.
pub(super) fn edit_response(
    settings: &Settings,
    ours: &str,
    lines: &[Line<'_>],
    passed: &mut Passed,
) {
    let location = |value: &str| at_ours(settings, ours, value);
    edit(settings, lines, &[("Location", &location)], &[], passed);
}

/// A URL of the server's own origin, with `ours` in its place; `None`: it is none. A client that did not
/// say how it reached us (HTTP/1.0) gets the path alone, which holds wherever we are.
pub(super) fn at_ours(settings: &Settings, ours: &str, url: &str) -> Option<String> {
    let (named, rest) = reference::split(url)?;
    let origin = if ours.is_empty() {
        String::new()
    } else {
        format!("http://{ours}")
    };
    reference::is_same_origin(named, &settings.upstream.origin()).then(|| origin + rest)
}
