//! Marks and notes on the rows of a recording.

use super::library;
use super::prompt::Prompt;
use super::selection;
use crate::action::Action;
use crate::app::{App, Session};
use crate::effect::Effects;
use crate::worker::{Answer, Ask};
use mcpreel_share::phrases::sentence;
use mcpreel_store::annotate::{self, AnnotateError};
use mcpreel_trace::frame::Seq;
use std::path::{Path, PathBuf};

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    if !matches!(action, Action::Mark | Action::Note) {
        return None;
    }
    let frame = match selection::selected(session) {
        Some(key) if key.event_id().is_none() => key.seq,
        selected => {
            return Some(app.refuse(match selected {
                Some(_) => "an event cannot be marked; mark the row before it",
                None => "nothing is selected",
            }));
        }
    };
    let item = selection::item(session);
    let frame = item.map_or(frame, |item| item.key.seq);
    let annotation = item.and_then(|item| item.annotation.clone());
    let annotation = annotation.unwrap_or_default();
    let path = session.path.clone();
    if action == Action::Mark {
        let (told, mark) = match annotation.mark {
            Some(_) => ("no longer marked", None),
            None => ("marked", Some("")),
        };
        let write = move |path: &Path| annotate::set_mark(path, frame, mark);
        return Some(change(path, Some(frame), told, write));
    }
    let old = annotation.note.unwrap_or_default();
    Some(ask(app, path, Some(frame), &old))
}

/// Asks for the note on a frame, or on the recording as a whole.
pub fn ask(app: &mut App, path: PathBuf, frame: Option<Seq>, old: &str) -> Effects {
    let hint = "Enter keeps it, empty removes it, Esc leaves";
    let prompt = Prompt::new("note", hint, old, move |_, text| {
        let note = Some(text.trim().to_owned()).filter(|note| !note.is_empty());
        let told = note.as_ref().map_or("note removed", |_| "note kept");
        let write = move |path: &Path| annotate::set_note(path, frame, note.as_deref());
        change(path, frame, told, write)
    });
    app.push(prompt)
}

/// Every mark and note is written, in order, on a connection of its own.
fn change(
    path: PathBuf,
    frame: Option<Seq>,
    told: &'static str,
    write: impl FnOnce(&Path) -> Result<(), AnnotateError> + Send + 'static,
) -> Effects {
    let write = move || match (write(&path), frame) {
        (Ok(()), None) => library::changed(told.to_owned()),
        (Ok(()), Some(frame)) => Answer::found(move |app, session| {
            app.say(format!("#{}: {told}", frame.0));
            selection::annotated(session, frame)
        }),
        (Err(error), _) => Answer::failed(sentence(&error)),
    };
    vec![Ask::Change(Box::new(write)).into()]
}
