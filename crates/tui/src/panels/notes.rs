//! Marks and notes on the rows of a recording.

use super::prompt::Prompt;
use super::selection;
use crate::action::Action;
use crate::app::{App, Session};
use crate::effect::Effects;
use crate::worker::{Answer, Ask};
use mcpreel_share::phrases::sentence;
use mcpreel_store::annotate::{self, AnnotateError};
use mcpreel_trace::frame::Seq;
use std::path::Path;

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
    let annotation = item.and_then(|item| item.annotation.clone());
    let annotation = annotation.unwrap_or_default();
    if action == Action::Mark {
        let (told, mark) = match annotation.mark {
            Some(_) => ("no longer marked", None),
            None => ("marked", Some("")),
        };
        let write = move |path: &Path| annotate::set_mark(path, frame, mark);
        return Some(ask(session, frame, told, write));
    }
    let old = annotation.note.unwrap_or_default();
    let hint = "Enter keeps it, empty removes it, Esc leaves";
    let prompt = Prompt::new("note", hint, &old, move |viewer, text| {
        let session = viewer.session.as_deref();
        session.map_or_else(Effects::new, |session| note(session, frame, text))
    });
    Some(app.push(prompt))
}

fn note(session: &Session, frame: Seq, text: &str) -> Effects {
    let note = Some(text.trim().to_owned()).filter(|note| !note.is_empty());
    let told = match note {
        Some(_) => "note kept",
        None => "note removed",
    };
    ask(session, frame, told, move |path| {
        annotate::set_note(path, Some(frame), note.as_deref())
    })
}

/// Every mark and note is written, in order, on a connection of its own.
fn ask(
    session: &Session,
    frame: Seq,
    told: &'static str,
    write: impl FnOnce(&Path) -> Result<(), AnnotateError> + Send + 'static,
) -> Effects {
    let path = session.path.clone();
    let write = move || match write(&path) {
        Ok(()) => Answer::found(move |app, session| {
            app.say(format!("#{}: {told}", frame.0));
            selection::annotated(session, frame)
        }),
        Err(error) => Answer::failed(sentence(&error)),
    };
    vec![Ask::Change(Box::new(write)).into()]
}
