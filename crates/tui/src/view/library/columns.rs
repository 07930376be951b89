//! The columns of the recordings, and which of them give way.

use crate::app::App;
use crate::theme::{Glyph, Look, Role};
use crate::update::library::file_name;
use crate::worker::library::Row;
use mcpreel_share::phrases::recording::{self, host};
use mcpreel_share::phrases::{self, when};
use mcpreel_store::library::{Details, Entry, Standing};
use mcpreel_store::schema::State;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{clock, count, cut, pad_end, pad_start, size, width};
use ratatui::text::{Line, Span};

const GAP: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    State,
    Sign,
    Started,
    /// `15:17`, or the day of what is older.
    When,
    Server,
    Host,
    Duration,
    Rate,
    Exchanges,
    Failed,
    Findings,
    Size,
    Note,
}

/// What gives way where a line is too long, the first one first; what takes its place.
const WAYS: [(Column, Option<Column>); 12] = [
    (Column::Host, None),
    (Column::Started, Some(Column::When)),
    (Column::Findings, None),
    (Column::Size, None),
    (Column::Note, None),
    (Column::Exchanges, None),
    (Column::Rate, None),
    (Column::Duration, None),
    (Column::Failed, None),
    (Column::When, None),
    (Column::State, Some(Column::Sign)),
    (Column::Sign, None),
];

/// The columns that fit, with their widths.
pub struct Columns(Vec<(Column, usize)>);

impl Columns {
    /// Those of the recordings that fit into `room` columns. Nothing of it depends on which
    /// recordings are on the screen, so that nothing moves when it is scrolled.
    pub fn fitting(app: &App, room: usize) -> Self {
        let least = |columns: &[Column]| {
            let widths: usize = columns.iter().map(|column| column.widths().0).sum();
            widths + columns.len().saturating_sub(1) * GAP
        };
        let mut columns = Self::wanted(app);
        for (column, instead) in WAYS {
            if least(&columns) <= room {
                break;
            }
            let Some(at) = columns.iter().position(|known| *known == column) else {
                continue;
            };
            columns.splice(at..=at, instead);
        }
        let mut left = room.saturating_sub(least(&columns));
        let wide = columns.into_iter().map(|column| {
            let (least, most) = column.widths();
            let wanted = column.widest(app).clamp(least, most);
            let more = left.min(wanted - least);
            left -= more;
            (column, least + more)
        });
        Self(wide.collect())
    }

    /// Those that the recordings have something for.
    fn wanted(app: &App) -> Vec<Column> {
        let rows = &app.library.rows;
        let any = |is: fn(&Entry) -> bool| rows.iter().any(|row| is(&row.entry));
        let mut columns = vec![Column::State, Column::Started, Column::Server];
        if any(|entry| host(entry).is_some()) {
            columns.push(Column::Host);
        }
        columns.push(Column::Duration);
        if app.library.has_live() {
            columns.push(Column::Rate);
        }
        columns.extend([
            Column::Exchanges,
            Column::Failed,
            Column::Findings,
            Column::Size,
        ]);
        if rows.iter().any(|row| !note(&row.entry).is_empty()) {
            columns.push(Column::Note);
        }
        columns
    }

    pub fn headings(&self, look: Look) -> Line<'static> {
        let cells = self.0.iter().map(|(column, _)| {
            let heading = column.heading().to_owned();
            (Role::Faint, heading)
        });
        self.lay_out(cells, look)
    }

    pub fn line(&self, app: &App, row: &Row) -> Line<'static> {
        let look = app.settings.look;
        let cells = self.0.iter().map(|(column, _)| column.cell(app, row));
        let mut line = self.lay_out(cells, look);
        if app.library.chosen.contains(&row.entry.path)
            && let Some(first) = line.spans.first_mut()
        {
            *first = Span::styled(look.glyph(Glyph::Selected), look.style(Role::Key));
        }
        line
    }

    fn lay_out(&self, cells: impl Iterator<Item = (Role, String)>, look: Look) -> Line<'static> {
        let mut spans = vec![Span::raw(" ")];
        for (at, ((column, wide), (role, text))) in self.0.iter().zip(cells).enumerate() {
            if at > 0 {
                spans.push(Span::raw(" ".repeat(GAP)));
            }
            let text = cut(&text, *wide);
            let text = if column.is_number() {
                pad_start(&text, *wide)
            } else {
                pad_end(&text, *wide)
            };
            spans.push(Span::styled(text, look.style(role)));
        }
        Line::from(spans)
    }
}

impl Column {
    /// The least and the most that it takes.
    fn widths(self) -> (usize, usize) {
        match self {
            Self::State => (13, 13),
            Self::Sign => (1, 1),
            Self::Started => (16, 16),
            Self::When => (7, 7),
            Self::Server => (16, 40),
            Self::Host => (8, 24),
            Self::Duration | Self::Rate | Self::Findings | Self::Size => (8, 8),
            Self::Exchanges => (9, 9),
            Self::Failed => (6, 6),
            Self::Note => (12, 200),
        }
    }

    /// What the longest text of a column takes whose texts are of any length.
    fn widest(self, app: &App) -> usize {
        let longest = |text: fn(&Entry) -> String| {
            let rows = app.library.rows.iter();
            let widths = rows.map(|row| width(&text(&row.entry)));
            widths.max().unwrap_or(0)
        };
        match self {
            Self::Server => longest(what),
            Self::Host => longest(|entry| host(entry).unwrap_or_default()),
            Self::Note => longest(note),
            _ => 0,
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::State => "STATE",
            Self::Sign => "",
            Self::Started | Self::When => "STARTED",
            Self::Server => "SERVER",
            Self::Host => "HOST",
            Self::Duration => "DURATION",
            Self::Rate => "RATE",
            Self::Exchanges => "EXCHANGES",
            Self::Failed => "FAILED",
            Self::Findings => "FINDINGS",
            Self::Size => "SIZE",
            Self::Note => "NOTE",
        }
    }

    fn is_number(self) -> bool {
        matches!(
            self,
            Self::Duration
                | Self::Rate
                | Self::Exchanges
                | Self::Failed
                | Self::Findings
                | Self::Size
        )
    }

    fn cell(self, app: &App, row: &Row) -> (Role, String) {
        let entry = row.entry.as_ref();
        let summary = entry.summary();
        let plain = |text: Option<String>| (Role::Text, text.unwrap_or_default());
        let number = |number: Option<u64>| plain(number.map(count));
        let failing = |role, number: Option<u64>| {
            let number = number.filter(|&number| number > 0);
            (role, number.map(count).unwrap_or_default())
        };
        let now = app.now.wall_ns;
        match self {
            Self::State => {
                let (glyph, role, word) = state(entry);
                (role, format!("{} {word}", app.settings.look.glyph(glyph)))
            }
            Self::Sign => {
                let (glyph, role, _) = state(entry);
                (role, app.settings.look.glyph(glyph).to_owned())
            }
            Self::Started => (Role::Text, when::short(entry.wall_ns)),
            Self::When => (Role::Text, when::near(entry.wall_ns, now)),
            Self::Server => (Role::Strong, what(entry)),
            Self::Host => plain(host(entry)),
            Self::Duration => plain(entry.lasted_ns(now).map(clock)),
            Self::Rate => plain(row.rate.map(rate)),
            Self::Exchanges => number(summary.map(|summary| summary.exchanges)),
            Self::Failed => failing(Role::Bad, summary.map(|summary| summary.failed)),
            Self::Findings => failing(Role::Warn, summary.map(|summary| summary.findings)),
            Self::Size => (Role::Text, size(entry.size)),
            Self::Note => (Role::Text, note(entry)),
        }
    }
}

/// How it stands, or how it ended where all of it is there.
fn state(entry: &Entry) -> (Glyph, Role, String) {
    let word = entry.state().to_owned();
    let gap = entry.summary().map_or(0, |summary| summary.gap_bytes);
    if gap > 0 && matches!(entry.standing, Standing::Live | Standing::Finished) {
        return (Glyph::Warning, Role::Warn, gapped(entry.standing, gap));
    }
    match (entry.standing, entry.end()) {
        (Standing::Live, _) => (Glyph::Live, Role::Good, word),
        (Standing::Unreadable, _) => (Glyph::Failed, Role::Bad, word),
        (Standing::Finished, Some(end)) => {
            let is_whole = entry
                .summary()
                .is_some_and(|summary| summary.state == State::Complete);
            let ended = phrases::end_short(end);
            match end {
                _ if !is_whole => (Glyph::Warning, Role::Warn, word),
                End::Exited { code: 0 } => (Glyph::Ended, Role::Faint, ended),
                End::Unknown => (Glyph::Warning, Role::Warn, ended),
                _ => (Glyph::Failed, Role::Bad, ended),
            }
        }
        _ => (Glyph::Warning, Role::Warn, word),
    }
}

/// What is missing comes before how it ended: nobody is to take the rest for the whole.
fn gapped(standing: Standing, bytes: u64) -> String {
    match standing {
        Standing::Live => "live, gap".to_owned(),
        _ => format!("gap {}", size(bytes)),
    }
}

fn what(entry: &Entry) -> String {
    recording::title(entry).unwrap_or_else(|| file_name(&entry.path))
}

/// What it is where that is no plain session, what somebody wrote, what is missing, and why it
/// cannot be read.
fn note(entry: &Entry) -> String {
    let mut notes: Vec<_> = recording::origin(entry).into_iter().collect();
    if let Details::Unreadable(error) = &entry.details {
        // Which file it is stands in the row already.
        let sentence = phrases::sentence(error);
        let file = entry.path.display().to_string();
        let why = sentence.strip_prefix(&file).unwrap_or(&sentence);
        notes.push(why.trim_start().to_owned());
    }
    notes.extend(recording::notes(entry));
    notes.join("; ")
}

/// `12/s`; of the slow ones with a decimal.
fn rate(per_second: f64) -> String {
    match per_second {
        none if none <= 0.0 => "idle".to_owned(),
        slow if slow < 10.0 => format!("{slow:.1}/s"),
        fast => format!("{fast:.0}/s"),
    }
}
