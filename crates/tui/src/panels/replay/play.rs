//! Making the replay that a person has confirmed.

use super::Edited;
use super::survey::Offer;
use crate::panels::compare::{self, Replayed};
use crate::panels::running;
use crate::worker::{Answer, Failure, Place, Slot, Which};
use mcpreel_replay::bind::Binder;
use mcpreel_replay::diff::{self, Judge};
use mcpreel_replay::player::{Guard, Options, Outcome, Play, Played, Progress, Wanted};
use mcpreel_replay::rules::files;
use mcpreel_store::recovery;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::text::{count, plural};
use std::sync::Arc;
use std::time::Duration;

/// The time that the recording of a stopped replay may take to be completed before it is read:
/// who has stopped it does not want to wait for long.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes the replay, until it is over or stopped. The new recording lies in the library; what came
/// of it is shown beside what was replayed.
///
/// With `all` it makes also calls that may change something.
pub fn play(
    offer: Arc<Offer>,
    edited: Edited,
    all: bool,
    place: &Place<'_>,
) -> Result<Answer, Failure> {
    let command = offer.command.as_ref();
    let (command, ..) = command.map_err(|why| Failure(why.clone()))?;
    let library = &place.means.library;
    let clock = Clock::start();
    let recording = place.open(&Which::File(offer.path.clone()))?;
    let summary = recording.summary()?;
    let (rules, _) = files::read(&[], &offer.path)?;
    let judge = Judge::new(rules, diff::Options::default());
    let mut guard = Guard::from_recording(&recording, library.made(&recording, &summary))?;
    for tool in offer.requests.tools.iter().filter(|_| all) {
        guard.allow(tool.clone());
    }
    let mut binder = binder(&offer, edited)?;
    binder.binds.clone_from(&judge.rules().binds);
    let wanted = offer.only().map(|only| -> Wanted<'static> {
        Box::new(move |exchange: &Exchange| only.needs(exchange))
    });
    let play = Play {
        recording: &recording,
        summary: &summary,
        until: Some(offer.until),
        conversation: None,
        wanted,
        left_out: None,
        options: Options {
            guard,
            binder,
            ..Options::default()
        },
        judge,
        command,
        dir: Ok(library.dir().to_owned()),
        signals: place.signals,
    };
    let requests = offer.requests.count;
    let played = play.run(clock, &mut |now: &Progress<'_>| {
        let now = Progress {
            requests,
            ..now.clone()
        };
        running::progress(place, Slot::Replay, now.in_words());
    });
    let Played { outcome, path, .. } = played?;
    let until = clock.now() + PATIENCE;
    let is_whole = recovery::wait_for_recorder(&path, &mut || match outcome.interrupted {
        None => place.signals.first().is_none(),
        Some(_) => clock.now() < until,
    });
    let told = told(&outcome, offer.requests.count, is_whole);
    let bound = outcome.tally.bound.iter();
    let bound = bound.map(|bound| (bound.recorded.clone(), bound.live.clone()));
    let replayed = Replayed {
        until: offer.until,
        only: offer.only(),
        shows: offer.last_call().map(|call| call.place.0),
        bound: bound.collect(),
        report: outcome.report,
    };
    Ok(Answer::new(move |viewer| {
        let app = &mut viewer.app;
        app.say(format!("replayed: {told}"));
        app.library.listed = None;
        compare::begin(app, Which::File(offer.path.clone()), path, Some(replayed))
    }))
}

/// What stands in for values of the recording, the edited arguments of the last call among it.
fn binder(offer: &Offer, edited: Edited) -> Result<Binder, Failure> {
    let mut binder = Binder::default();
    let seed = getrandom::u64();
    let seed = seed.map_err(|_| Failure("the system gives no random numbers".to_owned()))?;
    binder.span_seed = Some(seed);
    if let (Some(json), Some(call)) = (edited, offer.last_call())
        && let Some(arguments) = &call.arguments
    {
        let edit = (arguments.path.clone(), json);
        binder.edits.entry(call.place.0).or_default().push(edit);
    }
    Ok(binder)
}

/// `3 of 4 sent, 3 answered, 1 call refused`. `is_whole`: the new recording was complete when it
/// was read.
fn told(outcome: &Outcome, requests: u64, is_whole: bool) -> String {
    let tally = &outcome.tally;
    let refused = tally.refused.count;
    let lacking = outcome.report.lacking.len() as u64;
    let words = [
        outcome.interrupted.is_some().then(|| "stopped".to_owned()),
        Some(format!("{} of {} sent", count(tally.sent), count(requests))),
        Some(format!("{} answered", count(tally.answered))),
        (refused > 0).then(|| format!("{} refused", plural(refused, "call"))),
        (lacking > 0).then(|| format!("{} not supplied", plural(lacking, "redacted value"))),
        (!is_whole).then(|| "compared as far as it was on record by then".to_owned()),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
