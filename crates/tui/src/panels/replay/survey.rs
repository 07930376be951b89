//! The survey before a replay: what it would do. A survey starts nothing.

use crate::panels::compare::Only;
use crate::worker::{Failure, Place, Which};
use mcpreel_replay::arguments::{self, Arguments};
use mcpreel_replay::bind::Binder;
use mcpreel_replay::player::{Command, Guard, NoCommand};
use mcpreel_share::phrases;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{escape, width};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Calls that may change something and are named one by one; all of them are counted.
const NAMED: usize = 20;

/// Kinds of other requests that are told apart.
const KINDS: usize = 12;

/// Columns of a command that is shown, and may be started: a stranger may have put any command
/// into the file.
const COMMAND: usize = 4000;

/// The part of a session that is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The call alone, after the handshake.
    Alone,
    UpTo,
    Whole,
}

/// A replay that is offered: the command, and the requests that it would make.
#[derive(Debug)]
pub struct Offer {
    pub path: PathBuf,
    /// The beginning of the recording's id, escaped.
    pub short: String,
    /// Whether somebody else made the recording, and so chose what is started.
    pub is_stranger: bool,
    /// The command that is started, its words and its folder, escaped; or why none can be.
    pub command: Result<(Command, String, String), String>,
    /// The folder in which it was recorded, if that is gone. Escaped.
    pub gone: Option<String>,
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
    only: Only,
    pub place: (Seq, u32),
    /// The last frame that belongs to it.
    until: Seq,
    /// `#23 tools/call search`, escaped.
    pub title: String,
    /// The arguments that can be edited; none where the request has none.
    pub arguments: Option<Arguments>,
}

/// The requests of the client that a replay would make.
#[derive(Debug, Default)]
pub struct Requests {
    pub count: u64,
    /// The number of calls of tools that do not say that they only read.
    pub changes: u64,
    /// The first of these: which, and what they ask, escaped.
    pub changing: Vec<String>,
    /// Their tools, as on the wire.
    pub tools: BTreeSet<Box<str>>,
    /// The other requests, escaped, with how many there are of each kind.
    pub others: BTreeMap<String, u64>,
}

/// Reads what a replay of the recording would do.
pub fn survey(
    place: &Place<'_>,
    path: PathBuf,
    request: Option<(Seq, u32)>,
    scope: Scope,
) -> Result<Offer, Failure> {
    let recording = &place.open(&Which::File(path))?;
    let summary = recording.summary()?;
    let is_own = place.means.library.made(recording, &summary);
    let last = Seq(summary.frames);
    let call = request.map(|request| call(recording, request, last));
    let call = call.transpose()?.flatten();
    let (scope, until) = match &call {
        Some(call) if scope != Scope::Whole => (scope, call.until),
        _ => (Scope::Whole, last),
    };
    let guard = Guard::from_recording(recording, is_own)?;
    let command = Command::recorded(&summary, &Binder::default());
    let lacks_dir = command.as_ref().is_ok_and(|command| command.dir.is_none());
    let gone = summary.context.cwd.as_deref().filter(|_| lacks_dir);
    let mut offer = Offer {
        path: recording.path().to_owned(),
        short: escape(summary.id.get(..4).unwrap_or_default()).into_owned(),
        is_stranger: !is_own,
        gone: gone.map(|dir| escape(dir).into_owned()),
        command: command.map_err(|why| refusal(&why)).and_then(in_words),
        call,
        scope,
        until,
        requests: Requests::default(),
    };
    let only = offer.only();
    each_request(recording, until, |exchange| {
        if only.as_ref().is_none_or(|only| only.needs(exchange)) {
            offer.requests.add(exchange, &guard);
        }
    })?;
    Ok(offer)
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
        })?;
    }
    let arguments = if exchange.request_size > arguments::LONGEST {
        None
    } else {
        let message = recording.message_bytes(place.0, place.1)?;
        Arguments::of(&message.unwrap_or_default(), &exchange.method).ok()
    };
    Ok(Some(Call {
        only: Only {
            id: exchange.id,
            chain: exchange.chain,
        },
        place,
        until,
        title: format!("#{} {}", place.0.0, phrases::call(&exchange)),
        arguments,
    }))
}

/// Gives `visit` every request of the client up to the frame `last`.
fn each_request(
    recording: &Recording,
    last: Seq,
    mut visit: impl FnMut(&Exchange),
) -> Result<(), ReadError> {
    recording.each_exchange(|exchange| {
        if exchange.request.0 <= last && exchange.direction == Direction::ClientToServer {
            visit(&exchange);
        }
    })
}

impl Requests {
    fn add(&mut self, exchange: &Exchange, guard: &Guard) {
        self.count += 1;
        let tool = exchange.name.as_deref().unwrap_or_default();
        let mut kind = phrases::call(exchange);
        if &*exchange.method == "tools/call" && !guard.allows(tool) {
            self.changes += 1;
            self.tools.insert(tool.into());
            if self.changing.len() < NAMED {
                let asked = escape(exchange.asked());
                let asked = if asked.is_empty() { &*kind } else { &*asked };
                let named = format!("#{} {asked}", exchange.request.0.0);
                self.changing.push(named);
            }
            return;
        }
        if self.others.len() >= KINDS && !self.others.contains_key(&kind) {
            "other requests".clone_into(&mut kind);
        }
        *self.others.entry(kind).or_default() += 1;
    }
}

impl Offer {
    /// The call that is replayed alone or last.
    pub fn last_call(&self) -> Option<&Call> {
        self.call.as_ref().filter(|_| self.scope != Scope::Whole)
    }

    /// The only call that is made besides the handshake.
    pub fn only(&self) -> Option<Only> {
        let call = self.call.as_ref().filter(|_| self.scope == Scope::Alone)?;
        Some(call.only.clone())
    }
}

/// The command with its words and its folder, escaped.
fn in_words(command: Command) -> Result<(Command, String, String), String> {
    let words = command.words.iter();
    let words: Vec<_> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let words = phrases::command(&words);
    if width(&words) > COMMAND {
        return Err("the recorded command is too long to be shown and confirmed".to_owned());
    }
    let dir = match &command.dir {
        Some(dir) => escape(&dir.to_string_lossy()).into_owned(),
        None => "the folder where the viewer was started".to_owned(),
    };
    Ok((command, words, dir))
}

/// Why the recorded command cannot be started.
fn refusal(why: &NoCommand) -> String {
    match why {
        NoCommand::Unknown => "the recording names no command".to_owned(),
        NoCommand::Url(url) => format!(
            "the server has a URL: `mcpreel replay` plays it there with --url {}",
            escape(url)
        ),
        NoCommand::Redacted(names) => format!(
            "the recorded command has redacted values in it ({}); `mcpreel replay` takes them with \
             --bind",
            escape(&names.join(", "))
        ),
    }
}
