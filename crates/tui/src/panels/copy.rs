//! Copying: what of the row under the cursor goes into the clipboard or into a file.

use super::detail::Shown;
use super::detail::jobs::TextRole;
use super::export;
use super::menu::{Entry, Menu};
use super::selection::shown;
use crate::action::Action;
use crate::app::{App, Session, Viewer};
use crate::effect::{Effect, Effects};
use crate::theme::Role;
use mcpreel_trace::item::Item;
use mcpreel_wire::text::{escape, escape_bytes, size};
use std::path::PathBuf;

// Into the clipboard, into a file, or onto the normal screen.
//
// What is copied is exactly what is on the wire, or while the screen is redacted what is shown of
// it; whoever pastes it into a terminal is on their own. What is printed on the normal screen is
// escaped. Of what is on the wire only the report in Markdown is redacted: it is for others, and
// takes the time to go over the recording.

/// Terminals take no more than about this much; many drop the whole of it silently.
const CLIPBOARD: usize = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopyWhat {
    /// The value under the cursor of the tree.
    Value,
    Path,
    Message,
    Exchange,
    Link,
    /// The exchange told in Markdown, redacted.
    Report,
}

/// The choices of the menu: the letter, what is copied, its words.
const CHOICES: [(char, CopyWhat, &str); 6] = [
    ('v', CopyWhat::Value, "value under the cursor"),
    ('p', CopyWhat::Path, "its path"),
    ('m', CopyWhat::Message, "message, as on the wire"),
    ('e', CopyWhat::Exchange, "request and response"),
    ('l', CopyWhat::Link, "link: recording and frame"),
    (
        'r',
        CopyWhat::Report,
        "exchange in Markdown, redacted: for a bug report",
    ),
];

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    (action == Action::Copy).then(|| menu(app, session))
}

/// Offers the parts of the selected row that can be copied.
fn menu(app: &mut App, session: &mut Session) -> Effects {
    let choices = CHOICES.into_iter().filter_map(|(letter, what, label)| {
        let label = if what == CopyWhat::Report {
            // How long it is turns out when it is made.
            super::selection::item(session).and_then(Item::exchange)?;
            label.to_owned()
        } else {
            let text = text_of(session, what)?;
            format!("{label}  ({})", size(text.len() as u64))
        };
        Some(Entry::in_session(letter, label, move |app, session| {
            copy(app, session, what)
        }))
    });
    let entries: Vec<_> = choices.collect();
    if entries.is_empty() {
        let text = match super::selection::selected(session) {
            None => "no row is selected: there is nothing to copy",
            Some(_) => "the row is still being read: once more copies it",
        };
        app.notices.error(text, app.now);
        return vec![];
    }
    app.push(Menu::new("copy", entries));
    vec![]
}

/// Copies something of what is selected; too much for a clipboard goes into a file, if wanted.
fn copy(app: &mut App, session: &Session, what: CopyWhat) -> Effects {
    let name = file_name(session, what);
    if what == CopyWhat::Report {
        return export::report(app, session, name);
    }
    match text_of(session, what) {
        Some(text) => put(app, text, name, ""),
        None => vec![],
    }
}

/// The report of an exchange is made.
pub fn report(app: &mut App, text: String, name: PathBuf) -> Effects {
    put(app, text, name, ", redacted: look through it")
}

/// Puts it into the clipboard; what is too much for one into a file, if wanted.
fn put(app: &mut App, text: String, path: PathBuf, remark: &str) -> Effects {
    let bytes = size(text.len() as u64);
    if text.len() > CLIPBOARD {
        let label = format!("write it to {}", escape(&path.to_string_lossy()));
        let save = move |_: &mut Viewer| vec![Effect::Save { path, text }];
        let entries = vec![
            Entry::new('f', label, save),
            Entry::nothing('n', "leave it"),
        ];
        let mut menu = Menu::new(format!("{bytes} is more than terminals take"), entries);
        let place = "In the folder that the viewer was started in.";
        menu.text.push((Role::Text, place.to_owned()));
        app.push(menu);
        return vec![];
    }
    let said = format!("{bytes} copied{remark}; :print shows it if your terminal took none");
    app.notices.success(said, app.now);
    app.copied = Some(text.clone());
    vec![Effect::Copy(text)]
}

/// The file was written, or could not be.
pub fn saved(app: &mut App, path: &std::path::Path, result: &std::io::Result<u64>) {
    let path = path.to_string_lossy();
    let path = escape(&path);
    match result {
        Ok(bytes) => app
            .notices
            .success(format!("{} written to {path}", size(*bytes)), app.now),
        Err(error) => app
            .notices
            .error(format!("{path} was not written: {error}"), app.now),
    }
}

fn file_name(session: &Session, what: CopyWhat) -> PathBuf {
    let id = session
        .vitals
        .as_deref()
        .map_or("mcpreel", |vitals| &vitals.summary.id);
    let seq = shown(session).map_or(0, |shown| shown.seq().0);
    let ending = match what {
        CopyWhat::Report => "md",
        CopyWhat::Exchange => "jsonl",
        _ => "json",
    };
    PathBuf::from(format!("{id}-{seq}.{ending}"))
}

/// Prints the text that was copied last, else the message, in escaped lines.
pub fn print(app: &mut App, session: Option<&Session>) -> Effects {
    if let Some(copied) = &app.copied {
        let lines = copied.trim_end().split('\n').map(escape);
        return vec![Effect::Print(lines.collect::<Vec<_>>().join("\n"))];
    }
    let message = session.and_then(|session| {
        shown(session)?;
        session.detail.message()
    });
    let Some((bytes, whole)) = message else {
        let text = match session.and_then(super::selection::selected) {
            None => "no row is selected: there is nothing to print",
            Some(_) => "the row is still being read: once more prints it",
        };
        app.notices.error(text, app.now);
        return vec![];
    };
    let lines = bytes
        .trim_ascii_end()
        .split(|byte| *byte == b'\n')
        .map(escape_bytes);
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if !whole {
        text.push_str("\n(the first part; `mcpreel show` has all of it)");
    }
    vec![Effect::Print(text)]
}

/// The text of a choice; none where the row has none.
fn text_of(session: &Session, what: CopyWhat) -> Option<String> {
    let shown = shown(session)?;
    match what {
        CopyWhat::Value => Some(value(session.detail.value()?)),
        CopyWhat::Path => session.detail.path().filter(|path| !path.is_empty()),
        CopyWhat::Message => {
            let (bytes, whole) = session.detail.message()?;
            whole.then(|| line(bytes))
        }
        CopyWhat::Exchange => exchange(shown),
        CopyWhat::Link => {
            let id = &session.vitals.as_deref()?.summary.id;
            Some(format!("{id}#{}", shown.seq().0))
        }
        // It is made elsewhere.
        CopyWhat::Report => None,
    }
}

/// A string by what it says, anything else as it stands.
fn value(raw: &[u8]) -> String {
    serde_json::from_slice(raw).unwrap_or_else(|_| line(raw))
}

/// Request and response, a line each; only where both are here as a whole.
fn exchange(shown: &Shown) -> Option<String> {
    let texts = shown.parts.iter().filter_map(|part| part.text.as_ref());
    let mut texts =
        texts.filter(|text| matches!(text.role, TextRole::Request | TextRole::Response));
    let mut lines = Vec::new();
    for text in texts.by_ref() {
        if text.bytes.len() as u64 != text.size {
            return None;
        }
        lines.push(line(&text.bytes));
    }
    (!lines.is_empty()).then(|| lines.join("\n") + "\n")
}

fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned()
}
