//! A line that is typed.

use super::{export, filter, library, notes, replay, search};
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::keymap::Key;
use crossterm::event::KeyCode;
use tui_input::{Input, InputRequest};

// A line that is being typed.

pub fn press(app: &mut App, key: Key) -> Effects {
    let Some(Overlay::Prompt(prompt)) = app.overlays.last_mut() else {
        return vec![];
    };
    if let Some(request) = request(key) {
        let before = prompt.input.value().len();
        prompt.input.handle(request);
        let is_same = is_motion(request) && prompt.input.value().len() == before;
        return if is_same { vec![] } else { changed(app) };
    }
    match key.code {
        KeyCode::Esc => left(app),
        KeyCode::Char('c') if key.ctrl => left(app),
        KeyCode::Enter => done(app),
        KeyCode::Up => step(app, -1),
        KeyCode::Down => step(app, 1),
        KeyCode::Tab => complete(app),
        KeyCode::Char('r') if key.ctrl => switch(app),
        _ => vec![],
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

/// What is typed for: whose line it is.
fn purpose(app: &App) -> Option<Purpose> {
    match app.overlays.last() {
        Some(Overlay::Prompt(prompt)) => Some(prompt.purpose),
        _ => None,
    }
}

/// Text that was pasted, as one line.
pub fn paste(app: &mut App, text: &str) -> Effects {
    let prompt = match app.overlays.last_mut() {
        Some(Overlay::Prompt(prompt)) => prompt,
        Some(Overlay::Edit(editor)) => {
            replay::paste(editor, text);
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
    changed(app)
}

/// What a key does to a line, in all prompts alike.
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

fn changed(app: &mut App) -> Effects {
    match purpose(app) {
        Some(Purpose::Filter) => filter::changed(app),
        Some(Purpose::Narrow) => library::narrowed(app),
        _ => vec![],
    }
}

/// The line is done: its text goes to whom it was typed for.
fn done(app: &mut App) -> Effects {
    let Some(Overlay::Prompt(prompt)) = app.overlays.pop() else {
        return vec![];
    };
    let text = prompt.input.value();
    match prompt.purpose {
        Purpose::Filter => filter::done(app, text),
        Purpose::Search => search::done(app, text),
        Purpose::Note => notes::note(app, text),
        Purpose::RecordingNote => library::note(app, text),
        Purpose::Narrow => library::narrow(app, text),
        Purpose::ExportFile => export::named(app, text),
    }
}

/// The line was left without being done.
fn left(app: &mut App) -> Effects {
    let Some(Overlay::Prompt(prompt)) = app.overlays.pop() else {
        return vec![];
    };
    match prompt.purpose {
        Purpose::Filter => filter::left(app),
        Purpose::Search => search::left(app),
        Purpose::Narrow => library::narrow(app, ""),
        Purpose::Note | Purpose::RecordingNote | Purpose::ExportFile => vec![],
    }
}

/// An older line, or a newer one; the next candidate, where there are some.
fn step(app: &mut App, by: isize) -> Effects {
    match purpose(app) {
        Some(Purpose::Filter) => filter::step(app, by),
        Some(Purpose::Search) => search::step(app, by),
        _ => vec![],
    }
}

fn complete(app: &mut App) -> Effects {
    match purpose(app) {
        Some(Purpose::Filter) => filter::take_candidate(app),
        _ => vec![],
    }
}

/// Another way of reading the line: literal text or a regular expression.
fn switch(app: &mut App) -> Effects {
    match purpose(app) {
        Some(Purpose::Search) => search::switch(app),
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
    /// What narrows the list of recordings.
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
    /// Which of them stands in the prompt.
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

    /// Nothing of it stands in the prompt any more.
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
