//! Any command, by parts of its name.

use super::prompt::request;
use crate::app::palette::{Command, Palette};
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::keymap::Key;
use crate::view;
use crate::view::overlay::Hit;
use crossterm::event::KeyCode;

pub fn open(app: &mut App) -> Effects {
    begin(app, "")
}

/// Opens it for the number of a frame.
pub fn number(app: &mut App) -> Effects {
    begin(app, "#")
}

pub fn begin(app: &mut App, text: &str) -> Effects {
    let contexts = app.contexts();
    app.overlays.push(Overlay::Palette(Palette {
        input: text.into(),
        contexts,
        ..Palette::default()
    }));
    vec![]
}

pub fn press(app: &mut App, key: Key) -> Effects {
    let Some(Overlay::Palette(palette)) = app.overlays.last_mut() else {
        return vec![];
    };
    palette.wheel = None;
    match (key.code, key.ctrl) {
        (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => {
            app.overlays.pop();
        }
        (KeyCode::Enter, _) => {
            let at = palette.at;
            return run(app, at);
        }
        (KeyCode::Down | KeyCode::Tab, _) | (KeyCode::Char('n'), true) => {
            let last = palette.commands().len().saturating_sub(1);
            palette.at = (palette.at + 1).min(last);
        }
        (KeyCode::Up | KeyCode::BackTab, _) | (KeyCode::Char('p'), true) => {
            palette.at = palette.at.saturating_sub(1);
        }
        (KeyCode::Backspace, _) if palette.input.value().is_empty() => {
            app.overlays.pop();
        }
        _ => {
            if let Some(request) = request(key) {
                palette.input.handle(request);
                palette.at = 0;
            }
        }
    }
    vec![]
}

/// A click on a cell of the screen: does what stands there, beside the palette closes it.
pub fn click(app: &mut App, cell: (u16, u16)) -> Effects {
    let hit = match app.overlays.last() {
        Some(Overlay::Palette(palette)) => view::palette::hit(app, palette, cell),
        _ => Hit::Inside,
    };
    match hit {
        Hit::Entry(at) => return run(app, at),
        Hit::Outside => {
            app.overlays.pop();
        }
        Hit::Inside => {}
    }
    vec![]
}

/// The wheel was turned by so many rows: scrolls without moving the cursor.
pub fn wheel(app: &mut App, by: isize) -> Effects {
    let (commands, top) = match app.overlays.last() {
        Some(Overlay::Palette(palette)) => {
            let commands = palette.commands().len();
            (commands, view::palette::top(app, palette, commands))
        }
        _ => return vec![],
    };
    let page = view::palette::page(app);
    if let Some(Overlay::Palette(palette)) = app.overlays.last_mut() {
        palette.wheel = Some(crate::widget::frame::turned(top, by, commands, page));
    }
    vec![]
}

fn run(app: &mut App, at: usize) -> Effects {
    let Some(Overlay::Palette(palette)) = app.overlays.pop() else {
        return vec![];
    };
    match palette.commands().into_iter().nth(at) {
        Some(Command::Do(action)) => super::offered(app, action).unwrap_or_else(|| {
            let text = format!("{} does nothing here", action.row().name);
            app.notices.error(text, app.now);
            vec![]
        }),
        Some(Command::Goto(seq)) => crate::panels::list::goto(app, seq),
        None => {
            let typed = mcpreel_wire::text::escape(palette.input.value()).into_owned();
            let message = format!("no command is called {typed}; : shows them all");
            app.notices.error(message, app.now);
            vec![]
        }
    }
}
