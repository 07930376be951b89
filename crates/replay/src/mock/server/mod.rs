//! The server: live messages and time in, actions out. It knows neither pipes nor a clock.
//!
//! ```text
//!  line ──▶ arrive ──▶ request ──▶ matched ──▶ play: steps, then the answer ──▶ say ──▶ actions
//!             │                └─▶ missed  ──▶ error, nearest, nothing, behind
//!             ├─▶ answer to a request of ours: the play that waits for it goes on
//!             └─▶ notification: a cancel ends a play, any may be an anchor
//! ```
//!
//! * `arrive`: what a line holds, and whom it is for;
//! * `request`: which recorded request a live one stands for, and what it gets;
//! * `miss`: what a request gets that stands for none;
//! * `rounds`: retries with input;
//! * `play`: what comes within an exchange, and after an anchor, step by step;
//! * `asks`: requests of the server, and the host's answers;
//! * `say`: recorded bytes with live ids;
//! * `client`: what the live client has said about itself;
//! * `behind`: the real server that missed requests are passed to;
//! * `own`: messages of our own.
//!
//! All that is due is to be done ([`Server::tick`]) before the next line is given: then what comes
//! out depends on what came in alone.

mod arrive;
mod asks;
mod batch;
mod behind;
mod cancel;
mod client;
mod era;
mod miss;
pub(crate) mod own;
mod play;
mod request;
mod rounds;
mod say;
mod step;

use super::index::{Index, Trigger};
use super::matcher::Matcher;
use super::reel::Reel;
use super::report::Tally;
use super::{OnMiss, Options, Report};
use batch::Batches;
use behind::Behind;
use client::Client;
use mcpreel_store::reader::ReadError;
use mcpreel_trace::clock::Moment;
use mcpreel_wire::message::Classifier;
use play::{Live, Play};
use rounds::Rounds;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// Requests that are under way at most. A host that never takes its answers, or asks in a loop what
/// takes long, would otherwise fill the memory.
const MOST_OPEN: usize = 10_000;

/// Bytes that are written in one go. More (a hundred thousand recorded notifications) are read and
/// written piece by piece, so that they are not all held at once.
const BURST: usize = 1 << 20;

/// What is to be done, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Write(Vec<u8>),
    /// Write this recorded line to stderr.
    Stderr(Vec<u8>),
    /// Say this to whoever looks at stderr. Not escaped.
    Say(String),
    /// Start the server behind us, whose command is this.
    Start(Vec<std::ffi::OsString>),
    /// Write this to the server behind us.
    Pass(Vec<u8>),
    End(Ended),
}

/// How the mock ends before its input does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    AsRecorded(super::index::Death),
    Crash,
    Missed,
}

pub struct Server<R> {
    reel: R,
    index: Index,
    matcher: Matcher,
    options: Options,
    classifier: Classifier,
    client: Client,
    /// What is under way, in the order in which it began.
    plays: BTreeMap<u64, Play>,
    due: BTreeSet<(Moment, u64)>,
    last_play: u64,
    /// Requests of ours that have no answer yet, by their ids.
    asked: BTreeMap<u64, asks::Asked>,
    last_ask: u64,
    /// Who asked what something still comes for.
    live: HashMap<u32, Live>,
    /// Anchors that no live notification has used yet, by method.
    notices: HashMap<u64, VecDeque<u32>>,
    rounds: Rounds,
    batches: Batches,
    behind: Behind,
    /// Requests of the server whose answers have come, as anchors.
    told: BTreeSet<u32>,
    warned_of_version: bool,
    tally: Tally,
    actions: Vec<Action>,
    burst: usize,
    /// Nothing more comes in: whatever is under way is not waited for.
    input_ended: bool,
    ended: bool,
}

impl<R: Reel> Server<R> {
    /// A server of what `index` lists, whose bodies are in `reel`.
    pub fn new(index: Index, reel: R, options: Options) -> Self {
        let mut notices: HashMap<u64, VecDeque<u32>> = HashMap::new();
        for (notice, number) in index.notices.iter().zip(0_u32..) {
            notices.entry(notice.method).or_default().push_back(number);
        }
        Self {
            matcher: Matcher::new(&index, options.once, options.strict),
            behind: Behind::new(&options.on_miss),
            index,
            reel,
            options,
            classifier: Classifier::default(),
            client: Client::default(),
            plays: BTreeMap::new(),
            due: BTreeSet::new(),
            last_play: 0,
            asked: BTreeMap::new(),
            last_ask: 0,
            live: HashMap::new(),
            notices,
            rounds: Rounds::default(),
            batches: Batches::default(),
            told: BTreeSet::new(),
            warned_of_version: false,
            tally: Tally::default(),
            actions: Vec::new(),
            burst: 0,
            input_ended: false,
            ended: false,
        }
    }

    pub fn begin(&mut self, now: Moment) {
        self.play_after(Trigger::Start, None, None, now);
    }

    /// When something is next to be done without anything coming in.
    pub fn due(&self) -> Option<Moment> {
        self.due.first().map(|(due, _)| *due)
    }

    pub fn tick(&mut self, now: Moment) {
        while let Some((due, number)) = self.due.first().copied()
            && due <= now
            && self.burst < BURST
        {
            self.due.remove(&(due, number));
            self.wake(number, now);
        }
    }

    pub fn take(&mut self) -> Vec<Action> {
        self.burst = 0;
        std::mem::take(&mut self.actions)
    }

    /// The host has closed our input: what is under way is brought to its end without waiting, and
    /// what came at the end on record comes now.
    pub fn end_of_input(&mut self, now: Moment) {
        self.input_ended = true;
        for number in self.plays.keys().copied().collect::<Vec<_>>() {
            if let Some(due) = self.plays.get(&number).and_then(|play| play.due) {
                self.due.remove(&(due, number));
            }
            self.wake(number, now);
        }
        self.play_after(Trigger::End, None, None, now);
    }

    /// Whether something is still under way that takes no waiting.
    pub fn is_done(&self) -> bool {
        self.ended || (self.input_ended && self.due.is_empty() && !self.behind.is_waited_for())
    }

    pub fn report(&self) -> Report {
        let mut tally = self.tally.clone();
        self.behind.left_open(&mut tally.left_open);
        Report::new(&self.index, &self.matcher, &self.options.rules, tally)
    }

    /// Requests that were passed to the server behind us.
    pub(crate) fn passed_on(&self) -> u64 {
        self.behind.given()
    }

    fn act(&mut self, action: Action) {
        if self.ended {
            return;
        }
        self.burst += match &action {
            Action::Write(bytes) | Action::Stderr(bytes) | Action::Pass(bytes) => bytes.len(),
            Action::Say(text) => text.len(),
            Action::Start(_) => 0,
            Action::End(_) => {
                self.ended = true;
                0
            }
        };
        self.actions.push(action);
    }

    /// A part of the recording that cannot be read is told once, and whoever asked gets an error.
    fn unreadable(&mut self, error: &ReadError) {
        if self.tally.unreadable == 0 {
            self.act(Action::Say(format!(
                "a part of the recording cannot be read: {error}"
            )));
        }
        self.tally.unreadable += 1;
    }
}
