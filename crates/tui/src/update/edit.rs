//! The arguments of a call, while they are edited.

use super::replay;
use crate::app::edit::Editor;
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::keymap::Key;
use crossterm::event::KeyCode;
use mcpreel_replay::arguments::Mistake;
use mcpreel_wire::text::escape;
use ratatui_textarea::{CursorMove, Input, Key as Typed, TextArea};

/// Opens the arguments of the call that is asked about.
pub fn begin(app: &mut App) {
    let offer = app.replay.offer.as_deref();
    let Some(call) = offer.and_then(|offer| offer.call.as_ref()) else {
        return;
    };
    let Ok(arguments) = call.arguments.clone() else {
        return;
    };
    let edited = app.replay.edited.as_deref();
    let text = edited.and_then(|json| arguments.with_lines(json));
    let text = text.unwrap_or_else(|| arguments.text.clone());
    let title = format!("#{} {}: {}", call.request.0.0, call.title, arguments.path);
    let editor = Editor::new(escape(&title).into_owned(), arguments, &text);
    app.overlays.push(Overlay::Edit(Box::new(editor)));
}

pub fn press(app: &mut App, key: Key) -> Effects {
    match (key.code, key.ctrl) {
        (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => leave(app),
        (KeyCode::Char('s'), true) => take(app),
        _ => {
            if let Some(Overlay::Edit(editor)) = app.overlays.last_mut() {
                editor.area.input(input(key));
            }
        }
    }
    vec![]
}

/// Text that was pasted. What a terminal would obey becomes a blank.
pub fn paste(editor: &mut Editor, text: &str) {
    let visible = |letter: char| {
        let text = letter.to_string();
        *escape(&text) == *text
    };
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let letters = text.chars().map(|letter| match letter {
        '\n' => '\n',
        letter if visible(letter) => letter,
        _ => ' ',
    });
    editor.area.insert_str(letters.collect::<String>());
}

/// Back to the question, nothing changed.
fn leave(app: &mut App) {
    app.overlays.pop();
    replay::ask_again(app);
}

/// Back to the question with what is there now, if it is JSON; else to the place where it is not.
fn take(app: &mut App) {
    let Some(Overlay::Edit(editor)) = app.overlays.last_mut() else {
        return;
    };
    match editor.arguments.changed(&editor.text()) {
        Ok(changed) => {
            app.overlays.pop();
            if changed.is_none() {
                app.notices.success("nothing was changed", app.now);
            }
            app.replay.edited = changed.map(Into::into);
            replay::ask_again(app);
        }
        Err(mistake) => {
            go_to(&mut editor.area, &mistake);
            editor.mistake = Some(mistake);
        }
    }
}

fn go_to(area: &mut TextArea<'_>, mistake: &Mistake) {
    let place = |from_one: usize| u16::try_from(from_one.saturating_sub(1)).unwrap_or(u16::MAX);
    area.move_cursor(CursorMove::Jump(place(mistake.line), place(mistake.column)));
}

/// A key as the text area knows it.
fn input(key: Key) -> Input {
    let typed = match key.code {
        KeyCode::Char(letter) => Typed::Char(letter),
        KeyCode::Enter => Typed::Enter,
        KeyCode::Backspace => Typed::Backspace,
        KeyCode::Delete => Typed::Delete,
        KeyCode::Tab => Typed::Tab,
        KeyCode::Left => Typed::Left,
        KeyCode::Right => Typed::Right,
        KeyCode::Up => Typed::Up,
        KeyCode::Down => Typed::Down,
        KeyCode::Home => Typed::Home,
        KeyCode::End => Typed::End,
        KeyCode::PageUp => Typed::PageUp,
        KeyCode::PageDown => Typed::PageDown,
        _ => Typed::Null,
    };
    Input {
        key: typed,
        ctrl: key.ctrl,
        alt: key.alt,
        shift: false,
    }
}
