//! Words for a recording wherever recordings are listed.

use super::peer;
use mcpreel_store::library::Entry;
use mcpreel_store::reader::Summary;
use mcpreel_store::record::of_command;
use mcpreel_wire::text::{escape, size};
use std::borrow::Cow;

pub fn server(entry: &Entry) -> Option<String> {
    peer(&entry.summary()?.session.server)
}

/// The client as it calls itself, else the program that spawned the recorder of a server on pipes.
pub fn host(entry: &Entry) -> Option<String> {
    let context = entry.context()?;
    // The client of a proxy is not the program that started it.
    let process = match context.url {
        Some(_) => "",
        None => &*context.host.name,
    };
    let summary = entry.summary();
    let client = summary.and_then(|summary| summary.session.client.name.as_deref());
    let name = client.filter(|name| !name.is_empty()).unwrap_or(process);
    (!name.is_empty()).then(|| escape(name).into_owned())
}

/// The server: `weather-server 1.4`, or the command where the server has not said who it is;
/// `test bench (weather-server 1.4)` where it was given a name that says something else. None
/// where nothing is known.
pub fn title(entry: &Entry) -> Option<String> {
    let context = entry.context();
    let argv = context.map(|context| &*context.argv);
    let who = server(entry).or_else(|| context.map(super::started))?;
    Some(named(&entry.name, argv.unwrap_or_default(), who))
}

/// The same for a recording that is open; its name where the server has not said who it is.
pub fn title_of(summary: &Summary) -> String {
    match peer(&summary.session.server) {
        Some(who) => named(&summary.name, &summary.context.argv, who),
        None => escape(&summary.name).into_owned(),
    }
}

/// `name (who)`, or `who` alone where nobody gave the name, or `who` begins with it: whoever calls
/// a recording `prod` has another one of `prod-weather`.
fn named(name: &str, argv: &[String], who: String) -> String {
    let is_given = name != of_command(argv);
    let name = escape(name);
    let rest = who.strip_prefix(&*name);
    // Of a server with a URL there may be nothing but the name.
    if who.is_empty() {
        name.into_owned()
    } else if is_given && rest.is_none_or(|rest| !rest.is_empty() && !rest.starts_with(' ')) {
        format!("{name} ({who})")
    } else {
        who
    }
}

/// The recording of the other side of a bridge, and the command that tells of it.
pub fn other_side(summary: &Summary) -> Option<String> {
    let (other, has) = other_side_has(summary)?;
    Some(format!("{other} has {has}: mcpreel why {other}"))
}

/// The recording of the other side of a bridge, escaped, and what it has.
pub fn other_side_has(summary: &Summary) -> Option<(Cow<'_, str>, &'static str)> {
    let other = escape(summary.context.other_side.as_deref()?);
    let has = match &*summary.context.transport {
        "stdio" => "what went over the network",
        _ => "what passed between host and mcpreel",
    };
    Some((other, has))
}

/// The origin in a word or two, unless it is a live session: `replay`, `mock, redacted`.
pub fn origin(entry: &Entry) -> Option<String> {
    let origin = entry.context().map(|context| escape(&context.origin));
    let origin = origin.filter(|origin| !matches!(&**origin, "" | "live"));
    let redaction = entry
        .summary()
        .and_then(|summary| summary.redaction.as_ref());
    let redacted = redaction.map(|_| "redacted".into());
    let words: Vec<_> = origin.into_iter().chain(redacted).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The note of a person, and the bytes that are missing.
pub fn notes(entry: &Entry) -> Vec<String> {
    let Some(summary) = entry.summary() else {
        return Vec::new();
    };
    let note = summary.note.as_deref();
    let note = note.map(|note| escape(note).into_owned());
    let gap = (summary.gap_bytes > 0).then(|| format!("{} missing", size(summary.gap_bytes)));
    note.into_iter().chain(gap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_somebody_gave_is_said_also_where_the_command_has_it_as_a_word() {
        let said = |name, who: &str| {
            let argv = ["npx", "-y", "@scope/server-weather@2", "test"].map(str::to_owned);
            named(name, &argv, who.to_owned())
        };
        assert_eq!(said("server-weather", "weather 1.4"), "weather 1.4");
        assert_eq!(said("weather", "weather 1.4"), "weather 1.4");
        assert_eq!(said("web-http", ""), "web-http");
        // Once these were hidden: one where a longer name has it, one as a word of the command.
        for name in ["prod", "test"] {
            let other = said(name, "prod-weather 1.4");
            assert_eq!(other, format!("{name} (prod-weather 1.4)"));
        }
        assert_eq!(said("\u{1b}[2J", "weather"), "\\x1b[2J (weather)");
    }
}
