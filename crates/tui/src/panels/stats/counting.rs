//! Counts exchanges, notifications and listed tools by turns, some milliseconds at a time.

use super::Figures;
use crate::panels::filter::requests;
use crate::worker::{Answer, Growth, Job, Progress, Source};
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Limit, Scan, Way};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::query::Query;
use mcpreel_trace::stats::{Collector, Stats, is_settled};
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

    fn never_called(&self, stats: &Stats) -> Vec<String> {
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

    fn tell(&mut self, source: &Source<'_>, percent: u8) -> Result<Answer, ReadError> {
        self.told_ns = source.clock.now().0;
        let figures = Box::new(self.figures(source, percent)?);
        Ok(Answer::found(move |app, session| {
            super::counted(app, session, figures)
        }))
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
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answer>,
    ) -> Result<Progress, ReadError> {
        let began = source.clock.now().0;
        loop {
            self.phase = self.go_on(source)?;
            if self.phase == Phase::Done {
                self.is_again = true;
                answers.push(self.tell(source, 100)?);
                return Ok(Progress::Done);
            }
            let now = source.clock.now().0;
            if now.saturating_sub(began) >= STEP_NS {
                if !self.is_again && now.saturating_sub(self.told_ns) >= SO_FAR_NS {
                    let percent = self.percent(source);
                    answers.push(self.tell(source, percent)?);
                }
                return Ok(Progress::More);
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
