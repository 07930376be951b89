//! Marks and notes on the rows of a recording.

use super::prompt::{Prompt, Purpose};
use crate::action::Action;
use crate::app::{App, Session};
use crate::effect::Effects;
use crate::worker::{Answer, Ask};
use mcpreel_share::phrases::sentence;
use mcpreel_store::annotate::{self, AnnotateError};
use mcpreel_trace::frame::Seq;
use std::path::Path;

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    match action {
        Action::Mark => Some(mark(app, session)),
        Action::Note => Some(begin_note(app, session)),
        _ => None,
    }
}

/// The frame of the selected row; a remark where it has none.
fn frame(app: &mut App, session: &mut Session) -> Option<Seq> {
    let remark = match super::selection::selected(session) {
        Some(key) if key.event_id().is_none() => return Some(key.seq),
        Some(_) => "an event cannot be marked; mark the row before it",
        None => "nothing is selected",
    };
    app.notices.error(remark, app.now);
    None
}

fn mark(app: &mut App, session: &mut Session) -> Effects {
    let Some(frame) = frame(app, session) else {
        return vec![];
    };
    let item = super::selection::item(session);
    let annotation = item.and_then(|item| item.annotation.as_ref());
    let is_marked = annotation.is_some_and(|annotation| annotation.mark.is_some());
    let (told, mark) = if is_marked {
        ("no longer marked", None)
    } else {
        ("marked", Some(""))
    };
    ask(session, frame, told, move |path| {
        annotate::set_mark(path, frame, mark)
    })
}

fn begin_note(app: &mut App, session: &mut Session) -> Effects {
    let Some(frame) = frame(app, session) else {
        return vec![];
    };
    let item = super::selection::item(session);
    let annotation = item.and_then(|item| item.annotation.as_ref());
    let note = annotation.and_then(|annotation| annotation.note.clone());
    session.noting = Some(frame);
    let prompt = Prompt::new(Purpose::Note, note.as_deref().unwrap_or_default());
    app.push(prompt);
    vec![]
}

/// The note is typed; an empty one is taken away.
pub fn note(session: &mut Session, text: &str) -> Effects {
    let Some(frame) = session.noting.take() else {
        return vec![];
    };
    let text = text.trim();
    let note = (!text.is_empty()).then(|| text.to_owned());
    let told = if note.is_some() {
        "note kept"
    } else {
        "note removed"
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
            app.notices
                .success(format!("#{}: {told}", frame.0), app.now);
            super::selection::annotated(session, frame)
        }),
        Err(error) => Answer::failed(sentence(&error)),
    };
    vec![Ask::Change(Box::new(write)).into()]
}
