//! The arguments of a call, while they are edited.
//!
//! ```text
//!  ┌ #23 tools/call search: params.arguments ─────────────────────────┐
//!  │ {                                                                │
//!  │   "q": "rust async"▏                                             │
//!  │ }                                                                │
//!  │ ✗ line 2, column 8: expected a value                             │
//!  └───────────────────────────── Ctrl-S takes it · Esc leaves it ────┘
//! ```

use super::overlay::screen;
use crate::app::App;
use crate::app::edit::Editor;
use crate::theme::{Glyph, Role};
use crate::widget::frame;
use mcpreel_wire::text::cut;
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::text::Line;
use ratatui::widgets::Clear;

/// Draws it, with a margin where there is room for one.
pub fn draw(app: &App, editor: &Editor, _area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let (columns, rows) = app.size;
    let margin = Margin::new(u16::from(columns >= 60) * 3, u16::from(rows >= 16));
    let area = screen(app).inner(margin);
    frame.render_widget(Clear, area);
    let dot = look.glyph(Glyph::Dot);
    let foot = if columns < 60 {
        format!("Ctrl-S takes {dot} Esc leaves")
    } else {
        format!("Ctrl-S takes it {dot} Ctrl-U undoes {dot} Esc leaves it as it was")
    };
    let mut inner = frame::draw(look, &editor.title, &foot, true, area, frame);
    if let Some(mistake) = editor.mistake.as_ref().filter(|_| inner.height > 1) {
        inner.height -= 1;
        let place = Rect {
            y: inner.bottom(),
            height: 1,
            ..inner
        };
        let text = format!("{} {mistake}", look.glyph(Glyph::Error));
        let text = cut(&text, usize::from(place.width));
        frame.render_widget(Line::styled(text, look.style(Role::Bad)), place);
    }
    frame.render_widget(&editor.area, inner);
}
