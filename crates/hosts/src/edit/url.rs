//! Puts the recorder in place of the URL of a server, and takes it away again.
//!
//! ```text
//!                                        "command": "mcpreel",
//!                                 ──▶    "args": ["run", "--name", "far", "--url", "https://…"],
//!                                        "env": {"MCPREEL_HEADERS": "Authorization: …"},
//!  "url": "https://…",                   "mcpreel:url": "https://…",
//!  "headers": {"Authorization": "…"}     "mcpreel:headers": {"Authorization": "…"}
//! ```
//!
//! What names the server stays where it is, under names that no host knows. Values of headers go through
//! the environment: everybody on the machine may read a command line.

use super::{Change, EditError, quote};
use crate::document::{Document, Format, Key, Kind, Node};
use crate::table::{Host, Server};

/// Before the names of what stays.
const KEPT: &str = "mcpreel:";

const TYPE: &str = "type";

const HEADERS: &str = "headers";

const ENV: &str = "env";

/// The variable in which the recorder looks for headers.
const VARIABLE: &str = "MCPREEL_HEADERS";

/// The URL by which an entry names its server.
pub fn named<'d>(host: &Host, server: &'d Node) -> Option<&'d str> {
    let mut names = host.url.iter();
    names.find_map(|name| server.get(name)?.text())
}

/// The changes that put a bridge in the place of a URL.
pub(super) fn wrapping(
    document: &Document,
    host: &Host,
    server: &Server<'_>,
    recorder: &str,
) -> Result<Vec<Change>, EditError> {
    let node = server.node;
    let member = host.url.iter().find_map(|name| node.member(name));
    let Some((key, Kind::Text(url))) = member.map(|(key, value)| (key, &value.kind)) else {
        return Err(EditError::NoCommand);
    };
    let is_json = matches!(document.format, Format::Json | Format::Jsonc);
    let is_taken = [&*host.command, &host.args, ENV]
        .iter()
        .any(|name| node.get(name).is_some());
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(EditError::NotHttp);
    }
    if !is_json || host.args.is_empty() || is_taken {
        let name = quote(&server.name);
        let command = format!("mcpreel run --name {name} --url URL");
        return Err(EditError::Url(command));
    }
    let mut words = super::ours(&server.name);
    words.extend(["--url", url].map(quote));
    let mut members = vec![
        (&*host.command, quote(recorder)),
        (&*host.args, format!("[{}]", words.join(", "))),
    ];
    let mut kept = vec![key];
    if let Some((key, _)) = node.member(TYPE) {
        members.push((TYPE, quote("stdio")));
        kept.push(key);
    }
    if let Some((key, headers)) = node.member(HEADERS) {
        let lines = quote(&lines_of(headers)?);
        members.push((ENV, format!("{{{}: {lines}}}", quote(VARIABLE))));
        kept.push(key);
    }
    Ok(in_front(&members, &kept))
}

/// The changes that put members in front of the first of these keys, and give the keys other names.
fn in_front(members: &[(&str, String)], keys: &[&Key]) -> Vec<Change> {
    let renamed = keys.iter().map(|key| {
        let name = quote(&format!("{KEPT}{}", key.name));
        (key.at.clone(), name)
    });
    let mut changes: Vec<Change> = renamed.collect();
    changes.sort_by_key(|(at, _)| at.start);
    let members = members.iter();
    let members = members.map(|(name, value)| format!("{}: {value}, ", quote(name)));
    if let Some((_, new)) = changes.first_mut() {
        new.insert_str(0, &members.collect::<String>());
    }
    changes
}

/// Headers as lines.
fn lines_of(headers: &Node) -> Result<String, EditError> {
    let lines = headers.map().iter().map(|(key, value)| {
        let value = value.text().ok_or(EditError::Unusual)?;
        Ok(format!("{}: {value}", key.name))
    });
    let lines: Result<Vec<_>, EditError> = lines.collect();
    Ok(lines?.join("\n"))
}

/// The changes that give an entry its URL back.
pub(super) fn unwrapping(host: &Host, server: &Node) -> Result<Vec<Change>, EditError> {
    let members = server.map().iter().map(|(key, _)| key);
    let kept = members
        .clone()
        .filter_map(|key| Some((key, key.name.strip_prefix(KEPT)?)));
    let mut changes: Vec<Change> = kept
        .map(|(key, name)| (key.at.clone(), quote(name)))
        .collect();
    // What stands between our first word and the first that stays is ours.
    let ours = [&*host.command, &host.args, TYPE, ENV];
    let mut begins = members.clone().skip_while(|key| key.name != host.command);
    let (Some(first), Some((kept, _))) = (begins.next(), changes.first_mut()) else {
        return Err(EditError::ByHand);
    };
    // Nothing else goes with it.
    let environment = server.get(ENV).map_or(&[][..], Node::map);
    if environment.iter().any(|(key, _)| key.name != VARIABLE) {
        return Err(EditError::Unusual);
    }
    let end = kept.start;
    let between = begins.take_while(|key| key.at.start < end);
    if first.at.start > end || !between.into_iter().all(|key| ours.contains(&&*key.name)) {
        return Err(EditError::Unusual);
    }
    kept.start = first.at.start;
    Ok(changes)
}
