//! The rows of a recording as lines, with the same columns wherever they are shown. What may be long
//! stands last.
//!
//! ```text
//!    #      SINCE   LATENCY  STATUS      WHAT
//! 1187  12:04.318    842 ms  tool-error  → tools/call search_docs {q:"rust"}
//! ```

use super::exit::Failure;
use super::json::{ExchangeJson, FrameJson, MessageJson, Typed, event_json};
use super::output::{Ink, Output};
use mcpreel_lint::Severity;
use mcpreel_share::phrases;
use mcpreel_share::row::{RowView, Tone, arrow};
use mcpreel_store::reader::{FindingRow, Recording};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::Event;
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_trace::item::{Item, ItemKind, What};
use mcpreel_trace::session::End;
use mcpreel_wire::text::{
    cut, cut_middle, duration, escape, escape_bytes, pad_end, pad_start, since, size,
};

/// Bytes of a line without messages that are quoted.
const QUOTED: usize = 200;

/// Bytes of such a line that are read, white space among them.
const READ: u64 = 1000;

/// A column: heading, width (of the first one that depends on the recording), and whether its cells
/// stand on the right.
type Column = (&'static str, usize, bool);

const ROWS: &[Column] = &[
    ("#", 0, true),
    ("SINCE", 9, true),
    ("LATENCY", 10, true),
    ("STATUS", 14, false),
];
const FRAMES: &[Column] = &[
    ("#", 0, true),
    ("SINCE", 9, true),
    ("STREAM", 6, false),
    ("SIZE", 7, true),
];
const EVENTS: &[Column] = &[("AFTER", 0, true), ("SINCE", 9, true)];

/// The columns of a list of rows.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    columns: &'static [Column],
    /// Digits of the longest number of a frame.
    digits: usize,
}

impl Listing {
    /// `last` is the highest number of a frame.
    fn new(columns: &'static [Column], last: u64) -> Self {
        let digits = last.to_string().len().max(5);
        Self { columns, digits }
    }

    /// Exchanges and whatever stands between them.
    pub fn of_rows(last: u64) -> Self {
        Self::new(ROWS, last)
    }

    pub fn of_frames(last: u64) -> Self {
        Self::new(FRAMES, last)
    }

    pub fn of_events(last: u64) -> Self {
        Self::new(EVENTS, last)
    }

    pub fn heading(self, out: &Output) -> String {
        let headings = self.columns.iter();
        let cells: Vec<_> = headings
            .map(|(heading, ..)| ((*heading).to_owned(), Ink::Plain))
            .collect();
        let line = self.columns_of(&cells, out).0;
        out.paint(Ink::Faint, &format!("{line}  WHAT"))
    }

    /// A row that says `what`, which is escaped.
    pub fn row(self, row: &RowView<'_>, what: &str, out: &Output) -> String {
        let cells = [
            match row.kind {
                // An event has no number of its own.
                ItemKind::Event => String::new(),
                _ => row.seq.0.to_string(),
            },
            since(row.t.0),
            row.latency_ns.map_or_else(String::new, duration),
            row.status.to_owned(),
        ];
        let inks = [Ink::Plain, Ink::Faint, Ink::Plain, ink(row.tone)];
        // The end of a URI says as much as its beginning.
        let cut = if row.is_uri() { cut_middle } else { cut };
        let cells: Vec<_> = cells.into_iter().zip(inks).collect();
        self.line(&cells, &format!("{} {what}", row.arrow()), cut, out)
    }

    /// A frame that says `what`, which is escaped.
    pub fn frame(self, head: &FrameHead, what: &str, out: &Output) -> String {
        let cells = [
            (head.seq.0.to_string(), Ink::Plain),
            (since(head.t_last.0), Ink::Faint),
            (head.stream.as_str().to_owned(), Ink::Plain),
            (size(head.size), Ink::Plain),
        ];
        let what = format!("{} {what}", stream_arrow(head.stream));
        self.line(&cells, &what, cut, out)
    }

    pub fn event(self, event: &Event, out: &Output) -> String {
        let cells = [
            (event.after_seq.0.to_string(), Ink::Plain),
            (since(event.t.0), Ink::Faint),
        ];
        self.line(&cells, &phrases::event(&event.kind), cut, out)
    }

    fn line(
        self,
        cells: &[(String, Ink)],
        what: &str,
        cut: fn(&str, usize) -> String,
        out: &Output,
    ) -> String {
        let (line, used) = self.columns_of(cells, out);
        match out.columns() {
            Some(columns) => format!("{line}  {}", cut(what, columns.saturating_sub(used + 2))),
            None => format!("{line}  {what}"),
        }
    }

    /// The cells in their columns, and how wide they are together.
    fn columns_of(self, cells: &[(String, Ink)], out: &Output) -> (String, usize) {
        let mut widths = Vec::new();
        let line = self.columns.iter().zip(cells);
        let line = line.map(|((_, width, right), (text, ink))| {
            let width = if *width == 0 { self.digits } else { *width };
            widths.push(width);
            let pad = if *right { pad_start } else { pad_end };
            out.paint(*ink, &pad(text, width))
        });
        let line = line.collect::<Vec<_>>().join("  ");
        let gaps = 2 * widths.len().saturating_sub(1);
        (line, widths.iter().sum::<usize>() + gaps)
    }
}

/// A row of a recording as `tail` and `show -q` print it.
pub struct Row {
    pub item: Item,
    /// The time to show in place of the item's own.
    pub t: Option<Moment>,
    /// For how long an exchange has been open that is shown for that, nanoseconds.
    pub open_ns: Option<u64>,
}

impl From<Item> for Row {
    fn from(item: Item) -> Self {
        let (t, open_ns) = (None, None);
        Self { item, t, open_ns }
    }
}

impl Row {
    /// Writes the row as JSON.
    pub fn json(&self, recording: &Recording, out: &mut Output) -> Result<(), Failure> {
        match &self.item.what {
            What::Exchange(exchange) => {
                let r#type = self.open_ns.map_or("exchange", |_| "open");
                let row = ExchangeJson::from(exchange.as_ref());
                out.json(&Typed { r#type, row })?;
            }
            What::Message { record, head, .. } => {
                let row = MessageJson::new(record, head.t_last);
                let r#type = record.kind.as_str();
                out.json(&Typed { r#type, row })?;
            }
            What::Line { head, .. } => {
                let is_stderr = head.stream == StreamId::STDERR;
                let r#type = if is_stderr { "stderr" } else { "line" };
                let raw = recording.raw(head.seq)?;
                let row = FrameJson::new(head, &raw);
                out.json(&Typed { r#type, row })?;
            }
            What::Event(event) => {
                let (r#type, row) = ("event", event_json(event));
                out.json(&Typed { r#type, row })?;
            }
        }
        Ok(())
    }

    /// The row as a line for people; `end` is how the session ended, where that is known.
    pub fn line(&self, end: Option<&End>, listing: Listing, out: &Output) -> String {
        let mut row = RowView::of_item(&self.item);
        row.t = self.t.unwrap_or(row.t);
        let mut what = match &self.item.what {
            What::Line { preview, .. } => quote(preview),
            _ => row.what(end),
        };
        if let Some(open) = self.open_ns {
            row.tone = Tone::Open;
            what = format!("{}  for {} now", escape(&row.summary), duration(open));
        }
        listing.row(&row, &what, out)
    }
}

pub fn ink(tone: Tone) -> Ink {
    match tone {
        Tone::Plain => Ink::Plain,
        Tone::Faint => Ink::Faint,
        Tone::Open | Tone::Warn => Ink::Warn,
        Tone::Bad => Ink::Bad,
    }
}

/// The way of what a stream carries; stderr has its name in the column before.
pub fn stream_arrow(stream: StreamId) -> &'static str {
    stream.messages().map_or("!", arrow)
}

/// The beginning of a line that is no message, escaped.
pub fn quote(raw: &[u8]) -> String {
    let raw = raw.trim_ascii_end();
    match raw.get(..QUOTED) {
        Some(beginning) if raw.len() > QUOTED => format!("{}…", escape_bytes(beginning)),
        _ => escape_bytes(raw).into_owned(),
    }
}

/// The summaries of a frame's messages, else the beginning of its bytes, which is read where `raw`
/// is not given.
pub fn frame_words(
    recording: &Recording,
    head: &FrameHead,
    raw: Option<&[u8]>,
) -> Result<String, Failure> {
    let messages = recording.messages_of_frame(head.seq)?;
    if messages.is_empty() {
        return Ok(match raw {
            Some(raw) => quote(raw),
            None => quote(&recording.piece(head.seq, 0..READ)?),
        });
    }
    let summaries = messages.iter().map(|row| escape(&row.record.summary));
    Ok(summaries.collect::<Vec<_>>().join(" · "))
}

/// A severity in its colour, in a column of its own.
pub fn severity(word: &str, out: &Output) -> String {
    let ink = match Severity::parse(word) {
        Some(Severity::Error) => Ink::Bad,
        Some(Severity::Warning) => Ink::Warn,
        Some(Severity::Note) | None => Ink::Faint,
    };
    out.paint(ink, &pad_end(&escape(word), 7))
}

/// A finding on one line.
pub fn finding_line(finding: &FindingRow, out: &Output) -> String {
    let place = finding.frame.map(|seq| format!("#{}", seq.0));
    let path = finding.path.as_deref();
    let path = path.map(|path| out.paint(Ink::Faint, &format!("  {}", escape(path))));
    format!(
        "{}  {}  {}: {}{}",
        severity(&finding.severity, out),
        pad_start(&place.unwrap_or_default(), 6),
        out.paint(Ink::Strong, &escape(&finding.rule)),
        escape(&finding.detail),
        path.unwrap_or_default()
    )
}

/// Gives every row to `show`, page by page: `next` reads the rows after a key, which `key` tells.
pub fn pages<K, T, P, E>(
    mut after: K,
    next: impl Fn(K) -> Result<P, E>,
    key: impl Fn(&T) -> K,
    mut show: impl FnMut(&T) -> Result<(), Failure>,
) -> Result<(), Failure>
where
    P: std::ops::Deref<Target = [T]>,
    Failure: From<E>,
{
    loop {
        let page = next(after)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = key(last);
        page.iter().try_for_each(&mut show)?;
    }
}

/// Gives every finding to `show`, in order, with the seq of the request that it is about.
pub fn each_finding(
    recording: &Recording,
    mut show: impl FnMut(&FindingRow, Option<u64>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let next = |after| recording.findings(after);
    pages(
        0,
        next,
        |finding| finding.id,
        |finding| {
            let request = recording.request_of(finding)?;
            show(finding, request.map(|seq| seq.0))
        },
    )
}
