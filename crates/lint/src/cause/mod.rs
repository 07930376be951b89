//! Why a session went wrong, in one sentence, with what shows it and what to do. Pure.
//!
//! ```text
//!  Facts ─▶ a function per kind of cause ─▶ causes, the best first
//! ```
//!
//! * [`facts`]: what is known of a recording, bounded whatever its length;
//! * [`KINDS`]: all kinds of causes, the gravest first: what kept a session from starting, what
//!   ended it, what it hangs on, what failed in it, what is only odd;
//! * `startup`, `negotiation`, `shutdown`, `streams`, `pipes`, `requests`, `oddities`: their functions;
//! * [`named`]: the rules whose findings they look for; `phrases`: what several of them say.
//!
//! What comes off the wire is escaped. Every kind has a case under `tests/trace/causes` for which it
//! is the best cause, and another, nearly the same, for which it is none.

pub mod facts;
pub mod named;
mod negotiation;
mod oddities;
mod phrases;
mod pipes;
mod requests;
mod shutdown;
mod startup;
mod streams;

pub use facts::Facts;
pub use phrases::{call, calls};

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
    fn new(certainty: Certainty, sentence: impl Into<String>) -> Self {
        Self {
            id: "",
            sentence: sentence.into(),
            certainty,
            evidence: Vec::new(),
            advice: String::new(),
        }
    }

    fn certain(sentence: impl Into<String>) -> Self {
        Self::new(Certainty::Certain, sentence)
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
        self.shown([phrases::request(exchange)])
            .shown(phrases::response(exchange))
    }

    /// Whether it says that something is wrong.
    pub fn is_trouble(&self) -> bool {
        ![NOTHING_WRONG, "cannot-say"].contains(&self.id)
    }

    /// Whether it is somebody who waits: while a session is live that changes with every moment.
    pub fn is_wait(&self) -> bool {
        let waits = [
            "handshake-unfinished",
            "pipe-not-read",
            "unfinished-line",
            "client-never-answered",
            "never-answered",
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

    fn cause(&self, facts: &Facts) -> Option<Cause> {
        let id = self.id;
        (self.find)(facts).map(|cause| Cause { id, ..cause })
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

/// The cause that says that nothing is wrong.
pub const NOTHING_WRONG: &str = "nothing-wrong";

/// All kinds, the gravest first. The last two are what is said where no other is.
pub static KINDS: [Kind; 29] = [
    Kind::new("server-not-found", startup::server_not_found),
    Kind::new("server-not-executable", startup::server_not_executable),
    Kind::new("server-not-started", startup::server_not_started),
    Kind::new("content-length-framing", streams::content_length_framing),
    Kind::new("pretty-printed", streams::pretty_printed),
    Kind::new(
        "banner-before-first-message",
        startup::banner_before_first_message,
    ),
    Kind::new("died-at-start", startup::died_at_start),
    Kind::new("version-mismatch", negotiation::version_mismatch),
    Kind::new("answered-at-exit", shutdown::answered_at_exit),
    Kind::new("handshake-unfinished", negotiation::handshake_unfinished),
    Kind::new("crashed", shutdown::crashed),
    Kind::new("pipe-not-read", pipes::pipe_not_read),
    Kind::new("unfinished-line", streams::unfinished_line),
    Kind::new("client-never-answered", requests::client_never_answered),
    Kind::new("executed-twice", requests::executed_twice),
    Kind::new("client-gave-up", requests::client_gave_up),
    Kind::new("oversized-answer", streams::oversized_answer),
    Kind::new("never-answered", requests::never_answered),
    Kind::new("log-on-stdout", streams::log_on_stdout),
    Kind::new("late-answer", requests::late_answer),
    Kind::new("bad-schema-hides-tools", oddities::bad_schema_hides_tools),
    Kind::new("calls-failed", requests::calls_failed),
    Kind::new("slow-start", startup::slow_start),
    Kind::new("list-change-ignored", oddities::list_change_ignored),
    Kind::new("bad-exit-code", shutdown::bad_exit_code),
    Kind::new("survivors-left", shutdown::survivors_left),
    Kind::new("protocol-broken", oddities::protocol_broken),
    Kind::new("cannot-say", oddities::cannot_say),
    Kind::new("nothing-wrong", oddities::nothing_wrong),
];

/// Those that say what is missing at the start, which a part of a session need not have.
const OF_THE_START: [&str; 2] = ["died-at-start", "handshake-unfinished"];

/// The causes of what went wrong, the best first: what is merely possible comes after what is
/// likely or certain, and of those the gravest comes first. Never empty: where nothing is wrong,
/// or nothing can be said, it says so.
pub fn causes(facts: &Facts) -> Vec<Cause> {
    let (rest, fallbacks) = KINDS.split_at(KINDS.len() - 2);
    let is_part = facts.context.selection.is_some();
    let kinds = rest
        .iter()
        .filter(|kind| !is_part || !OF_THE_START.contains(&kind.id));
    let mut causes: Vec<_> = kinds.filter_map(|kind| kind.cause(facts)).collect();
    causes.sort_by_key(|cause| cause.certainty == Certainty::Possible);
    if causes.is_empty() {
        let said = fallbacks.iter().find_map(|kind| kind.cause(facts));
        causes.extend(said);
    }
    causes
}
