//! What a comparison shows, where its parts are, and drawing them.

use super::Comparison;
use crate::app::App;
use crate::layout::screen;
use crate::theme::{Glyph, Look, Role};
use crate::widget::spans::Spans;
use crate::widget::{frame, spans};
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
    let [summary_area, body, below_area] = areas(screen(app));
    let foot = foot(look, one, compared, body.height);
    frame::draw(look, &compared.title, &foot, true, area, frame);
    let columns = usize::from(body.width);
    let summary = spans::cut(summary(look, one, compared), columns);
    frame.render_widget(spans::line(summary, *look), summary_area);
    for (at, area) in (one.top..compared.lines.len()).zip(body.rows()) {
        let line = line(look, compared, at, columns);
        frame.render_widget(spans::line(spans::cut(line, columns), *look), area);
        if at == one.at {
            spans::draw(look.style(Role::Selected), area, frame);
        }
    }
    let Some(row) = compared.row(one.at) else {
        return;
    };
    if let Some(said) = &row.below {
        let lines = below(look, row, said, below_area);
        for (line, area) in lines.into_iter().zip(below_area.rows()) {
            frame.render_widget(spans::line(spans::cut(line, columns), *look), area);
        }
    }
}

/// The difference under the cursor, how many there are of each class, and remarks.
fn summary(look: &Look, one: &Comparison, compared: &Compared) -> Spans {
    let changes = &compared.changes;
    let mut parts = Spans::new();
    if !changes.is_empty() {
        let passed = changes.partition_point(|at| *at <= one.at);
        parts.push((Role::Faint, format!("{passed} of {}", changes.len())));
    } else if compared.is_tried {
        let text = format!("{} nothing differs", look.glyph(Glyph::Ok));
        parts.push((Role::Good, text));
    }
    let counts = Class::ALL.into_iter().zip(compared.counts);
    let counts = counts.filter(|(_, found)| *found > 0);
    parts.extend(counts.map(|(class, found)| {
        let text = format!("{} {} {}", sign(look, class), count(found), class.as_str());
        (role(class), text)
    }));
    parts.extend(compared.remarks.iter().cloned());
    let gap = |at| (Role::Text, if at == 0 { " " } else { "  " }.to_owned());
    let parts = parts.into_iter().enumerate();
    parts.flat_map(|(at, part)| [gap(at), part]).collect()
}

fn line(look: &Look, compared: &Compared, at: usize, columns: usize) -> Spans {
    let rows = &compared.rows[compared.lines[at].clone()];
    let row = &rows[0];
    let class_columns = if columns < WIDE { 2 } else { WORD };
    let class = row.class.map_or_else(String::new, |class| {
        let word = if columns < WIDE { "" } else { class.as_str() };
        format!("{} {word}", sign(look, class))
    });
    let class = pad_end(&class, class_columns);
    let (style, text) = if rows.len() > 1 {
        let same = count(rows.iter().map(|row| row.same).sum());
        let indent = 2 * usize::from(row.depth.clamp(1, 10));
        (Role::Faint, format!("{:indent$}… {same} the same", ""))
    } else {
        let text = text(look, row, columns.saturating_sub(class_columns));
        (row.class.map_or(row.role, role), text)
    };
    vec![(style, class), (style, text)]
}

/// Both sides of a row beside each other; in narrow lines `was → is`.
fn text(look: &Look, row: &Row, room: usize) -> String {
    let cell = |text: &str, columns: usize| match row.text {
        Text::Calls(_) => {
            let text = cut(text, columns.saturating_sub(8));
            let label = columns - width(&text);
            pad_end(&cut(&row.label, label.saturating_sub(1)), label) + &text
        }
        _ => pad_end(&cut(&format!("{}{text}", row.label), columns), columns),
    };
    let sides = match &row.text {
        Text::Once(text) => return cell(text, room),
        Text::Values(sides) => sides.clone(),
        Text::Calls(sides) => sides.clone().map(Some),
    };
    if room + WORD + 2 >= usize::from(BESIDE) {
        let left = (room - 3) / 2;
        let side = |side: usize, columns| match &sides[side] {
            Some(text) => cell(text, columns),
            None => " ".repeat(columns),
        };
        let (left, right) = (side(0, left), side(1, room - 3 - left));
        return format!("{left} {} {right}", look.border().vertical_left);
    }
    let half = room.saturating_sub(width(&row.label) + 3) / 2;
    let text = match sides {
        [left, right] if left == right => left.unwrap_or_default(),
        [Some(left), right] => {
            let right = right.unwrap_or_else(|| "nothing".to_owned());
            format!("{} → {right}", cut(&left, half))
        }
        [None, right] => format!("nothing → {}", right.unwrap_or_default()),
    };
    cell(&text, room)
}

/// The paragraphs about the row under the cursor, below a rule with its name.
fn below(look: &Look, row: &Row, said: &Below, area: Rect) -> Vec<Spans> {
    let (columns, height) = (usize::from(area.width), usize::from(area.height));
    let most = height.saturating_sub(1);
    let mut head = vec![(Role::Title, format!(" {} ", cut(&said.head, columns / 2)))];
    if let Some(class) = row.class {
        let text = format!(" {} {} ", sign(look, class), class.as_str());
        head.push((role(class), text));
    }
    let rest = columns.saturating_sub(spans::width(&head));
    head.push((Role::Border, look.border().horizontal_top.repeat(rest)));
    let mut lines = vec![head];
    // A long value leaves room for the one that it is compared with.
    let share = (most / said.paragraphs.len().max(1)).max(1);
    for (class, text) in &said.paragraphs {
        let mut wrapped = wrap(text, columns.saturating_sub(2));
        if wrapped.len() > share {
            wrapped.truncate(share);
            wrapped[share - 1].push_str(" …");
        }
        let style = class.map_or(Role::Text, role);
        lines.extend(
            wrapped
                .into_iter()
                .map(|text| vec![(style, format!(" {text}"))]),
        );
    }
    lines
}

/// `▼ 12 more rows · Enter opens both · Esc closes · e E walk · Space unfolds · h l go there`.
fn foot(look: &Look, one: &Comparison, compared: &Compared, page: u16) -> String {
    let hidden = compared
        .lines
        .len()
        .saturating_sub(one.top + usize::from(page));
    let more = plural(hidden as u64, "more row");
    let more = (hidden > 0).then(|| format!("{} {more}", look.glyph(Glyph::More)));
    let opens = one.pair().map(|_| "Enter opens both".to_owned());
    let fold = if one.unfolded {
        "Space folds"
    } else {
        "Space unfolds"
    };
    let keys = ["Esc closes", "e E walk", fold, "h l go there"].map(str::to_owned);
    let parts = more.into_iter().chain(opens).chain(keys);
    parts.collect::<Vec<_>>().join(" · ")
}

fn sign(look: &Look, class: Class) -> &'static str {
    look.glyph(match class {
        Class::Breaking => Glyph::Failed,
        Class::Changed => Glyph::Changed,
        Class::Added => Glyph::Added,
        Class::Order => Glyph::Order,
        Class::Latency => Glyph::Warning,
        Class::Noise => Glyph::Noise,
    })
}

fn role(class: Class) -> Role {
    match class {
        Class::Breaking => Role::Bad,
        Class::Changed => Role::Warn,
        Class::Added => Role::Good,
        Class::Order | Class::Latency => Role::Event,
        Class::Noise => Role::Faint,
    }
}

/// Two calls or two recordings that were compared. All texts are escaped.
#[derive(Debug)]
pub struct Compared {
    /// Names both sides.
    pub title: String,
    /// The file of each side.
    pub paths: [PathBuf; 2],
    /// How many differences of each class there are.
    pub counts: [u64; Class::ALL.len()],
    /// Whether a replay tried all that it was to make.
    pub is_tried: bool,
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

#[derive(Debug)]
pub struct Row {
    pub class: Option<Class>,
    /// Whether a class of the row is counted and walked; not where another row tells of it.
    pub counts: bool,
    /// How many values or calls the row stands for that are the same on both sides.
    pub same: u64,
    pub depth: u16,
    /// The style where nothing differs.
    pub role: Role,
    pub label: String,
    pub text: Text,
    /// The call on each side.
    pub calls: [Option<ItemKey>; 2],
    /// The paragraphs below the list about the row under the cursor.
    pub below: Option<Box<Below>>,
}

#[derive(Debug)]
pub enum Text {
    /// Stands once, behind the label.
    Once(String),
    /// Stands behind the label on each side.
    Values([Option<String>; 2]),
    /// Stands at the right end of each side, with the label at the left.
    Calls([String; 2]),
}

#[derive(Debug)]
pub struct Below {
    pub head: String,
    pub paragraphs: Vec<(Option<Class>, String)>,
}

impl Below {
    /// Nothing where there are no paragraphs.
    pub fn new(
        head: impl Into<String>,
        paragraphs: Vec<(Option<Class>, String)>,
    ) -> Option<Box<Self>> {
        let head = head.into();
        (!paragraphs.is_empty()).then(|| Box::new(Self { head, paragraphs }))
    }
}

impl Row {
    pub fn new(role: Role, label: impl Into<String>, text: Text) -> Self {
        Self {
            class: None,
            counts: true,
            same: 0,
            depth: 0,
            role,
            label: label.into(),
            text,
            calls: [None; 2],
            below: None,
        }
    }

    pub fn title(text: impl Into<String>) -> Self {
        Self::new(Role::Title, "", Text::Once(text.into()))
    }
}

impl Compared {
    pub fn new(title: String, paths: [PathBuf; 2], bound: Option<Arc<Bound>>) -> Self {
        Self {
            title,
            paths,
            counts: Default::default(),
            is_tried: true,
            remarks: Vec::new(),
            rows: Vec::new(),
            bound,
            lines: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Counts the differences.
    pub fn count(&mut self) {
        for row in self.rows.iter().filter(|row| row.counts) {
            if let Some(class) = row.class {
                self.counts[class as usize] += 1;
            }
        }
    }

    /// Folds runs of equal rows, or unfolds them.
    pub fn fold(&mut self, unfolded: bool) {
        let one_run =
            |a: &Row, b: &Row| !unfolded && a.same > 0 && b.same > 0 && a.depth == b.depth;
        let mut at = 0;
        let runs = self.rows.chunk_by(one_run).map(|run| {
            at += run.len();
            at - run.len()..at
        });
        self.lines = runs.collect();
        let walked = |noise: bool| {
            let is_change = |line: &usize| {
                let row = &self.rows[self.lines[*line].start];
                row.counts
                    && row
                        .class
                        .is_some_and(|class| (class == Class::Noise) == noise)
            };
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
