//! What is said of a recording wherever recordings are listed.

use super::{command, peer};
use crate::store::library::Entry;
use crate::store::reader::Summary;
use crate::text::{escape, size};

/// Who the server says it is.
#[must_use]
pub fn server(entry: &Entry) -> Option<String> {
    peer(&entry.summary()?.session.server)
}

/// The program that spawned the recorder.
#[must_use]
pub fn host(entry: &Entry) -> Option<String> {
    let name = &*entry.context()?.host.name;
    (!name.is_empty()).then(|| escape(name).into_owned())
}

/// Whose it is: `weather-server 1.4`, or what was started where the server has not said who it is;
/// `test bench (weather-server 1.4)` where it was given a name that says something else. None
/// where nothing is known.
#[must_use]
pub fn title(entry: &Entry) -> Option<String> {
    let argv = entry.context().map(|context| &*context.argv);
    let who = server(entry).or_else(|| argv.map(command))?;
    Some(named(&entry.name, argv.unwrap_or_default(), who))
}

/// The same for a recording that is open; its name where the server has not said who it is.
#[must_use]
pub fn title_of(summary: &Summary) -> String {
    match peer(&summary.session.server) {
        Some(who) => named(&summary.name, &summary.context.argv, who),
        None => escape(&summary.name).into_owned(),
    }
}

/// `name (who)`, or `who` alone where the name is the command's, or the server's.
fn named(name: &str, argv: &[String], who: String) -> String {
    let name = escape(name);
    let is_theirs = who.contains(&*name) || argv.iter().any(|word| escape(word).contains(&*name));
    if is_theirs {
        who
    } else {
        format!("{name} ({who})")
    }
}

/// What a person wrote, and what is missing.
#[must_use]
pub fn notes(entry: &Entry) -> Vec<String> {
    let Some(summary) = entry.summary() else {
        return Vec::new();
    };
    let note = summary.note.as_deref();
    let mut notes: Vec<_> = note
        .map(|note| escape(note).into_owned())
        .into_iter()
        .collect();
    if summary.gap_bytes > 0 {
        notes.push(format!("{} missing", size(summary.gap_bytes)));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_said_where_neither_the_command_nor_the_server_has_it() {
        let said = |name, who: &str| {
            let argv = ["npx", "-y", "@scope/server-weather@2"].map(str::to_owned);
            named(name, &argv, who.to_owned())
        };
        assert_eq!(said("server-weather", "weather 1.4"), "weather 1.4");
        assert_eq!(said("weather", "weather 1.4"), "weather 1.4");
        assert_eq!(
            said("test bench", "weather 1.4"),
            "test bench (weather 1.4)"
        );
        assert_eq!(said("\u{1b}[2J", "weather"), "\\x1b[2J (weather)");
    }
}
