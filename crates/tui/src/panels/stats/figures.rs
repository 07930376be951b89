//! The figures, and how they are counted.

use crate::panels::filter::typed::requests;
use crate::widget::cursor::Rows;
use crate::worker::job::{LastAsk, Source};
use compact_str::CompactString;
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Scan, Way};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::query::Query;
use mcpreel_trace::stats::{self, Collector, Latency, Row};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{clock, count, duration, size, width};
use std::cmp::Reverse;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub struct Stats {
    pub asked: LastAsk<Query>,
    pub shown: Option<Box<Figures>>,
    /// The column that the rows are sorted by; none: the count.
    pub sort: Option<usize>,
    pub cursor: Rows<RowId>,
    /// The cursor of the lists beside the table, and whether it has the keys.
    pub entries: Rows<Entry>,
    pub in_lists: bool,
}

/// An entry of the lists beside the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// One of the slowest calls: the frame of its request.
    Slow(Seq),
    /// A tool that was never called.
    Unused(CompactString),
    Notified(Direction, Box<str>),
}

impl Default for Entry {
    fn default() -> Self {
        Self::Slow(Seq::default())
    }
}

#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub stats: stats::Stats,
    /// How many exchanges fit the filter, and of how many; none without a filter.
    pub fitting: Option<(u64, u64)>,
    /// Notifications by direction and method, the most frequent first; none with a filter.
    pub notified: Vec<(Direction, Box<str>, u64)>,
    /// Tools that were listed, and those of them that were never called; unescaped. None with a
    /// filter.
    pub tools_listed: usize,
    pub never_called: Vec<CompactString>,
    /// How long the recording is, nanoseconds.
    pub span_ns: u64,
}

/// The columns: title, width, and rank (the highest gives way first).
pub const COLUMNS: [(&str, usize, u8); 10] = [
    ("method, tool", 18, 0),
    ("count", 8, 0),
    ("failed", 11, 1),
    ("p50", 7, 3),
    ("p95", 7, 2),
    ("p99", 7, 5),
    ("max", 7, 4),
    ("request", 8, 7),
    ("response", 9, 6),
    ("per min", 8, 8),
];

/// The numbers of a row, by column; none for the name, and where nothing was measured.
fn numbers(row: &Row, span_ns: u64) -> [Option<u64>; 10] {
    let failed = Some(row.failed).filter(|failed| *failed > 0);
    let nth = |of: fn(&Latency) -> u64| row.percentiles().map(of);
    [
        None,
        Some(row.count),
        failed,
        nth(|latency| latency.p50_ns),
        nth(|latency| latency.p95_ns),
        nth(|latency| latency.p99_ns),
        row.max_ns().map(|(ns, _)| ns),
        Some(row.request_bytes),
        Some(row.response_bytes),
        row.per_minute_tenths(span_ns),
    ]
}

/// The numbers of a row as text, without the first column, in a recording of so many nanoseconds.
pub fn texts(row: &Row, span_ns: u64) -> impl Iterator<Item = String> {
    let failed = row.failed_in_words();
    let is_in_vain = row.max_ns().is_some_and(|(_, is_answered)| !is_answered);
    let text = move |(at, number): (usize, Option<u64>)| match (at, number) {
        (_, None) => String::new(),
        (1, Some(number)) => count(number),
        (2, Some(_)) => failed.clone(),
        (6, Some(ns)) if is_in_vain => format!(">{}", brief(ns)),
        (3..=6, Some(ns)) => brief(ns),
        (7 | 8, Some(bytes)) => size(bytes),
        // A session of seconds has no rate.
        (9, _) if span_ns < 60_000_000_000 => String::new(),
        (_, Some(rate)) => tenths(rate),
    };
    let numbers = numbers(row, span_ns).into_iter();
    numbers.enumerate().skip(1).map(text)
}

/// A latency in at most seven columns.
pub fn brief(ns: u64) -> String {
    match duration(ns) {
        text if width(&text) > 7 => clock(ns),
        text => text,
    }
}

/// Tenths, below ten with one digit after the point.
fn tenths(tenths: u64) -> String {
    match tenths {
        0 => "< 0.1".to_owned(),
        1..100 => format!("{}.{}", tenths / 10, tenths % 10),
        _ => count((tenths + 5) / 10),
    }
}

/// A row, whatever the order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RowId {
    #[default]
    Total,
    Method(&'static str, CompactString),
    Tool(CompactString),
}

impl Stats {
    /// The rows in the order in which they are shown: the total, the methods, and below
    /// `tools/call` the tools.
    pub fn rows(&self) -> Vec<(RowId, &Row)> {
        let Some(figures) = self.shown.as_deref() else {
            return Vec::new();
        };
        let stats = &figures.stats;
        let mut rows = vec![(RowId::Total, &stats.total)];
        for method in self.sorted(&stats.methods) {
            let id = RowId::Method(method.direction, method.method.clone());
            rows.push((id, method));
            if method.direction == stats.total.direction && &*method.method == "tools/call" {
                let tools = self.sorted(&stats.tools).into_iter();
                rows.extend(tools.map(|tool| {
                    let name = tool.name.clone().unwrap_or_default();
                    (RowId::Tool(name), tool)
                }));
            }
        }
        rows
    }

    pub fn ids(&self) -> Vec<RowId> {
        self.rows().into_iter().map(|(id, _)| id).collect()
    }

    /// The entry of the lists under the cursor, while the lists have the keys.
    pub fn entry(&self, figures: &Figures) -> Option<Entry> {
        let entries = super::lists::entries(figures);
        let at = self.entries.at(&entries);
        entries.into_iter().nth(at).filter(|_| self.in_lists)
    }

    pub fn sort(&self) -> usize {
        self.sort.unwrap_or(1)
    }

    /// Numbers begin with the greatest, names with the first.
    fn sorted<'r>(&self, rows: &'r [Row]) -> Vec<&'r Row> {
        let mut rows: Vec<_> = rows.iter().collect();
        rows.sort_by_key(|row| Reverse(numbers(row, 1)[self.sort()]));
        rows
    }
}

/// Counts the exchanges that fit; without a filter also notifications and tools, which say
/// something about the whole.
pub fn count_all(source: &Source<'_>, query: &Query) -> Result<Box<Figures>, ReadError> {
    let recording = source.recording;
    let last = Seq(source.summary.frames);
    let end = Moment(source.summary.t_last_ns);
    let (mut collector, mut fit) = (Collector::until(end), 0);
    let mut figures = Figures {
        span_ns: source.summary.t_last_ns,
        ..Figures::default()
    };
    if query.expr.is_some() {
        let scan = Scan::new(&requests(query), Way::Oldest, None, source.context());
        source.each_hit(scan, |key| {
            let found = recording.exchanges_at(&[key])?;
            fit += found.len() as u64;
            for exchange in &found {
                collector.add(exchange);
            }
            Ok(true)
        })?;
        // Exchanges are numbered from 1 on, in the order of their requests.
        figures.fitting = Some((fit, recording.exchange_before(last)?.0));
    } else {
        recording.each_exchange(|exchange| collector.add(&exchange))?;
        let notified = recording.notified(Seq(0), last)?.into_iter();
        let notified = notified.map(|one| (one.direction, one.method, one.count));
        figures.notified = notified.collect();
        figures.notified.sort_by_key(|(.., count)| Reverse(*count));
        let mut state = recording.state_at(last)?;
        let tools = state.lists.remove("tools");
        figures.never_called = tools.map(|listed| listed.names).unwrap_or_default();
        figures.tools_listed = figures.never_called.len();
    }
    figures.stats = collector.stats();
    let called = figures.stats.tools.iter();
    let called: BTreeSet<_> = called.filter_map(|row| row.name.as_deref()).collect();
    let is_called = |name: &CompactString| called.contains(&**name);
    figures.never_called.retain(|name| !is_called(name));
    Ok(Box::new(figures))
}
