//! An export, and a report for the clipboard: on a thread of its own, for both go over the whole
//! recording to learn what is secret in it.

mod write;

use super::Answer as Any;
use super::beside::{Which, open};
use mcpreel_redact::Policy;
use mcpreel_share::export::{Selection, markdown};
use mcpreel_share::outgoing::file::{Replace, WholeError};
use mcpreel_share::outgoing::{self, Error, Format, MakeError, Stage, Stopped, redacted};
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::Library;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::select::Question;
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::escape;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often it tells how far it is, nanoseconds.
const EVERY_NS: u64 = 100_000_000;

#[derive(Debug)]
pub enum Ask {
    Start(Box<Order>),
    Stop,
}

#[derive(Clone, Debug)]
pub struct Order {
    pub generation: u64,
    pub path: PathBuf,
    pub goal: Goal,
}

#[derive(Clone, Debug)]
pub enum Goal {
    File(File),
    /// A redacted report of the exchange with this request.
    Report((Seq, u32)),
}

#[derive(Clone, Debug)]
pub struct File {
    pub format: Format,
    pub what: What,
    pub is_raw: bool,
    pub target: PathBuf,
    /// Whether it may take the place of another one.
    pub may: Replace,
}

/// What of a recording is written.
#[derive(Clone, Debug)]
pub enum What {
    All,
    /// What fits a filter, which was typed so.
    Rows(String, Question),
    Marked,
    /// The exchange with this request.
    Exchange((Seq, u32)),
}

/// An answer, and what it is about.
#[derive(Debug)]
pub enum Answer {
    Progress(u64, String),
    Done(u64, Done),
    /// The report, and in how many places it was redacted.
    Report(u64, String),
    /// A file of that name is there already: it may be asked for again.
    IsThere(u64, Box<Order>),
    /// It was stopped; nothing was written.
    Stopped(u64),
    /// It could not be done: why, one sentence, escaped.
    Failed(u64, String),
}

#[derive(Debug)]
pub struct Done {
    pub told: String,
    pub short: String,
}

/// What everybody has it done with.
#[derive(Clone, Debug)]
pub struct Means {
    pub library: Library,
    /// What is secret; else why nobody knows, one sentence.
    pub policy: Result<Arc<Policy>, String>,
    /// For how often it tells how far it is.
    pub clock: Clock,
}

enum End {
    IsThere,
    Stopped,
    Failed(String),
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        match error {
            Error::Stopped(_) | Error::Make(MakeError::Stopped(_)) => Self::Stopped,
            error => Self::Failed(sentence(&error)),
        }
    }
}

impl From<MakeError> for End {
    fn from(error: MakeError) -> Self {
        Error::from(error).into()
    }
}

impl From<ReadError> for End {
    fn from(error: ReadError) -> Self {
        Self::Failed(sentence(&error))
    }
}

impl From<WholeError> for End {
    fn from(error: WholeError) -> Self {
        match error {
            WholeError::IsThere(_) => Self::IsThere,
            error => Self::Failed(escape(&sentence(&error)).into_owned()),
        }
    }
}

/// Does it, until it is done or `stop` is set.
pub fn run(order: Order, means: &Means, stop: &AtomicBool, tell: &mut dyn FnMut(Any)) {
    let generation = order.generation;
    let answer = match carry_out(&order, means, stop, tell) {
        Ok(answer) => answer,
        Err(End::IsThere) => Answer::IsThere(generation, Box::new(order)),
        Err(End::Stopped) => Answer::Stopped(generation),
        Err(End::Failed(why)) => Answer::Failed(generation, why),
    };
    tell(Any::Export(answer));
}

fn carry_out(
    order: &Order,
    means: &Means,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Any),
) -> Result<Answer, End> {
    let generation = order.generation;
    let which = Which::File(order.path.clone());
    let recording = open(&which, &means.library, means.clock).map_err(End::Failed)?;
    let of = recording.summary()?.frames;
    let mut told = None::<Moment>;
    let mut progress = |stage: Stage| {
        if stop.load(Ordering::Relaxed) {
            return Err(Stopped);
        }
        let now = means.clock.now();
        if told.is_none_or(|told| now.0.saturating_sub(told.0) >= EVERY_NS) {
            told = Some(now);
            tell(Any::Export(Answer::Progress(
                generation,
                stage.in_words(of),
            )));
        }
        Ok(())
    };
    match &order.goal {
        Goal::File(file) => {
            let done = write::write(&recording, file, &order.path, means, &mut progress)?;
            Ok(Answer::Done(generation, done))
        }
        Goal::Report(request) => {
            let text = report(&recording, *request, means, &mut progress)?;
            Ok(Answer::Report(generation, text))
        }
    }
}

fn policy(means: &Means) -> Result<Arc<Policy>, End> {
    means.policy.clone().map_err(End::Failed)
}

/// The report of the exchange with this request. Frames keep their numbers where others are
/// redacted; exchanges may not.
fn report(
    recording: &Recording,
    request: (Seq, u32),
    means: &Means,
    tell: &mut outgoing::Tell<'_>,
) -> Result<String, End> {
    let policy = policy(means)?;
    let mut redacting = outgoing::learn(recording, &policy, tell)?;
    let (redacted, _) = redacted::recording(&mut redacting, &Selection::default(), tell)?;
    let found = redacted.exchanges_of_frame(request.0)?;
    let exchange = found.iter().find(|one| one.request == request);
    let text = exchange.map(|one| markdown::exchange(&redacted, one.id));
    let text = text.transpose()?.flatten();
    text.ok_or_else(|| {
        End::Failed("the message is too long to be looked through for secrets".to_owned())
    })
}
