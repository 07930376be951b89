//! One recording, read and followed.

use super::{Answer, Ask, Growth, Job, Progress, Slot, Source};
use crate::panels::session;
use mcpreel_lint::cause::{Cause, causes};
use mcpreel_share::phrases::sentence;
use mcpreel_store::exchanges::Severities;
use mcpreel_store::follow::{Change, INTERVAL, Read, Watch};
use mcpreel_store::library::{Details, Entry, Library, Standing};
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_store::recovery::{Outcome, Stage};
use mcpreel_store::story::{Stall, Unfinished};
use mcpreel_store::{open, recovery};
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// While nothing is recorded there is nothing to look for.
const LONG: Duration = Duration::from_hours(1);

/// Slots whose answers a person waits for at once: stepped before all others.
const URGENT: [Slot; 5] = [
    Slot::Note,
    Slot::Rows,
    Slot::Detail,
    Slot::Failure,
    Slot::State,
];

/// Answers questions about one recording, and follows it.
pub struct Reader {
    clock: Clock,
    library: Library,
    /// Of the question that opened the recording.
    number: u64,
    path: Option<PathBuf>,
    source: From,
    vitals: Option<Box<Vitals>>,
    jobs: BTreeMap<Slot, Work>,
    /// The job that was stepped last, so that the others get their turn.
    last: Option<Slot>,
}

/// How the recording stands, for the session that asked for it with this number.
fn opened(number: u64, opened: Opened) -> Answer {
    let told = Answer::found(move |app, open| session::opened(app, open, opened));
    told.to(Slot::Open, number)
}

enum From {
    Nothing,
    Live(Box<Watch>),
    Finished(Box<Recording>),
}

impl Reader {
    /// Nothing is open; recordings in `library` may be completed where they lie.
    pub fn new(library: Library, clock: Clock) -> Self {
        Self {
            clock,
            library,
            number: 0,
            path: None,
            source: From::Nothing,
            vitals: None,
            jobs: BTreeMap::new(),
            last: None,
        }
    }

    pub fn take(&mut self, ask: Ask, tell: &mut dyn FnMut(Answer)) {
        match ask {
            Ask::Open(number, path) => {
                self.jobs.clear();
                self.source = From::Nothing;
                self.vitals = None;
                (self.number, self.path) = (number, path);
                self.reopen(tell);
            }
            // Each of them counts: none takes the place of another.
            Ask::Note(ask) => tell(ask.write()),
            Ask::Job(question) => {
                let work = Work::new(question.job, question.number);
                self.jobs.insert(question.slot, work);
            }
            // Others answer these.
            Ask::Library(_) | Ask::Beside(_) | Ask::Replay(_) | Ask::Export(_) => {}
        }
    }

    /// How long nothing need be done if nothing is asked.
    pub fn patience(&self) -> Duration {
        match (&self.source, self.has_work()) {
            (_, true) => Duration::ZERO,
            (From::Live(_), _) => INTERVAL,
            _ => LONG,
        }
    }

    /// Steps the most urgent job. Whether there was one.
    pub fn step(&mut self, tell: &mut dyn FnMut(Answer)) -> bool {
        let Some(slot) = self.next() else {
            return false;
        };
        self.last = Some(slot);
        let recording = match &self.source {
            From::Live(watch) => watch.recording(),
            From::Finished(recording) => Some(&**recording),
            From::Nothing => None,
        };
        let (Some(recording), Some(path), Some(vitals)) = (recording, &self.path, &self.vitals)
        else {
            return false;
        };
        let source = Source {
            recording,
            path,
            summary: &vitals.summary,
            is_live: matches!(self.source, From::Live(_)) && !vitals.summary.state.is_final(),
            clock: self.clock,
        };
        let Some(work) = self.jobs.get_mut(&slot) else {
            return false;
        };
        let mut answers = Vec::new();
        if let Err(error) = work.step(|job| job.step(&source, &mut answers)) {
            answers.push(Answer::Failed(sentence(&error)));
        }
        let number = work.number;
        let answers = answers.into_iter();
        answers.for_each(|answer| tell(answer.to(slot, number)));
        true
    }

    /// Looks whether the recording has changed.
    pub fn follow(&mut self, tell: &mut dyn FnMut(Answer)) {
        let From::Live(watch) = &mut self.source else {
            return;
        };
        let result = watch.poll();
        match result {
            Ok(Change::Quiet) => {}
            Ok(Change::Waiting) => tell(opened(self.number, Opened::Waiting)),
            Ok(Change::Changed) => {
                if let Err(error) = self.read_change(tell) {
                    tell(opened(self.number, Opened::Unreadable(sentence(&error))));
                }
            }
            Ok(Change::Orphaned | Change::Ended) => self.reopen(tell),
            Err(error) => tell(opened(self.number, Opened::Unreadable(sentence(&error)))),
        }
    }

    fn read_change(&mut self, tell: &mut dyn FnMut(Answer)) -> Result<(), ReadError> {
        let From::Live(watch) = &mut self.source else {
            return Ok(());
        };
        let Some(recording) = watch.recording() else {
            return Ok(());
        };
        if recording.summary()?.state.is_final() {
            // It is told when it is open again: as long as its file is let go nobody could read the
            // rows that it says it has.
            watch.settle(Read::Complete);
            return Ok(());
        }
        let vitals = Vitals::read(recording, Standing::Live, self.vitals.as_deref())?;
        watch.settle(Read::All);
        watch.news();
        self.grow(vitals, false, tell);
        Ok(())
    }

    /// Opens it: at first, and when the recorder has gone or has finished.
    fn reopen(&mut self, tell: &mut dyn FnMut(Answer)) {
        if let Some(path) = self.path.clone() {
            self.open(&path, tell);
        }
    }

    fn open(&mut self, path: &Path, tell: &mut dyn FnMut(Answer)) {
        let mut entry = Entry::read(path);
        // A viewer that was stopped at the end of the session may have kept the recorder from
        // making it one plain file.
        let is_loose = entry.standing == Standing::Finished && open::is_in_pieces(path);
        let mut is_anew = self.lacks_rows();
        if (entry.standing.is_recoverable() || is_loose) && self.library.contains(path) {
            let number = self.number;
            let mut progress = |stage| {
                tell(opened(
                    number,
                    match stage {
                        Stage::Draining { done, of } => Opened::Draining(done, of),
                        Stage::Deriving { .. } => Opened::Deriving,
                    },
                ));
            };
            match recovery::bring_up_to_date(path, self.clock, &mut progress) {
                Ok(outcome) => is_anew |= matches!(outcome, Outcome::Completed { .. }),
                Err(error) => tell(opened(self.number, Opened::Unreadable(sentence(&error)))),
            }
            entry = Entry::read(path);
        }
        if let Details::Unreadable(error) = &entry.details {
            self.source = From::Nothing;
            return tell(opened(self.number, Opened::Unreadable(sentence(error))));
        }
        if entry.standing == Standing::Live {
            self.source = From::Live(Box::new(Watch::new(path)));
            return self.follow(tell);
        }
        let read = Recording::open(path).and_then(|recording| {
            let mut vitals = Vitals::read(&recording, entry.standing, None)?;
            // What is opened first was never another one.
            vitals.is_anew = is_anew && self.vitals.is_some();
            Ok((recording, vitals))
        });
        match read {
            Ok((recording, vitals)) => {
                self.source = From::Finished(Box::new(recording));
                self.grow(vitals, true, tell);
            }
            Err(error) => {
                self.source = From::Nothing;
                tell(opened(self.number, Opened::Unreadable(sentence(&error))));
            }
        }
    }

    /// Whether what was found so far may lack rows: frames without what is derived from them were
    /// passed over.
    fn lacks_rows(&self) -> bool {
        let before = self.vitals.as_deref();
        before.is_some_and(|vitals| !vitals.summary.derived)
    }

    /// Tells how the recording stands, and wakes the jobs that have more to say.
    fn grow(&mut self, vitals: Vitals, ended: bool, tell: &mut dyn FnMut(Answer)) {
        let last = Seq(vitals.summary.frames);
        let before = self.vitals.replace(Box::new(vitals.clone()));
        let growth = Growth {
            after: before.map_or(Seq(0), |before| Seq(before.summary.frames)),
            last,
            ended,
        };
        for work in self.jobs.values_mut() {
            work.grow(&growth);
        }
        tell(opened(self.number, Opened::Vitals(Box::new(vitals))));
    }

    fn has_work(&self) -> bool {
        let ready = match &self.source {
            From::Nothing => false,
            From::Live(watch) => watch.recording().is_some(),
            From::Finished(_) => true,
        };
        ready && self.jobs.values().any(|work| !work.is_done())
    }

    /// The most urgent job; of those that are not urgent the one after the last.
    fn next(&self) -> Option<Slot> {
        let waiting = |slot: &Slot| self.jobs.get(slot).is_some_and(|work| !work.is_done());
        if let Some(urgent) = URGENT.into_iter().find(waiting) {
            return Some(urgent);
        }
        let slots = || self.jobs.keys().copied().filter(waiting);
        slots()
            .find(|slot| Some(*slot) > self.last)
            .or_else(|| slots().next())
    }
}

pub(super) struct Work {
    /// Of the question that it answers.
    pub number: u64,
    job: Box<dyn Job>,
    done: bool,
    /// How the recording grew while it was under way: it may have looked past that place already.
    missed: Option<Growth>,
}

impl Work {
    pub fn new(job: Box<dyn Job>, number: u64) -> Self {
        Self {
            number,
            job,
            done: false,
            missed: None,
        }
    }

    /// Whether there is nothing to do for now.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Does a piece of it, as `step` does. A job that failed is done, until the recording grows.
    pub fn step(
        &mut self,
        step: impl FnOnce(&mut dyn Job) -> Result<Progress, ReadError>,
    ) -> Result<(), ReadError> {
        let progress = step(&mut *self.job);
        self.done = !matches!(progress, Ok(Progress::More));
        if self.done
            && let Some(growth) = self.missed.take()
        {
            self.done = !self.job.grown(&growth);
        }
        progress.map(|_| ())
    }

    pub fn grow(&mut self, growth: &Growth) {
        if self.done {
            self.done = !self.job.grown(growth);
            return;
        }
        let missed = self.missed.get_or_insert(*growth);
        missed.last = growth.last;
        missed.ended |= growth.ended;
    }
}

/// Questions that wait: the latest of each kind, and every note in order.
#[derive(Debug, Default)]
pub struct Desk {
    waiting: Mutex<Waiting>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    latest: BTreeMap<Slot, Ask>,
    notes: VecDeque<Ask>,
    closed: bool,
}

#[derive(Debug)]
pub enum Next {
    Ask(Box<Ask>),
    Nothing,
    Closed,
}

impl Desk {
    /// Leaves a question; it takes the place of an older one of its kind.
    pub fn put(&self, ask: Ask) {
        let mut waiting = self.lock();
        match ask.slot() {
            Slot::Note => waiting.notes.push_back(ask),
            // Nothing about the recording before is of interest any more.
            Slot::Open => waiting.latest = BTreeMap::from([(Slot::Open, ask)]),
            slot => {
                waiting.latest.insert(slot, ask);
            }
        }
        self.bell.notify_one();
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.bell.notify_all();
    }

    /// Whether something more urgent than the work at hand waits.
    pub fn is_waiting(&self) -> bool {
        let waiting = self.lock();
        waiting.closed || !waiting.latest.is_empty() || !waiting.notes.is_empty()
    }

    /// The next question; waits for at most `patience` for one.
    pub fn next(&self, patience: Duration) -> Next {
        let waiting = self.lock();
        let waited = self.bell.wait_timeout_while(waiting, patience, |waiting| {
            !waiting.closed && waiting.latest.is_empty() && waiting.notes.is_empty()
        });
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if waiting.closed {
            return Next::Closed;
        }
        let note = waiting.notes.pop_front();
        let ask = note.or_else(|| waiting.latest.pop_first().map(|(_, ask)| ask));
        ask.map_or(Next::Nothing, |ask| Next::Ask(Box::new(ask)))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // A question is put or taken as a whole: a panic elsewhere leaves nothing half done.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Open calls that the header may name.
const OPEN: u32 = 4;

/// Calls without an answer that are read of a session that ended.
const LOST: u32 = 4;

/// Lines of stderr that are shown where nothing else is.
const LAST_WORDS: u32 = 5;

/// How far opening a recording has come, and how it stands after each growth.
#[derive(Debug)]
pub enum Opened {
    /// Its spool is drained first: bytes done, of so many.
    Draining(u64, u64),
    /// What is derived is derived anew.
    Deriving,
    /// There is no recording yet, only a recorder that starts.
    Waiting,
    /// It is open, has grown, or has ended.
    Vitals(Box<Vitals>),
    /// It cannot be read: one sentence with the way out.
    Unreadable(String),
}

/// What the header tells: is it alive, who waits for whom, what failed.
#[derive(Clone, Debug)]
pub struct Vitals {
    pub summary: Summary,
    /// Whether somebody still records.
    pub standing: Standing,
    pub unfinished: Vec<Unfinished>,
    pub stalls: Vec<Stall>,
    /// The oldest calls that wait for an answer, a few.
    pub open: Vec<Exchange>,
    /// Of what has ended: the last calls that never got an answer, a few.
    pub lost: Vec<Exchange>,
    /// Why it went wrong, the best cause first.
    pub causes: Vec<Cause>,
    /// How many findings of each severity.
    pub severities: Severities,
    /// Whether rows may be others than before: what is derived was derived anew.
    pub is_anew: bool,
    pub last_words: Vec<Box<[u8]>>,
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
        // They are shown where nothing was said yet, and at a bad end.
        let is_silent = !live || summary.messages == 0;
        let last_words = only(is_silent, || recording.last_words(LAST_WORDS))?;
        let has_ended = summary.session.phase.end().is_some();
        Ok(Self {
            unfinished: only(live, || recording.unfinished())?,
            stalls: only(live, || recording.open_stalls())?,
            open: only(summary.open > 0, || recording.oldest_open(OPEN))?,
            lost: only(has_ended, || recording.last_lost(LOST))?,
            summary,
            standing,
            is_anew: false,
            causes,
            severities,
            last_words,
        })
    }
}

/// What `read` gives, if that is wanted.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::{Answer, Source};
    use mcpreel_trace::frame::Seq;
    use std::sync::{Arc, Mutex};

    struct Counting {
        grown: Arc<Mutex<Vec<Growth>>>,
    }

    impl Job for Counting {
        fn step(&mut self, _: &Source<'_>, _: &mut Vec<Answer>) -> Result<Progress, ReadError> {
            Ok(Progress::Done)
        }

        fn grown(&mut self, growth: &Growth) -> bool {
            self.grown.lock().unwrap().push(*growth);
            true
        }
    }

    fn growth(after: u64, last: u64, ended: bool) -> Growth {
        Growth {
            after: Seq(after),
            last: Seq(last),
            ended,
        }
    }

    // Rows that came while the last step of a scan was under way were never looked at.
    #[test]
    fn what_came_while_a_job_was_under_way_is_told_when_it_is_done() {
        let grown = Arc::default();
        let job = Counting {
            grown: Arc::clone(&grown),
        };
        let mut work = Work::new(Box::new(job), 1);
        work.grow(&growth(2, 3, false));
        work.grow(&growth(3, 5, true));
        assert!(grown.lock().unwrap().is_empty());
        work.step(|_| Ok(Progress::Done)).unwrap();
        assert_eq!(*grown.lock().unwrap(), [growth(2, 5, true)]);
        assert!(!work.is_done());
    }
}
