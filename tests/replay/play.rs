//! A scenario, played.

use crate::support::written::recorded;
use crate::told::{self, Row, When};
use mcpreel_replay::bind::Binder;
use mcpreel_replay::diff::{self, Account, Judge, Outcome, Report};
use mcpreel_replay::player::{
    Action, Director, Guard, Line, Next, Options, Order, Policy, Script, Stop, Tally, Wanted,
};
use mcpreel_replay::rewrite::Rewrites;
use mcpreel_replay::rules::Rules;
use mcpreel_store::reader::Recording;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::session::{Closed, End, Side};
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

const MS: u64 = 1_000_000;

/// Rounds in which a director may do nothing visible.
const MOST_ROUNDS: usize = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub about: String,
    #[serde(default)]
    pub choices: Choices,
    pub record: Vec<Row>,
    pub replay: Vec<Vec<String>>,
    #[serde(default)]
    pub report: Vec<String>,
    pub exit: u8,
    #[serde(default)]
    pub tally: BTreeMap<String, u64>,
    /// Handles that were bound: recorded and live.
    #[serde(default)]
    pub bound: Vec<(String, String)>,
    /// A part of what is said about what went wrong.
    #[serde(default)]
    pub says: Vec<String>,
}

/// What a user may choose.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command"
)]
pub struct Choices {
    /// `serial`, or `timed` with speed 1 and gaps of a second at most.
    pub order: Option<String>,
    pub timeout_ms: Option<u64>,
    /// Whether unexpected questions get what a client says that has nothing to offer.
    pub stub: bool,
    pub allow_tools: Vec<String>,
    /// Whether calls are refused at all.
    pub guarded: bool,
    pub bind: Vec<(String, String)>,
    pub rewrite: Vec<(String, String)>,
    pub fresh_ids: bool,
    pub fresh_trace: bool,
    pub protocol: Option<String>,
    /// Frame, path, JSON.
    pub edit: Vec<(u64, String, String)>,
    /// Only requests of these methods.
    pub only: Vec<String>,
    pub until: Option<u64>,
    /// How the recorded server ended: a code, or a signal.
    pub ended: Option<String>,
    /// Whether it ended while its client was there.
    pub died: bool,
    /// When the recorded session ended.
    pub closed_ms: u64,
    /// A file of rules.
    pub rules: String,
}

struct Player<'r> {
    director: Director<'r>,
    now: Moment,
    out: VecDeque<Vec<u8>>,
    closed: bool,
    signals: VecDeque<String>,
}

pub fn play(scenario: &Scenario) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let recording = Recording::open(&record(&scenario.record, dir.path())).unwrap();
    let choices = &scenario.choices;
    let strictness = diff::Options {
        rewrites: Rewrites::new(choices.rewrite.iter().cloned()),
        ..diff::Options::default()
    };
    let mut rules = Rules::default();
    rules.add(&choices.rules, Path::new("rules.toml")).unwrap();
    let mut options = options(choices, &recording);
    options.binder.binds.clone_from(&rules.binds);
    let wanted = (!choices.only.is_empty()).then(|| -> Wanted<'_> {
        Box::new(|exchange: &Exchange| choices.only.iter().any(|it| *it == exchange.method))
    });
    let mut script = Script::new(&recording, choices.until.map(Seq), None);
    script.wanted = wanted;
    let judge = Judge::new(rules, strictness);
    let director = Director::new(options, judge, script, Moment(0)).unwrap();
    let requests = director.requests().unwrap();
    let mut player = Player {
        director,
        now: Moment(0),
        out: VecDeque::new(),
        closed: false,
        signals: VecDeque::new(),
    };
    player.go()?;
    for row in &scenario.replay {
        let words: Vec<_> = row.iter().map(String::as_str).collect();
        player
            .row(&words)
            .map_err(|error| format!("at {row:?}: {error}"))?;
    }
    player.finish()?;
    let stderr = [(*b"last words").into()];
    let (report, tally) = player.director.finish(&stderr, requests);
    compare(scenario, &report, &tally)
}

fn record(rows: &[Row], dir: &Path) -> PathBuf {
    recorded(dir, |session| {
        for (when, stream, what) in rows {
            let (first, last) = match *when {
                When::At(t) => (t, t),
                When::FromTo(first, last) => (first, last),
            };
            session.set_clock(first * MS);
            if stream == "event" {
                session.event(&told::event(what));
                continue;
            }
            let (stream, bytes) = (told::stream_id(stream), told::bytes(what));
            let (begin, end) = bytes.split_at(usize::from(first != last));
            if !begin.is_empty() {
                session.chunk(stream, begin);
            }
            session.set_clock(last * MS).chunk(stream, end);
        }
        session.end();
    })
}

fn options(choices: &Choices, recording: &Recording) -> Options {
    let mut binder = Binder::default();
    binder.fresh_ids = choices.fresh_ids;
    binder.span_seed = choices.fresh_trace.then_some(7);
    binder.protocol = choices.protocol.as_deref().map(Into::into);
    for (name, value) in &choices.bind {
        binder.supply(name.as_str(), value.as_str());
    }
    binder.rewrites = Rewrites::new(choices.rewrite.iter().cloned());
    for (seq, path, json) in &choices.edit {
        let edits = binder.edits.entry(Seq(*seq)).or_default();
        edits.push((path.parse().unwrap(), json.as_str().into()));
    }
    let order = match choices.order.as_deref() {
        None => Order::Causal,
        Some("serial") => Order::Serial,
        Some("timed") => Order::Timed {
            speed: 1.0,
            max_gap: Duration::from_secs(1),
        },
        Some(other) => panic!("no order {other}"),
    };
    let ended = choices.ended.as_deref().map(|how| match how.parse() {
        Ok(code) => End::Exited { code },
        Err(_) => End::Killed {
            signal: how.to_owned(),
        },
    });
    Options {
        order,
        timeout: choices.timeout_ms.map(Duration::from_millis),
        asked: if choices.stub {
            Policy::Stub
        } else {
            Policy::Fail
        },
        guard: guard(choices, recording),
        binder,
        recorded_wall_ns: 1_795_000_000_000_000_000,
        wall_ns: 1_796_000_000_000_000_000,
        recorded_end: ended,
        recorded_close: Some(Closed {
            by: if choices.died {
                Side::Server
            } else {
                Side::Host
            },
            t: Moment(choices.closed_ms * MS),
        }),
    }
}

fn guard(choices: &Choices, recording: &Recording) -> Guard {
    let mut guard = Guard::from_recording(recording, true).unwrap();
    if !choices.guarded {
        guard.allow_all();
    }
    for tool in &choices.allow_tools {
        guard.allow(tool.as_str());
    }
    guard
}

impl Player<'_> {
    /// Lets the director go on as far as it can.
    fn go(&mut self) -> Result<(), String> {
        for _ in 0..MOST_ROUNDS {
            self.director.walk(self.now).unwrap();
            self.take();
            if self.director.next() != Next::Now {
                return Ok(());
            }
        }
        Err("it never comes to rest".to_owned())
    }

    fn take(&mut self) {
        let Action {
            send,
            close,
            signal,
        } = self.director.take_action();
        let lines = send.split_inclusive(|byte| *byte == b'\n');
        self.out.extend(lines.map(<[u8]>::to_vec));
        self.closed |= close;
        self.signals
            .extend(signal.map(|signal| format!("{signal:?}")));
    }

    fn row(&mut self, words: &[&str]) -> Result<(), String> {
        match *words {
            ["sends", what] => {
                let expected = told::bytes(what);
                match self.out.pop_front() {
                    Some(line) if line == expected => Ok(()),
                    Some(line) => Err(format!("it sends {}", String::from_utf8_lossy(&line))),
                    None => Err(format!("it sends nothing, and waits: {}", self.waits())),
                }
            }
            ["quiet"] => self.is_quiet(),
            ["waits", what] => {
                self.is_quiet()?;
                let waits = self.waits();
                waits
                    .contains(what)
                    .then_some(())
                    .ok_or(format!("it waits: {waits}"))
            }
            ["hears", what] => {
                for line in told::bytes(what).split_inclusive(|byte| *byte == b'\n') {
                    self.director.arrive(Line::Whole(line), self.now).unwrap();
                }
                self.go()
            }
            ["passes", ms] => self.pass(ms.parse().unwrap()),
            ["closes"] => self
                .closed
                .then_some(())
                .ok_or("it does not close".to_owned()),
            ["signals", what] => match self.signals.pop_front() {
                Some(signal) if signal == what => Ok(()),
                other => Err(format!("the signal is {other:?}")),
            },
            ["exits", how] => {
                self.exit(how);
                self.go()
            }
            ["unread", bytes] => {
                self.director.unread(bytes.parse().unwrap(), self.now);
                Ok(())
            }
            ["output ends"] => {
                self.director.output_ended(self.now);
                self.go()
            }
            ["input ends"] => {
                self.director.input_refused(self.now);
                self.go()
            }
            ["interrupt"] => {
                self.director.stop(Stop::Interrupted(2), self.now);
                self.go()
            }
            _ => panic!("no row {words:?}"),
        }
    }

    fn is_quiet(&self) -> Result<(), String> {
        match self.out.front() {
            None => Ok(()),
            Some(line) => Err(format!("it sends {}", String::from_utf8_lossy(line))),
        }
    }

    /// Time passes, with a look wherever the director wants one.
    fn pass(&mut self, ms: u64) -> Result<(), String> {
        let end = Moment(self.now.0 + ms * MS);
        for _ in 0..MOST_ROUNDS {
            let next = match self.director.next() {
                Next::At(Some(next)) => next.max(self.now),
                _ => end,
            };
            self.now = next.min(end);
            self.director.tick(self.now).unwrap();
            self.go()?;
            if self.now == end {
                return Ok(());
            }
        }
        Err("it looks again and again".to_owned())
    }

    fn exit(&mut self, how: &str) {
        let ended = match how.parse() {
            Ok(code) => End::Exited { code },
            Err(_) => End::Killed {
                signal: how.to_owned(),
            },
        };
        self.director.exited(ended, self.now);
        self.director.output_ended(self.now);
    }

    /// A server that was told to go goes.
    fn finish(&mut self) -> Result<(), String> {
        self.is_quiet()?;
        if self.director.next() != Next::Never && self.closed {
            self.exit("0");
        }
        match self.director.next() {
            Next::Never => Ok(()),
            _ => Err(format!("it is not over, and waits: {}", self.waits())),
        }
    }

    fn waits(&self) -> String {
        self.director.waits(self.now).unwrap_or_default()
    }
}

fn compare(scenario: &Scenario, report: &Report, tally: &Tally) -> Result<(), String> {
    let offers = report.offers.iter().map(|offer| {
        let name = if offer.name.is_empty() {
            "all"
        } else {
            &*offer.name
        };
        format!("offers {name}: {}", offer.difference.class.as_str())
    });
    let found: Vec<_> = report.accounts.iter().map(in_words).chain(offers).collect();
    if found != scenario.report {
        return Err(format!("the report is {found:#?}"));
    }
    let said: Vec<_> = report.troubles.iter().map(|(_, text)| &**text).collect();
    for part in &scenario.says {
        if !said.iter().any(|text| text.contains(part.as_str())) {
            return Err(format!("it says {said:#?}"));
        }
    }
    if scenario.says.is_empty()
        && report
            .troubles
            .iter()
            .any(|(what, _)| what.exit_code() != 7 && what.exit_code() != 3)
    {
        return Err(format!("it says {said:#?}"));
    }
    if report.exit_code() != scenario.exit {
        return Err(format!("the exit code is {}: {said:?}", report.exit_code()));
    }
    for (name, expected) in &scenario.tally {
        let found = match name.as_str() {
            "sent" => tally.sent,
            "answered" => tally.answered,
            "asked" => tally.asked,
            "unexpected" => tally.unexpected,
            "refused" => tally.refused.count,
            "unwanted" => tally.unwanted,
            "compared" => report.compared,
            _ => panic!("no count {name}"),
        };
        if found != *expected {
            return Err(format!("{name} is {found}"));
        }
    }
    let bound = tally.bound.iter();
    let bound: Vec<_> = bound
        .map(|bound| (bound.recorded.to_string(), bound.live.to_string()))
        .collect();
    (bound == scenario.bound)
        .then_some(())
        .ok_or(format!("bound is {bound:?}"))
}

fn in_words(account: &Account) -> String {
    let seq = account
        .left
        .map_or_else(|| "live".to_owned(), |seq| format!("#{}", seq.0));
    match &account.outcome {
        Outcome::Differs => format!(
            "{seq} {}",
            account.class.map_or("alike", |class| class.as_str())
        ),
        Outcome::NeverAnswered => format!("{seq} never answered"),
        Outcome::NeverAsked => format!("{seq} never asked"),
        Outcome::Removed => format!("{seq} removed"),
        Outcome::Refused(what) => format!("{seq} refused: {what}"),
        Outcome::Redacted(names) => format!("{seq} redacted: {}", names.join(", ")),
        Outcome::NotNeeded => format!("{seq} not needed"),
        Outcome::Unreached(what) => format!("{seq} unreached: {what}"),
        Outcome::More => format!("more: {}", account.method),
        Outcome::Remark(text) => {
            let seq = account
                .left
                .map_or_else(String::new, |seq| format!("#{} ", seq.0));
            let class = account.class.map_or("alike", |class| class.as_str());
            format!("{seq}{class}: {text}")
        }
    }
}
