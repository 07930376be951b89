//! A replay, on a thread of its own: it starts a server, and waits for it.

use super::Answer as Any;
use super::beside::survey::is_needed;
use mcpreel_replay::bind::Binder;
use mcpreel_replay::judge::{self, Judge};
use mcpreel_replay::player::Guard;
use mcpreel_replay::player::{Command, Outcome, Progress, Signals, Wanted};
use mcpreel_replay::player::{Options, Tally};
use mcpreel_replay::player::{Play, Played};
use mcpreel_replay::report::Report;
use mcpreel_replay::rules::files;
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::Library;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_store::recovery;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Path as JsonPath;
use mcpreel_wire::text::{count, plural};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// How long the recording of a replay that was stopped may take to be completed before it is read:
/// who has stopped it does not want to wait for long.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub enum Ask {
    Start(Box<Order>),
    /// Stop; once more kills the server.
    Stop,
}

/// What is to be replayed: what a person has said yes to.
#[derive(Clone, Debug)]
pub struct Order {
    pub generation: u64,
    pub path: PathBuf,
    pub command: Command,
    pub until: Seq,
    /// The only call that is made besides the handshake.
    pub only: Option<Only>,
    /// The frame of the request that is shown first afterwards.
    pub shows: Option<Seq>,
    pub requests: u64,
    /// Tools that may be called although they do not say that they only read.
    pub allowed: BTreeSet<Box<str>>,
    /// Another value in a request: which request, where, JSON.
    pub edit: Option<(Seq, JsonPath, Box<str>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only {
    pub id: ExchangeId,
    /// The rounds of input that it belongs to.
    pub chain: Option<ExchangeId>,
}

/// An answer, and which replay it is about.
#[derive(Debug)]
pub enum Answer {
    Progress(u64, String),
    Done(u64, Box<Done>),
    /// It could not be made: why, one sentence, escaped.
    Failed(u64, String),
}

#[derive(Debug)]
pub struct Done {
    pub original: PathBuf,
    /// Nothing after this frame of it.
    pub until: Seq,
    /// The call of it that was made alone.
    pub only: Option<Only>,
    /// The frame of the request that is shown first.
    pub shows: Option<Seq>,
    pub path: PathBuf,
    pub report: Report,
    /// Values that the server had chosen, and what was sent in their place.
    pub bound: Vec<(Box<str>, Box<str>)>,
    /// What was done, in words, escaped.
    pub told: String,
}

/// Makes it, until it is over or `signals` stop it. The new recording lies in `library`.
pub fn run(order: Order, library: &Library, signals: &Signals, tell: &mut dyn FnMut(Any)) {
    let generation = order.generation;
    let mut tell = |answer| tell(Any::Replay(answer));
    match play(order, library, signals, &mut tell) {
        Ok(done) => tell(Answer::Done(generation, Box::new(done))),
        Err(why) => tell(Answer::Failed(generation, why)),
    }
}

fn play(
    order: Order,
    library: &Library,
    signals: &Signals,
    tell: &mut dyn FnMut(Answer),
) -> Result<Done, String> {
    let said = |error: &(dyn std::error::Error + 'static)| sentence(error);
    let recording = Recording::open(&order.path).map_err(|error| said(&error))?;
    let summary = recording.summary().map_err(|error| said(&error))?;
    let (rules, _) = files::read(&[], &order.path).map_err(|error| said(&error))?;
    let clock = Clock::start();
    let judge = Judge::new(rules, judge::Options::default());
    let is_own = library.made(&recording, &summary);
    let mut options = options(&recording, &summary, is_own, &order, clock)?;
    options.binder.bind_by(judge.rules());
    let play = Play {
        recording: &recording,
        summary: &summary,
        until: Some(order.until),
        wanted: wanted(order.only.clone()),
        left_out: None,
        options,
        judge,
        command: &order.command,
        dir: Ok(library.dir().to_owned()),
        signals,
    };
    let played = play.run(clock, &mut |now: &Progress<'_>| {
        let requests = order.requests;
        let words = Progress {
            requests,
            ..now.clone()
        }
        .in_words();
        tell(Answer::Progress(order.generation, words));
    });
    let Played { outcome, path, .. } = played.map_err(|error| said(&error))?;
    let until = clock.now() + PATIENCE;
    let is_whole = recovery::wait_for_recorder(&path, &mut || match outcome.interrupted {
        None => signals.first().is_none(),
        Some(_) => clock.now() < until,
    });
    Ok(Done {
        told: told(&outcome, order.requests, is_whole),
        original: order.path,
        until: order.until,
        only: order.only,
        shows: order.shows,
        path,
        bound: bound(&outcome.tally),
        report: outcome.report,
    })
}

fn options(
    recording: &Recording,
    summary: &Summary,
    is_own: bool,
    order: &Order,
    clock: Clock,
) -> Result<Options, String> {
    Ok(Options {
        guard: guard(recording, is_own, order)?,
        binder: binder(order)?,
        recorded_wall_ns: summary.wall_ns,
        wall_ns: clock.wall_ns(),
        recorded_end: summary.session.phase.end().cloned(),
        ..Options::default()
    })
}

fn guard(recording: &Recording, is_own: bool, order: &Order) -> Result<Guard, String> {
    let guard = Guard::from_recording(recording, is_own);
    let mut guard = guard.map_err(|error| sentence(&error))?;
    for tool in &order.allowed {
        guard.allow(tool.clone());
    }
    Ok(guard)
}

fn binder(order: &Order) -> Result<Binder, String> {
    let mut binder = Binder::default();
    let seed = getrandom::u64().map_err(|_| "there is no randomness".to_owned())?;
    binder.span_seed = Some(seed);
    if let Some((seq, path, json)) = &order.edit {
        let edit = (path.clone(), json.clone());
        binder.edits.entry(*seq).or_default().push(edit);
    }
    Ok(binder)
}

fn bound(tally: &Tally) -> Vec<(Box<str>, Box<str>)> {
    let bound = tally.bound.iter();
    let pairs = bound.map(|bound| (bound.recorded.clone(), bound.live.clone()));
    pairs.collect()
}

fn wanted(only: Option<Only>) -> Option<Wanted<'static>> {
    let only = only?;
    Some(Box::new(move |exchange: &Exchange| {
        is_needed(only.id, only.chain, exchange)
    }))
}

/// `3 of 4 sent, 3 answered, 1 call refused`. `is_whole`: its recording had been completed.
fn told(outcome: &Outcome, requests: u64, is_whole: bool) -> String {
    let tally: &Tally = &outcome.tally;
    let mut words = vec![
        format!("{} of {} sent", count(tally.sent), count(requests)),
        format!("{} answered", count(tally.answered)),
    ];
    if tally.refused > 0 {
        words.push(format!("{} refused", plural(tally.refused, "call")));
    }
    if !tally.unbound.is_empty() {
        let lacking = plural(tally.unbound.len() as u64, "redacted value");
        words.push(format!("{lacking} not supplied"));
    }
    if outcome.interrupted.is_some() {
        words.insert(0, "stopped".to_owned());
    }
    if !is_whole {
        words.push("compared as far as it was on record by then".to_owned());
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_of_an_unfinished_recording_is_said_to_be_a_part() {
        let outcome = Outcome {
            report: Report::default(),
            tally: Tally {
                sent: 3,
                answered: 3,
                ..Tally::default()
            },
            requests: 4,
            interrupted: Some(2),
        };
        let whole = "stopped, 3 of 4 sent, 3 answered";
        assert_eq!(told(&outcome, 4, true), whole);
        let part = format!("{whole}, compared as far as it was on record by then");
        assert_eq!(told(&outcome, 4, false), part);
    }
}
