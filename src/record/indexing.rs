//! The indexer's thread: asleep while nothing happens, never in the way of the session.

use super::warning::Warning;
use super::{Files, disk};
use crate::capture::gauge::STALL;
use crate::capture::spool::SpoolReader;
use crate::capture::stdio::Gauges;
use crate::capture::tap::Tap;
use crate::store::indexer::{Budget, Finished, IndexError, Indexer};
use crate::store::values::State;
use crate::trace::clock::Moment;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// How long the end of a session may wait for the recording. Clients kill after 2 s.
const PATIENCE: Duration = Duration::from_millis(150);

/// After the first sign of traffic, how long more of it is gathered before it is indexed: waking
/// for every chunk costs the session a tenth of its round trips, and viewers look every 33 ms.
const GATHER: Duration = Duration::from_millis(5);

/// How often the room on the disk is looked at while traffic flows.
const LOOK_AT_DISK: Duration = Duration::from_millis(250);

/// A recording that cannot be written is tried again after this.
const RETRY: Duration = Duration::from_millis(500);

/// After so many attempts the user is told while the session goes on. A reader that is in the way
/// for once is nobody's business.
const ATTEMPTS: u32 = 3;

/// A running indexer thread.
pub struct Indexing {
    thread: thread::Thread,
    stop: SyncSender<()>,
    done: Receiver<()>,
}

impl Indexing {
    /// Starts indexing `files` as the tap fills them. Without a thread the spool is left to
    /// whoever reads the recording.
    pub fn start(files: Files, tap: &Arc<Tap>, gauges: &Gauges, warning: &Arc<Warning>) -> Self {
        let (stop, stopped) = sync_channel(1);
        let (report, done) = sync_channel(1);
        let worker = Worker {
            written: tap.written(),
            files,
            tap: Arc::clone(tap),
            gauges: gauges.clone(),
            stopped,
            indexer: None,
            retry_at: Moment(0),
            disk_at: Moment(0),
            short_of_disk: false,
            failures: 0,
            warning: Arc::clone(warning),
        };
        let builder = thread::Builder::new().name("indexer".into());
        let thread = builder.spawn(move || {
            worker.run();
            // Nobody waits any more if it took too long.
            let _ = report.send(());
        });
        let thread = thread.map_or_else(|_| thread::current(), |handle| handle.thread().clone());
        tap.set_indexer(thread.clone());
        thread.unpark();
        Self { thread, stop, done }
    }

    /// The session is over: waits a moment for the recording to be finished.
    pub fn finish(self) {
        let _ = self.stop.send(());
        self.thread.unpark();
        // Not in time: the spool stays, and the next reader drains it.
        let _ = self.done.recv_timeout(PATIENCE);
    }
}

struct Worker {
    files: Files,
    tap: Arc<Tap>,
    written: Arc<AtomicU64>,
    gauges: Gauges,
    stopped: Receiver<()>,
    indexer: Option<Indexer>,
    retry_at: Moment,
    disk_at: Moment,
    short_of_disk: bool,
    /// Attempts in a row that failed.
    failures: u32,
    warning: Arc<Warning>,
}

impl Worker {
    /// Runs until the session is over and the recording finished.
    fn run(mut self) {
        // At normal priority it would take a third of the pumps' speed in a flood.
        let _ = rustix::process::setpriority_process(None, 19);
        while !self.rest() {
            self.look_at_disk();
            self.drain();
            self.warning.tell(&self.tap);
            if self.failures >= ATTEMPTS {
                self.warning.tell_problem();
            }
        }
        self.finish();
    }

    /// Sleeps until there is something to do. `true`: the session is over.
    fn rest(&self) -> bool {
        let writing = self
            .gauges
            .iter()
            .filter(|gauge| gauge.watch(&self.tap))
            .count()
            > 0;
        if !self.is_behind() || self.tap.clock().now() < self.retry_at {
            match (writing, self.is_behind()) {
                (true, _) => thread::park_timeout(STALL),
                (false, true) => thread::park_timeout(RETRY),
                (false, false) => thread::park(),
            }
        }
        match self.stopped.recv_timeout(GATHER) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => true,
            Err(RecvTimeoutError::Timeout) => false,
        }
    }

    fn is_behind(&self) -> bool {
        let position = self.indexer.as_ref().map_or(0, Indexer::position);
        position < self.written.load(Ordering::Acquire)
    }

    /// One transaction, if there is something to put into it and it is not too early for another
    /// attempt.
    fn drain(&mut self) -> bool {
        let now = self.tap.clock().now();
        if !self.is_behind() || now < self.retry_at {
            return true;
        }
        let end = self.written.load(Ordering::Acquire);
        let budget = Budget::beside_a_session(self.tap.clock());
        match self
            .indexer()
            .and_then(|indexer| indexer.step(end, &budget))
        {
            Ok(progress) => {
                self.failures = 0;
                self.warning.set_problem(None);
                progress.caught_up
            }
            Err(error) => {
                self.failed(&error);
                true
            }
        }
    }

    fn failed(&mut self, error: &IndexError) {
        self.retry_at = self.tap.clock().now() + RETRY;
        self.failures += 1;
        self.warning.set_problem(Some(format!(
            "the session goes on, but its recording cannot be written ({}); it is kept in {} and \
             will be completed when it is next read",
            chain(error),
            self.files.spool.display()
        )));
    }

    fn indexer(&mut self) -> Result<&mut Indexer, IndexError> {
        let indexer = if let Some(indexer) = self.indexer.take() {
            indexer
        } else {
            let spool = SpoolReader::open(&self.files.spool)?;
            Indexer::create(&self.files.reel, &self.files.context, spool)?
        };
        Ok(self.indexer.insert(indexer))
    }

    fn look_at_disk(&mut self) {
        let now = self.tap.clock().now();
        if now < self.disk_at {
            return;
        }
        self.disk_at = now + LOOK_AT_DISK;
        let shortage = disk::shortage(&self.files.spool);
        if shortage.is_some() != self.short_of_disk {
            self.short_of_disk = shortage.is_some();
            self.tap.refuse(shortage.as_deref());
        }
    }

    /// Drains the rest, finishes the recording and removes the spool. The process may end in the
    /// middle of it: whatever is not committed then is still in the spool.
    fn finish(&mut self) {
        self.retry_at = Moment(0);
        while !self.drain() {}
        if self.failures > 0 || self.is_behind() {
            return;
        }
        let finished = self
            .indexer()
            .and_then(|indexer| indexer.finish(State::Complete));
        match finished {
            Ok(Finished::Pending) => {}
            Ok(finished) => {
                drop(std::fs::remove_file(&self.files.spool));
                self.leave_wal(finished);
            }
            Err(error) => self.failed(&error),
        }
    }

    /// A viewer lets go of the file within 33 ms of seeing that it is complete.
    fn leave_wal(&mut self, mut finished: Finished) {
        while finished == Finished::StillWal {
            thread::sleep(Duration::from_millis(5));
            if self
                .indexer()
                .and_then(|indexer| indexer.leave_wal())
                .unwrap_or(true)
            {
                finished = Finished::Plain;
            }
        }
    }
}

/// An error with all its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<_> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}
