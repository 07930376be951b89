//! Drawing: a pure function of the state and the area.
//!
//! One file per panel; each has `draw(&App, …, Rect, &mut Frame)`. Nothing here asks, changes or
//! remembers anything.

use super::app::{App, Session, View, Viewer};
use super::layout::{self, LEAST};
use super::panels::{findings, library_draw, server, state, stats, timeline, why};
use super::theme::Role;
use crate::panels::{detail, filter, footer, header, list};
use crate::widget::spans;
use mcpreel_wire::text::wrap;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub fn draw(viewer: &Viewer, frame: &mut Frame<'_>) {
    let (app, session) = (&viewer.app, viewer.session.as_deref());
    let (columns, rows) = app.size;
    let area = layout::screen(app.size).intersection(frame.area());
    if columns < LEAST.0 || rows < LEAST.1 {
        return too_small(app, area, frame);
    }
    match session {
        Some(session) => draw_session(app, session, frame),
        None => library_draw::draw(app, frame),
    }
    for overlay in &app.overlays {
        overlay.draw(app, session, area, frame);
    }
    footer::draw_notice(app, session, area, frame);
    if app.settings.look.ascii {
        spell_out(frame.buffer_mut());
    }
}

/// Frames, and signs that stand in words of ours (`12 ms · 3 open`, `µs`, what was cut), as ASCII.
/// Whatever else is no ASCII came over the wire and is shown as it is.
fn spell_out(screen: &mut Buffer) {
    const SIGNS: [&str; 12] = ["⚠", "·", "…", "µ", "→", "×", "│", "─", "┌", "┐", "└", "┘"];
    const ASCII: &str = "!-~u>x|-++++";
    for cell in &mut screen.content {
        if let Some(at) = SIGNS.iter().position(|sign| *sign == cell.symbol()) {
            cell.set_symbol(&ASCII[at..=at]);
        }
    }
}

fn draw_session(app: &App, session: &Session, frame: &mut Frame<'_>) {
    let places = layout::session(app, session);
    header::draw(app, session, places.header, frame);
    why::draw(app, session, places.why, frame);
    let tabs = header::tabs(app, session, places.tabs);
    footer::draw_chips(&app.settings.look, tabs, frame);
    filter::filter_draw::draw(app, session, places.filter, frame);
    if !places.main.is_empty() {
        match session.view {
            View::Exchanges => list::list_draw::draw(app, session, places.main, frame),
            View::Timeline => timeline::draw(app, session, places.main, frame),
            View::Stats => stats::draw(app, session, places.main, frame),
            View::Findings => findings::draw(app, session, places.main, frame),
            View::Server => server::draw(app, session, places.main, frame),
        }
    }
    if !places.detail.is_empty() {
        match session.playback.pane {
            Some(_) => state::draw(app, session, places.detail, frame),
            None => detail::detail_draw::draw(app, session, places.detail, frame),
        }
    }
    footer::draw(app, Some(session), places.footer, frame);
}

/// `too small (18×2), needs 20×3`, as much of it as fits.
fn too_small(app: &App, area: Rect, frame: &mut Frame<'_>) {
    let (columns, rows) = app.size;
    let times = app.settings.look.glyph(super::theme::Glyph::Times);
    let (wide, high) = LEAST;
    let text = format!("too small ({columns}{times}{rows}), needs {wide}{times}{high}");
    let lines = wrap(&text, usize::from(area.width)).into_iter();
    let lines = lines.map(|line| vec![(Role::Text, line)]);
    spans::draw_lines(&app.settings.look, lines, area, frame);
}
