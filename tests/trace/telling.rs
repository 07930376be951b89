//! Everything that follows from a session told in rows.

use crate::told::{Row, When, bytes, event, stream_id};
use mcpreel_lint::{Finding, Linter};
use mcpreel_trace::analysis::Analysis;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageRecord;
use mcpreel_trace::event::Event;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{Carried, FrameHead, Seq, StreamId};
use mcpreel_wire::json::Outline;
use mcpreel_wire::message::{Classifier, Content, Lines, classify_cut, classify_outline};
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;

/// All that follows from a session.
#[derive(Default)]
pub struct Derived {
    pub messages: Vec<MessageRecord>,
    /// Each once, by id.
    pub exchanges: Vec<Exchange>,
    pub findings: Vec<Finding>,
}

/// One session being told.
#[derive(Default)]
pub struct Telling {
    analysis: Analysis,
    linter: Linter,
    classifier: Classifier,
    seq: u64,
    offsets: BTreeMap<u32, u64>,
    all: Derived,
    latest: BTreeMap<ExchangeId, Exchange>,
}

impl Telling {
    /// Tells one row.
    pub fn row(&mut self, (when, stream, what): &Row) {
        let (first, last) = match *when {
            When::At(t) => (Moment(t * MS), Moment(t * MS)),
            When::FromTo(first, last) => (Moment(first * MS), Moment(last * MS)),
        };
        if stream == "event" {
            let event = Event {
                t: last,
                after_seq: Seq(self.seq),
                kind: event(what),
            };
            self.analysis.event(&event);
            self.linter.event(&self.analysis, &event);
            return;
        }
        let (times, what) = match what
            .strip_prefix("repeat ")
            .and_then(|it| it.split_once(' '))
        {
            Some((times, what)) => (times.parse().unwrap(), what),
            None => (1, what.as_str()),
        };
        let (outline, what) = match what.strip_prefix("outline ") {
            Some(rest) => (true, rest),
            None => (false, what),
        };
        let raw = bytes(what);
        for _ in 0..times {
            self.frame(stream_id(stream), (first, last), &raw, outline);
        }
    }

    fn frame(
        &mut self,
        stream: StreamId,
        (t_first, t_last): (Moment, Moment),
        raw: &[u8],
        outline: bool,
    ) {
        self.seq += 1;
        let offset = self.offsets.entry(stream.0).or_default();
        let head = FrameHead {
            seq: Seq(self.seq),
            stream,
            offset: *offset,
            t_first,
            t_last,
            size: raw.len() as u64,
            carried: Carried::default(),
        };
        *offset += head.size;
        let is_shortened = self.analysis.is_shortened(stream);
        let (content, root) = match stream.messages() {
            Some(_) if is_shortened => (classify_cut(raw), None),
            Some(_) if outline => (classify_outline(&Outline::of(raw).unwrap()), None),
            Some(_) => self.classifier.read(raw, Lines::OfAll),
            None => (Content::default(), None),
        };
        self.analysis.frame(&head, &content);
        self.linter
            .frame(&self.analysis, &head, raw, &content, root);
    }

    /// Takes what was derived since the last time, as an indexer does at the end of a batch.
    pub fn take(&mut self) {
        let batch = self.analysis.take();
        self.all.messages.extend(batch.messages);
        self.all.findings.extend(self.linter.take());
        let exchanges = batch.exchanges.into_iter();
        self.latest.extend(exchanges.map(|one| (one.id, one)));
    }

    /// The recording is over, or at least nothing more is told of it.
    pub fn end(mut self, is_live: bool) -> Derived {
        if !is_live {
            self.analysis.finish();
            self.linter.finish(&self.analysis);
        }
        self.take();
        self.all.exchanges = self.latest.into_values().collect();
        self.all
    }
}
