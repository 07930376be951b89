//! One row in full.
//!
//! ```text
//! ┌ #1187 tools/call search_docs ────────── Body · Story 12 · Findings 2 ┐
//! │ ▾ request  id 7                                    412 B   +12:04.318 │
//! │   ▾ params (2)                                                        │
//! │       name       "search_docs"                                        │
//! │ ▾ response  ✗ tool-error  842 ms                              1.9 kB  │
//! │   ▸ content (1) [{type:"text", text:"quota exceeded"}]                │
//! └ params.arguments.q ───────────────────────────── raw   request only ▼ ┘
//! ```
//!
//! * `body`: the lines of the messages; `head`: their headings;
//! * `story`: what happened; `findings`: what is wrong.

pub mod body;
mod border;
mod findings;
mod head;
mod story;

pub use border::tab_at;

use crate::app::detail::{Detail, Shown, Tab};
use crate::app::{App, Focus, Session};
use crate::layout::{Arrangement, arrangement};
use crate::theme::Role;
use crate::widget::spans::{self, Spans};
use mcpreel_wire::text::cut;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Block;

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    if !is_bare(app) {
        frame.render_widget(border::block(app, session, area), area);
    }
    let inner = inner(app, area);
    if inner.is_empty() {
        return;
    }
    let detail = &session.detail;
    let Some(shown) = detail.shown.as_deref() else {
        return draw_nothing(app, detail, inner, frame);
    };
    let pane = Pane {
        app,
        session,
        shown,
        area: inner,
    };
    match detail.tab {
        Tab::Body => body::draw(&pane, frame),
        Tab::Story => story::draw(&pane, frame),
        Tab::Findings => findings::draw(&pane, frame),
    }
}

/// What the parts of the pane are drawn from.
struct Pane<'a> {
    app: &'a App,
    session: &'a Session,
    shown: &'a Shown,
    area: Rect,
}

impl Pane<'_> {
    fn columns(&self) -> usize {
        self.area.width.into()
    }

    /// Draws a line in the row `row` of the pane; the one under the cursor is marked where the
    /// pane has the keys.
    fn line(&self, row: u16, line: Spans, is_cursor: bool, frame: &mut Frame<'_>) {
        let look = self.app.settings.look;
        let area = Rect {
            y: self.area.y + row,
            height: 1,
            ..self.area
        };
        let mut line = spans::cut(line, self.columns());
        let is_marked = is_cursor && self.session.focus == Focus::Detail;
        if is_marked {
            // In reverse video every colour would be a block of its own.
            let others = line.iter_mut().filter(|(role, _)| *role != Role::Hit);
            others.for_each(|(role, _)| *role = Role::Text);
        }
        frame.render_widget(spans::line(line, look), area);
        if is_marked {
            let style = look.style(Role::Selected);
            frame.buffer_mut().set_style(area, style);
        }
    }
}

/// Where its lines are drawn, within the border.
pub fn inner(app: &App, area: Rect) -> Rect {
    if is_bare(app) || area.is_empty() {
        return area;
    }
    Block::bordered().inner(area)
}

fn is_bare(app: &App) -> bool {
    arrangement(app.size) == Arrangement::Tiny
}

fn draw_nothing(app: &App, detail: &Detail, area: Rect, frame: &mut Frame<'_>) {
    let text = match detail.asked {
        Some(_) => "reading",
        None => "nothing is selected",
    };
    let style = app.settings.look.style(Role::Faint);
    frame.render_widget(Line::styled(cut(text, area.width.into()), style), area);
}
