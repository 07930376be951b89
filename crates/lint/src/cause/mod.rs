//! Why a session went wrong, in one sentence, with what shows it and what to do. Pure.
//!
//! ```text
//!  Facts ─▶ a function per kind of cause ─▶ causes, the best first
//! ```
//!
//! * [`facts`]: what is known of a recording, bounded whatever its length;
//! * [`KINDS`]: all kinds of causes, the gravest first: what kept a session from starting, what
//!   ended it, what it hangs on, what failed in it, what is only odd;
//! * `startup`, `network`, `refusals`, `addresses`, `headers`, `connections`, `ending`, `negotiation`, `streams`, `requests`, `broken_rules`:
//!   their functions;
//! * `phrases`: evidence and words that several of them need; `stderr_lines`: which line of stderr
//!   names the fault.
//!
//! Text off the wire is escaped. Every kind has a case under `tests/trace/causes` for which it is
//! the best cause, and another, nearly the same, for which it is none.

mod addresses;
mod broken_rules;
mod connections;
mod ending;
pub mod facts;
mod headers;
mod negotiation;
mod network;
mod phrases;
mod refusals;
mod requests;
mod startup;
mod stderr_lines;
mod streams;

pub use ending::MOCK_ENDS;
pub use facts::Facts;
pub use phrases::{call, calls};
pub use stderr_lines::has_traceback;

use Certainty::{Certain, Likely, Possible};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;

const SECOND_NS: u64 = 1_000_000_000;

/// Within this time after a message the other side closes the connection because of that message,
/// nanoseconds.
const AT_ONCE_NS: u64 = SECOND_NS / 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The permanent name, for example `died-at-start`.
    pub id: &'static str,
    /// The fault and its reason, without a full stop; text off the wire in it is escaped.
    pub sentence: String,
    pub certainty: Certainty,
    /// The evidence in order of importance, a few pieces at most.
    pub evidence: Vec<Evidence>,
    /// The remedy: one sentence or two.
    pub advice: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Certainty {
    Possible,
    Likely,
    Certain,
}

impl Certainty {
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    pub fn help(self) -> &'static str {
        match self {
            Certain => "the recording shows it",
            Likely => "it fits what happened",
            Possible => "it may be the reason, but nothing proves it",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub place: Place,
    /// The evidence in a few words; text off the wire in it is escaped.
    pub text: String,
}

impl Evidence {
    fn new(place: Place, text: impl Into<String>) -> Self {
        Self {
            place,
            text: text.into(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
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
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The frame to look at; of an event the last one before.
    pub fn frame(self) -> Option<Seq> {
        match self {
            Self::Frame(seq) | Self::Stderr(seq) => Some(seq),
            Self::Event { after, .. } => Some(after).filter(|seq| seq.0 > 0),
            Self::Session => None,
        }
    }
}

/// Pieces of evidence of one cause: nobody reads more.
const SHOWN: usize = 6;

impl Cause {
    fn new(certainty: Certainty, sentence: String, advice: &'static str) -> Self {
        Self {
            id: "",
            sentence,
            certainty,
            evidence: Vec::new(),
            advice,
        }
    }

    /// Adds evidence, as far as there is room. A place is shown once; about the session as a whole
    /// there may be several things to show.
    fn shown(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        for one in evidence {
            let is_same = |other: &Evidence| match one.place {
                Place::Session => *other == one,
                place => other.place == place,
            };
            if self.evidence.len() < SHOWN && !self.evidence.iter().any(is_same) {
                self.evidence.push(one);
            }
        }
        self
    }

    fn shown_call(self, exchange: &Exchange) -> Self {
        self.shown([phrases::request(exchange)])
            .shown(phrases::response(exchange))
    }

    pub fn is_trouble(&self) -> bool {
        ![NOTHING_WRONG, "cannot-say"].contains(&self.id)
    }

    /// Whether somebody waits, which changes with every moment of a live session.
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
}

/// The cause that says that nothing is wrong.
pub const NOTHING_WRONG: &str = "nothing-wrong";

/// The cause that says no more of failures than that there was no answer: a surer one tells why.
const LEFT_UNANSWERED: &str = "left-unanswered";

/// The name of a kind of cause, and the function that finds it.
pub type Kind = (&'static str, fn(&Facts) -> Option<Cause>);

/// All kinds, the gravest first. The last three are for recordings where no other kind is found.
pub static KINDS: [Kind; 51] = [
    ("server-not-found", |it| startup::not_started(it, Some(127))),
    ("server-not-executable", |it| {
        startup::not_started(it, Some(126))
    }),
    ("server-not-started", |it| startup::not_started(it, None)),
    ("connections-broke", connections::connections_broke),
    ("answered-by-bridge", network::answered_by_bridge),
    ("server-unreachable", network::unreachable),
    ("no-client", connections::no_client),
    ("request-refused-by-proxy", network::refused_by_proxy),
    ("preflight-refused", headers::preflight_refused),
    ("cors-blocked", headers::cors_blocked),
    ("unauthorized", network::unauthorized),
    ("session-lost", network::session_lost),
    ("endpoint-elsewhere", addresses::endpoint_elsewhere),
    ("name-refused", addresses::name_refused),
    ("header-mismatch", headers::header_mismatch),
    ("http-refused", refusals::http_refused),
    ("no-answer-in-response", refusals::no_answer_in_response),
    ("content-length-framing", streams::content_length_framing),
    ("pretty-printed", streams::pretty_printed),
    ("banner-before-first-message", startup::banner),
    ("died-at-start", startup::died_at_start),
    ("version-mismatch", negotiation::version_mismatch),
    ("answered-at-exit", ending::answered_at_exit),
    ("handshake-unfinished", negotiation::handshake_unfinished),
    ("oversized-request", streams::oversized_request),
    ("crashed", ending::crashed),
    ("stream-cut", connections::stream_cut),
    ("idle-stream-cut", connections::idle_stream_cut),
    ("stream-taken", connections::stream_taken),
    ("pipe-not-read", streams::pipe_not_read),
    ("unfinished-line", streams::unfinished_line),
    ("client-never-answered", requests::client_never_answered),
    ("executed-twice", requests::executed_twice),
    ("client-gave-up", requests::client_gave_up),
    ("oversized-answer", streams::oversized_answer),
    ("never-answered", requests::never_answered),
    ("log-on-stdout", streams::log_on_stdout),
    ("late-answer", requests::late_answer),
    ("stream-buffered", connections::stream_buffered),
    (
        "bad-schema-hides-tools",
        broken_rules::bad_schema_hides_tools,
    ),
    ("calls-failed", requests::calls_failed),
    (LEFT_UNANSWERED, requests::left_unanswered),
    ("session-renewed", network::session_renewed),
    ("slow-start", startup::slow_start),
    ("list-change-ignored", broken_rules::list_change_ignored),
    ("bad-exit-code", ending::bad_exit_code),
    ("survivors-left", ending::survivors_left),
    ("protocol-broken", broken_rules::protocol_broken),
    ("cannot-say", broken_rules::cannot_say),
    ("only-warnings", broken_rules::only_warnings),
    (NOTHING_WRONG, broken_rules::nothing_wrong),
];

/// Rules whose findings in a request are why the server refuses it.
const OF_CLIENT: [&str; 4] = [
    "http-accept",
    "http-session-missing",
    "tool-args-invalid",
    "tool-unknown-called",
];

/// Adds to the evidence that is a request what rules found in it: why the call failed often stands
/// there.
fn add_findings(cause: &mut Cause, facts: &Facts) {
    let first = cause.evidence.first().map(|one| one.place);
    for (rule, found) in &facts.in_requests {
        let mut shown = cause.evidence.iter_mut();
        let place = found.frame.map(Place::Frame);
        let is_note = crate::rule(rule).is_some_and(|rule| rule.severity == crate::Severity::Note);
        let is_told = is_note || broken_rules::TOLD.contains(&&**rule);
        let request =
            shown.find(|one| Some(one.place) == place && !is_told && !one.text.contains(&**rule));
        if let Some(request) = request {
            let found = phrases::finding(rule, found);
            request.text = format!("{}; {}", request.text, found.text);
            let is_meant = ["calls-failed", "handshake-unfinished"].contains(&cause.id);
            let is_advised = is_meant && place == first;
            if is_advised && OF_CLIENT.contains(&&**rule) {
                cause.advice = crate::rule(rule).map_or(cause.advice, |rule| rule.fix);
            }
        }
    }
}

/// Kinds about something that is missing at the start, which a part of a session need not have.
const OF_THE_START: [&str; 2] = ["died-at-start", "handshake-unfinished"];

/// The causes of what went wrong, the best first: likely and certain ones before possible ones,
/// among them the gravest first. Never empty.
pub fn causes(facts: &Facts) -> Vec<Cause> {
    let (kinds, fallbacks) = KINDS.split_at(KINDS.len() - 3);
    let cause = |&(id, find): &Kind| find(facts).map(|cause| Cause { id, ..cause });
    let is_part = facts.context.selection.is_some();
    let applies = |kind: &&Kind| !is_part || !OF_THE_START.contains(&kind.0);
    let mut causes: Vec<_> = kinds.iter().filter(applies).filter_map(cause).collect();
    causes.sort_by_key(|cause| cause.certainty == Possible);
    let tells = |cause: &Cause| cause.certainty > Possible && cause.id != "calls-failed";
    if causes.iter().any(tells) {
        causes.retain(|cause| cause.id != LEFT_UNANSWERED);
    }
    // A rule that is broken by the very request may be why nobody answered.
    let is_left = |cause: &Cause| cause.id == LEFT_UNANSWERED;
    if let Some(left) = causes.iter().position(is_left) {
        let request = causes[left].evidence.first().map(|one| one.place);
        let is_broken = |cause: &Cause| {
            let mut shown = cause.evidence.iter();
            cause.id == "protocol-broken" && shown.any(|one| Some(one.place) == request)
        };
        if let Some(broken) = causes.iter().position(is_broken).filter(|at| *at > left) {
            causes[left..=broken].rotate_left(1);
        }
    }
    for cause in &mut causes {
        add_findings(cause, facts);
    }
    if causes.is_empty() {
        causes.extend(fallbacks.iter().find_map(cause));
    }
    causes
}
