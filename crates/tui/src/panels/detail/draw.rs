//! Drawing the detail: its border, and the lines of the messages.
//!
//! ```text
//! ▾ request  id 7                                        412 B   +12:04.318
//!   ▾ params (2)                          a tree, or
//!     ▾ arguments (1)
//!         q      "rust"  string, required: what to look for
//!         limit  "ten"  ✗ is a string, not a number
//!       ▸ _meta (3) {…}  ⚠ 2
//! {"jsonrpc":"2.0","id":7,"method":…      bytes as text, or
//! 0000:0000  7b 22 6a 73 6f 6e 72 70  63 22 3a 22 32 2e 30 22  {"jsonrpc":"2.0"
//! ⚠ the first 1.0 MB of 20 MB · L loads more
//! ```

use super::detail_body::{Line, Spot};
use super::jobs::Wrong;
use super::{Detail, Representation, Shown, Sides, Tab};
use crate::app::{App, Focus, Session};
use crate::layout::{Arrangement, arrangement};
use crate::theme;
use crate::theme::{Glyph, Look, Role};
use crate::widget::spans::Spans;
use crate::widget::{hex, spans, tree_line};
use mcpreel_share::phrases;
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::item::What;
use mcpreel_wire::text::{count, cut, escape, width};
use ratatui::layout::Rect;
use ratatui::widgets::Block;
use ratatui::{Frame, text};

/// Columns by which what belongs to a heading stands further in.
pub const INDENT: usize = 2;

pub fn draw_body(pane: &Pane<'_>, frame: &mut Frame<'_>) {
    let columns = pane.columns();
    let Some(body) = pane.session.detail.body(columns) else {
        return;
    };
    let look = pane.app.settings.look;
    let cursor = body.snap(pane.shown.at.cursor);
    let mut at = Some(body.snap(pane.shown.at.top));
    for row in 0..pane.area.height {
        let Some(position) = at else { break };
        let Some(line) = body.line(position) else {
            break;
        };
        let line = match line {
            Line::Head(part) => super::head::line(pane, part),
            Line::Row(row, wrong, told) => {
                let columns = columns.saturating_sub(INDENT);
                let signs = wrong.map_or_else(Spans::new, |wrong| sign(wrong, look));
                let room = columns.saturating_sub(spans::width(&signs));
                let mut line = tree_line::line(row, room, look);
                line.extend(signs);
                let line = with(line, wrong.and_then(|wrong| wrong.told), columns, " ");
                with(line, told, columns, "  ")
            }
            Line::Text(line) => {
                let mut spans = Spans::new();
                spans::push(&mut spans, line.pieces, Role::Text);
                spans
            }
            Line::Hex(line) => hex_line(&line, columns),
            Line::Note(note) => note_line(note, look),
        };
        let indented = matches!(position.spot, Spot::Note(_) | Spot::Node(_));
        let line = if indented { indent(line) } else { line };
        pane.line(row, line, position == cursor, frame);
        at = body.next(position);
    }
}

/// A value with what is known of it, where there is room for some of it.
fn with(mut line: Spans, told: Option<&str>, columns: usize, gap: &str) -> Spans {
    /// Columns in which something can be said.
    const SOME: usize = 6;
    let room = columns.saturating_sub(spans::width(&line) + gap.len());
    if let Some(told) = told.filter(|told| room >= SOME.min(width(told))) {
        line.push((Role::Faint, format!("{gap}{}", cut(told, room))));
    }
    line
}

/// The sign of what is wrong in a row, and how much where it is more than one thing.
pub(crate) fn sign(wrong: Wrong<'_>, look: Look) -> Spans {
    let (glyph, role) = theme::severity(wrong.worst.as_str());
    let sign = look.glyph(glyph);
    let text = if wrong.count > 1 || wrong.told.is_none() {
        format!("  {sign} {}", count(wrong.count as u64))
    } else {
        format!("  {sign}")
    };
    vec![(role, text)]
}

fn indent(mut line: Spans) -> Spans {
    line.insert(0, (Role::Text, " ".repeat(INDENT)));
    line
}

fn note_line(note: &str, look: Look) -> Spans {
    let sign = look.glyph(Glyph::Warning);
    vec![(Role::Warn, format!("{sign} {note}"))]
}

fn hex_line(line: &hex::Line, columns: usize) -> Spans {
    let per_line = hex::per_line(columns);
    let mut spans = vec![(Role::Faint, format!("{}  ", line.offset))];
    for at in 0..per_line {
        let gap = if at + 1 == per_line || at % 8 == 7 {
            "  "
        } else {
            " "
        };
        match line.cells.get(at) {
            Some(cell) => spans.push((role(cell.hit, Role::Text), cell.hex())),
            None => spans.push((Role::Text, "  ".to_owned())),
        }
        spans.push((Role::Text, gap.to_owned()));
    }
    for cell in &line.cells {
        let text = cell.character().to_string();
        spans.push((role(cell.hit, Role::Faint), text));
    }
    spans
}

fn role(hit: bool, otherwise: Role) -> Role {
    if hit { Role::Hit } else { otherwise }
}

/// The tab whose name stands at this column and row of the screen.
pub fn tab_at(app: &App, session: &Session, area: Rect, (column, row): (u16, u16)) -> Option<Tab> {
    if is_bare(app) || row != area.y {
        return None;
    }
    let names = tab_names(session);
    let mut at = usize::from(area.right()).checked_sub(tabs_width(&names) + 2)?;
    for (tab, name) in Tab::ALL.into_iter().zip(names) {
        let end = at + width(&name);
        if (at..end).contains(&usize::from(column)) {
            return Some(tab);
        }
        at = end + SEPARATOR.chars().count();
    }
    None
}

const SEPARATOR: &str = " · ";

fn tabs_width(names: &[String]) -> usize {
    let names: usize = names.iter().map(|name| width(name)).sum();
    names + SEPARATOR.chars().count() * 2
}

/// The border, with what stands in it.
pub(crate) fn block(app: &App, session: &Session, area: Rect) -> Block<'static> {
    let look = app.settings.look;
    let focus = session.focus == Focus::Detail;
    let role = if focus {
        Role::BorderFocus
    } else {
        Role::Border
    };
    let block = Block::bordered()
        .border_set(look.border())
        .border_style(look.style(role));
    let room = usize::from(area.width.saturating_sub(4));
    let names = tab_names(session);
    let tabs_width = tabs_width(&names) + 3;
    let title = title(app, session);
    let title_room = room.saturating_sub(tabs_width);
    // The tabs give way where not even a number would stand beside them.
    let (title_room, tabs) = if title_room < 8 {
        (room, Spans::new())
    } else {
        (title_room, tabs(session, names))
    };
    let mut block = block.title_top(framed(vec![(Role::Title, cut(&title, title_room))], app));
    if !tabs.is_empty() {
        block = block.title_top(framed(tabs, app).right_aligned());
    }
    let chips = foot_chips(app, session);
    let foot_room = room.saturating_sub(spans::width(&chips) + 3);
    let foot = foot(session);
    if !foot.is_empty() && foot_room > 4 {
        let foot = mcpreel_wire::text::cut_middle(&foot, foot_room);
        block = block.title_bottom(framed(vec![(Role::Faint, foot)], app));
    }
    if !chips.is_empty() && spans::width(&chips) <= room {
        block = block.title_bottom(framed(chips, app).right_aligned());
    }
    block
}

fn framed(mut texts: Spans, app: &App) -> text::Line<'static> {
    let space = || (Role::Text, " ".to_owned());
    texts.insert(0, space());
    texts.push(space());
    spans::line(texts, app.settings.look)
}

fn title(app: &App, session: &Session) -> String {
    let Some(shown) = session.detail.shown.as_deref() else {
        return "detail".to_owned();
    };
    let item = &shown.item;
    let mark = item.annotation.as_ref().and_then(|note| note.mark.as_ref());
    let mark = mark.map_or("", |_| app.settings.look.glyph(Glyph::Marked));
    let what = match &item.what {
        What::Exchange(_) | What::Message { .. } => {
            let method = item.method().unwrap_or("message");
            let name = item.name().unwrap_or_default();
            format!("{} {}", escape(method), escape(name))
        }
        What::Line { head, .. } if head.stream == StreamId::STDERR => "stderr".to_owned(),
        What::Line { .. } => "no message".to_owned(),
        What::Event(event) => phrases::event(&event.kind),
    };
    // An event has no number: it is no frame.
    let place = match (&item.what, shown.seq().0) {
        (What::Event(_), 0) => "event:".to_owned(),
        (What::Event(_), after) => format!("event after #{after}:"),
        (_, seq) => format!("#{seq}"),
    };
    let title = format!("{mark}{place} {what}");
    title.trim_end().to_owned()
}

fn tab_names(session: &Session) -> Vec<String> {
    let shown = session.detail.shown.as_deref();
    let number = |tab| match tab {
        Tab::Body => None,
        Tab::Story => shown?.story.as_ref().map(|story| {
            let rows = story.rows.len() as u64;
            rows + story.left_out
        }),
        Tab::Findings => Some(shown?.findings.len() as u64).filter(|&number| number > 0),
    };
    let name = |tab: Tab| match number(tab) {
        Some(number) => format!("{} {}", tab.as_str(), count(number)),
        None => tab.as_str().to_owned(),
    };
    Tab::ALL.into_iter().map(name).collect()
}

fn tabs(session: &Session, names: Vec<String>) -> Spans {
    let mut tabs = Spans::new();
    for (tab, name) in Tab::ALL.into_iter().zip(names) {
        if !tabs.is_empty() {
            tabs.push((Role::Faint, SEPARATOR.to_owned()));
        }
        // It is underlined too: without the keys the whole line may be bold.
        let role = if tab == session.detail.tab {
            Role::Tab
        } else {
            Role::Faint
        };
        tabs.push((role, name));
    }
    tabs
}

fn foot(session: &Session) -> String {
    let detail = &session.detail;
    let Some(shown) = detail.shown.as_deref() else {
        return String::new();
    };
    let of = |at: usize, rows: usize| match rows {
        0 => String::new(),
        rows => format!("{} of {}", count(at as u64 + 1), count(rows as u64)),
    };
    match detail.tab {
        Tab::Body => match detail.path() {
            Some(path) => escape(&path).into_owned(),
            None => byte(detail, shown).unwrap_or_default(),
        },
        Tab::Story => shown
            .story
            .as_ref()
            .map_or_else(String::new, |story| of(shown.at_story.0, story.rows.len())),
        Tab::Findings => of(shown.at_finding, shown.findings.len()),
    }
}

fn byte(detail: &Detail, shown: &Shown) -> Option<String> {
    let Spot::Byte(at) = shown.at.cursor.spot else {
        return None;
    };
    let size = detail.part()?.text.as_ref()?.size;
    Some(format!("byte {} of {}", count(at as u64), count(size)))
}

/// The modes in force, and whether there is more below.
fn foot_chips(app: &App, session: &Session) -> Spans {
    let detail = &session.detail;
    let mut words = Vec::new();
    if detail.tab == Tab::Body {
        words.extend(match detail.representation {
            Representation::Tree => None,
            Representation::Raw => Some("raw"),
            Representation::Hex => Some("hex"),
        });
        words.extend(match detail.sides {
            Sides::Both => None,
            Sides::Request => Some("request only"),
            Sides::Response => Some("response only"),
        });
    }
    let mut chips: Spans = Vec::new();
    for word in words {
        chips.push((Role::Chip, format!(" {word} ")));
        chips.push((Role::Text, " ".to_owned()));
    }
    if is_more_below(detail) {
        chips.push((Role::Faint, app.settings.look.glyph(Glyph::More).to_owned()));
    }
    chips
}

/// Whether there are lines below the last one on the screen.
fn is_more_below(detail: &Detail) -> bool {
    let rows = detail.size.1;
    let Some(shown) = detail.shown.as_deref() else {
        return false;
    };
    match detail.tab {
        Tab::Body => detail.body(detail.size.0).is_some_and(|body| {
            let by = isize::try_from(rows).unwrap_or(isize::MAX);
            let at = body.step(body.snap(shown.at.top), by.saturating_sub(1));
            body.next(at).is_some()
        }),
        Tab::Story => {
            let told = shown.story.as_ref().map_or(0, |story| story.rows.len());
            shown.at_story.1 + rows < told
        }
        Tab::Findings => false,
    }
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    if !is_bare(app) {
        frame.render_widget(block(app, session, area), area);
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
        Tab::Body => draw_body(&pane, frame),
        Tab::Story => super::tabs::draw_story(&pane, frame),
        Tab::Findings => super::tabs::draw_findings(&pane, frame),
    }
}

/// What the parts of the pane are drawn from.
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

    /// Draws a line in the row `row` of the pane; the one under the cursor is marked where the
    /// pane has the keys.
    pub fn line(&self, row: u16, line: Spans, is_cursor: bool, frame: &mut Frame<'_>) {
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
    frame.render_widget(
        text::Line::styled(cut(text, area.width.into()), style),
        area,
    );
}
