//! What stands beside the table, or below it: the distribution of the row under the cursor, the
//! slowest calls, tools that were never called, notifications. The entries of these lists have a
//! cursor of their own: Tab goes there and back.
//!
//! ```text
//!  → tools/call
//!    ≤ 20 ms ████████ 3
//!    ≤ 50 ms ███ 1
//!  slowest
//!    1.7 s  #42    plan_trip
//!  3 of 14 tools never called
//!    get_tides
//! ```

use super::figures::{Entry, Figures, Stats, brief};
use super::name;
use crate::layout::{self, Sheet};
use crate::theme::{Glyph, Look, Role};
use crate::widget::frame;
use crate::widget::spans::{self, Spans};
use mcpreel_trace::stats::{Bucket, Row};
use mcpreel_wire::text::{count, cut, duration, escape, pad_end, pad_start, plural, width};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};

/// From so many columns on what stands aside has two columns.
const TWO: u16 = 80;

/// Notifications and tools that are named; the others are counted.
const NAMED: usize = 10;

/// A line, and the entry that it is.
type Line = (Option<Entry>, Spans);

/// Lines in an area of the screen, from `top` on.
pub struct Column {
    area: Rect,
    lines: Vec<Line>,
    top: usize,
}

impl Column {
    fn new(area: Rect, lines: Vec<Line>, cursor: Option<&Entry>) -> Self {
        // The last line of the screen says what is below.
        let page = usize::from(area.height).saturating_sub(1);
        let mut entries = lines.iter().rev().filter_map(|(entry, _)| entry.as_ref());
        let is_last = entries.next() == cursor;
        let is_it = |line: &Line| line.0.as_ref() == cursor;
        let at = match cursor.and_then(|_| lines.iter().position(is_it)) {
            // What follows the last entry can be read only with it.
            Some(_) if is_last => lines.len() - 1,
            at => at.unwrap_or(0),
        };
        let page = page + usize::from(at + 1 == lines.len());
        let top = frame::showing_of(lines.len(), at, 0, page);
        Self { area, lines, top }
    }

    /// The entry at a cell of the screen.
    pub fn entry_at(&self, (x, y): (u16, u16)) -> Option<&Entry> {
        let row = self.top + usize::from(y.saturating_sub(self.area.y));
        let (entry, _) = self.lines.get(row)?;
        entry.as_ref().filter(|_| self.area.contains((x, y).into()))
    }

    /// Draws as many lines as there is room for, and says how many there are below.
    fn draw(&self, look: &Look, cursor: Option<&Entry>, frame: &mut Frame<'_>) {
        let room = usize::from(self.area.height);
        let below = self.lines.len().saturating_sub(self.top + room);
        for (at, row) in self.area.rows().enumerate() {
            let Some((entry, line)) = self.lines.get(self.top + at) else {
                return;
            };
            if below > 0 && at + 1 == room {
                let keys = if cursor.is_some() { "j" } else { "Tab" };
                return draw_more(look, below + 1, keys, row, frame);
            }
            frame.render_widget(spans::line(line.clone(), *look), row);
            if entry.is_some() && entry.as_ref() == cursor {
                spans::draw(look.style(Role::Selected), row, frame);
            }
        }
    }
}

/// Says in the last row of an area how many lines are below, and which key leads there.
pub fn draw_more(look: &Look, lines: usize, key: &str, row: Rect, frame: &mut Frame<'_>) {
    let hidden = plural(lines as u64, "line");
    let text = format!("{} {hidden}: {key}", look.glyph(Glyph::More));
    let line = vec![(Role::Faint, cut(&text, row.width.into()))];
    frame.render_widget(spans::line(line, *look), row);
}

/// Where the table and the lists are: one after the other where there is no room for both.
pub fn sheet(state: &Stats, pane: Rect) -> Sheet {
    let mut sheet = layout::sheet(pane);
    if sheet.aside.is_empty() && state.in_lists {
        sheet.aside = std::mem::take(&mut sheet.rows);
    }
    sheet
}

/// The entries of all lists.
pub fn entries(figures: &Figures) -> Vec<Entry> {
    let lists = lists(figures).into_iter();
    lists.flat_map(|(_, entries, _)| entries).collect()
}

/// The lists: a title, the entries that are named, how many there are.
fn lists(figures: &Figures) -> [(String, Vec<Entry>, usize); 3] {
    let slowest = &figures.stats.slowest;
    let (never, notified) = (&figures.never_called, &figures.notified);
    let never_of = format!(
        "{} of {} tools never called",
        never.len(),
        figures.tools_listed
    );
    let slow = slowest.iter().map(|slow| Entry::Slow(slow.seq));
    let unused = never.iter().take(NAMED).cloned().map(Entry::Unused);
    let sent = notified.iter().take(NAMED);
    let sent = sent.map(|(direction, method, _)| Entry::Notified(*direction, method.clone()));
    [
        ("slowest".to_owned(), slow.collect(), slowest.len()),
        (never_of, unused.collect(), never.len()),
        ("notifications".to_owned(), sent.collect(), notified.len()),
    ]
}

/// The text of an entry.
fn text(look: &Look, figures: &Figures, entry: &Entry) -> String {
    match entry {
        Entry::Unused(name) => format!("  {}", escape(name)),
        Entry::Slow(seq) => {
            let slow = figures.stats.slowest.iter().find(|slow| slow.seq == *seq);
            let Some(slow) = slow else {
                return String::new();
            };
            let name = slow.name.as_deref().unwrap_or(&slow.method);
            let time = pad_start(&brief(slow.latency_ns), 8);
            let seq = pad_end(&format!("#{}", seq.0), 6);
            format!("{time}  {seq} {}", escape(name))
        }
        Entry::Notified(direction, method) => {
            let is_it = |(to, of, _): &&(_, Box<str>, _)| (to, of) == (direction, method);
            let number = figures.notified.iter().find(is_it).map_or(0, |one| one.2);
            let arrow = look.glyph((*direction).into());
            let number = pad_start(&count(number), 8);
            format!("{number}  {arrow} {}", escape(method))
        }
    }
}

/// The columns of what stands aside.
pub fn columns(look: &Look, state: &Stats, figures: &Figures, area: Rect) -> Vec<Column> {
    let halves = [Constraint::Fill(1), Constraint::Fill(1)];
    let [left, right] = Layout::horizontal(halves).spacing(1).areas(area);
    let is_wide = area.width >= TWO;
    let wide = if is_wide { right.width } else { area.width };
    let wide = usize::from(wide);
    let cursor = state.entry(figures);
    let rows = state.rows();
    let mut shown = Vec::new();
    if let Some((id, row)) = rows.get(state.cursor.at(&state.ids())) {
        let name = name(look, figures, id);
        shown.push(vec![(Role::Title, cut(name.trim(), wide))]);
        let room = usize::from(area.height).saturating_sub(1);
        shown.extend(histogram(look, row, wide, room));
    }
    let mut shown: Vec<Line> = shown.into_iter().map(|line| (None, line)).collect();
    let lists = lines(look, figures, wide);
    if is_wide {
        return vec![
            Column::new(left, shown, None),
            Column::new(right, lists, cursor.as_ref()),
        ];
    }
    shown.push((None, Spans::new()));
    shown.extend(lists);
    vec![Column::new(area, shown, cursor.as_ref())]
}

pub fn draw(look: &Look, state: &Stats, figures: &Figures, area: Rect, frame: &mut Frame<'_>) {
    let cursor = state.entry(figures);
    for column in columns(look, state, figures, area) {
        column.draw(look, cursor.as_ref(), frame);
    }
}

/// The distribution of a row. Where there is no room for all of it the empty lines are left out.
fn histogram(look: &Look, row: &Row, columns: usize, rows: usize) -> Vec<Spans> {
    let mut buckets = row.buckets.filled();
    if buckets.is_empty() {
        let text = "  no latency was measured".to_owned();
        return vec![vec![(Role::Faint, text)]];
    }
    if buckets.len() > rows {
        buckets.retain(|bucket| bucket.count > 0);
    }
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
    let room = columns.saturating_sub(14 + width(&count(most)));
    let line = |bucket: &Bucket| {
        let bound = match bucket.up_to_ns {
            Some(ns) => format!("{} {}", look.glyph(Glyph::AtMost), duration(ns)),
            None => "more".to_owned(),
        };
        let bar = frame::bar(look, bucket.count, most, room);
        vec![
            (Role::Text, format!("{}  ", pad_start(&bound, 10))),
            (Role::Good, bar),
            (Role::Faint, format!(" {}", count(bucket.count))),
        ]
    };
    buckets.iter().map(line).collect()
}

/// The lists as lines.
fn lines(look: &Look, figures: &Figures, columns: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for (title, entries, all) in lists(figures).into_iter().filter(|list| list.2 > 0) {
        lines.push((None, vec![(Role::Title, title)]));
        let more = all - entries.len();
        lines.extend(entries.into_iter().map(|entry| {
            let text = cut(&text(look, figures, &entry), columns);
            (Some(entry), vec![(Role::Text, text)])
        }));
        if more > 0 {
            let text = format!("  and {more} more");
            lines.push((None, vec![(Role::Faint, text)]));
        }
    }
    if figures.fitting.is_some() {
        let said = "without a filter: tools never called, notifications";
        lines.push((None, vec![(Role::Faint, cut(said, columns))]));
    }
    lines
}
