//! Reading a recording once, in the order of its frames.
//!
//! `client` takes in what the client said, `server` what the server did; `ends` says how both sides
//! ended.

mod client;
mod ends;
mod server;

use super::{Act, Index, NONE, Notice, Outcome, Place, Step, Trigger};
use crate::called;
use crate::mock::Secrets;
use crate::rules::Rules;
use mcpreel_store::reader::{MessageRow, ReadError, Recording};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::message::Classifier;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write as _;

/// Exchanges that are read at once.
const PAGE: u32 = 1000;

/// Bytes of a long frame that are looked at at once.
const PIECE: u64 = 1 << 20;

const MOST_NAMED: usize = 20;

/// Why a recording cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error(transparent)]
    Read(#[from] ReadError),
    /// No client asked anything in it.
    #[error("there is nothing in the recording to answer: no client asked anything")]
    Nothing,
    /// Redacted values without a value to stand for them.
    #[error(
        "the recording is redacted, and nothing stands for {}: give each a value, for example \
         --bind {}=env:NAME",
        named(.0),
        .0.first().map_or("", String::as_str)
    )]
    Unbound(Vec<String>),
}

#[derive(Clone, Copy)]
enum Whose {
    Nobody,
    Entry(u32),
    /// With the trigger that its request is filed under.
    Ask(u32, Trigger),
}

/// After what the next thing comes.
#[derive(Clone, Copy)]
enum Anchor {
    Trigger(Trigger),
    /// A notification after which nothing has come yet.
    Notice(Notice),
}

impl Index {
    /// Reads `recording`, with `secrets` in place of redacted values. Requests are told apart by
    /// `rules`.
    pub fn read(
        recording: &Recording,
        secrets: &Secrets,
        rules: &Rules,
    ) -> Result<Self, IndexError> {
        let mut reading = Reading::begin(recording, secrets, rules)?;
        let mut after = Seq(0);
        loop {
            let page = recording.frames(after)?;
            let Some((last, _)) = page.last() else { break };
            let last = last.seq;
            let messages = recording.messages(after, last)?;
            reading.page(page, &messages)?;
            after = last;
        }
        let index = reading.finish();
        let unbound = secrets.lacks(&index.placeholders);
        match index.entries.is_empty() {
            true => Err(IndexError::Nothing),
            false if !unbound.is_empty() => Err(IndexError::Unbound(unbound)),
            false => Ok(index),
        }
    }
}

struct Reading<'r> {
    recording: &'r Recording,
    secrets: &'r Secrets,
    rules: &'r Rules,
    index: Index,
    classifier: Classifier,
    exchanges: VecDeque<Exchange>,
    last_exchange: ExchangeId,
    whose: HashMap<ExchangeId, Whose>,
    chains: HashMap<ExchangeId, u32>,
    /// What the recorded client has subscribed to just now.
    subscribed: HashSet<Box<str>>,
    anchor: Anchor,
    /// The last frame before the client closed its side.
    last_input: Option<Seq>,
    last_lost: Option<u32>,
}

impl<'r> Reading<'r> {
    fn begin(
        recording: &'r Recording,
        secrets: &'r Secrets,
        rules: &'r Rules,
    ) -> Result<Self, ReadError> {
        let summary = recording.summary()?;
        Ok(Self {
            index: Index {
                recording: called::cassette_name(recording).unwrap_or_else(|| summary.id.clone()),
                death: ends::death(&summary),
                agreed: summary.session.version_agreed.clone(),
                end: Moment(summary.t_last_ns),
                ..Index::default()
            },
            recording,
            secrets,
            rules,
            classifier: Classifier::default(),
            exchanges: VecDeque::new(),
            last_exchange: ExchangeId(0),
            whose: HashMap::new(),
            chains: HashMap::new(),
            subscribed: HashSet::new(),
            anchor: Anchor::Trigger(Trigger::Start),
            last_input: ends::of_input(recording)?,
            last_lost: None,
        })
    }

    fn page(
        &mut self,
        frames: mcpreel_store::reader::FramePage,
        mut messages: &[MessageRow],
    ) -> Result<(), ReadError> {
        for (head, raw) in frames {
            let count = messages.partition_point(|row| row.record.frame <= head.seq);
            let (of_frame, rest) = messages.split_at(count);
            messages = rest;
            self.look_for_placeholders(&head, raw.as_deref())?;
            if self.last_input.is_some_and(|last| head.seq > last) {
                self.anchor = Anchor::Trigger(Trigger::End);
            }
            match head.stream {
                StreamId::STDERR => self.step(Place::new(head.seq, 0), Act::Stderr),
                StreamId::S2C if of_frame.is_empty() => {
                    self.step(Place::new(head.seq, 0), Act::Say);
                }
                StreamId::S2C => {
                    for row in of_frame {
                        self.server_said(row)?;
                    }
                }
                _ => self.client_said(&head, raw, of_frame)?,
            }
        }
        Ok(())
    }

    fn look_for_placeholders(
        &mut self,
        head: &FrameHead,
        raw: Option<&[u8]>,
    ) -> Result<(), ReadError> {
        let found = &mut self.index.placeholders;
        if let Some(raw) = raw {
            Secrets::find(raw, found);
            return Ok(());
        }
        let mut at = 0;
        while at < head.size {
            // What stands at a border is seen from one of its sides.
            let end = at + PIECE + Secrets::LONGEST as u64;
            Secrets::find(&self.recording.piece(head.seq, at..end)?, found);
            at += PIECE;
        }
        Ok(())
    }

    /// Whether a request was not yet answered at `place`.
    fn is_open(&self, entry: u32, place: Place) -> bool {
        let response = self.index.entry(entry).response;
        response.is_none_or(|response| response > place)
    }

    fn follow(&mut self, entry: u32) {
        self.index.entries[entry as usize].followed = true;
    }

    fn step(&mut self, place: Place, act: Act) {
        let trigger = self.trigger();
        self.push(trigger, place, act);
    }

    fn push(&mut self, trigger: Trigger, place: Place, act: Act) {
        let step = Step {
            trigger,
            place,
            act,
        };
        self.index.steps.push(step);
    }

    /// What the next thing comes after. A notification gets a number when something does.
    fn trigger(&mut self) -> Trigger {
        let trigger = match self.anchor {
            Anchor::Trigger(trigger) => return trigger,
            Anchor::Notice(notice) => {
                self.index.notices.push(notice);
                Trigger::Notified(narrow(self.index.notices.len() - 1))
            }
        };
        self.anchor = Anchor::Trigger(trigger);
        trigger
    }

    fn whose(&self, exchange: Option<ExchangeId>) -> Whose {
        let known = exchange.and_then(|id| self.whose.get(&id));
        known.copied().unwrap_or(Whose::Nobody)
    }

    fn belongs(&mut self, exchange: ExchangeId, whose: Whose) {
        self.whose.insert(exchange, whose);
    }

    /// The exchange with this number, as they come in order.
    fn exchange(&mut self, id: Option<ExchangeId>) -> Result<Option<Exchange>, ReadError> {
        let Some(id) = id else { return Ok(None) };
        loop {
            while let Some(next) = self.exchanges.pop_front() {
                match next.id.cmp(&id) {
                    std::cmp::Ordering::Less => {}
                    std::cmp::Ordering::Equal => return Ok(Some(next)),
                    std::cmp::Ordering::Greater => {
                        self.exchanges.push_front(next);
                        return Ok(None);
                    }
                }
            }
            let page = self
                .recording
                .light_exchanges(self.last_exchange, None, PAGE)?;
            let Some(last) = page.last() else {
                return Ok(None);
            };
            self.last_exchange = last.id;
            self.exchanges.extend(page);
        }
    }

    fn finish(mut self) -> Index {
        let offered = self.recording.summary();
        let offered = offered.map(|summary| summary.session.versions_offered);
        let modern = self.index.modern;
        let offered = offered.unwrap_or_default().into_iter().filter(|_| modern);
        self.index
            .versions
            .extend(offered.take(client::MOST_VERSIONS));
        // Where everything failed, nothing is refused because of its era.
        self.index.legacy |= !modern;
        if let Some(lost) = self.last_lost
            && self.index.death.is_some()
        {
            self.index.entries[lost as usize].outcome = Outcome::Death;
        }
        self.index.steps.sort_by_key(|step| step.trigger);
        self.index.steps.shrink_to_fit();
        self.index.entries.shrink_to_fit();
        self.index
    }
}

/// Placeholders without a value, not more than help.
fn named(names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    let mut text = names[..names.len() - more].join(", ");
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    text
}

/// A recording with so many rows would fill disks.
fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
