//! Copying: what of the selected row goes into the clipboard, or onto the normal
//! screen.
//!
//! What is copied is exactly what is on the wire; whoever pastes it into a terminal is on their
//! own. What is printed on the normal screen is escaped. Only the report in Markdown is redacted:
//! it is for others, and takes the time to go over the recording.

use super::detail::Shown;
use super::detail::part::{Text, TextRole};
use super::detail::shown::Detail;
use super::export;
use super::menu::{Entry, Menu};
use super::selection::{self, shown};
use crate::action::Action;
use crate::app::{App, Session, Viewer};
use crate::effect::{Effect, Effects};
use mcpreel_share::phrases::phrases_network;
use mcpreel_wire::http;
use mcpreel_wire::text::{escape_bytes, size};

/// Terminals take no more than about this much; many drop the whole of it silently.
const CLIPBOARD: usize = 100_000;

/// Offers the parts of the selected row that can be copied.
pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    if action != Action::Copy {
        return None;
    }
    let summary = session.vitals.as_deref().map(|vitals| &vitals.summary);
    let id = summary.map_or("mcpreel", |summary| &summary.id);
    let url = summary.and_then(|summary| summary.context.url.as_deref());
    let shown = shown(session);
    let seq = shown.map_or(0, |shown| shown.seq().0);
    let detail = shown.map(|_| &session.detail);
    let value = detail.and_then(Detail::value);
    let value = value.map(|value| value_text(&value));
    let path = detail.and_then(Detail::path);
    let message = detail.and_then(Detail::message);
    let message = message.filter(|(_, whole)| *whole);
    let message = message.map(|(bytes, _)| line(bytes));
    let link = shown.map(|_| format!("{id}#{seq}"));
    let parts = [
        ('v', "value under the cursor", value),
        ('p', "its path", path.filter(|path| !path.is_empty())),
        ('m', "message, as on the wire", message),
        ('e', "request and response", shown.and_then(exchange)),
        (
            'c',
            "as a command of curl",
            shown.and_then(|shown| curl(shown, url)),
        ),
        ('l', "link: recording and frame", link),
    ];
    let entry = |(letter, label, text): (char, &str, Option<String>)| {
        let text = text?;
        let label = format!("{label}  ({})", size(text.len() as u64));
        let put = |viewer: &mut Viewer| put(&mut viewer.app, text, "");
        Some(Entry::new(letter, label, put))
    };
    let entries = parts.into_iter().filter_map(entry);
    let mut entries: Vec<_> = entries.collect();
    if let Some(request) = export::exchange(session) {
        let label = "exchange in Markdown, redacted: for a bug report";
        entries.push(Entry::in_session('r', label, move |app, session| {
            export::report(app, session, request)
        }));
    }
    Some(if entries.is_empty() {
        missing(app, Some(session))
    } else {
        app.push(Menu::new("copy", entries))
    })
}

fn missing(app: &mut App, session: Option<&Session>) -> Effects {
    app.refuse(match session.and_then(selection::selected) {
        None => "no row is selected",
        Some(_) => "the row is still being read: once more does it",
    })
}

/// A string by what it says, any other value as it stands.
fn value_text(raw: &[u8]) -> String {
    serde_json::from_slice(raw).unwrap_or_else(|_| line(raw))
}

/// Request and response, a line each; only where both are here as a whole.
fn exchange(shown: &Shown) -> Option<String> {
    let texts = shown.parts.iter().filter_map(|part| part.text.as_ref());
    let is_one = |role| matches!(role, TextRole::Request | TextRole::Response);
    let lines = texts.filter(|text| is_one(text.role)).map(|text| {
        let is_whole = text.bytes.len() as u64 == text.size;
        is_whole.then(|| line(&text.bytes) + "\n")
    });
    let lines: Option<String> = lines.collect();
    lines.filter(|lines| !lines.is_empty())
}

/// The request of HTTP as a command, where its head and its body are here as a whole.
fn curl(shown: &Shown, url: Option<&str>) -> Option<String> {
    let mut texts = shown.parts.iter().filter_map(|part| part.text.as_ref());
    let is_head = |text: &&Text| {
        let part = text.head.map(|head| head.carried.part);
        text.role == TextRole::Http && part == Some(http::Part::RequestHead)
    };
    let head = texts.clone().find(is_head)?;
    let body = texts.find(|text| text.role == TextRole::Request);
    let is_whole = body.is_none_or(|body| body.bytes.len() as u64 == body.size);
    let body = body.map(|body| line(&body.bytes));
    is_whole
        .then(|| phrases_network::curl(url?, &head.bytes, body.as_deref()))
        .flatten()
}

fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned()
}

/// Puts a text into the clipboard, unless that is too much for one.
pub fn put(app: &mut App, text: String, remark: &str) -> Effects {
    let bytes = size(text.len() as u64);
    app.copied = Some(text.clone());
    if text.len() > CLIPBOARD {
        let much = "is more than terminals take: :print shows it, export writes it";
        return app.refuse(format!("{bytes} {much}"));
    }
    let taken = "; :print shows it if your terminal took none";
    app.say(format!("{bytes} copied{remark}{taken}"));
    vec![Effect::Copy(text)]
}

/// Prints the text that was copied last, else the message, in escaped lines.
pub fn print(app: &mut App, session: Option<&Session>) -> Effects {
    let message = session.and_then(|session| {
        shown(session)?;
        session.detail.message()
    });
    let (bytes, whole) = match (&app.copied, message) {
        (Some(copied), _) => (copied.as_bytes(), true),
        (None, Some(message)) => message,
        (None, None) => return missing(app, session),
    };
    let lines = bytes.trim_ascii_end().split(|byte| *byte == b'\n');
    let mut text = lines.map(escape_bytes).collect::<Vec<_>>().join("\n");
    if !whole {
        text.push_str("\n(the first part; `mcpreel show` has all of it)");
    }
    vec![Effect::Print(text)]
}
