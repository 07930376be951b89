//! Making the replay that a person has confirmed.

use crate::panels::compare::{self, Only, Replayed};
use crate::panels::running;
use crate::worker::{Answer, Place, Slot, Which};
use mcpreel_replay::bind::Binder;
use mcpreel_replay::diff::{self, Judge};
use mcpreel_replay::player::{
    Command, Guard, Options, Outcome, Play, Played, Progress, Tally, Wanted,
};
use mcpreel_replay::rules::files;
use mcpreel_share::phrases::sentence;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_store::recovery;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Path as JsonPath;
use mcpreel_wire::text::{count, plural};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// The time that the recording of a stopped replay may take to be completed before it is read:
/// who has stopped it does not want to wait for long.
const PATIENCE: Duration = Duration::from_secs(10);

/// A replay that a person has confirmed.
#[derive(Debug)]
pub struct Order {
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

/// Makes the replay, until it is over or stopped. The new recording lies in the library; what came
/// of it is shown beside what was replayed.
pub fn play(order: Order, place: &Place<'_>) -> Result<Answer, String> {
    let library = &place.means.library;
    let clock = Clock::start();
    let recording = place.open(&Which::File(order.path.clone()))?;
    let summary = recording.summary().map_err(|error| sentence(&error))?;
    let (rules, _) = files::read(&[], &order.path).map_err(|error| sentence(&error))?;
    let judge = Judge::new(rules, diff::Options::default());
    let is_own = library.made(&recording, &summary);
    let mut options = options(&recording, &summary, is_own, &order, clock)?;
    options.binder.bind_by(judge.rules());
    let wanted = order.only.clone().map(|only| -> Wanted<'static> {
        Box::new(move |exchange: &Exchange| only.needs(exchange))
    });
    let play = Play {
        recording: &recording,
        summary: &summary,
        until: Some(order.until),
        wanted,
        left_out: None,
        options,
        judge,
        command: &order.command,
        dir: Ok(library.dir().to_owned()),
        signals: place.signals,
    };
    let requests = order.requests;
    let played = play.run(clock, &mut |now: &Progress<'_>| {
        let now = Progress {
            requests,
            ..now.clone()
        };
        running::progress(place, Slot::Replay, now.in_words());
    });
    let Played { outcome, path, .. } = played.map_err(|error| sentence(&error))?;
    let until = clock.now() + PATIENCE;
    let is_whole = recovery::wait_for_recorder(&path, &mut || match outcome.interrupted {
        None => place.signals.first().is_none(),
        Some(_) => clock.now() < until,
    });
    let told = told(&outcome, order.requests, is_whole);
    let bound = outcome.tally.bound.iter();
    let bound = bound.map(|bound| (bound.recorded.clone(), bound.live.clone()));
    let replayed = Replayed {
        until: order.until,
        only: order.only,
        shows: order.shows,
        bound: bound.collect(),
        report: outcome.report,
    };
    Ok(Answer::new(move |viewer| {
        let app = &mut viewer.app;
        app.running.remove(&Slot::Replay);
        app.notices.success(format!("replayed: {told}"), app.now);
        app.library.listed = None;
        compare::begin(app, Which::File(order.path), path, Some(replayed))
    }))
}

fn options(
    recording: &Recording,
    summary: &Summary,
    is_own: bool,
    order: &Order,
    clock: Clock,
) -> Result<Options, String> {
    let mut guard = Guard::from_recording(recording, is_own).map_err(|error| sentence(&error))?;
    for tool in &order.allowed {
        guard.allow(tool.clone());
    }
    let mut binder = Binder::default();
    let seed = getrandom::u64().map_err(|_| "there is no randomness".to_owned())?;
    binder.span_seed = Some(seed);
    if let Some((seq, path, json)) = &order.edit {
        let edit = (path.clone(), json.clone());
        binder.edits.entry(*seq).or_default().push(edit);
    }
    Ok(Options {
        guard,
        binder,
        recorded_wall_ns: summary.wall_ns,
        wall_ns: clock.wall_ns(),
        recorded_end: summary.session.phase.end().cloned(),
        ..Options::default()
    })
}

/// `3 of 4 sent, 3 answered, 1 call refused`. `is_whole`: the new recording was complete when it
/// was read.
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
