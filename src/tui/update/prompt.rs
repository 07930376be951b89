//! A line that is being typed.

use crate::tui::app::{App, Overlay};
use crate::tui::effect::Effects;
use crate::tui::keymap::Key;
use crossterm::event::KeyCode;
use tui_input::InputRequest;

/// A key while a line is typed.
pub fn press(app: &mut App, key: Key) -> Effects {
    let Some(Overlay::Prompt(prompt)) = app.overlays.last_mut() else {
        return vec![];
    };
    if let Some(request) = request(key) {
        prompt.input.handle(request);
        return changed(app);
    }
    match key.code {
        KeyCode::Esc => left(app),
        KeyCode::Char('c') if key.ctrl => left(app),
        KeyCode::Enter => done(app),
        _ => vec![],
    }
}

/// Text that was pasted, as one line.
pub fn paste(app: &mut App, text: &str) -> Effects {
    let Some(Overlay::Prompt(prompt)) = app.overlays.last_mut() else {
        return vec![];
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
#[must_use]
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

/// The text has changed.
fn changed(_app: &mut App) -> Effects {
    vec![]
}

/// The line is done.
fn done(app: &mut App) -> Effects {
    app.overlays.pop();
    vec![]
}

/// The line was left without being done.
fn left(app: &mut App) -> Effects {
    app.overlays.pop();
    vec![]
}
