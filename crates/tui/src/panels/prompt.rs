//! A line that is typed.

use crate::action::Context;
use crate::app::{App, Handlers, Overlay, Session, Viewer};
use crate::effect::Effects;
use crate::keymap::Key;
use crate::theme::{Glyph, Role};
use crate::widget::spans;
use crossterm::event::KeyCode;
use mcpreel_wire::text::{escape, width};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::widgets::Clear;
use std::fmt;
use tui_input::{Input, InputRequest};

/// Lines that are kept of each purpose.
const KEPT: usize = 100;

pub struct Prompt {
    label: &'static str,
    hint: &'static str,
    pub input: Input,
    /// The older line that stands in the prompt.
    recalled: Option<usize>,
    pub live: Live,
    done: Done,
}

/// Gets the line after Enter.
type Done = Box<dyn FnOnce(&mut Viewer, &str) -> Effects>;

/// The actions of a prompt while its line is typed.
#[derive(Clone, Copy)]
pub struct Live {
    /// The line or the caret has changed.
    pub changed: fn(&mut Viewer) -> Effects,
    /// The line was left without being done.
    pub left: fn(&mut Viewer) -> Effects,
    /// Takes a key that edits nothing.
    pub press: fn(&mut Viewer, KeyCode) -> Option<Effects>,
    pub click: fn(&mut Viewer, Position) -> Effects,
    /// Draws the prompt of the filter, which has a place of its own.
    pub filter: Option<fn(&App, &Session, &mut Frame<'_>)>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            changed: |_| vec![],
            left: |_| vec![],
            press: |_, _| None,
            click: |_, _| vec![],
            filter: None,
        }
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.label, self.input.value())
    }
}

impl Prompt {
    /// A prompt with this text in it; `done` gets the line after Enter.
    pub fn new(
        label: &'static str,
        hint: &'static str,
        text: &str,
        done: impl FnOnce(&mut Viewer, &str) -> Effects + 'static,
    ) -> Self {
        Self {
            label,
            hint,
            input: Input::new(text.to_owned()),
            recalled: None,
            live: Live::default(),
            done: Box::new(done),
        }
    }

    pub fn is_recalling(&self) -> bool {
        self.recalled.is_some()
    }
}

impl Overlay for Prompt {
    fn context(&self) -> Context {
        Context::Prompt
    }

    fn handlers(&self) -> Handlers {
        Handlers {
            press,
            paste,
            click: |viewer, cell, _| {
                let live = viewer.app.top::<Self>()?.live;
                Some((live.click)(viewer, cell.into()))
            },
            ..Handlers::NONE
        }
    }

    fn draw(&self, app: &App, session: Option<&Session>, area: Rect, frame: &mut Frame<'_>) {
        match (self.live.filter, session) {
            (Some(filter), Some(session)) => filter(app, session, frame),
            _ => draw(app, self, area, frame),
        }
    }

    fn is_filter(&self) -> bool {
        self.live.filter.is_some()
    }
}

fn press(viewer: &mut Viewer, key: Key) -> Option<Effects> {
    let prompt = viewer.app.top_mut::<Prompt>()?;
    let live = prompt.live;
    if let Some(request) = request(key) {
        prompt.input.handle(request);
        return Some((live.changed)(viewer));
    }
    let pressed = (live.press)(viewer, key.code);
    pressed.or_else(|| match key.code {
        KeyCode::Esc | KeyCode::Char('c') => {
            viewer.app.overlays.pop();
            Some((live.left)(viewer))
        }
        KeyCode::Enter => done(viewer),
        KeyCode::Up => recall(viewer, -1),
        KeyCode::Down => recall(viewer, 1),
        _ => Some(vec![]),
    })
}

/// Text that was pasted, as one line.
fn paste(viewer: &mut Viewer, text: &str) -> Option<Effects> {
    let prompt = viewer.app.top_mut::<Prompt>()?;
    for letter in text.chars() {
        let letter = if letter.is_control() { ' ' } else { letter };
        prompt.input.handle(InputRequest::InsertChar(letter));
    }
    let changed = prompt.live.changed;
    Some(changed(viewer))
}

/// The edit of a key, in all prompts alike.
pub fn request(key: Key) -> Option<InputRequest> {
    use InputRequest as Edit;
    Some(match (key.code, key.ctrl, key.alt) {
        (KeyCode::Char(letter), false, false) => Edit::InsertChar(letter),
        (KeyCode::Backspace, false, false) => Edit::DeletePrevChar,
        (KeyCode::Delete, ..) => Edit::DeleteNextChar,
        (KeyCode::Left, true, _) => Edit::GoToPrevWord,
        (KeyCode::Right, true, _) => Edit::GoToNextWord,
        (KeyCode::Left, ..) | (KeyCode::Char('b'), true, _) => Edit::GoToPrevChar,
        (KeyCode::Right, ..) | (KeyCode::Char('f'), true, _) => Edit::GoToNextChar,
        (KeyCode::Home, ..) | (KeyCode::Char('a'), true, _) => Edit::GoToStart,
        (KeyCode::End, ..) | (KeyCode::Char('e'), true, _) => Edit::GoToEnd,
        (KeyCode::Char('w'), true, _) | (KeyCode::Backspace, ..) => Edit::DeletePrevWord,
        (KeyCode::Char('u'), true, _) => Edit::DeleteLine,
        (KeyCode::Char('k'), true, _) => Edit::DeleteTillEnd,
        _ => return None,
    })
}

/// Takes the line as it is.
pub fn done(viewer: &mut Viewer) -> Option<Effects> {
    let prompt = viewer.app.pop::<Prompt>()?;
    let line = prompt.input.value();
    remember(&mut viewer.app, prompt.label, line);
    Some((prompt.done)(viewer, line))
}

/// Remembers a line as the newest of a prompt with this label.
pub fn remember(app: &mut App, label: &'static str, line: &str) {
    if line.trim().is_empty() {
        return;
    }
    let lines = app.typed.entry(label).or_default();
    lines.retain(|older| older != line);
    lines.push(line.to_owned());
    if lines.len() > KEPT {
        lines.remove(0);
    }
}

/// Calls back an older line (`by` below 0) or a newer one, empty past the newest.
fn recall(viewer: &mut Viewer, by: isize) -> Option<Effects> {
    let prompt = viewer.app.overlays.last_mut()?.cast_mut::<Prompt>()?;
    let lines = viewer.app.typed.get(prompt.label);
    let lines = lines.map_or(&[][..], Vec::as_slice);
    let at = prompt.recalled.unwrap_or(lines.len());
    let at = at.checked_add_signed(by).filter(|at| *at <= lines.len());
    if let Some(at) = at.filter(|_| !lines.is_empty()) {
        prompt.recalled = (at < lines.len()).then_some(at);
        prompt.input = Input::new(lines.get(at).cloned().unwrap_or_default());
    }
    let changed = prompt.live.changed;
    Some(changed(viewer))
}

/// The last row of the screen, while a line is typed.
fn draw(app: &App, prompt: &Prompt, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let Some(row) = area.rows().next_back() else {
        return;
    };
    frame.render_widget(Clear, row);
    let hint = prompt.hint;
    let label = format!(" {} {} ", prompt.label, look.glyph(Glyph::Prompt));
    let used = width(&label);
    let columns = usize::from(row.width);
    let hint_room = columns.saturating_sub(used + 20);
    let hint = if width(hint) <= hint_room { hint } else { "" };
    let room = columns.saturating_sub(used + width(hint) + 1).max(1);
    let (text, caret) = typed(&prompt.input, room);
    let gap = columns.saturating_sub(used + width(&text) + width(hint));
    let line = vec![
        (Role::Prompt, label),
        (Role::Text, text + &" ".repeat(gap)),
        (Role::Faint, hint.to_owned()),
    ];
    frame.render_widget(spans::line(line, *look), row);
    let caret = (used + caret).min(columns.saturating_sub(1));
    let x = row.x + u16::try_from(caret).unwrap_or(0);
    frame.set_cursor_position(Position::new(x, row.y));
}

/// The part of what is typed that is seen in `room` columns, and the column of the caret in it.
pub fn typed(input: &Input, room: usize) -> (String, usize) {
    let scroll = input.visual_scroll(room.saturating_sub(1));
    let mut text = input.value();
    let mut skipped = 0;
    while skipped < scroll
        && let Some(letter) = text.chars().next()
    {
        let (head, tail) = text.split_at(letter.len_utf8());
        skipped += width(head);
        text = tail;
    }
    let end = (1..=text.len()).filter(|end| text.is_char_boundary(*end));
    let end = end.take_while(|end| width(&text[..*end]) <= room).last();
    let seen = escape(&text[..end.unwrap_or(0)]).into_owned();
    (seen, input.visual_cursor().saturating_sub(scroll))
}
