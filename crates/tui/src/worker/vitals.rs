//! The facts of the open recording that the header shows.

use mcpreel_lint::cause::{Cause, causes};
use mcpreel_store::exchanges::Severities;
use mcpreel_store::library::Standing;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_store::story::{Stall, Unfinished};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, Status};

/// Open calls that the header may name.
pub(super) const OPEN: u32 = 4;

/// The stages of opening a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Opening {
    #[default]
    Asked,
    /// There is only a recorder that starts.
    Waiting,
    /// The spool is drained first: bytes done, of so many.
    Draining(u64, u64),
    /// Messages, exchanges and findings are derived anew.
    Deriving,
    Open,
    /// The recording cannot be read: one sentence with the way out.
    Unreadable(String),
}

/// The facts that the header shows: whether the session is alive, who waits for whom, what failed.
#[derive(Clone, Debug)]
pub struct Vitals {
    pub summary: Summary,
    /// Whether somebody still records.
    pub standing: Standing,
    pub unfinished: Vec<Unfinished>,
    pub stalls: Vec<Stall>,
    /// The oldest calls that wait for an answer, a few.
    pub open: Vec<Exchange>,
    /// Why it went wrong, the best cause first.
    pub causes: Vec<Cause>,
    /// The number of conversations; 0 over stdio.
    pub conversations: u64,
    /// The number of findings of each severity.
    pub severities: Severities,
    /// Whether rows may be others than before: what is derived was derived anew.
    pub is_anew: bool,
}

impl Vitals {
    /// Reads them; what cannot have changed since `before` is taken from there.
    pub(super) fn read(
        recording: &Recording,
        standing: Standing,
        before: Option<&Self>,
    ) -> Result<Self, ReadError> {
        let summary = recording.summary()?;
        let live = standing == Standing::Live;
        // What hangs and counts up is told by the rest.
        let same = before.filter(|before| is_same(before, &summary, standing));
        let causes = match same {
            Some(before) => before.causes.clone(),
            None => causes(&recording.facts(live.then_some(Moment(summary.t_last_ns)))?),
        };
        // At the end what was derived may have been derived anew.
        let counted = before.filter(|before| before.standing == standing);
        let counted = counted.map_or_else(Severities::default, |before| before.severities);
        let severities = recording.severities(counted)?;
        Ok(Self {
            unfinished: only(live, || recording.unfinished())?,
            stalls: only(live, || recording.open_stalls())?,
            open: only(summary.open > 0, || recording.first_of(Status::Open, OPEN))?,
            conversations: recording.conversation_count()?,
            summary,
            standing,
            is_anew: false,
            causes,
            severities,
        })
    }
}

/// The result of `read` where it is wanted; else nothing.
fn only<T>(
    is_wanted: bool,
    read: impl FnOnce() -> Result<Vec<T>, ReadError>,
) -> Result<Vec<T>, ReadError> {
    if is_wanted { read() } else { Ok(Vec::new()) }
}

/// Whether nothing has come since `before` that could be a cause.
fn is_same(before: &Vitals, summary: &Summary, standing: Standing) -> bool {
    let counts = |summary: &Summary| (summary.failed, summary.findings, summary.gap_bytes);
    let said = |summary: &Summary| summary.messages > 0;
    before.standing == standing
        && before.summary.state == summary.state
        && before.summary.session.phase == summary.session.phase
        && counts(&before.summary) == counts(summary)
        && said(&before.summary) == said(summary)
}
