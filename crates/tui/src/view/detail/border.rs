//! What stands in the border: title, tabs, where the cursor is, and the modes in force.

use super::is_bare;
use crate::app::detail::body::Spot;
use crate::app::detail::{Detail, Representation, Shown, Sides, Tab};
use crate::app::{App, Focus, Session};
use crate::theme::{Glyph, Role};
use crate::widget::spans::{self, Spans};
use mcpreel_share::phrases;
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::item::What;
use mcpreel_wire::text::{count, cut, escape, width};
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Block;

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
pub(super) fn block(app: &App, session: &Session, area: Rect) -> Block<'static> {
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

fn framed(mut texts: Spans, app: &App) -> Line<'static> {
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
