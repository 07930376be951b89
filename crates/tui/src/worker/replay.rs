//! A replay: what it would do, and doing it on a thread of its own.

use super::Answer as Any;
use super::beside::{Replayed, Which, open};
use mcpreel_replay::arguments::{self, Arguments};
use mcpreel_replay::bind::Binder;
use mcpreel_replay::diff::{self, Judge};
use mcpreel_replay::player::{
    Command, Guard, NoCommand, Options, Outcome, Play, Played, Progress, Signals, Tally, Wanted,
};
use mcpreel_replay::rules::files;
use mcpreel_share::phrases::{self, sentence};
use mcpreel_store::library::Library;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_store::recovery;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Path as JsonPath;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{count, escape, plural};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// How long the recording of a replay that was stopped may take to be completed before it is read:
/// who has stopped it does not want to wait for long.
const PATIENCE: Duration = Duration::from_secs(10);

/// Calls that may change something and are named one by one; all of them are counted.
const NAMED: usize = 100;

/// Kinds of requests that are told apart, and tools. Tools beyond that are refused.
const KINDS: usize = 1000;

/// Exchanges that are read at once.
const PAGE: u32 = 500;

/// How much of a session is replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The call alone, after the handshake.
    Alone,
    UpTo,
    #[default]
    Whole,
}

/// A question for what a replay would do.
#[derive(Clone, Debug)]
pub struct Survey {
    pub generation: u64,
    pub path: PathBuf,
    /// The request that the cursor is on, if it is on one.
    pub call: Option<(Seq, u32)>,
    pub scope: Scope,
}

/// What a replay would do.
#[derive(Debug)]
pub struct Offer {
    pub path: PathBuf,
    /// The beginning of the recording's id, escaped.
    pub short: String,
    /// Whether somebody else made the recording, and so chose what is started.
    pub is_stranger: bool,
    /// What is started; or why nothing can be, one sentence, escaped.
    pub command: Result<Command, String>,
    /// Where, escaped; none for the folder that the viewer was started in.
    pub dir: Option<String>,
    /// The folder in which it was recorded, if that is gone. Escaped.
    pub gone: Option<String>,
    /// The place of the cursor, to ask again.
    pub place: Option<(Seq, u32)>,
    /// The call under the cursor; none where it is no request of the client.
    pub call: Option<Call>,
    pub scope: Scope,
    /// The last frame that is replayed.
    pub until: Seq,
    pub requests: Requests,
}

/// A call that can be replayed alone.
#[derive(Debug)]
pub struct Call {
    pub only: Only,
    pub request: (Seq, u32),
    /// The last frame that belongs to it.
    until: Seq,
    pub title: String,
    /// What can be edited, or why nothing can.
    pub arguments: Result<Arguments, &'static str>,
}

/// A call, with the rounds of input that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only {
    id: ExchangeId,
    chain: Option<ExchangeId>,
}

/// The requests of the client that a replay would make.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    pub count: u64,
    /// The first calls of tools that do not say that they only read: which, and what they say,
    /// escaped.
    pub changing: Vec<(Seq, String)>,
    pub changes: u64,
    /// Their tools, as on the wire, with how many calls there are.
    pub tools: BTreeMap<Box<str>, u64>,
    /// The other requests, escaped, with how many there are of each kind.
    pub others: BTreeMap<String, u64>,
}

impl Offer {
    /// The command in words, escaped; or why nothing can be started.
    pub fn starts(&self) -> Result<String, &str> {
        let command = self.command.as_ref().map_err(String::as_str)?;
        let words = command.words.iter();
        let words: Vec<_> = words
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        Ok(phrases::command(&words))
    }
}

impl Only {
    /// Whether `exchange` has to be made so that the call can be: the handshake, the call itself,
    /// and its rounds of input.
    pub fn needs(&self, exchange: &Exchange) -> bool {
        let same_chain = self.chain.is_some() && exchange.chain == self.chain;
        &*exchange.method == "initialize" || exchange.id == self.id || same_chain
    }
}

/// Reads what a replay of `recording` would do; starts nothing.
pub fn survey(recording: &Recording, library: &Library, ask: &Survey) -> Result<Offer, ReadError> {
    let summary = recording.summary()?;
    let is_own = library.made(recording, &summary);
    let last = Seq(summary.frames);
    let call = match ask.call {
        Some(place) => call(recording, place, last)?,
        None => None,
    };
    let scope = call.as_ref().map_or(Scope::Whole, |_| ask.scope);
    let until = match (scope, &call) {
        (Scope::Alone | Scope::UpTo, Some(call)) => call.until,
        _ => last,
    };
    let only = call
        .as_ref()
        .map(|call| &call.only)
        .filter(|_| scope == Scope::Alone);
    let guard = Guard::from_recording(recording, is_own)?;
    let mut requests = Requests::default();
    each_request(recording, until, |exchange| {
        if only.is_none_or(|only| only.needs(exchange)) {
            requests.add(exchange, recording, &guard)?;
        }
        Ok(())
    })?;
    let command = Command::recorded(&summary, &Binder::default());
    let known = command.as_ref().ok().and_then(|known| known.dir.as_ref());
    let dir = known.map(|dir| escape(&dir.to_string_lossy()).into_owned());
    let gone = summary.context.cwd.as_deref();
    let gone = gone.filter(|_| known.is_none() && command.is_ok());
    Ok(Offer {
        path: recording.path().to_owned(),
        short: escape(summary.id.get(..4).unwrap_or_default()).into_owned(),
        is_stranger: !is_own,
        dir,
        gone: gone.map(|dir| escape(dir).into_owned()),
        command: command.map_err(|why| refusal(&why)),
        place: ask.call,
        call,
        scope,
        until,
        requests,
    })
}

/// The call at this place, if it is one of the client.
fn call(recording: &Recording, place: (Seq, u32), last: Seq) -> Result<Option<Call>, ReadError> {
    let mut all = recording.exchanges_of_frame(place.0)?.into_iter();
    let found = all.find(|one| one.request == place);
    let Some(exchange) = found.filter(|one| one.direction == Direction::ClientToServer) else {
        return Ok(None);
    };
    let answered = |one: &Exchange| one.response.map_or(last, |(seq, _)| seq);
    let mut until = answered(&exchange);
    if let Some(chain) = exchange.chain {
        each_request(recording, last, |one| {
            if one.chain == Some(chain) {
                until = until.max(answered(one));
            }
            Ok(())
        })?;
    }
    let arguments = if exchange.request_size > arguments::LONGEST {
        Err("the request is too long to be edited here")
    } else {
        let message = recording.message_bytes(place.0, place.1)?;
        Arguments::of(&message.unwrap_or_default(), &exchange.method)
    };
    Ok(Some(Call {
        only: Only {
            id: exchange.id,
            chain: exchange.chain,
        },
        request: place,
        until,
        title: title(&exchange),
        arguments,
    }))
}

/// Gives `visit` every request of the client up to the frame `last`.
fn each_request(
    recording: &Recording,
    last: Seq,
    mut visit: impl FnMut(&Exchange) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut after = ExchangeId(0);
    loop {
        let page = recording.exchanges(after, PAGE)?;
        let Some(end) = page.last() else {
            return Ok(());
        };
        after = end.id;
        for exchange in &page {
            if exchange.request.0 > last {
                return Ok(());
            }
            if exchange.direction == Direction::ClientToServer {
                visit(exchange)?;
            }
        }
    }
}

impl Requests {
    fn add(
        &mut self,
        exchange: &Exchange,
        recording: &Recording,
        guard: &Guard,
    ) -> Result<(), ReadError> {
        self.count += 1;
        let tool = exchange.name.as_deref().unwrap_or_default();
        if &*exchange.method != "tools/call" || guard.allows(tool) {
            let mut kind = title(exchange);
            if self.others.len() >= KINDS && !self.others.contains_key(&kind) {
                "other requests".clone_into(&mut kind);
            }
            *self.others.entry(kind).or_default() += 1;
            return Ok(());
        }
        self.changes += 1;
        if self.tools.len() < KINDS || self.tools.contains_key(tool) {
            *self.tools.entry(tool.into()).or_default() += 1;
        }
        if self.changing.len() < NAMED {
            let whole = recording.exchange(exchange.id)?;
            let asked = whole.as_ref().map_or("", Exchange::asked);
            let asked = match asked {
                "" => title(exchange),
                asked => escape(asked).into_owned(),
            };
            self.changing.push((exchange.request.0, asked));
        }
        Ok(())
    }
}

/// `tools/call search_docs`, escaped.
fn title(exchange: &Exchange) -> String {
    let name = exchange.name.as_deref().unwrap_or_default();
    escape(format!("{} {name}", exchange.method).trim_end()).into_owned()
}

/// Why the recorded command cannot be started.
fn refusal(why: &NoCommand) -> String {
    match why {
        NoCommand::Unknown => "the recording names no command".to_owned(),
        NoCommand::Redacted(names) => format!(
            "the recorded command has redacted values in it ({}); `mcpreel replay` takes them with \
             --bind",
            escape(&names.join(", "))
        ),
    }
}

#[derive(Debug)]
pub enum Ask {
    Start(Box<Order>),
    /// Stop; once more kills the server.
    Stop,
}

/// A replay that a person has confirmed.
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
    pub path: PathBuf,
    pub replayed: Replayed,
    /// What was done, in words, escaped.
    pub told: String,
}

/// Makes the replay, until it is over or `signals` stop it. The new recording lies in `library`.
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
    let clock = Clock::start();
    let recording = open(&Which::File(order.path.clone()), library, clock)?;
    let summary = recording.summary().map_err(|error| said(&error))?;
    let (rules, _) = files::read(&[], &order.path).map_err(|error| said(&error))?;
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
    let bound = outcome.tally.bound.iter();
    let bound = bound.map(|bound| (bound.recorded.clone(), bound.live.clone()));
    Ok(Done {
        told: told(&outcome, order.requests, is_whole),
        original: order.path,
        path,
        replayed: Replayed {
            until: order.until,
            only: order.only,
            shows: order.shows,
            bound: bound.collect(),
            report: outcome.report,
        },
    })
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
