//! Marks and notes.

use super::prompt::{Prompt, Purpose};
use super::selection;
use crate::action::Action;
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::worker::Ask;
use crate::worker::note::{self, What};
use mcpreel_trace::frame::Seq;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::Mark => Some(mark(app)),
        Action::Note => Some(begin_note(app)),
        _ => None,
    }
}

/// The frame of the selected row; a remark where it has none.
fn frame(app: &mut App) -> Option<Seq> {
    let selected = app.session.as_deref().and_then(selection::selected);
    let remark = match selected {
        Some(key) if key.event_id().is_none() => return Some(key.seq),
        Some(_) => "an event cannot be marked; mark the row before it",
        None => "nothing is selected",
    };
    app.notices.error(remark, app.now);
    None
}

fn mark(app: &mut App) -> Effects {
    let Some(frame) = frame(app) else {
        return vec![];
    };
    let session = app.session.as_deref();
    let item = session.and_then(selection::item);
    let annotation = item.and_then(|item| item.annotation.as_ref());
    let is_marked = annotation.is_some_and(|annotation| annotation.mark.is_some());
    let mark = (!is_marked).then(|| Box::from(""));
    ask(app, frame, What::Mark(mark))
}

fn begin_note(app: &mut App) -> Effects {
    let Some(frame) = frame(app) else {
        return vec![];
    };
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let item = selection::item(session);
    let annotation = item.and_then(|item| item.annotation.as_ref());
    let note = annotation.and_then(|annotation| annotation.note.clone());
    session.annotations.noting = Some(frame);
    let prompt = Prompt::new(Purpose::Note, note.as_deref().unwrap_or_default());
    app.overlays.push(Overlay::Prompt(prompt));
    vec![]
}

/// The note is typed; an empty one is taken away.
pub fn note(app: &mut App, text: &str) -> Effects {
    let session = app.session.as_deref_mut();
    let Some(frame) = session.and_then(|session| session.annotations.noting.take()) else {
        return vec![];
    };
    let text = text.trim();
    let note = (!text.is_empty()).then(|| Box::from(text));
    ask(app, frame, What::Note(note))
}

fn ask(app: &App, frame: Seq, what: What) -> Effects {
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    let ask = note::Ask {
        path: session.path.clone(),
        frame: Some(frame),
        what,
    };
    vec![Ask::Note(ask).into()]
}

/// A mark or note was written, or could not be.
pub fn noted(app: &mut App, answer: note::Answer) -> Effects {
    if let Some(error) = answer.error {
        app.notices.error(error, app.now);
        return vec![];
    }
    let Some(frame) = answer.frame else {
        return vec![];
    };
    let text = match &answer.what {
        What::Mark(Some(_)) => "marked",
        What::Mark(None) => "no longer marked",
        What::Note(Some(_)) => "note kept",
        What::Note(None) => "note removed",
    };
    app.notices
        .success(format!("#{}: {text}", frame.0), app.now);
    selection::annotated(app, frame)
}
