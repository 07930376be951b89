//! Marks and notes on the rows of a recording.

use super::prompt::{Prompt, Purpose};
use crate::action::Action;
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::worker::Ask as AnyAsk;
use mcpreel_share::phrases::sentence;
use mcpreel_store::annotate;
use mcpreel_trace::frame::Seq;
use std::path::PathBuf;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::Mark => Some(mark(app)),
        Action::Note => Some(begin_note(app)),
        _ => None,
    }
}

/// The frame of the selected row; a remark where it has none.
fn frame(app: &mut App) -> Option<Seq> {
    let selected = app.session.as_deref().and_then(super::selection::selected);
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
    let item = session.and_then(super::selection::item);
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
    let item = super::selection::item(session);
    let annotation = item.and_then(|item| item.annotation.as_ref());
    let note = annotation.and_then(|annotation| annotation.note.clone());
    session.noting = Some(frame);
    let prompt = Prompt::new(Purpose::Note, note.as_deref().unwrap_or_default());
    app.overlays.push(Overlay::Prompt(prompt));
    vec![]
}

/// The note is typed; an empty one is taken away.
pub fn note(app: &mut App, text: &str) -> Effects {
    let session = app.session.as_deref_mut();
    let Some(frame) = session.and_then(|session| session.noting.take()) else {
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
    let path = session.path.clone();
    vec![AnyAsk::Note(Ask { path, frame, what }).into()]
}

/// A mark or note was written, or could not be.
pub fn noted(app: &mut App, answer: Answer) -> Effects {
    if let Some(error) = answer.error {
        app.notices.error(error, app.now);
        return vec![];
    }
    let text = match &answer.what {
        What::Mark(Some(_)) => "marked",
        What::Mark(None) => "no longer marked",
        What::Note(Some(_)) => "note kept",
        What::Note(None) => "note removed",
    };
    let frame = answer.frame;
    let text = format!("#{}: {text}", frame.0);
    app.notices.success(text, app.now);
    super::selection::annotated(app, frame)
}

/// Every mark and note is written, at once and in order, on a connection of its own.
#[derive(Debug)]
pub struct Ask {
    path: PathBuf,
    frame: Seq,
    what: What,
}

/// A mark or a note; none takes it away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A mark: a word, empty for a plain mark.
    Mark(Option<Box<str>>),
    Note(Option<Box<str>>),
}

#[derive(Debug)]
pub struct Answer {
    frame: Seq,
    what: What,
    /// Why it could not be written, one sentence.
    error: Option<String>,
}

impl Ask {
    pub fn write(self) -> Answer {
        let (path, frame) = (&self.path, self.frame);
        let result = match &self.what {
            What::Mark(mark) => annotate::set_mark(path, frame, mark.as_deref()),
            What::Note(note) => annotate::set_note(path, Some(frame), note.as_deref()),
        };
        Answer {
            frame,
            what: self.what,
            error: result.err().map(|error| sentence(&error)),
        }
    }
}
