//! The redacted screen: a likeness of the recording without its secrets, which is shown in place of
//! it. On a thread of its own, for it goes over the whole recording.
//!
//! ```text
//!  Start ─▶ Maker: Likeness::make ─▶ Made ──▶ the reader opens it
//!             ▲                        │ somebody records still
//!             └── due again ◀── Newest ┘
//! ```
//!
//! Of a recording that grows it is made anew, from its beginning: a secret may be known as such
//! only by what comes later. The longer that takes, the less often it is done; the last one is made
//! as soon as the recorder has gone.

use super::Answer as Any;
use super::beside::{Which, open};
use super::export::Means;
use mcpreel_share::outgoing::likeness::Likeness;
use mcpreel_share::outgoing::{Error, MakeError, Stage, Stopped};
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::{Entry, Standing};
use mcpreel_store::reader::{ReadError, Summary};
use mcpreel_store::watch::{Change, INTERVAL, Read, Watch};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often it tells how far it is, nanoseconds.
const EVERY_NS: u64 = 100_000_000;

/// Between two of them there is so much time at least, nanoseconds.
const REST_NS: u64 = 1_000_000_000;

/// And so many times what the last one took: a long recording does not keep a core busy.
const REST: u64 = 9;

#[derive(Debug)]
pub enum Ask {
    /// Make one, and follow the recording.
    Start(Order),
    Stop,
    /// Nobody wants this one: its files go.
    Forget(Box<Likeness>),
}

#[derive(Clone, Debug)]
pub struct Order {
    pub generation: u64,
    pub path: PathBuf,
}

/// An answer, and what it is about.
#[derive(Debug)]
pub enum Answer {
    Progress(u64, String),
    /// It can be shown, in place of one before.
    Made(u64, Box<Likeness>),
    /// The recording has come to this frame.
    Newest(u64, Seq),
    Stopped(u64),
    /// There is none, or no other one: why, one sentence, escaped.
    Failed(u64, String),
}

pub struct Maker {
    order: Order,
    means: Means,
    /// Where somebody records: how it grows.
    watch: Option<Watch>,
    /// How it stood when the last one was made.
    made: Option<Stamp>,
    /// Whether it stands otherwise now.
    is_behind: bool,
    due: Moment,
    /// Whether the recorder was seen to have gone. The one that is made then is not waited for.
    is_over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    frames: u64,
    t_last_ns: u64,
    annotations: u64,
    is_final: bool,
}

impl Stamp {
    fn of(summary: &Summary) -> Self {
        Self {
            frames: summary.frames,
            t_last_ns: summary.t_last_ns,
            annotations: summary.annotations,
            is_final: summary.state.is_final(),
        }
    }
}

impl Maker {
    pub fn new(order: Order, means: Means) -> Self {
        Self {
            order,
            means,
            watch: None,
            made: None,
            is_behind: true,
            due: Moment(0),
            is_over: false,
        }
    }

    /// Makes one if the recording has grown and time has passed. How long nothing need be done;
    /// none where nothing more will come of it.
    pub fn step(&mut self, stop: &AtomicBool, tell: &mut dyn FnMut(Any)) -> Option<Duration> {
        let generation = self.order.generation;
        let answer = match self.next(stop, tell) {
            Ok(likeness) => {
                if let Some(likeness) = likeness {
                    let made = Answer::Made(generation, Box::new(likeness));
                    tell(Any::Redacted(made));
                }
                return self.watch.as_ref().map(|_| INTERVAL);
            }
            Err(Why::Stopped) => Answer::Stopped(generation),
            Err(Why::Failed(why)) => Answer::Failed(generation, why),
        };
        tell(Any::Redacted(answer));
        None
    }

    /// The next one, if it is time for it.
    fn next(
        &mut self,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Any),
    ) -> Result<Option<Likeness>, Why> {
        if self.made.is_some() {
            self.look(tell).map_err(Error::from)?;
        }
        if !self.is_behind || self.means.clock.now() < self.due {
            return Ok(None);
        }
        self.make(stop, tell).map(Some)
    }

    /// Looks whether the recording has grown.
    fn look(&mut self, tell: &mut dyn FnMut(Any)) -> Result<(), ReadError> {
        let Some(watch) = &mut self.watch else {
            return Ok(());
        };
        match watch.poll()? {
            Change::Changed => {}
            Change::Quiet | Change::Waiting => return Ok(()),
            Change::Orphaned | Change::Ended => {
                self.is_behind = true;
                // There is nobody any more whom the last one could disturb.
                if !std::mem::replace(&mut self.is_over, true) {
                    self.due = Moment(0);
                }
                return Ok(());
            }
        }
        let Some(recording) = watch.recording() else {
            return Ok(());
        };
        let summary = recording.summary()?;
        let is_over = summary.state.is_final();
        watch.settle(if is_over { Read::Complete } else { Read::All });
        watch.news();
        self.is_behind |= self.made != Some(Stamp::of(&summary));
        let newest = Answer::Newest(self.order.generation, Seq(summary.frames));
        tell(Any::Redacted(newest));
        Ok(())
    }

    fn make(&mut self, stop: &AtomicBool, tell: &mut dyn FnMut(Any)) -> Result<Likeness, Why> {
        let clock = self.means.clock;
        let policy = self.means.policy.clone().map_err(Why::Failed)?;
        let began = clock.now();
        let is_live = self.watch();
        let which = Which::File(self.order.path.clone());
        let recording = open(&which, &self.means.library, clock).map_err(Why::Failed)?;
        let summary = recording.summary().map_err(Error::from)?;
        let is_first = self.made.is_none();
        let generation = self.order.generation;
        let mut told = None::<Moment>;
        let mut progress = |stage: Stage| {
            if stop.load(Ordering::Relaxed) {
                return Err(Stopped);
            }
            let now = clock.now();
            let is_due = told.is_none_or(|told| now.0.saturating_sub(told.0) >= EVERY_NS);
            if is_first && is_due {
                told = Some(now);
                let text = stage.in_words(summary.frames);
                tell(Any::Redacted(Answer::Progress(generation, text)));
            }
            Ok(())
        };
        let likeness = Likeness::make(&recording, is_live, &policy, &mut progress)?;
        // Whoever stopped it meanwhile does not want it.
        progress(Stage::Written(likeness.last())).map_err(Error::from)?;
        self.made = Some(Stamp::of(&summary));
        self.is_behind = false;
        self.due = after(began, clock.now());
        Ok(likeness)
    }

    /// Follows the recording, if somebody records still.
    fn watch(&mut self) -> bool {
        let path = &self.order.path;
        let is_live = Entry::read(path).standing == Standing::Live;
        let watch = self.watch.take().filter(|_| is_live);
        self.watch = watch.or_else(|| is_live.then(|| Watch::new(path)));
        is_live
    }
}

/// When the next one may be made after one that was begun and is there now.
fn after(began: Moment, now: Moment) -> Moment {
    let took = now.0.saturating_sub(began.0);
    Moment(now.0.saturating_add(REST_NS.max(took.saturating_mul(REST))))
}

enum Why {
    Stopped,
    Failed(String),
}

impl From<Error> for Why {
    fn from(error: Error) -> Self {
        match error {
            Error::Stopped(_) | Error::Make(MakeError::Stopped(_)) => Self::Stopped,
            error => Self::Failed(sentence(&error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::{Session, bytes, drain};
    use mcpreel_redact::{Policy, Settings};
    use mcpreel_store::library::Library;
    use mcpreel_store::values::State;
    use mcpreel_trace::clock::Clock;
    use mcpreel_trace::frame::StreamId;
    use std::sync::Arc;

    // The longer one took, the later it was that a session showed as over.
    #[test]
    fn the_last_one_is_made_as_soon_as_the_recorder_has_gone() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = Session::start(dir.path(), "a", 0x7f3a_9c21);
        session.chunk(StreamId::C2S, b"{}\n");
        let mut indexer = session.indexer();
        drain(&mut indexer, &bytes(u64::MAX));
        let means = Means {
            library: Library::new(dir.path()),
            policy: Ok(Arc::new(Policy::new(&Settings::default()).unwrap())),
            clock: Clock::start(),
        };
        let path = session.reel.clone();
        let order = Order {
            generation: 1,
            path,
        };
        let mut maker = Maker::new(order, means);
        let mut made = Vec::new();
        let mut step = |maker: &mut Maker| {
            maker.step(&AtomicBool::new(false), &mut |answer| {
                if let Any::Redacted(Answer::Made(_, likeness)) = answer {
                    made.push(likeness.is_live());
                }
            })
        };
        step(&mut maker);
        maker.due = Moment(u64::MAX);
        session.end();
        drain(&mut indexer, &bytes(u64::MAX));
        step(&mut maker);
        indexer.finish(State::Complete).unwrap();
        indexer.release_spool().unwrap();
        let ended = (0..100).any(|_| step(&mut maker).is_none());
        assert!(ended);
        assert_eq!(made, [true, false]);
    }
}
