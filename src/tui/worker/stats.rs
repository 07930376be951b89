//! Counts and latencies.
//!
//! Exchanges are read in the order of their requests, a few milliseconds at a time, and then
//! those that were not answered yet are looked at again whenever the recording has grown. When it
//! has ended everything is counted once more.

use super::{Growth, Job, Progress, Source};
use crate::protocol::json::Document;
use crate::protocol::message::Direction;
use crate::store::reader::ReadError;
use crate::trace::clock::Moment;
use crate::trace::exchange::{Exchange, ExchangeId};
use crate::trace::frame::Seq;
use crate::trace::stats::{Collector, Stats, is_settled};
use std::collections::{BTreeMap, BTreeSet};

/// How long a step works, nanoseconds.
const STEP_NS: u64 = 6_000_000;

/// Exchanges that are read at once.
const PAGE: u32 = 500;

/// Frames whose notifications are counted at once.
const FRAMES: u64 = 5_000;

/// Answers to `tools/list` that are read: more pages than a server can mean.
const LISTS: u32 = 50;

/// Bytes of such an answer that are read.
const LIST_BYTES: u64 = 4 << 20;

/// Tools that are told apart.
const TOOLS: usize = 5_000;

/// The question.
#[derive(Debug)]
pub struct Ask {
    /// Names the answers that belong to it.
    pub generation: u64,
    /// The time cursor.
    pub until: Option<Seq>,
}

/// The answer. Comes again as more is counted.
#[derive(Debug)]
pub struct Answer {
    /// The question.
    pub generation: u64,
    /// What was counted.
    pub figures: Box<Figures>,
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Counts and latencies.
    pub stats: Stats,
    /// Notifications by direction and method, the most frequent first.
    pub notified: Vec<(Direction, Box<str>, u64)>,
    /// Tools that were listed, and of these what was never called; the names unescaped.
    pub tools_listed: usize,
    /// See there.
    pub never_called: Vec<String>,
    /// How long the recording is, nanoseconds.
    pub span_ns: u64,
    /// How much was counted, percent; 100 when all was.
    pub percent: u8,
}

impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        Box::new(Counting::new(self))
    }
}

struct Counting {
    ask: Ask,
    collector: Collector,
    after: ExchangeId,
    open: BTreeMap<ExchangeId, Exchange>,
    notified: BTreeMap<(Direction, Box<str>), u64>,
    frames: Seq,
    tools: BTreeSet<String>,
    lists: BTreeSet<(Seq, u32)>,
    phase: Phase,
    told_ns: u64,
    span: Moment,
}

/// What is done next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Exchanges that were open are looked at again.
    Again,
    /// New exchanges.
    Exchanges,
    /// Notifications.
    Notifications,
    /// Lists of tools.
    Tools,
}

impl Counting {
    fn new(ask: Ask) -> Self {
        Self {
            ask,
            collector: Collector::default(),
            after: ExchangeId(0),
            open: BTreeMap::new(),
            notified: BTreeMap::new(),
            frames: Seq(0),
            tools: BTreeSet::new(),
            lists: BTreeSet::new(),
            phase: Phase::Again,
            told_ns: 0,
            span: Moment(0),
        }
    }

    fn again(&mut self, source: &Source<'_>) -> Result<Phase, ReadError> {
        let ids: Vec<_> = self.open.keys().copied().collect();
        let recording = source.recording;
        for exchange in recording.light_exchanges_of(&ids, self.ask.until)? {
            if is_settled(&exchange) {
                self.collector.settled(&exchange);
                self.open.remove(&exchange.id);
            } else {
                self.open.insert(exchange.id, exchange);
            }
        }
        Ok(Phase::Exchanges)
    }

    fn exchanges(&mut self, source: &Source<'_>) -> Result<Phase, ReadError> {
        let recording = source.recording;
        let page = recording.light_exchanges(self.after, self.ask.until, PAGE)?;
        let is_last = page.len() < PAGE as usize;
        for exchange in page {
            self.after = exchange.id;
            if is_settled(&exchange) {
                self.collector.add(&exchange);
            } else {
                self.collector.open(&exchange);
                self.open.insert(exchange.id, exchange);
            }
        }
        Ok(if is_last {
            Phase::Notifications
        } else {
            Phase::Exchanges
        })
    }

    fn notifications(&mut self, source: &Source<'_>) -> Result<Phase, ReadError> {
        let last = self.last(source);
        let to = Seq(last.0.min(self.frames.0 + FRAMES));
        for notified in source.recording.notified(self.frames, to)? {
            let key = (notified.direction, notified.method);
            if self.notified.len() < TOOLS || self.notified.contains_key(&key) {
                *self.notified.entry(key).or_default() += notified.count;
            }
        }
        self.frames = to;
        Ok(if to == last {
            Phase::Tools
        } else {
            Phase::Notifications
        })
    }

    /// Reads one list of tools that was not read yet. `None` when there is no other one.
    fn tools(&mut self, source: &Source<'_>) -> Result<Option<Phase>, ReadError> {
        let recording = source.recording;
        let lists = recording.answers_of("tools/list", self.ask.until, LISTS)?;
        let Some(&(seq, part)) = lists.iter().find(|list| !self.lists.contains(list)) else {
            return Ok(None);
        };
        self.lists.insert((seq, part));
        let is_short = |size| size <= LIST_BYTES;
        if recording.head(seq)?.is_some_and(|head| is_short(head.size)) {
            let bytes = recording.message_bytes(seq, part)?.unwrap_or_default();
            for name in tool_names(&bytes) {
                if self.tools.len() < TOOLS {
                    self.tools.insert(name);
                }
            }
        }
        Ok(Some(Phase::Tools))
    }

    fn last(&self, source: &Source<'_>) -> Seq {
        let frames = Seq(source.summary.frames);
        self.ask.until.map_or(frames, |until| until.min(frames))
    }

    fn figures(&self, source: &Source<'_>, done: bool) -> Figures {
        let stats = self.collector.stats(self.open.values());
        let called: BTreeSet<_> = stats
            .tools
            .iter()
            .filter_map(|row| row.name.as_deref())
            .collect();
        let never = |name: &&String| !called.contains(name.as_str());
        let mut notified: Vec<_> = self
            .notified
            .iter()
            .map(|((direction, method), count)| (*direction, method.clone(), *count))
            .collect();
        notified.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
        let counted = self.after.0 + self.frames.0;
        let all = source.summary.exchanges + source.summary.frames;
        let percent = (counted.saturating_mul(100) / all.max(1)).min(99);
        Figures {
            notified,
            tools_listed: self.tools.len(),
            never_called: self.tools.iter().filter(never).cloned().collect(),
            span_ns: self.span.0,
            percent: if done {
                100
            } else {
                u8::try_from(percent).unwrap_or(99)
            },
            stats,
        }
    }

    fn tell(&mut self, source: &Source<'_>, done: bool, answers: &mut Vec<super::Answer>) {
        self.told_ns = source.clock.now().0;
        answers.push(super::Answer::Stats(Answer {
            generation: self.ask.generation,
            figures: Box::new(self.figures(source, done)),
        }));
    }
}

impl Job for Counting {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<super::Answer>,
    ) -> Result<Progress, ReadError> {
        /// While there is more to count, so often the figures so far are handed over.
        const SO_FAR_NS: u64 = 250_000_000;
        let began = source.clock.now().0;
        if self.span == Moment(0) || self.ask.until.is_none() {
            self.span = span(source, self.ask.until)?;
        }
        loop {
            self.phase = match self.phase {
                Phase::Again => self.again(source)?,
                Phase::Exchanges => self.exchanges(source)?,
                Phase::Notifications => self.notifications(source)?,
                Phase::Tools => {
                    if let Some(phase) = self.tools(source)? {
                        phase
                    } else {
                        self.phase = Phase::Again;
                        self.tell(source, true, answers);
                        return Ok(Progress::Done);
                    }
                }
            };
            let now = source.clock.now().0;
            if now.saturating_sub(began) >= STEP_NS {
                if now.saturating_sub(self.told_ns) >= SO_FAR_NS {
                    self.tell(source, false, answers);
                }
                return Ok(Progress::More);
            }
        }
    }

    fn grown(&mut self, growth: &Growth) -> bool {
        if growth.ended {
            let Ask { generation, until } = self.ask;
            *self = Self::new(Ask { generation, until });
        }
        self.ask.until.is_none() || growth.ended
    }
}

/// How long the recording is, or was at the time cursor.
fn span(source: &Source<'_>, until: Option<Seq>) -> Result<Moment, ReadError> {
    let whole = Moment(source.summary.t_last_ns);
    let Some(until) = until else {
        return Ok(whole);
    };
    let head = source.recording.head(until)?;
    Ok(head.map_or(whole, |head| head.t_last))
}

/// The names in an answer to `tools/list`.
fn tool_names(bytes: &[u8]) -> Vec<String> {
    let Ok(document) = Document::parse(bytes) else {
        return Vec::new();
    };
    let tools = document.root().get("result");
    let Some(tools) = tools.and_then(|result| result.get("tools")) else {
        return Vec::new();
    };
    let name = |tool: crate::protocol::json::Value<'_>| {
        let name = tool.get("name")?.as_str()?;
        Some(name.into_owned())
    };
    tools.elements().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_are_those_of_the_list_whatever_else_is_in_it() {
        let list = br#"{"id":1,"result":{"tools":[{"name":"a"},{"title":"x"},7,{"name":"b\n"}]}}"#;
        assert_eq!(tool_names(list), ["a", "b\n"]);
        assert_eq!(tool_names(b"no JSON"), Vec::<String>::new());
    }
}
