//! The list of exchanges or frames.
//!
//! ```text
//!  ┌ Exchanges ──────────────────────────────────────────────┐
//!  │     #  since     method          what            ms  st │
//!  │  1181  12:02.1 → tools/list      14 tools      3 ms  ✓  │
//!  │⚠ 1187  12:04.3 → tools/call      search_docs…  842 ms ✗ │
//!  │  1190  12:04.5 → tools/call      crawl {…}  └ 40/100 …  │
//!  │★ 1191  12:04.6 ← elicitation/…   confirm?      2.1 s …  │
//!  └──────────────────────────────────── ▼ 3 new · 12 of 37 ┘
//! ```
//!
//! Only the rows on the screen are built. A row whose words have not come yet shows its number.

mod cells;
mod columns;
mod empty;
mod picture;
mod pieces;

pub use cells::{arrow, status};

use crate::app::{App, Focus, Session};
use crate::layout::{self, Arrangement};
use crate::theme::{Glyph, Look, Role};
use crate::widget::frame as pane;
use mcpreel_trace::item::Lens;
use mcpreel_wire::text::{count, cut};
use picture::Picture;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// Rows of a pane from which on the columns have headings.
const HEADED: u16 = 8;

/// Where the rows are in the pane `area`.
pub fn rows_of(arrangement: Arrangement, area: Rect) -> Rect {
    let inner = inner_of(arrangement, area);
    let heading = u16::from(area.height >= HEADED).min(inner.height);
    Rect {
        y: inner.y + heading,
        height: inner.height - heading,
        ..inner
    }
}

fn inner_of(arrangement: Arrangement, area: Rect) -> Rect {
    if arrangement == Arrangement::Tiny {
        return area;
    }
    Rect {
        x: area.x + u16::from(area.width > 0),
        y: area.y + u16::from(area.height > 0),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2),
    }
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let arrangement = layout::arrangement(app.size);
    let look = &app.settings.look;
    let rows = rows_of(arrangement, area);
    if arrangement != Arrangement::Tiny {
        let focus = session.focus == Focus::Main;
        let title = match session.lens {
            Lens::Exchanges => "Exchanges",
            Lens::Wire => "Wire",
        };
        let foot = foot(session, look);
        pane::draw(look, title, &foot, focus, area, frame);
    }
    if session.list.is_empty() {
        return draw_reasons(app, session, rows, frame);
    }
    let picture = Picture::new(app, session, rows);
    if rows.y > area.y && area.height >= HEADED {
        let heading = Rect {
            y: rows.y - 1,
            height: 1,
            ..rows
        };
        frame.render_widget(picture.heading(), heading);
    }
    let page = usize::from(rows.height);
    let first = session.list.first_row(page);
    let mut before = first
        .checked_sub(1)
        .and_then(|at| session.list.index.get(at));
    let mut places = rows.rows();
    for row in session.list.visible(page) {
        let Some(place) = places.next() else { break };
        frame.render_widget(picture.row(row, before), place);
        before = Some(row);
    }
    if let (true, Some(place)) = (waits_for_messages(session), places.nth(1)) {
        let columns = usize::from(place.width);
        let text = cut(&format!(" {}", empty::waiting(app, session)), columns);
        frame.render_widget(Line::styled(text, look.style(Role::Open)), place);
    }
}

/// Whether what has come so far is events and stderr only.
fn waits_for_messages(session: &Session) -> bool {
    let waits = session.is_live() && session.list.until.is_none() && !session.filter.is_on();
    let vitals = session.vitals.as_deref();
    waits && vitals.is_some_and(|vitals| vitals.summary.messages == 0)
}

fn foot(session: &Session, look: &Look) -> String {
    let list = &session.list;
    let mut parts = Vec::new();
    if list.fresh > 0 {
        let more = look.glyph(Glyph::More);
        parts.push(format!("{more} {} new", count(list.fresh)));
    }
    if let Some(row) = list.cursor_row() {
        let (at, of) = (row as u64 + 1, list.len() as u64);
        parts.push(format!("{} of {}", count(at), count(of)));
        // The filter above counts what is folded too.
        if list.index.items() > of {
            parts.push("runs are folded".to_owned());
        }
    }
    parts.join(if look.ascii { " - " } else { " · " })
}

fn draw_reasons(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let columns = usize::from(area.width.saturating_sub(2));
    let lines = empty::reasons(app, session);
    for ((role, text), row) in lines.into_iter().zip(area.rows().skip(1)) {
        let style = app.settings.look.style(role);
        let line = Line::styled(format!(" {}", cut(&text, columns)), style);
        frame.render_widget(line, row);
    }
}
