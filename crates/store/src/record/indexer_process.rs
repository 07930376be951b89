//! The process that indexes one recording while it is made, and to its end.
//!
//! ```text
//!  recorder ──how far the spool is written──▶ indexer (nice 19, a process group of its own)
//!           ◀──why it cannot write, a line──
//! ```
//!
//! It is a process so that nothing that happens to it, or to the files that it maps, happens to the
//! session. When the recorder closes the connection, or has gone, it takes in the rest and ends. It
//! may itself end at any moment: the recorder (`keeper`) starts another, or the next reader does its work.
//! While the disk is nearly full it takes in nothing, as the recorder records nothing: what is in the
//! spool stays there.

use super::keeper::shortage;
use crate::indexer::{Budget, IndexError, Indexer, put_away};
use crate::library::REEL;
use crate::recovery::{RecoverError, make_if_missing};
use crate::schema::State;
use mcpreel_capture::process;
use mcpreel_capture::process::signals;
use mcpreel_capture::spool::{self, Progress, SpoolReader, Tail};
use mcpreel_trace::clock::{Clock, Moment};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The word for it on the command line of this program, before the path of the spool.
pub const COMMAND: &str = "index-spool";

/// What the recorder sends: the end of what is written.
pub(super) type Written = [u8; 8];

/// Ends what the indexer says: what is wrong now, or nothing when it has passed.
pub(super) const PROBLEM_END: u8 = b'\n';

/// The rest of an indexer that takes in less than comes: it cannot catch up while that lasts, and the
/// session needs the processors. At nice 19 it still had half of one for which the threads of a fast
/// replay and its server waited.
const REST: Duration = Duration::from_millis(250);

/// A recording that cannot be written is tried again after this.
const RETRY: Duration = Duration::from_millis(500);

/// After so many attempts the user is told while the session goes on. A reader that is in the way
/// for once is nobody's business.
const ATTEMPTS: u32 = 3;

/// All that a process of this kind does, to be called before anything else. `spool` is the whole path
/// of a spool, standard input the connection to its recorder. `begin` is called when what the host
/// gave us is closed.
pub fn main(spool: PathBuf, begin: impl FnOnce()) {
    process::release(process::inherited());
    begin();
    tracing::debug!(spool = %spool.display(), "indexing");
    signals::survive_large_files();
    let Ok(recorder) = std::io::stdin().as_fd().try_clone_to_owned() else {
        return;
    };
    publish(&spool, |progress| {
        progress.indexer = std::process::id().cast_signed();
    });
    let worker = Worker::new(spool, UnixStream::from(recorder));
    // At normal priority it would take a third of the pumps' speed in a flood. A thread cannot get
    // its own back, and beside busy processes it would be late for the work that is left at the end.
    let follow = thread::spawn(move || {
        let _ = rustix::process::setpriority_process(None, 19);
        worker.follow()
    });
    if let Ok(worker) = follow.join() {
        worker.finish();
    }
}

/// Whether there is something to index.
#[derive(Clone, Copy)]
enum Need {
    None,
    Now,
    /// The indexer is behind, and more came than it took in.
    Rest,
    /// The recording could not be written, and it is too early for another attempt.
    Later,
}

struct Worker {
    spool: PathBuf,
    reel: PathBuf,
    recorder: UnixStream,
    clock: Clock,
    /// How much of the spool is written, as far as the recorder has said.
    written: u64,
    /// How much of that was not indexed when the last transaction began, if it left something.
    was_behind: u64,
    indexer: Option<Indexer>,
    retry_at: Moment,
    failures: u32,
    has_problem: bool,
}

impl Worker {
    fn new(spool: PathBuf, recorder: UnixStream) -> Self {
        Self {
            reel: spool.with_extension(REEL),
            spool,
            recorder,
            clock: Clock::start(),
            written: 0,
            was_behind: u64::MAX,
            indexer: None,
            retry_at: Moment(0),
            failures: 0,
            has_problem: false,
        }
    }

    /// Indexes what comes until the recorder ends the connection.
    fn follow(mut self) -> Self {
        let mut need = Need::None;
        while self.hear(need) {
            need = self.work();
        }
        self
    }

    /// Waits for as long as `need` allows for what the recorder says. `false`: it says nothing more.
    fn hear(&mut self, need: Need) -> bool {
        let timeout = match need {
            Need::None => PollTimeout::NONE,
            Need::Now => PollTimeout::ZERO,
            Need::Later => PollTimeout::try_from(RETRY).unwrap_or(PollTimeout::MAX),
            Need::Rest => {
                thread::sleep(REST);
                PollTimeout::ZERO
            }
        };
        let mut fds = [PollFd::new(self.recorder.as_fd(), PollFlags::POLLIN)];
        if !matches!(poll(&mut fds, timeout), Ok(1)) {
            return true;
        }
        let mut bytes = [0; size_of::<Written>() * 512];
        let Ok(read) = self.recorder.read(&mut bytes) else {
            return false;
        };
        // Numbers come whole: each is written at once, and a socket takes eight bytes or none.
        let (numbers, _) = bytes[..read].as_chunks();
        if let Some(last) = numbers.last() {
            self.written = u64::from_le_bytes(*last);
        }
        read > 0
    }

    /// Runs a transaction. Returns what is left to do.
    fn work(&mut self) -> Need {
        let (behind, began) = (self.behind(), self.clock.now());
        let caught_up = self.step();
        let now = self.clock.now();
        let took = now.since(began);
        tracing::trace!(?took, behind, caught_up, "transaction");
        let was_behind = std::mem::replace(&mut self.was_behind, behind);
        if caught_up {
            // What comes at once is no sign that more does.
            self.was_behind = u64::MAX;
            Need::None
        } else if now < self.retry_at {
            Need::Later
        } else if behind > was_behind {
            Need::Rest
        } else {
            Need::Now
        }
    }

    /// Bytes of the journal that are not indexed.
    fn behind(&self) -> u64 {
        let position = self.indexer.as_ref().map_or(0, Indexer::position);
        self.written.saturating_sub(position)
    }

    /// Runs a transaction, if it is not too early for another attempt. Returns whether nothing is left: that
    /// is for the spool to say, as the recorder says nothing while the connection is full.
    fn step(&mut self) -> bool {
        if self.clock.now() < self.retry_at {
            return false;
        }
        match self.advance(Tail::Growing) {
            Ok(caught_up) => {
                self.failures = 0;
                self.say("");
                caught_up
            }
            Err(error) => {
                self.failed(&error);
                false
            }
        }
    }

    /// Runs a transaction; returns whether it has come to the end of the spool.
    fn advance(&mut self, tail: Tail) -> Result<bool, RecoverError> {
        if let Some(shortage) = shortage(&self.spool) {
            return Err(RecoverError::NoRoom(shortage));
        }
        let budget = Budget::beside_a_session(self.clock);
        match self.indexer()?.step(tail, &budget) {
            Err(IndexError::Disturbed) => self.begin_anew(tail, &budget),
            stepped => Ok(stepped?),
        }
    }

    /// Somebody has done something to the file of the recording: makes it anew from what the spool
    /// still holds.
    fn begin_anew(&mut self, tail: Tail, budget: &Budget) -> Result<bool, RecoverError> {
        let is_whole = SpoolReader::open(&self.spool)?.progress().released == 0;
        self.indexer = None;
        put_away(&self.reel);
        let lacks = if is_whole {
            "nothing"
        } else {
            "what its journal did not hold any more"
        };
        let what = IndexError::Disturbed;
        let message = format!("{what}, which was made anew and lacks {lacks}");
        let indexer = self.indexer()?;
        let caught_up = indexer.step(tail, budget)?;
        indexer.warn(&message)?;
        if !is_whole {
            self.say(&message);
            // That it goes on does not make up for it.
            self.has_problem = false;
        }
        Ok(caught_up)
    }

    fn failed(&mut self, error: &dyn std::error::Error) {
        tracing::debug!(?error, "could not write the recording");
        self.retry_at = self.clock.now() + RETRY;
        self.failures += 1;
        if self.failures < ATTEMPTS {
            return;
        }
        let causes = std::iter::successors(Some(error), |error| error.source());
        let causes: Vec<_> = causes.map(ToString::to_string).collect();
        let rest = if self.spool.exists() {
            let spool = self.spool.display();
            format!("it is kept in {spool} and will be completed when it is next read")
        } else {
            String::from("its files were removed, and nothing of it is kept")
        };
        self.say(&format!(
            "the session goes on, but its recording cannot be written ({}); {rest}",
            causes.join(": "),
        ));
    }

    /// Tells the recorder what is wrong; nothing when it has passed.
    fn say(&mut self, problem: &str) {
        let passed = problem.is_empty();
        if passed && !self.has_problem {
            return;
        }
        self.has_problem = !passed;
        let line = problem.replace(char::from(PROBLEM_END), " ") + "\n";
        // It may have gone.
        let _ = self.recorder.write_all(line.as_bytes());
    }

    fn indexer(&mut self) -> Result<&mut Indexer, RecoverError> {
        let indexer = match self.indexer.take() {
            Some(indexer) => indexer,
            None => begin(&self.reel, &self.spool)?,
        };
        Ok(self.indexer.insert(indexer))
    }

    /// The recorder has ended, or is about to: takes in the rest, and finishes the recording. The
    /// process may end in the middle of it: whatever is not committed then is still in the spool.
    fn finish(mut self) {
        self.retry_at = Moment(0);
        self.failures = 0;
        tracing::debug!(behind = self.behind(), "the recorder has ended");
        let rest = self.take_in_the_rest();
        tracing::debug!(?rest, "indexed");
        match rest {
            Ok(()) | Err(RecoverError::Index(IndexError::TakenOver)) => {}
            Err(error) => {
                if let (RecoverError::NoRoom(_), Some(indexer)) = (&error, &self.indexer) {
                    indexer.keep_wal();
                }
                self.failures = ATTEMPTS;
                self.failed(&error);
            }
        }
    }

    fn take_in_the_rest(&mut self) -> Result<(), RecoverError> {
        let mut opened = None;
        let spool = match &self.indexer {
            // It may have been removed.
            Some(indexer) => &indexer.spool,
            None => opened.insert(SpoolReader::open(&self.spool)?),
        };
        let has_end = spool.status()?.end.is_some();
        // Readers are to know before we have the lock that it is no recorder who has it.
        publish(&self.spool, |progress| progress.is_over = true);
        let mut lock = spool::lock(&self.spool).ok();
        if !has_end && lock.is_none() {
            // It lives and has no more use for us, or a reader has been faster.
            return Ok(());
        }
        while !self.advance(Tail::Final)? {
            lock = lock.or_else(|| spool::lock(&self.spool).ok());
        }
        Ok(complete(self.indexer()?, has_end)?)
    }
}

/// Changes what others are told; where it fails they take the work over too early, or too late.
fn publish(spool: &Path, change: impl FnOnce(&mut Progress)) {
    if let Ok(spool) = SpoolReader::open(spool) {
        let mut progress = spool.progress();
        change(&mut progress);
        let _ = spool.publish(&progress);
    }
}

/// The indexer that goes on with the recording `reel`, which it creates if it has to.
fn begin(reel: &Path, spool: &Path) -> Result<Indexer, RecoverError> {
    let made = make_if_missing(reel, spool)?;
    Ok(Indexer::go_on(reel, made, SpoolReader::open(spool)?)?)
}

/// Makes a drained recording one plain file, without a spool. `has_end`: its recorder came to its
/// end, and was not killed.
fn complete(indexer: &mut Indexer, has_end: bool) -> Result<(), IndexError> {
    if has_end {
        if !indexer.finish(State::Complete)? {
            return Ok(());
        }
    } else {
        indexer.recover(&mut |_| ())?;
    }
    // Where it stays, the next reader finds that nothing of it is missing.
    drop(indexer.release_spool());
    let mut attempts = 400;
    while attempts > 0 && !indexer.leave_wal().unwrap_or(true) {
        // A viewer lets go of the file within 33 ms of seeing that it is complete.
        thread::sleep(Duration::from_millis(5));
        attempts -= 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::spool_of;
    use crate::written::Session;
    use mcpreel_trace::frame::StreamId;

    /// What the session writes at once, and the indexer does not take in with one transaction.
    const MUCH: usize = 8 << 20;

    /// A session that is recorded in `dir`, the recorder's end of the connection, and the worker at the other.
    fn session_in(dir: &Path) -> (Session, UnixStream, Worker) {
        let session = Session::start(dir, "srv", 1);
        let (recorder, connection) = UnixStream::pair().unwrap();
        let worker = Worker::new(spool_of(&session.reel), connection);
        (session, recorder, worker)
    }

    fn write_much(session: &mut Session) {
        for _ in 0..MUCH / spool::MAX_CHUNK {
            let mut line = vec![b'a'; spool::MAX_CHUNK];
            line[0] = b'\n';
            session.chunk(StreamId::STDERR, &line);
        }
    }

    #[test]
    fn an_indexer_rests_while_more_comes_than_it_takes_in_and_not_after_a_burst() {
        let dir = tempfile::tempdir().unwrap();
        let (mut session, mut recorder, mut worker) = session_in(dir.path());
        let mut work = |write: bool, need: Need| {
            if write {
                write_much(&mut session);
            }
            recorder
                .write_all(&session.written().to_le_bytes())
                .unwrap();
            worker.hear(need);
            worker.work()
        };
        assert!(matches!(work(true, Need::None), Need::Now), "a burst");
        assert!(matches!(work(true, Need::Now), Need::Rest), "and more");
        assert!(matches!(work(true, Need::Now), Need::Rest), "and more");
        let mut need = work(false, Need::Now);
        while !matches!(need, Need::None) {
            assert!(matches!(need, Need::Now), "nothing more has come");
            need = work(false, need);
        }
        assert!(matches!(work(true, Need::None), Need::Now), "another burst");
    }

    /// Once it slept over what was written while the connection was full, until more came.
    #[test]
    fn what_the_recorder_could_not_tell_is_indexed_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let (mut session, mut recorder, mut worker) = session_in(dir.path());
        recorder
            .write_all(&session.written().to_le_bytes())
            .unwrap();
        write_much(&mut session);
        worker.hear(Need::None);
        while !matches!(worker.work(), Need::None) {}
        let indexed = worker.indexer.as_ref().map(Indexer::position);
        assert_eq!(indexed, Some(session.written()));
    }
}
