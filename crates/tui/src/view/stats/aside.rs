//! What stands beside the table: a histogram of the row with the cursor, the slowest calls, tools
//! that nobody called, notifications.

use super::rows::{brief, name};
use crate::app::stats::Stats;
use crate::theme::{Glyph, Look, Role};
use crate::widget::bars;
use crate::worker::stats::Figures;
use mcpreel_trace::stats::{Bucket, Row};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{count, cut, duration, escape, pad_end, pad_start, plural, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

/// Notifications and tools that are named; the others are counted.
const NAMED: usize = 10;

/// Two columns of text have room here.
const TWO: u16 = 80;

type Lines = Vec<Line<'static>>;

/// Draws it: in two columns where it is wide.
pub fn draw(look: &Look, state: &Stats, figures: &Figures, area: Rect, frame: &mut Frame<'_>) {
    let rows = state.rows();
    let row = rows.get(state.cursor_row(&rows));
    let half = area.width / 2;
    let is_wide = area.width >= TWO;
    let columns = usize::from(if is_wide { half - 1 } else { area.width });
    let mut left = Lines::new();
    if let Some((id, row)) = row {
        let title = name(look, figures, id).trim().to_owned();
        left.push(title_of(look, &cut(&title, columns)));
        left.extend(histogram(look, row, columns));
    }
    let right = lists(look, figures, columns);
    if is_wide {
        let first = Rect {
            width: half - 1,
            ..area
        };
        let second = Rect {
            x: area.x + half,
            width: area.width - half,
            ..area
        };
        put(look, left, first, frame);
        put(look, right, second, frame);
    } else {
        left.push(Line::default());
        left.extend(right);
        put(look, left, area, frame);
    }
}

/// Draws as many lines as there is room for, and says how many there is none for.
fn put(look: &Look, mut lines: Lines, area: Rect, frame: &mut Frame<'_>) {
    let room = usize::from(area.height);
    if lines.len() > room && room > 0 {
        let hidden = lines.len() - room + 1;
        lines.truncate(room - 1);
        let text = format!(
            "{} {}",
            look.glyph(Glyph::More),
            plural(hidden as u64, "line")
        );
        lines.push(Line::styled(text, look.style(Role::Faint)));
    }
    for (line, row) in lines.into_iter().zip(area.rows()) {
        frame.render_widget(line, row);
    }
}

fn title_of(look: &Look, text: &str) -> Line<'static> {
    Line::styled(text.to_owned(), look.style(Role::Title))
}

fn histogram(look: &Look, row: &Row, columns: usize) -> Lines {
    let buckets = row.buckets.filled();
    if buckets.is_empty() {
        let text = "  no latency was measured".to_owned();
        return vec![Line::styled(text, look.style(Role::Faint))];
    }
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
    let numbers = width(&count(most));
    let room = columns.saturating_sub(14 + numbers);
    let line = |bucket: &Bucket| {
        let bound = match bucket.up_to_ns {
            Some(ns) => format!("{} {}", look.glyph(Glyph::AtMost), duration(ns)),
            None => "more".to_owned(),
        };
        let bar = bars::bar(look, bucket.count, most, room);
        Line::from(vec![
            Span::raw(format!("{}  ", pad_start(&bound, 10))),
            Span::styled(bar, look.style(Role::Good)),
            Span::styled(format!(" {}", count(bucket.count)), look.style(Role::Faint)),
        ])
    };
    buckets.iter().map(line).collect()
}

fn lists(look: &Look, figures: &Figures, columns: usize) -> Lines {
    let mut lines = slowest(look, figures, columns);
    lines.extend(never_called(look, figures, columns));
    lines.extend(notified(look, figures, columns));
    if figures.fitting.is_some() {
        let said = "without a filter: tools never called, notifications".to_owned();
        lines.push(Line::styled(cut(&said, columns), look.style(Role::Faint)));
    }
    lines
}

fn slowest(look: &Look, figures: &Figures, columns: usize) -> Lines {
    let mut lines = Lines::new();
    if !figures.stats.slowest.is_empty() {
        lines.push(title_of(look, "slowest"));
    }
    for slow in &figures.stats.slowest {
        let name = slow.name.as_deref().unwrap_or(&slow.method);
        let time = pad_start(&brief(slow.latency_ns), 8);
        let seq = pad_end(&format!("#{}", slow.seq.0), 6);
        let text = format!("{time}  {seq} {}", escape(name));
        lines.push(Line::raw(cut(&text, columns)));
    }
    lines
}

fn never_called(look: &Look, figures: &Figures, columns: usize) -> Lines {
    let mut lines = Lines::new();
    if !figures.never_called.is_empty() {
        let (never, listed) = (figures.never_called.len(), figures.tools_listed);
        let title = format!("{never} of {listed} tools never called");
        lines.push(title_of(look, &title));
    }
    for name in figures.never_called.iter().take(NAMED) {
        let text = format!("  {}", escape(name));
        lines.push(Line::raw(cut(&text, columns)));
    }
    more(look, &mut lines, figures.never_called.len());
    lines
}

fn notified(look: &Look, figures: &Figures, columns: usize) -> Lines {
    let mut lines = Lines::new();
    if !figures.notified.is_empty() {
        lines.push(title_of(look, "notifications"));
    }
    for (direction, method, number) in figures.notified.iter().take(NAMED) {
        let arrow = look.glyph(match direction {
            Direction::ClientToServer => Glyph::ToServer,
            Direction::ServerToClient => Glyph::ToClient,
        });
        let number = pad_start(&count(*number), 8);
        let text = format!("{number}  {arrow} {}", escape(method));
        lines.push(Line::raw(cut(&text, columns)));
    }
    more(look, &mut lines, figures.notified.len());
    lines
}

/// How many of `all` are not named.
fn more(look: &Look, lines: &mut Lines, all: usize) {
    if let Some(more) = all.checked_sub(NAMED).filter(|more| *more > 0) {
        let text = format!("  and {more} more");
        lines.push(Line::styled(text, look.style(Role::Faint)));
    }
}
