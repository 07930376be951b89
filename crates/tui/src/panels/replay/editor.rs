//! The arguments of a call, while a person edits them.
//!
//! ```text
//!  ┌ #23 tools/call search: params.arguments ───────────────────────────┐
//!  │ {                                                                  │
//!  │   "q": "rust async"▏                                               │
//!  │ }                                                                  │
//!  │ ✗ line 2, column 8: expected a value                               │
//!  └────────────────────────────── Ctrl-S takes it · Esc leaves it ─────┘
//! ```

use super::survey::Offer;
use super::{Edited, form};
use crate::action::Context;
use crate::app::{App, Handlers, Overlay, Session, Viewer};
use crate::effect::Effects;
use crate::keymap::Key;
use crate::panels::menu::area_of_content;
use crate::theme::{Glyph, Role};
use crate::widget::frame;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use mcpreel_replay::arguments::{Arguments, Mistake};
use mcpreel_wire::text::{cut, escape, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Clear;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};
use std::sync::Arc;

/// Columns of the text at least.
const LEAST: usize = 60;

#[derive(Debug)]
pub struct Editor {
    offer: Arc<Offer>,
    /// The arguments as they were edited before.
    edited: Edited,
    title: String,
    arguments: Arguments,
    area: TextArea<'static>,
    /// Why the text was not taken the last time.
    mistake: Option<Mistake>,
}

impl Editor {
    /// The arguments of the call, if it has some.
    pub fn new(offer: Arc<Offer>, edited: Edited) -> Option<Self> {
        let call = offer.call.as_ref()?;
        let arguments = call.arguments.clone()?;
        let text = edited.as_deref();
        let text = text.and_then(|json| arguments.with_lines(json));
        let text = text.unwrap_or_else(|| arguments.text.clone());
        let title = format!("{}: {}", call.title, escape(&arguments.path.to_string()));
        let mut area = TextArea::new(text.lines().map(str::to_owned).collect());
        // Nothing is told by colour alone, and no colour is used where none is wanted.
        area.set_cursor_line_style(Style::default());
        area.set_selection_style(Style::default().add_modifier(Modifier::REVERSED));
        area.set_wrap_mode(WrapMode::Glyph);
        area.set_tab_length(2);
        Some(Self {
            offer,
            edited,
            title,
            arguments,
            area,
            mistake: None,
        })
    }
}

impl Overlay for Editor {
    fn context(&self) -> Context {
        Context::Prompt
    }

    fn handlers(&self) -> Handlers {
        Handlers {
            press: |viewer, key| press(&mut viewer.app, key),
            paste,
            ..Handlers::NONE
        }
    }

    fn draw(&self, app: &App, _: Option<&Session>, _: Rect, frame: &mut Frame<'_>) {
        let look = &app.settings.look;
        let lines = self.area.lines();
        let widest = lines.iter().map(|line| width(line) + 1).max();
        // There is room for a line more, and for the mistake.
        let wanted = (widest.unwrap_or(0).max(LEAST), lines.len() + 2);
        let area = area_of_content(app.size, wanted);
        frame.render_widget(Clear, area);
        let dot = look.glyph(Glyph::Dot);
        let foot = format!("Ctrl-S accepts {dot} Ctrl-U undoes {dot} Esc cancels");
        let mut inner = frame::draw(look, &self.title, &foot, true, area, frame);
        if let Some(mistake) = self.mistake.as_ref().filter(|_| inner.height > 1) {
            inner.height -= 1;
            let place = Rect {
                y: inner.bottom(),
                height: 1,
                ..inner
            };
            let text = format!("{} {mistake}", look.glyph(Glyph::Failed));
            let text = cut(&text, usize::from(place.width));
            frame.render_widget(Line::styled(text, look.style(Role::Bad)), place);
        }
        frame.render_widget(&self.area, inner);
    }
}

fn press(app: &mut App, key: Key) -> Option<Effects> {
    let editor = app.top_mut::<Editor>()?;
    match (key.code, key.ctrl) {
        (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => leave(app),
        (KeyCode::Char('s'), true) => take(app),
        (code, ctrl) => {
            let mut modifiers = KeyModifiers::NONE;
            modifiers.set(KeyModifiers::CONTROL, ctrl);
            modifiers.set(KeyModifiers::ALT, key.alt);
            editor.area.input(KeyEvent::new(code, modifiers));
        }
    }
    Some(vec![])
}

/// Text that was pasted. What a terminal would obey becomes a blank.
fn paste(viewer: &mut Viewer, text: &str) -> Option<Effects> {
    let editor = viewer.app.top_mut::<Editor>()?;
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let letters = text.chars().map(|letter| {
        let mut bytes = [0; 4];
        let text: &str = letter.encode_utf8(&mut bytes);
        let is_visible = letter == '\n' || *escape(text) == *text;
        if is_visible { letter } else { ' ' }
    });
    editor.area.insert_str(letters.collect::<String>());
    Some(vec![])
}

/// Back to the form.
fn leave(app: &mut App) {
    if let Some(editor) = app.pop::<Editor>() {
        let form = form(app, &editor.offer, editor.edited);
        app.push(form);
    }
}

/// Takes what is there now, if it is JSON; else the cursor goes to the place where it is not.
fn take(app: &mut App) {
    let Some(editor) = app.top_mut::<Editor>() else {
        return;
    };
    match editor.arguments.changed(&editor.area.lines().join("\n")) {
        Ok(changed) => {
            editor.edited = changed.map(Into::into);
            if editor.edited.is_none() {
                app.say("nothing was changed");
            }
            leave(app);
        }
        Err(mistake) => {
            let [line, column] = [mistake.line, mistake.column]
                .map(|from_one| u16::try_from(from_one.saturating_sub(1)).unwrap_or(u16::MAX));
            editor.area.move_cursor(CursorMove::Jump(line, column));
            editor.mistake = Some(mistake);
        }
    }
}
