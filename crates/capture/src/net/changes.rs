//! What has to be changed in a head.

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
pub(super) fn at_ours(rules: &Rules, ours: &str, url: &str) -> Option<String> {
    let (named, rest) = reference::split(url)?;
    let origin = if ours.is_empty() {
        String::new()
    } else {
        format!("http://{ours}")
    };
    reference::is_same_origin(named, &rules.upstream.origin()).then(|| origin + rest)
}
