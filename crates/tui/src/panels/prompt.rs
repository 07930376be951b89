//! A line that is typed.

use super::{export, filter, library, notes, replay, search};
use crate::app::{App, Overlay, Viewer};
use crate::effect::Effects;
use crate::keymap::Key;
use crossterm::event::KeyCode;
use tui_input::{Input, InputRequest};

// A line that is being typed.

pub fn press(viewer: &mut Viewer, key: Key) -> Effects {
    let Some(Overlay::Prompt(prompt)) = viewer.app.overlays.last_mut() else {
        return vec![];
    };
    if let Some(request) = request(key) {
        let before = prompt.input.value().len();
        prompt.input.handle(request);
        let is_same = is_motion(request) && prompt.input.value().len() == before;
        return if is_same { vec![] } else { changed(viewer) };
    }
    match key.code {
        KeyCode::Esc => left(viewer),
        KeyCode::Char('c') if key.ctrl => left(viewer),
        KeyCode::Enter => done(viewer),
        code => other(viewer, code, key.ctrl),
    }
}

fn is_motion(request: InputRequest) -> bool {
    use InputRequest as R;
    matches!(
        request,
        R::GoToPrevChar
            | R::GoToNextChar
            | R::GoToPrevWord
            | R::GoToNextWord
            | R::GoToStart
            | R::GoToEnd
    )
}

/// The purpose of the line that is typed.
fn purpose(app: &App) -> Option<Purpose> {
    match app.overlays.last() {
        Some(Overlay::Prompt(prompt)) => Some(prompt.purpose),
        _ => None,
    }
}

/// Text that was pasted, as one line.
pub fn paste(viewer: &mut Viewer, text: &str) -> Effects {
    let prompt = match viewer.app.overlays.last_mut() {
        Some(Overlay::Prompt(prompt)) => prompt,
        Some(Overlay::Edit(editor)) => {
            replay::editor::paste(editor, text);
            return vec![];
        }
        _ => return vec![],
    };
    for letter in text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
    {
        prompt.input.handle(InputRequest::InsertChar(letter));
    }
    changed(viewer)
}

/// The edit of a key, in all prompts alike.
pub fn request(key: Key) -> Option<InputRequest> {
    Some(match (key.code, key.ctrl, key.alt) {
        (KeyCode::Char(letter), false, false) => InputRequest::InsertChar(letter),
        (KeyCode::Backspace, false, false) => InputRequest::DeletePrevChar,
        (KeyCode::Delete, _, _) => InputRequest::DeleteNextChar,
        (KeyCode::Left, false, _) | (KeyCode::Char('b'), true, _) => InputRequest::GoToPrevChar,
        (KeyCode::Right, false, _) | (KeyCode::Char('f'), true, _) => InputRequest::GoToNextChar,
        (KeyCode::Left, true, _) => InputRequest::GoToPrevWord,
        (KeyCode::Right, true, _) => InputRequest::GoToNextWord,
        (KeyCode::Home, _, _) | (KeyCode::Char('a'), true, _) => InputRequest::GoToStart,
        (KeyCode::End, _, _) | (KeyCode::Char('e'), true, _) => InputRequest::GoToEnd,
        (KeyCode::Char('w'), true, _) | (KeyCode::Backspace, _, true) => {
            InputRequest::DeletePrevWord
        }
        (KeyCode::Char('u'), true, _) => InputRequest::DeleteLine,
        (KeyCode::Char('k'), true, _) => InputRequest::DeleteTillEnd,
        _ => return None,
    })
}

fn changed(viewer: &mut Viewer) -> Effects {
    let Viewer { app, session } = viewer;
    match (purpose(app), session.as_deref_mut()) {
        (Some(Purpose::Filter), Some(session)) => filter::changed(app, session),
        (Some(Purpose::Narrow), _) => library::narrowed(app),
        _ => vec![],
    }
}

/// The line is done: its text goes to whom it was typed for.
fn done(viewer: &mut Viewer) -> Effects {
    let Viewer { app, session } = viewer;
    let Some(Overlay::Prompt(prompt)) = app.overlays.pop() else {
        return vec![];
    };
    let text = prompt.input.value();
    match (prompt.purpose, session.as_deref_mut()) {
        (Purpose::Filter, Some(session)) => filter::done(app, session, text),
        (Purpose::Search, Some(session)) => search::done(app, session, text),
        (Purpose::Note, Some(session)) => notes::note(session, text),
        (Purpose::RecordingNote, _) => library::note(app, text),
        (Purpose::Narrow, _) => library::narrow(app, text),
        (Purpose::ExportFile, _) => export::named(app, text),
        (_, None) => vec![],
    }
}

/// The line was left without being done.
fn left(viewer: &mut Viewer) -> Effects {
    let Viewer { app, session } = viewer;
    let Some(Overlay::Prompt(prompt)) = app.overlays.pop() else {
        return vec![];
    };
    match (prompt.purpose, session.as_deref_mut()) {
        (Purpose::Filter, Some(session)) => filter::left(app, session),
        (Purpose::Search, Some(session)) => {
            search::left(session);
            vec![]
        }
        (Purpose::Narrow, _) => library::narrow(app, ""),
        _ => vec![],
    }
}

/// An older line, or a newer one; the next candidate, where there are some; another way of reading
/// the line.
fn other(viewer: &mut Viewer, code: KeyCode, ctrl: bool) -> Effects {
    let Viewer { app, session } = viewer;
    let by = if code == KeyCode::Up { -1 } else { 1 };
    match (purpose(app), code, session.as_deref_mut()) {
        (Some(Purpose::Filter), KeyCode::Up | KeyCode::Down, Some(session)) => {
            filter::step(app, session, by)
        }
        (Some(Purpose::Filter), KeyCode::Tab, Some(session)) => {
            filter::take_candidate(app, session)
        }
        (Some(Purpose::Search), KeyCode::Up | KeyCode::Down, Some(session)) => {
            search::step(app, session, by)
        }
        (Some(Purpose::Search), KeyCode::Char('r'), _) if ctrl => search::switch(app),
        _ => vec![],
    }
}

#[derive(Debug)]
pub struct Prompt {
    pub purpose: Purpose,
    pub input: Input,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The filter of the rows; drawn in its bar.
    Filter,
    Search,
    Note,
    /// A note on the selected recording.
    RecordingNote,
    /// The words that narrow the list of recordings.
    Narrow,
    /// The file that something is exported to.
    ExportFile,
}

impl Prompt {
    pub fn new(purpose: Purpose, text: &str) -> Self {
        Self {
            purpose,
            input: Input::new(text.to_owned()),
        }
    }
}

/// Lines that were typed before, the newest last.
#[derive(Debug, Default)]
pub struct History {
    lines: Vec<String>,
    /// The line that stands in the prompt.
    recalled: Option<usize>,
}

impl History {
    /// Lines that are kept at most.
    const KEPT: usize = 100;

    /// Remembers a line as the newest one.
    pub fn remember(&mut self, line: &str) {
        self.recalled = None;
        if line.trim().is_empty() {
            return;
        }
        self.lines.retain(|older| older != line);
        self.lines.push(line.to_owned());
        if self.lines.len() > Self::KEPT {
            self.lines.remove(0);
        }
    }

    /// Goes to an older line (`by` below 0) or a newer one; empty past the newest.
    pub fn recall(&mut self, by: isize) -> Option<String> {
        let newest = self.lines.len();
        let at = self.recalled.unwrap_or(newest).checked_add_signed(by)?;
        if at > newest || newest == 0 {
            return None;
        }
        self.recalled = (at < newest).then_some(at);
        Some(self.lines.get(at).cloned().unwrap_or_default())
    }

    pub fn is_recalling(&self) -> bool {
        self.recalled.is_some()
    }

    /// Forgets which line stands in the prompt.
    pub fn leave(&mut self) {
        self.recalled = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_lines_come_back_and_each_is_remembered_once() {
        let mut history = History::default();
        for line in ["is:failed", "is:open", "is:failed", "  "] {
            history.remember(line);
        }
        assert_eq!(history.recall(-1).as_deref(), Some("is:failed"));
        assert_eq!(history.recall(-1).as_deref(), Some("is:open"));
        assert_eq!(history.recall(-1), None);
        assert_eq!(history.recall(1).as_deref(), Some("is:failed"));
        assert_eq!(history.recall(1).as_deref(), Some(""));
        assert_eq!(history.recall(1), None);
    }
}
