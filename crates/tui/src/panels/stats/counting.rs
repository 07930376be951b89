//! Counts exchanges, notifications and listed tools by turns, some milliseconds at a time.

use crate::panels::filter::typed::requests;
use crate::widget::cursor::Rows;
use crate::worker::job::{Growth, Job, Progress, Source, Step};
use compact_str::CompactString;
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Limit, Scan, Way};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::query::Query;
use mcpreel_trace::stats::{self as trace, Collector, Latency, Row, is_settled};
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::message::Direction;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// How long a step works, nanoseconds; and a scan within it.
const STEP_NS: u64 = 6_000_000;
const SCAN_NS: u64 = 3_000_000;

/// While there is more to count, so often the figures so far are handed over, nanoseconds.
const SO_FAR_NS: u64 = 250_000_000;

/// Exchanges that are read at once.
const PAGE: u32 = 500;

/// Frames whose notifications are counted at once.
const FRAMES: u64 = 5_000;

/// Answers to `tools/list` that are read: more pages than a server can mean.
const LISTS: u32 = 50;

/// Bytes of such an answer that are read.
const LIST_BYTES: u64 = 4 << 20;

/// Tools, and methods of notifications, that are told apart.
const NAMES: usize = 5_000;

#[derive(Debug, Default)]
pub struct Stats {
    /// The filter that was asked with; none asks anew.
    pub asked: Option<Query>,
    pub shown: Option<Box<Figures>>,
    /// Newer figures, for when those on the screen have been there for a second.
    pub fresh: Option<Box<Figures>>,
    /// When the figures on the screen came, nanoseconds since the viewer started.
    pub shown_ns: u64,
    pub sort: Sort,
    /// Whether the rows are the other way round.
    pub reverse: bool,
    pub cursor: Rows<RowId>,
}

#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub stats: trace::Stats,
    /// How many exchanges fit the filter, and of how many; none without a filter.
    pub fitting: Option<(u64, u64)>,
    /// Notifications by direction and method, the most frequent first; none with a filter.
    pub notified: Vec<(Direction, Box<str>, u64)>,
    /// Tools that were listed, and those of them that were never called; unescaped. None with a
    /// filter.
    pub tools_listed: usize,
    pub never_called: Vec<String>,
    /// How long the recording is, nanoseconds.
    pub span_ns: u64,
    /// How much was counted, percent; 100 when all was.
    pub percent: u8,
}

/// What the rows are sorted by: the columns, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    Name,
    #[default]
    Count,
    Failed,
    P50,
    P95,
    P99,
    Max,
    Sent,
    Received,
    Rate,
}

/// Which row it is, whatever the order.
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

    /// Numbers begin with the greatest, names with the first.
    fn sorted<'r>(&self, rows: &'r [Row]) -> Vec<&'r Row> {
        let mut rows: Vec<_> = rows.iter().collect();
        let ns = |row: &Row, of: fn(&Latency) -> u64| row.latency.as_ref().map_or(0, of);
        let number = |row: &Row| match self.sort {
            Sort::Name => 0,
            Sort::Count | Sort::Rate => row.count,
            Sort::Failed => row.failed_permille(),
            Sort::P50 => ns(row, |latency| latency.p50_ns),
            Sort::P95 => ns(row, |latency| latency.p95_ns),
            Sort::P99 => ns(row, |latency| latency.p99_ns),
            Sort::Max => ns(row, |latency| latency.max_ns),
            Sort::Sent => row.request_bytes,
            Sort::Received => row.response_bytes,
        };
        rows.sort_by_key(|row| Reverse(number(row)));
        if self.reverse {
            rows.reverse();
        }
        rows
    }
}

#[derive(Default)]
pub(super) struct Counting {
    query: Query,
    phase: Phase,
    told_ns: u64,
    /// Whether everything was counted before: then nothing is told until it is again.
    is_again: bool,
    /// Without a filter: the last exchange that was read.
    after: ExchangeId,
    /// With a filter: looks for exchanges that fit, has come so far, and has found so many.
    scan: Option<Scan>,
    looked_at: Seq,
    fit: u64,
    collector: Collector,
    /// Exchanges that may still change.
    open: BTreeMap<ExchangeId, Exchange>,
    notified: BTreeMap<(Direction, Box<str>), u64>,
    /// The frames whose notifications were counted.
    frames: Seq,
    tools: BTreeSet<String>,
    /// Where the lists are that were read.
    lists: BTreeSet<(Seq, u32)>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    /// Exchanges that were open are read again.
    #[default]
    Open,
    Exchanges,
    /// Notifications and tools say something about the whole: only without a filter.
    Notifications,
    Tools,
    Done,
}

impl Counting {
    pub fn new(query: Query) -> Self {
        Self {
            query,
            ..Self::default()
        }
    }

    fn has_filter(&self) -> bool {
        self.query.expr.is_some()
    }

    /// Does what comes next, and says what comes after it.
    fn go_on(&mut self, source: &Source<'_>) -> Result<Phase, ReadError> {
        let phase = self.phase;
        Ok(match phase {
            Phase::Open => {
                self.read_open(source)?;
                Phase::Exchanges
            }
            Phase::Exchanges if !self.read_exchanges(source)? => phase,
            Phase::Exchanges if self.has_filter() => Phase::Done,
            Phase::Exchanges => Phase::Notifications,
            Phase::Notifications if !self.read_notifications(source)? => phase,
            Phase::Notifications => Phase::Tools,
            Phase::Tools if !self.read_tools(source)? => phase,
            Phase::Tools | Phase::Done => Phase::Done,
        })
    }

    fn read_open(&mut self, source: &Source<'_>) -> Result<(), ReadError> {
        let ids: Vec<_> = self.open.keys().copied().collect();
        for exchange in source.recording.exchanges_of(&ids)? {
            if is_settled(&exchange) {
                self.collector.settled(&exchange);
                self.open.remove(&exchange.id);
            } else {
                self.open.insert(exchange.id, exchange);
            }
        }
        Ok(())
    }

    /// Reads the next exchanges. Whether they are the last ones.
    fn read_exchanges(&mut self, source: &Source<'_>) -> Result<bool, ReadError> {
        let recording = source.recording;
        let (page, is_last) = if self.has_filter() {
            let question = requests(&self.query);
            let begin = || Scan::new(&question, Way::Oldest, None, source.context());
            let limit = Limit {
                hits: PAGE as usize,
                nanos: SCAN_NS,
                clock: source.clock,
            };
            let step = self
                .scan
                .get_or_insert_with(begin)
                .step(recording, &limit)?;
            self.looked_at = step.looked_at.map_or(self.looked_at, |key| key.seq);
            let keys: Vec<_> = step.hits.iter().map(|hit| hit.key).collect();
            (recording.exchanges_at(&keys)?, step.done)
        } else {
            let page = recording.exchanges(self.after, PAGE)?;
            self.after = page.last().map_or(self.after, |exchange| exchange.id);
            let is_last = page.len() < PAGE as usize;
            (page, is_last)
        };
        self.fit += page.len() as u64;
        for exchange in page {
            if is_settled(&exchange) {
                self.collector.add(&exchange);
            } else {
                self.collector.open(&exchange);
                self.open.insert(exchange.id, exchange);
            }
        }
        Ok(is_last)
    }

    /// Counts some more notifications. Whether that is all.
    fn read_notifications(&mut self, source: &Source<'_>) -> Result<bool, ReadError> {
        let last = source.summary.frames;
        let to = Seq(last.min(self.frames.0 + FRAMES));
        for notified in source.recording.notified(self.frames, to)? {
            let key = (notified.direction, notified.method);
            if self.notified.len() < NAMES || self.notified.contains_key(&key) {
                *self.notified.entry(key).or_default() += notified.count;
            }
        }
        self.frames = to;
        Ok(to.0 == last)
    }

    /// Reads a list of tools that was not read yet. Whether there is no other one.
    fn read_tools(&mut self, source: &Source<'_>) -> Result<bool, ReadError> {
        let recording = source.recording;
        let lists = recording.answers_of("tools/list", None, LISTS)?;
        let Some(&(seq, part)) = lists.iter().find(|list| !self.lists.contains(list)) else {
            return Ok(true);
        };
        self.lists.insert((seq, part));
        if recording
            .head(seq)?
            .is_some_and(|head| head.size <= LIST_BYTES)
        {
            let bytes = recording.message_bytes(seq, part)?.unwrap_or_default();
            let room = NAMES.saturating_sub(self.tools.len());
            self.tools.extend(tool_names(&bytes).into_iter().take(room));
        }
        Ok(false)
    }

    fn figures(&self, source: &Source<'_>, percent: u8) -> Result<Figures, ReadError> {
        let stats = self.collector.stats(self.open.values());
        // Exchanges are numbered from 1 on, in the order of their requests.
        let all = source
            .recording
            .exchange_before(Seq(source.summary.frames))?
            .0;
        let notified = self.notified.iter();
        let mut notified: Vec<_> = notified
            .map(|((direction, method), count)| (*direction, method.clone(), *count))
            .collect();
        notified.sort_by_key(|(.., count)| Reverse(*count));
        Ok(Figures {
            fitting: self.has_filter().then_some((self.fit, all)),
            notified,
            tools_listed: self.tools.len(),
            never_called: self.never_called(&stats),
            span_ns: source.summary.t_last_ns,
            percent,
            stats,
        })
    }

    fn never_called(&self, stats: &trace::Stats) -> Vec<String> {
        let names = stats.tools.iter().filter_map(|row| row.name.as_deref());
        let called: BTreeSet<_> = names.collect();
        let never = |name: &&String| !called.contains(name.as_str());
        self.tools.iter().filter(never).cloned().collect()
    }

    fn percent(&self, source: &Source<'_>) -> u8 {
        let (frames, exchanges) = (source.summary.frames, source.summary.exchanges);
        let (counted, all) = if self.has_filter() {
            (self.looked_at.0, frames)
        } else {
            (self.after.0 + self.frames.0, exchanges + frames)
        };
        let percent = (counted.saturating_mul(100) / all.max(1)).min(99);
        u8::try_from(percent).unwrap_or(99)
    }

    fn tell(&mut self, source: &Source<'_>, percent: u8) -> Result<Box<Figures>, ReadError> {
        self.told_ns = source.clock.now().0;
        Ok(Box::new(self.figures(source, percent)?))
    }
}

/// The names in an answer to `tools/list`.
fn tool_names(bytes: &[u8]) -> Vec<String> {
    let Ok(document) = Document::parse(bytes) else {
        return Vec::new();
    };
    let tools = document
        .root()
        .get("result")
        .and_then(|result| result.get("tools"));
    let name = |tool: Value<'_>| Some(tool.get("name")?.as_str()?.into_owned());
    tools.map_or_else(Vec::new, |tools| {
        tools.elements().filter_map(name).collect()
    })
}

impl Job for Counting {
    type Found = Box<Figures>;

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
        let began = source.clock.now().0;
        loop {
            self.phase = self.go_on(source)?;
            if self.phase == Phase::Done {
                self.is_again = true;
                return Ok((Progress::Done, Some(self.tell(source, 100)?)));
            }
            let now = source.clock.now().0;
            if now.saturating_sub(began) >= STEP_NS {
                let is_due = !self.is_again && now.saturating_sub(self.told_ns) >= SO_FAR_NS;
                let percent = self.percent(source);
                let figures = is_due.then(|| self.tell(source, percent)).transpose()?;
                return Ok((Progress::More, figures));
            }
        }
    }

    /// With a filter a call that was passed may begin to fit, or one that was counted no longer
    /// does; and at the end what was derived may have been derived anew. Then all is counted anew.
    fn grown(&mut self, growth: &Growth) -> bool {
        if growth.ended || self.has_filter() {
            *self = Self {
                told_ns: self.told_ns,
                is_again: self.is_again,
                ..Self::new(self.query.clone())
            };
        }
        self.phase = Phase::Open;
        true
    }
}
