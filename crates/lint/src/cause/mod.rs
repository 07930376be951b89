//! Why a session went wrong, in one sentence, with what shows it and what to do. Pure.
//!
//! ```text
//!  Facts ─▶ one look per kind of cause ─▶ causes, the best first
//! ```
//!
//! * [`facts`]: what is known of a recording, bounded whatever its length;
//! * [`Cause`]: what is said of one; [`KINDS`] has all of them, the gravest first: what kept a
//!   session from starting, what ended it, what it hangs on, what failed in it, what is only odd;
//! * one file per kind, which knows when it is the cause and how sure that is;
//! * [`failed`]: calls that failed, by what was said of them;
//! * [`named`]: the rules whose findings they look for;
//! * `hidden`: what an imported recording may lack;
//! * `last_words`: which line of stderr says most; `words`: phrases that several of them need.
//!
//! What comes off the wire is escaped. Every kind has a recording under `tests/trace/causes` for which it
//! is the best cause, and another, nearly the same, for which it is none.

mod answered_at_exit;
mod bad_exit;
mod banner;
mod calls_failed;
mod cannot_say;
mod client_never_answered;
mod content_length;
mod crashed;
mod died_at_start;
mod executed_twice;
pub mod facts;
pub mod failed;
mod handshake;
mod hidden;
mod last_words;
mod late_answer;
mod list_changed;
mod log_on_stdout;
pub mod named;
mod never_answered;
mod not_executable;
mod not_found;
mod not_started;
mod nothing_wrong;
mod oversized;
mod pipe_not_read;
mod pretty_printed;
mod rules_broken;
mod slow_start;
mod survivors;
mod timeout;
mod tools_hidden;
mod unfinished_line;
mod version;
mod words;

pub use facts::Facts;
pub use words::{call, calls};

use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Its permanent name, for example `died-at-start`.
    pub id: &'static str,
    /// What happened and why, without a full stop; text off the wire in it is escaped.
    pub sentence: String,
    pub certainty: Certainty,
    /// What shows it, in order of importance, a few at most.
    pub evidence: Vec<Evidence>,
    /// What to do: one sentence or two.
    pub advice: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// It may have done harm: it is there, and nothing shows what came of it.
    Possible,
    Likely,
    Certain,
}

impl Certainty {
    /// `certain`, `likely` or `possible`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Possible => "possible",
        }
    }

    pub fn help(self) -> &'static str {
        match self {
            Self::Certain => "the recording shows it",
            Self::Likely => "it fits what happened",
            Self::Possible => "it is there, but nothing shows that it did harm",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub place: Place,
    /// What it is, in a few words; text off the wire in it is escaped.
    pub text: String,
}

impl Evidence {
    fn new(place: Place, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { place, text }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A frame with a message, or one that should have had one.
    Frame(Seq),
    Stderr(Seq),
    Event {
        after: Seq,
        t: Moment,
    },
    Session,
}

impl Place {
    /// `frame`, `stderr`, `event` or `session`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Frame(_) => "frame",
            Self::Stderr(_) => "stderr",
            Self::Event { .. } => "event",
            Self::Session => "session",
        }
    }

    /// The frame to look at: its own, or the last before an event.
    pub fn frame(self) -> Option<Seq> {
        match self {
            Self::Frame(seq) | Self::Stderr(seq) => Some(seq),
            Self::Event { after, .. } => Some(after).filter(|seq| seq.0 > 0),
            Self::Session => None,
        }
    }
}

/// Evidence that a cause shows: more would not be read.
const SHOWN: usize = 6;

impl Cause {
    fn new(id: &'static str, certainty: Certainty, sentence: impl Into<String>) -> Self {
        Self {
            id,
            sentence: sentence.into(),
            certainty,
            evidence: Vec::new(),
            advice: String::new(),
        }
    }

    fn certain(id: &'static str, sentence: impl Into<String>) -> Self {
        Self::new(id, Certainty::Certain, sentence)
    }

    /// The same cause, with what shows it, each once.
    fn shown(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        for one in evidence {
            if self.evidence.len() >= SHOWN {
                break;
            }
            // A place is shown once; what is about the session as a whole may be several things.
            let is_same = |other: &Evidence| match one.place {
                Place::Session => *other == one,
                place => other.place == place,
            };
            if !self.evidence.iter().any(is_same) {
                self.evidence.push(one);
            }
        }
        self
    }

    /// The same cause, with a request and its answer, if there is one.
    fn shown_call(self, exchange: &Exchange) -> Self {
        self.shown([words::request(exchange)])
            .shown(words::response(exchange))
    }

    /// Whether it says that something is wrong.
    pub fn is_trouble(&self) -> bool {
        ![NOTHING_WRONG, cannot_say::KIND.id].contains(&self.id)
    }

    /// Whether it is somebody who waits: while a session is live that changes with every moment.
    pub fn is_wait(&self) -> bool {
        let waits = [
            handshake::KIND.id,
            pipe_not_read::KIND.id,
            unfinished_line::KIND.id,
            client_never_answered::KIND.id,
            never_answered::KIND.id,
        ];
        waits.contains(&self.id)
    }

    /// The same cause, with what to do.
    fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }
}

pub struct Kind {
    pub id: &'static str,
    /// The cause, if it is of this kind.
    find: fn(&Facts) -> Option<Cause>,
}

impl Kind {
    const fn new(id: &'static str, find: fn(&Facts) -> Option<Cause>) -> Self {
        Self { id, find }
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

/// The cause that says that nothing is wrong.
pub const NOTHING_WRONG: &str = nothing_wrong::KIND.id;

/// All kinds, the gravest first. The last two are what is said where no other is.
pub static KINDS: [Kind; 29] = [
    not_found::KIND,
    not_executable::KIND,
    not_started::KIND,
    content_length::KIND,
    pretty_printed::KIND,
    banner::KIND,
    died_at_start::KIND,
    version::KIND,
    answered_at_exit::KIND,
    handshake::KIND,
    crashed::KIND,
    pipe_not_read::KIND,
    unfinished_line::KIND,
    client_never_answered::KIND,
    executed_twice::KIND,
    timeout::KIND,
    oversized::KIND,
    never_answered::KIND,
    log_on_stdout::KIND,
    late_answer::KIND,
    tools_hidden::KIND,
    calls_failed::KIND,
    slow_start::KIND,
    list_changed::KIND,
    bad_exit::KIND,
    survivors::KIND,
    rules_broken::KIND,
    cannot_say::KIND,
    nothing_wrong::KIND,
];

/// Those that say what is missing at the start, which a part of a session need not have.
const OF_THE_START: [&str; 2] = [died_at_start::KIND.id, handshake::KIND.id];

/// The causes of what went wrong, the best first: what is merely possible comes after what is
/// likely or certain, and of those the gravest comes first. Never empty: where nothing is wrong,
/// or nothing can be said, it says so.
pub fn causes(facts: &Facts) -> Vec<Cause> {
    let (rest, fallbacks) = KINDS.split_at(KINDS.len() - 2);
    let is_part = facts.context.selection.is_some();
    let kinds = rest
        .iter()
        .filter(|kind| !is_part || !OF_THE_START.contains(&kind.id));
    let mut causes: Vec<_> = kinds.filter_map(|kind| (kind.find)(facts)).collect();
    causes.sort_by_key(|cause| cause.certainty == Certainty::Possible);
    if causes.is_empty() {
        let said = fallbacks.iter().find_map(|kind| (kind.find)(facts));
        causes.extend(said);
    }
    causes
}
