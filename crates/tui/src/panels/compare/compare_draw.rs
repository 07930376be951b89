//! What a comparison shows, where its parts are, and drawing them.

use super::Comparison;
use crate::app::App;
use crate::layout::screen;
use crate::theme::{Glyph, Look, Role};
use crate::widget::pager::Text;
use crate::widget::spans::Spans;
use crate::widget::{frame, spans};
use compact_str::CompactString;
use mcpreel_replay::diff::{Bound, Class};
use mcpreel_trace::item::ItemKey;
use mcpreel_wire::text::{count, cut, pad_end, plural, width, wrap};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::text::Line;
use ratatui::widgets::Clear;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// From this width on the sides stand beside each other.
const BESIDE: u16 = 100;

/// From this width on there is room for the words of the classes.
const WIDE: usize = 50;

/// Columns of the sign and the word of a class.
const WORD: usize = 11;

/// The summary, the lines, and what is said of the line under the cursor.
pub(super) fn areas(screen: Rect) -> [Rect; 3] {
    let inner = screen.inner(Margin::new(1, 1));
    let below = match inner.height {
        ..6 => 0,
        6..14 => 2,
        height => (height / 4).min(10),
    };
    let parts = [
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(below),
    ];
    Layout::vertical(parts).areas(inner)
}

/// Draws a comparison over the whole screen.
pub fn draw(app: &App, one: &Comparison, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    frame.render_widget(Clear, area);
    let Some(compared) = &one.content else {
        let inner = frame::draw(look, "comparing", "Esc or Ctrl-C stops", true, area, frame);
        let text = format!(" {}…", one.far);
        return frame.render_widget(Line::styled(text, look.style(Role::Faint)), inner);
    };
    let [summary_area, body, below_area] = areas(screen(app.size));
    let foot = foot(look, one, compared, body.height);
    frame::draw(look, &compared.title, &foot, true, area, frame);
    let columns = usize::from(body.width);
    let summary = spans::cut(summary(look, one, compared), columns);
    frame.render_widget(spans::line(summary, *look), summary_area);
    for ((at, mut line), area) in lines(look, one, compared, body)
        .into_iter()
        .zip(body.rows())
    {
        let is_cursor = at == one.at;
        if is_cursor {
            let others = line.iter_mut().filter(|(role, _)| *role != Role::Hit);
            others.for_each(|(role, _)| *role = Role::Text);
        }
        frame.render_widget(spans::line(spans::cut(line, columns), *look), area);
        if is_cursor {
            frame
                .buffer_mut()
                .set_style(area, look.style(Role::Selected));
        }
    }
    let row = compared.row(one.at).filter(|row| !row.below.is_empty());
    let lines = row.map_or_else(Vec::new, |row| below(look, row, below_area));
    spans::draw_lines(look, lines, below_area, frame);
}

/// The difference under the cursor, how many there are of each class, and remarks.
fn summary(look: &Look, one: &Comparison, compared: &Compared) -> Spans {
    let changes = &compared.changes;
    let mut parts = Spans::new();
    if !changes.is_empty() {
        let passed = changes.partition_point(|at| *at <= one.at);
        parts.push((Role::Faint, format!("{passed} of {}", changes.len())));
    } else if !compared.is_untried {
        let text = format!("{} nothing differs", look.glyph(Glyph::Ok));
        parts.push((Role::Good, text));
    }
    let counts = Class::ALL.into_iter().zip(compared.counts);
    let counts = counts.filter(|(_, found)| *found > 0);
    parts.extend(counts.map(|(class, found)| {
        let (glyph, role) = mark(class);
        let text = format!("{} {} {}", look.glyph(glyph), count(found), class.as_str());
        (role, text)
    }));
    parts.extend(compared.remarks.iter().cloned());
    let gap = |at| (Role::Text, if at == 0 { " " } else { "  " }.to_owned());
    let parts = parts.into_iter().enumerate();
    parts.flat_map(|(at, part)| [gap(at), part]).collect()
}

/// The lines on the screen, each with its number in the comparison. While there is room, what differs goes
/// on below.
pub fn lines(
    look: &Look,
    one: &Comparison,
    compared: &Compared,
    body: Rect,
) -> Vec<(usize, Spans)> {
    let (columns, rows) = (usize::from(body.width), usize::from(body.height));
    let shown = one.top..compared.lines.len().min(one.top + rows);
    let mut left = rows - shown.len();
    let numbered = shown.flat_map(|at| {
        let lines = line(look, compared, at, columns, left + 1);
        left -= lines.len() - 1;
        lines.into_iter().map(move |line| (at, line))
    });
    numbered.collect()
}

/// A line of the comparison, in at most `most` lines of the screen.
fn line(look: &Look, compared: &Compared, at: usize, columns: usize, most: usize) -> Vec<Spans> {
    let rows = &compared.rows[compared.lines[at].clone()];
    let row = &rows[0];
    let class_columns = if columns < WIDE { 2 } else { WORD };
    let class = row.class.map_or_else(String::new, |class| {
        let word = if columns < WIDE { "" } else { class.as_str() };
        format!("{} {word}", look.glyph(row.sign(class)))
    });
    let (style, texts) = if rows.len() > 1 {
        let same = count(rows.iter().map(|row| row.same).sum());
        let indent = 2 * usize::from(row.depth.clamp(1, 10));
        let text = format!("{:indent$}… {same} the same", "");
        (Role::Faint, vec![vec![(Role::Faint, text)]])
    } else {
        let style = row.class.map_or(row.role, |class| mark(class).1);
        let room = columns.saturating_sub(class_columns);
        (style, text(compared, row, (room, most), style))
    };
    let texts = texts.into_iter().enumerate();
    let lines = texts.map(|(nth, text)| {
        let class = if nth == 0 { class.as_str() } else { "" };
        let class = (style, pad_end(class, class_columns));
        std::iter::once(class).chain(text).collect()
    });
    lines.collect()
}

/// Both sides of a row beside each other, in at most so many lines; in narrow lines `was → is`.
fn text(compared: &Compared, row: &Row, (room, most): (usize, usize), style: Role) -> Vec<Spans> {
    let [left, right] = &row.sides;
    if left.is_none() && right.is_none() {
        let (indent, text) = row
            .label
            .split_at(row.label.len() - row.label.trim_start().len());
        return labelled(indent, text, (room, most), &(0..0), style);
    }
    let are_calls = compared.bound.is_some();
    let most = if are_calls || row.class.is_none() {
        1
    } else {
        most
    };
    let cell = |label: &str, text: &str, columns: usize, differing: &Range<usize>| {
        if are_calls {
            return vec![vec![(style, call(label, text, columns))]];
        }
        labelled(label, text, (columns, most), differing, style)
    };
    if room + WORD + 2 < usize::from(BESIDE) {
        let [left, right] = [left, right].map(|side| side.as_deref().unwrap_or("nothing"));
        let half = room.saturating_sub(width(&row.label) + 3) * most / 2;
        let both = format!("{} → {right}", cut(left, half));
        let text = if left == right { left } else { &both };
        return cell(&row.label, text, room, &(0..0));
    }
    let columns = [(room - 3) / 2, room - 3 - (room - 3) / 2];
    let differing = differing(row);
    let sides = [0, 1].map(|at| {
        let text = row.sides[at].as_deref();
        // A call stands on the side that has it.
        let is_there = !are_calls || row.calls[at].is_some();
        let label = if is_there { &*row.label } else { "" };
        text.map_or_else(Vec::new, |text| {
            cell(label, text, columns[at], &differing[at])
        })
    });
    let line = |nth: usize| {
        let blank = |at: usize| vec![(style, " ".repeat(columns[at]))];
        let [left, right] = [0, 1].map(|at| sides[at].get(nth).cloned().unwrap_or(blank(at)));
        [left, vec![(style, " │ ".to_owned())], right].concat()
    };
    (0..sides[0].len().max(sides[1].len())).map(line).collect()
}

/// A call in so many columns: what became of it stands at the right end, however long its label is.
fn call(label: &str, text: &str, columns: usize) -> String {
    let text = cut(text, columns.saturating_sub(8));
    let room = columns - width(&text);
    pad_end(&cut(label, room.saturating_sub(1)), room) + &text
}

/// A text behind its label, in lines of so many columns and at most so many.
fn labelled(
    label: &str,
    text: &str,
    (columns, most): (usize, usize),
    differing: &Range<usize>,
    style: Role,
) -> Vec<Spans> {
    let indent = width(label);
    if columns < indent + NARROW {
        let text = cut(&format!("{label}{text}"), columns);
        return vec![vec![(style, pad_end(&text, columns))]];
    }
    let mut lines = wrap(text, columns - indent);
    if lines.len() > most {
        lines.truncate(most);
        lines[most - 1] = cut(&format!("{} …", lines[most - 1]), columns - indent);
    }
    let lines = marked(lines, differing, style).into_iter().enumerate();
    let padded = lines.map(|(nth, line)| {
        let before = pad_end(if nth == 0 { label } else { "" }, indent);
        let after = " ".repeat(columns - indent - spans::width(&line));
        [vec![(style, before)], line, vec![(style, after)]].concat()
    });
    padded.collect()
}

/// Columns in which no text is wrapped.
const NARROW: usize = 16;

/// The words that differ on each side, from the first to the last, by their letters without blanks; none
/// where no word is the same.
fn differing(row: &Row) -> [Range<usize>; 2] {
    let (Some(_), [Some(left), Some(right)]) = (row.class, &row.sides) else {
        return [0..0, 0..0];
    };
    let sides = [left, right].map(|side| side.split_whitespace().collect::<Vec<_>>());
    let same = |(one, other): &(&&str, &&str)| one == other;
    let begin = sides[0].iter().zip(&sides[1]).take_while(same).count();
    let rest = sides.each_ref().map(|words| &words[begin..]);
    let end = rest[0]
        .iter()
        .rev()
        .zip(rest[1].iter().rev())
        .take_while(same)
        .count();
    let letters = |words: &[&str]| words.iter().map(|word| word.chars().count()).sum::<usize>();
    sides.each_ref().map(|words| match begin + end {
        0 => 0..0,
        _ => letters(&words[..begin])..letters(&words[..words.len() - end]),
    })
}

/// Lines in which the letters of a range are marked.
fn marked(lines: Vec<String>, range: &Range<usize>, style: Role) -> Vec<Spans> {
    let mut at = 0;
    let line = |line: String| {
        let mut spans = Spans::new();
        for letter in line.chars() {
            let is_marked = range.contains(&at) && !letter.is_whitespace();
            at += usize::from(!letter.is_whitespace());
            let role = if is_marked { Role::Hit } else { style };
            match spans.last_mut() {
                Some((last, text)) if *last == role => text.push(letter),
                _ => spans.push((role, letter.to_string())),
            }
        }
        spans
    };
    lines.into_iter().map(line).collect()
}

/// The paragraphs about the row under the cursor, below a rule with its name.
fn below(look: &Look, row: &Row, area: Rect) -> Vec<Spans> {
    let (columns, height) = (usize::from(area.width), usize::from(area.height));
    let most = height.saturating_sub(1);
    let mut head = vec![(Role::Title, format!(" {} ", cut(&row.head, columns / 2)))];
    if let Some(class) = row.class {
        let text = format!(" {} {} ", look.glyph(row.sign(class)), class.as_str());
        head.push((mark(class).1, text));
    }
    let rest = columns.saturating_sub(spans::width(&head));
    head.push((Role::Border, "─".repeat(rest)));
    // A long value leaves room for the one that it is compared with.
    let share = match most / row.below.len() {
        0 => usize::MAX,
        share => share,
    };
    let differing = differing(row);
    let lines = row
        .below
        .iter()
        .enumerate()
        .flat_map(|(nth, (class, text))| {
            let style = class.map_or(Role::Text, |class| mark(class).1);
            let lines = wrap(text, columns.saturating_sub(2));
            // The sign of the side is a letter too.
            let side = row.sides.get(nth).and_then(Option::as_deref);
            let is_side = side.is_some() && text.get(2..) == side;
            let range = differing
                .get(nth)
                .filter(|range| is_side && !range.is_empty());
            let range = range.map_or(0..0, |range| range.start + 1..range.end + 1);
            let mut lines = marked(lines, &range, style);
            for line in &mut lines {
                line.insert(0, (style, " ".to_owned()));
            }
            first(lines, share, columns)
        });
    let mut lines = first(lines.collect(), most, columns);
    lines.insert(0, spans::cut(head, columns));
    lines
}

/// The first `most` of some lines; the last one of these says how many more there are.
fn first(mut lines: Vec<Spans>, most: usize, columns: usize) -> Vec<Spans> {
    let hidden = lines.len().saturating_sub(most);
    lines.truncate(most);
    if let Some(last) = lines.last_mut().filter(|_| hidden > 0) {
        let more = format!(" … {}", plural(hidden as u64, "more line"));
        *last = spans::cut(std::mem::take(last), columns.saturating_sub(width(&more)));
        last.push((Role::Faint, more));
    }
    lines
}

/// All that is said of a row, to be read.
pub fn in_full(row: &Row) -> Text {
    let line = |(class, text): &(Option<Class>, String)| {
        vec![(
            class.map_or(Role::Text, |class| mark(class).1),
            text.clone(),
        )]
    };
    Text::new(row.head.clone(), row.below.iter().map(line).collect())
}

/// `▼ 12 more rows · Enter opens both · Esc closes · e E walk · Space unfolds · h l go there`.
fn foot(look: &Look, one: &Comparison, compared: &Compared, page: u16) -> String {
    let seen = one.top + usize::from(page);
    let hidden = compared.lines.len().saturating_sub(seen);
    let more = plural(hidden as u64, "more row");
    let more = (hidden > 0).then(|| format!("{} {more}", look.glyph(Glyph::More)));
    let row = compared.row(one.at).filter(|row| !row.below.is_empty());
    let opens = match one.pair() {
        Some(_) => Some("Enter opens both".to_owned()),
        None => row.map(|_| "Enter in full".to_owned()),
    };
    let fold = ["Space unfolds", "Space folds"][usize::from(one.unfolded)];
    let keys = ["Esc closes", "e E walk", fold, "h l go there"].map(str::to_owned);
    let parts = more.into_iter().chain(opens).chain(keys);
    parts.collect::<Vec<_>>().join(" · ")
}

/// The sign and the colour of a class.
fn mark(class: Class) -> (Glyph, Role) {
    match class {
        Class::Breaking => (Glyph::Failed, Role::Bad),
        Class::Changed => (Glyph::Changed, Role::Warn),
        Class::Unpaired => (Glyph::Added, Role::Event),
        Class::Added => (Glyph::Added, Role::Good),
        Class::Order => (Glyph::Order, Role::Event),
        Class::Latency => (Glyph::Warning, Role::Event),
        Class::Noise => (Glyph::Noise, Role::Faint),
    }
}

/// Two calls or two recordings that were compared. All texts are escaped.
#[derive(Debug, Default)]
pub struct Compared {
    /// Names both sides.
    pub title: String,
    /// The file of each side.
    pub paths: [PathBuf; 2],
    /// How many differences of each class there are.
    pub counts: [u64; Class::ALL.len()],
    /// Whether a replay did not try all that it was to make.
    pub is_untried: bool,
    /// A remark beside the counts.
    pub remarks: Vec<(Role, String)>,
    pub rows: Vec<Row>,
    /// The values that stand for each other in two recordings, whose calls a row opens; `None` where
    /// the rows are values of two calls.
    pub bound: Option<Arc<Bound>>,
    /// The lines on the screen: a row each, or several equal ones.
    pub lines: Vec<Range<usize>>,
    /// The lines that are walked: all that differ by more than noise, else the noise.
    pub changes: Vec<usize>,
}

/// There may be a hundred thousand: most texts are short enough to need no memory of their own.
#[derive(Debug, Default)]
pub struct Row {
    pub class: Option<Class>,
    /// Whether another row tells of the difference: it is counted and walked there.
    pub is_told: bool,
    /// How many values or calls the row stands for that are the same on both sides.
    pub same: u64,
    pub depth: u16,
    /// The style where nothing differs.
    pub role: Role,
    /// What stands before the text of each side.
    pub label: CompactString,
    pub sides: [Option<CompactString>; 2],
    /// The call on each side.
    pub calls: [Option<ItemKey>; 2],
    /// The name and the paragraphs below the list about the row under the cursor.
    pub head: String,
    pub below: Vec<(Option<Class>, String)>,
}

impl Row {
    /// A row with one text for both sides.
    pub fn new(role: Role, label: impl Into<CompactString>) -> Self {
        let label = label.into();
        Self {
            role,
            label,
            ..Self::default()
        }
    }

    /// The sign of its class; that of a call is which side has it.
    fn sign(&self, class: Class) -> Glyph {
        match (class, self.calls) {
            (Class::Unpaired, [Some(_), None]) => Glyph::Removed,
            _ => mark(class).0,
        }
    }

    fn counted(&self) -> Option<Class> {
        self.class.filter(|_| !self.is_told)
    }
}

impl Compared {
    /// Counts the differences, and folds runs of equal rows or unfolds them.
    pub fn fold(&mut self, unfolded: bool) {
        let one_run =
            |a: &Row, b: &Row| !unfolded && a.same > 0 && b.same > 0 && a.depth == b.depth;
        let mut at = 0;
        let runs = self.rows.chunk_by(one_run).map(|run| {
            at += run.len();
            at - run.len()..at
        });
        self.lines = runs.collect();
        self.counts = Default::default();
        for class in self.rows.iter().filter_map(Row::counted) {
            self.counts[class as usize] += 1;
        }
        let walked = |noise: bool| {
            let class = |line: &usize| self.rows[self.lines[*line].start].counted();
            let is_change =
                |line: &usize| class(line).is_some_and(|c| (c == Class::Noise) == noise);
            (0..self.lines.len()).filter(is_change).collect::<Vec<_>>()
        };
        self.changes = walked(false);
        if self.changes.is_empty() {
            self.changes = walked(true);
        }
    }

    /// The row of a line, unless the line stands for several.
    pub fn row(&self, line: usize) -> Option<&Row> {
        let rows = self.lines.get(line)?.clone();
        self.rows.get(rows.start).filter(|_| rows.len() == 1)
    }

    /// The line that shows a row.
    pub fn line_of(&self, row: usize) -> usize {
        self.lines.partition_point(|line| line.end <= row)
    }
}
