//! The reader: reads the open recording and follows it.

use super::job::{Growth, Progress, Slot, Source, Step};
use super::librarian::Librarian;
use super::vitals::{Opening, Vitals};
use crate::effect::{Answer, Ask, Asked};
use crate::panels::session;
use mcpreel_share::phrases::sentence;
use mcpreel_store::follow::{Change, INTERVAL, Read, Watch};
use mcpreel_store::library::{Details, Entry, Library, Standing};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::recovery::{Outcome, Stage};
use mcpreel_store::{open, recovery};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::Seq;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

/// While nothing is recorded there is nothing to look for.
const LONG: Duration = Duration::from_hours(1);

/// Slots whose answers a person waits for at once: stepped before all others.
const URGENT: [Slot; 4] = [Slot::Rows, Slot::Detail, Slot::Failure, Slot::State];

/// Answers questions about one recording and follows it; lists the folder.
pub struct Reader {
    clock: Clock,
    library: Library,
    librarian: Librarian,
    /// The number of the question that opened the recording.
    number: u64,
    path: Option<PathBuf>,
    source: From,
    vitals: Option<Box<Vitals>>,
    jobs: BTreeMap<Slot, Work>,
    /// The job that was stepped last, so that the others get their turn.
    last: Option<Slot>,
}

/// Tells the session that asked with this number how far opening is.
fn opening(number: u64, opening: Opening) -> Answer {
    let told = Answer::found(|_, session| {
        session.opening = opening;
        vec![]
    });
    told.to(Slot::Open, number)
}

fn unreadable(number: u64, error: &(dyn Error + 'static)) -> Answer {
    opening(number, Opening::Unreadable(sentence(error)))
}

enum From {
    Nothing,
    Live(Box<Watch>),
    Finished(Box<Recording>),
}

impl Reader {
    /// A reader without a recording; recordings in `library` may be completed where they lie.
    pub fn new(library: Library, clock: Clock) -> Self {
        Self {
            clock,
            librarian: Librarian::new(library.clone(), clock),
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
                self.open(tell);
            }
            Ask::List => self.librarian.list(tell),
            Ask::Change(change) => tell(change()),
            Ask::Job(slot, number, job) => drop(self.jobs.insert(slot, Work::new(job, number))),
            // They have threads of their own.
            Ask::Errand(_) | Ask::Stop(_) => {}
        }
    }

    /// The time for which nothing need be done if nothing is asked.
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
            is_stopped: &|| false,
        };
        let Some(work) = self.jobs.get_mut(&slot) else {
            return false;
        };
        let began = self.clock.now();
        let answer = match work.step(|job| job.step(&source)) {
            Ok(answer) => answer,
            Err(error) => Some(Answer::failed(sentence(&error))),
        };
        tracing::debug!(?slot, took = ?self.clock.now().since(began), "a step");
        if let Some(answer) = answer {
            tell(answer.to(slot, work.number));
        }
        true
    }

    /// Looks whether the recording has changed.
    pub fn follow(&mut self, tell: &mut dyn FnMut(Answer)) {
        let From::Live(watch) = &mut self.source else {
            return;
        };
        let before = self.vitals.as_deref();
        let result = watch.poll(|recording| {
            if recording.summary()?.state.is_final() {
                // It is told when it is open again: as long as its file is let go nobody could read
                // the rows that it says it has.
                return Ok(Read::Complete(None));
            }
            Vitals::read(recording, Standing::Live, before).map(|vitals| Read::All(Some(vitals)))
        });
        match result {
            Ok(Change::Quiet | Change::Changed(None)) => {}
            Ok(Change::Waiting) => tell(opening(self.number, Opening::Waiting)),
            Ok(Change::Changed(Some(vitals))) => self.grow(vitals, false, tell),
            Ok(Change::Orphaned | Change::Ended) => self.open(tell),
            Err(error) => tell(unreadable(self.number, &error)),
        }
    }

    /// Opens it: at first, and when the recorder has gone or has finished.
    fn open(&mut self, tell: &mut dyn FnMut(Answer)) {
        let Some(path) = &self.path.clone() else {
            return;
        };
        let mut entry = Entry::read(path);
        tracing::debug!(path = %path.display(), standing = ?entry.standing, "opened");
        // A viewer that was stopped at the end of the session may have kept the recorder from
        // making it one plain file.
        let is_loose = entry.standing == Standing::Finished && open::is_wal(path).unwrap_or(false);
        // Frames without what is derived from them were passed over: rows may be missing.
        let before = self.vitals.as_deref();
        let mut is_anew = before.is_some_and(|vitals| !vitals.summary.derived);
        if (entry.standing.is_recoverable() || is_loose) && self.library.contains(path) {
            let number = self.number;
            let mut progress = |stage| {
                let stage = match stage {
                    Stage::Draining { done, of } => Opening::Draining(done, of),
                    Stage::Deriving { .. } => Opening::Deriving,
                };
                tell(opening(number, stage));
            };
            match recovery::bring_up_to_date(path, self.clock, &mut progress) {
                Ok(outcome) => is_anew |= matches!(outcome, Outcome::Completed { .. }),
                Err(error) => tell(unreadable(self.number, &error)),
            }
            entry = Entry::read(path);
        }
        if let Details::Unreadable(error) = &entry.details {
            self.source = From::Nothing;
            return tell(unreadable(self.number, error));
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
                tell(unreadable(self.number, &error));
            }
        }
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
        let vitals = Box::new(vitals);
        let told = Answer::found(|app, session| session::grown(app, session, vitals));
        tell(told.to(Slot::Open, self.number));
    }

    fn has_work(&self) -> bool {
        let ready = match &self.source {
            From::Nothing => false,
            From::Live(watch) => watch.recording().is_some(),
            From::Finished(_) => true,
        };
        ready && self.jobs.values().any(|work| !work.done)
    }

    /// The most urgent job; of those that are not urgent the one after the last.
    fn next(&self) -> Option<Slot> {
        let waiting = |slot: &Slot| self.jobs.get(slot).is_some_and(|work| !work.done);
        if let Some(urgent) = URGENT.into_iter().find(waiting) {
            return Some(urgent);
        }
        let slots = || self.jobs.keys().copied().filter(waiting);
        let after = slots().find(|slot| Some(*slot) > self.last);
        after.or_else(|| slots().next())
    }
}

struct Work {
    /// The number of the question.
    pub number: u64,
    job: Box<dyn Asked>,
    /// Whether there is nothing to do for now.
    done: bool,
    /// The growth of the recording while the job was under way: it may have passed that place already.
    missed: Option<Growth>,
}

impl Work {
    pub fn new(job: Box<dyn Asked>, number: u64) -> Self {
        Self {
            number,
            job,
            done: false,
            missed: None,
        }
    }

    /// Does a piece of it, as `step` does. A job that failed is done, until the recording grows.
    pub fn step(
        &mut self,
        step: impl FnOnce(&mut dyn Asked) -> Step<Answer>,
    ) -> Result<Option<Answer>, ReadError> {
        let step = step(&mut *self.job);
        self.done = !matches!(step, Ok((Progress::More, _)));
        if self.done
            && let Some(growth) = self.missed.take()
        {
            self.done = !self.job.grown(&growth);
        }
        step.map(|(_, answer)| answer)
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

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::frame::Seq;
    use std::sync::{Arc, Mutex};

    struct Counting {
        grown: Arc<Mutex<Vec<Growth>>>,
    }

    impl Asked for Counting {
        fn step(&mut self, _: &Source<'_>) -> Step<Answer> {
            Ok((Progress::Done, None))
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
        work.step(|_| Ok((Progress::Done, None))).unwrap();
        assert_eq!(*grown.lock().unwrap(), [growth(2, 5, true)]);
        assert!(!work.done);
    }
}
