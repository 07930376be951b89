//! Drawing the detail: its border, and the lines of the messages.
//!
//! ```text
//! ▾ request  id 7                                        412 B   +12:04.318
//!   ▾ params (2)                          a tree, or
//!     ▾ arguments (1)
//!         q      "rust"  string, required: what to look for
//!         limit  "ten"  ‼ is a string, not a number
//!       ▸ _meta (3) {…}  ! 2
//! {"jsonrpc":"2.0","id":7,"method":…      bytes as text, or
//! 0000:0000  7b 22 6a 73 6f 6e 72 70  63 22 3a 22 32 2e 30 22  {"jsonrpc":"2.0"
//! ⚠ the first 1.0 MB of 20 MB · L loads more
//! ```

use super::detail_body::Line;
use super::violations::Wrong;
use super::{Detail, Representation, Shown, Tab, timing_bar};
use crate::app::{App, Focus, Session};
use crate::layout::has_borders;
use crate::theme::{self, Glyph, Look, Role};
use crate::widget::spans::Spans;
use crate::widget::{spans, tree_line};
use mcpreel_share::phrases::{self, phrases_network};
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::item::What;
use mcpreel_wire::text::{count, cut, cut_middle, escape, width};
use ratatui::layout::Rect;
use ratatui::widgets::Block;
use ratatui::{Frame, text};

/// Columns by which what belongs to a heading stands further in.
pub const INDENT: usize = 2;

const SEPARATOR: &str = " · ";

/// The row that is drawn, and where.
pub struct Pane<'a> {
    pub app: &'a App,
    pub session: &'a Session,
    pub shown: &'a Shown,
    pub area: Rect,
}

impl Pane<'_> {
    pub fn columns(&self) -> usize {
        self.area.width.into()
    }

    /// Draws a line in a row of the pane; the one under the cursor is marked where the
    /// pane has the keys.
    pub fn line(&self, area: Rect, line: Spans, is_cursor: bool, frame: &mut Frame<'_>) {
        let look = self.app.settings.look;
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

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    if has_borders(app.size) {
        frame.render_widget(block(app, session, area), area);
    }
    let area = inner(app, area);
    if area.is_empty() {
        return;
    }
    let detail = &session.detail;
    let Some(shown) = detail.shown.as_deref() else {
        let text = match detail.asked {
            Some(_) => "reading",
            None => "nothing is selected",
        };
        let style = app.settings.look.style(Role::Faint);
        return frame.render_widget(text::Line::styled(text, style), area);
    };
    let pane = Pane {
        app,
        session,
        shown,
        area,
    };
    match detail.tab() {
        Tab::Body => draw_body(&pane, frame),
        Tab::Story => super::tabs::draw_story(&pane, frame),
        Tab::Findings => super::tabs::draw_findings(&pane, frame),
    }
}

/// The area of the lines, within the border.
pub fn inner(app: &App, area: Rect) -> Rect {
    if !has_borders(app.size) || area.is_empty() {
        return area;
    }
    Block::bordered().inner(area)
}

fn draw_body(pane: &Pane<'_>, frame: &mut Frame<'_>) {
    let Some(body) = pane.session.detail.body() else {
        return;
    };
    let (look, columns) = (pane.app.settings.look, pane.columns());
    let [cursor, top] = [pane.shown.at.cursor, pane.shown.at.top].map(|at| body.line_of(at));
    for (area, at) in pane.area.rows().zip(top..body.len()) {
        let mut spans = Spans::new();
        match body.line(at) {
            None => {}
            Some(Line::Head(part)) => spans = super::head::line(pane, part),
            Some(Line::Row(part, row, wrong, told)) => {
                let signs = wrong.map_or_else(Spans::new, |wrong| sign(wrong, look));
                let room = columns.saturating_sub(INDENT + spans::width(&signs));
                spans.push((Role::Text, " ".repeat(INDENT)));
                let mut wraps = part.wraps.iter().filter(|wrap| wrap.row == row);
                let is_below = wraps.clone().any(|wrap| wrap.told.is_some());
                if let Some(tree) = part.tree() {
                    let wrap = wraps.find(|wrap| wrap.told.is_none());
                    let end = wrap.map(|wrap| wrap.bytes.start);
                    spans.extend(tree_line::line(tree, row, end, room, &part.hits, look));
                }
                spans.extend(signs);
                push_told(&mut spans, wrong.and_then(|wrong| wrong.told), columns);
                push_told(&mut spans, told.filter(|_| !is_below), columns);
            }
            Some(Line::Wrapped(part, wrap)) => {
                let node = part
                    .tree()
                    .and_then(|tree| Some((tree, tree.node_at(wrap.row)?)));
                let room = columns.saturating_sub(INDENT);
                let before = node.map_or(0, |(tree, node)| tree_line::value_at(tree, node, room));
                spans.push((Role::Text, " ".repeat(INDENT + before)));
                if let Some(told) = &wrap.told {
                    spans.push((Role::Faint, told.clone()));
                } else if let Some((tree, node)) = node {
                    let (bytes, role) = (wrap.bytes.clone(), Role::JsonString);
                    let room = room.saturating_sub(before);
                    let text = tree_line::excerpt(tree, node, bytes, room, &part.hits, role);
                    spans.extend(text);
                }
            }
            Some(Line::Bytes(line)) => spans = line,
            Some(Line::Durations) => spans = timing_bar::legend(&pane.shown.timing, look),
            Some(Line::Note(note)) => {
                let text = format!("  {} {note}", look.glyph(Glyph::Warning));
                spans.push((Role::Warn, text));
            }
        }
        pane.line(area, spans, at == cursor, frame);
    }
}

/// Adds what is known of a value, where there is room for some of it.
fn push_told(line: &mut Spans, told: Option<&str>, columns: usize) {
    let room = columns.saturating_sub(spans::width(line) + 2);
    if let Some(told) = told.filter(|told| room >= width(told).min(6)) {
        line.push((Role::Faint, format!("  {}", cut(told, room))));
    }
}

/// The sign of what is wrong in a row, and how much where it is more than one thing.
pub fn sign(wrong: Wrong<'_>, look: Look) -> Spans {
    let (glyph, role) = theme::severity(wrong.worst.as_str());
    let mut text = format!("  {}", look.glyph(glyph));
    if wrong.count > 1 || wrong.told.is_none() {
        text = format!("{text} {}", count(wrong.count as u64));
    }
    vec![(role, text)]
}

/// The tab whose name stands at this column and row of the screen.
pub fn tab_at(app: &App, session: &Session, area: Rect, (column, row): (u16, u16)) -> Option<Tab> {
    if !has_borders(app.size) || row != area.y {
        return None;
    }
    let tabs = tabs(session);
    let mut at = usize::from(area.right()).checked_sub(spans::width(&tabs) + 2)?;
    // Every other piece is a separator.
    for (nth, (_, text)) in tabs.iter().enumerate() {
        at += width(text);
        if usize::from(column) < at {
            return session.detail.tabs().nth(nth / 2).filter(|_| nth % 2 == 0);
        }
    }
    None
}

/// The border, with what stands in it.
fn block(app: &App, session: &Session, area: Rect) -> Block<'static> {
    let look = app.settings.look;
    let role = if session.focus == Focus::Detail {
        Role::BorderFocus
    } else {
        Role::Border
    };
    let framed = |mut texts: Spans| {
        texts.insert(0, (Role::Text, " ".to_owned()));
        texts.push((Role::Text, " ".to_owned()));
        spans::line(texts, look)
    };
    let mut block = Block::bordered().border_style(look.style(role));
    let room = usize::from(area.width.saturating_sub(4));
    let tabs = tabs(session);
    let beside_tabs = room.saturating_sub(spans::width(&tabs) + 3);
    // The tabs give way where not even a number would stand beside them.
    let has_tabs = beside_tabs >= 8;
    let title_room = if has_tabs { beside_tabs } else { room };
    let title = cut(&title(app, session), title_room);
    block = block.title_top(framed(vec![(Role::Title, title)]));
    if has_tabs {
        block = block.title_top(framed(tabs).right_aligned());
    }
    let chips = chips(&session.detail, look);
    let foot_room = room.saturating_sub(spans::width(&chips) + 3);
    let foot = foot(&session.detail);
    if !foot.is_empty() && foot_room > 4 {
        block = block.title_bottom(framed(vec![(Role::Faint, cut_middle(&foot, foot_room))]));
    }
    if !chips.is_empty() {
        block = block.title_bottom(framed(chips).right_aligned());
    }
    block
}

fn title(app: &App, session: &Session) -> String {
    let Some(shown) = session.detail.shown.as_deref() else {
        return "detail".to_owned();
    };
    let item = &shown.item;
    let mark = item.annotation.as_ref().and_then(|note| note.mark.as_ref());
    let mark = mark.map_or("", |_| app.settings.look.glyph(Glyph::Marked));
    let seq = shown.seq().0;
    let title = match &item.what {
        What::Exchange(_) | What::Message { .. } => {
            let (method, name) = (item.method(), item.name());
            let tool = name.filter(|_| method == Some("tools/call"));
            let method = tool.or(method).unwrap_or("message");
            let name = name.filter(|_| tool.is_none()).unwrap_or_default();
            format!("#{seq} {} {}", escape(method), escape(name))
        }
        What::Http(http) => format!("#{seq} {}", escape(&phrases_network::http(http))),
        What::Line { head, .. } if head.carried.http > 0 => {
            format!("#{seq} HTTP, {}", head.carried.part.as_str())
        }
        What::Line { head, .. } if head.stream == StreamId::STDERR => format!("#{seq} stderr"),
        What::Line { .. } => format!("#{seq} no message"),
        // An event has no number: it is no frame.
        What::Event(event) => match (phrases::event(&event.kind), seq) {
            (event, 0) => format!("event: {event}"),
            (event, after) => format!("event after #{after}: {event}"),
        },
    };
    format!("{mark}{}", title.trim_end())
}

/// The names of the tabs, with how much there is in each.
fn tabs(session: &Session) -> Spans {
    let shown = session.detail.shown.as_deref();
    let number = |tab| match tab {
        Tab::Body => None,
        Tab::Story => {
            let story = shown?.story.as_ref()?;
            Some(story.rows.len() as u64 + story.left_out)
        }
        Tab::Findings => Some(shown?.findings.len() as u64).filter(|&number| number > 0),
    };
    let mut tabs = Spans::new();
    for tab in session.detail.tabs() {
        if !tabs.is_empty() {
            tabs.push((Role::Faint, SEPARATOR.to_owned()));
        }
        let number = number(tab).map(|number| format!(" {}", count(number)));
        let name = tab.as_str().to_owned() + &number.unwrap_or_default();
        let is_open = tab == session.detail.tab();
        tabs.push((if is_open { Role::Tab } else { Role::Faint }, name));
    }
    tabs
}

/// The place of the cursor: its path, its byte or its row.
fn foot(detail: &Detail) -> String {
    let Some(shown) = detail.shown.as_deref() else {
        return String::new();
    };
    let of = |at: usize, rows: usize| match rows {
        0 => String::new(),
        rows => format!("{} of {}", count(at as u64 + 1), count(rows as u64)),
    };
    match detail.tab() {
        Tab::Body => match (detail.path(), shown.at.cursor.byte) {
            (Some(path), _) => escape(&path).into_owned(),
            (None, Some(byte)) => format!("byte {}", count(byte as u64)),
            (None, None) => String::new(),
        },
        Tab::Story => of(shown.at_story.0, shown.story_rows()),
        Tab::Findings => of(shown.at_finding, shown.findings.len()),
    }
}

/// The modes of the body that hide or change something, and whether there are lines below.
fn chips(detail: &Detail, look: Look) -> Spans {
    let is_raw = detail.representation == Representation::Raw;
    let chips = is_raw.then_some([(Role::Chip, " raw "), (Role::Text, " ")]);
    let chips = chips.into_iter().flatten();
    let below = detail.shown.as_deref().zip(detail.body());
    let below =
        below.filter(|(shown, body)| body.line_of(shown.at.top) + detail.size.1 < body.len());
    let more = below.map(|_| (Role::Faint, look.glyph(Glyph::More)));
    let chips = chips.chain(more).filter(|_| detail.tab() == Tab::Body);
    chips.map(|(role, text)| (role, text.to_owned())).collect()
}
