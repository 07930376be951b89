//! The indexer's thread: asleep while nothing happens, never in the way of the session.

use super::recorder::Files;
use super::recorder::Warning;
use crate::indexer::{Budget, Finished, IndexError, Indexer};
use crate::schema::State;
use mcpreel_capture::gauge::STALL;
use mcpreel_capture::spool::SpoolReader;
use mcpreel_capture::stdio::Gauges;
use mcpreel_capture::tap::Tap;
use mcpreel_trace::clock::Moment;
use nix::sys::statvfs::statvfs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The wait at the end of a session for the recording. Clients kill after 2 s.
pub(super) const PATIENCE: Duration = Duration::from_millis(150);

/// After the first sign of traffic, how long more of it is gathered before it is indexed: waking
/// for every chunk costs the session a tenth of its round trips, and viewers look every 33 ms.
const GATHER: Duration = Duration::from_millis(5);

/// The rest of an indexer that takes in less than comes: it cannot catch up while that lasts, and the
/// session needs the processors. At nice 19 it still had half of one for which the threads of a fast
/// replay and its server waited.
const REST: Duration = Duration::from_millis(150);

pub struct Indexing {
    worker: Shared,
    thread: thread::Thread,
    over: Arc<Over>,
}

/// Held by the thread that indexes: beside the session the indexer's, at its end the finisher's,
/// which takes the worker out.
type Shared = Arc<Mutex<Option<Worker>>>;

impl Indexing {
    /// Starts indexing `files` as the tap fills them. Without a thread all is left to the end.
    pub fn start(files: Files, tap: &Arc<Tap>, gauges: &Gauges, warning: &Arc<Warning>) -> Self {
        let over = Arc::<Over>::default();
        let worker = Arc::new(Mutex::new(Some(Worker::new(files, tap, warning))));
        let indexer = IndexerThread {
            worker: Arc::clone(&worker),
            tap: Arc::clone(tap),
            gauges: gauges.clone(),
            over: Arc::clone(&over),
        };
        let builder = thread::Builder::new().name("indexer".into());
        let thread = builder.spawn(move || indexer.run());
        let thread = thread.map_or_else(|_| thread::current(), |handle| handle.thread().clone());
        tap.set_indexer(thread.clone());
        thread.unpark();
        Self {
            worker,
            thread,
            over,
        }
    }

    /// The session is over: waits so long for the recording to be finished, not at all where that
    /// would be in vain.
    ///
    /// A thread of normal priority does it. The indexer's cannot get its own back, and beside
    /// busy processes it would be late for the few milliseconds of work that are left.
    pub fn finish(self, patience: Duration) {
        self.over.say();
        self.thread.unpark();
        let (report, done) = sync_channel(1);
        let worker = self.worker;
        let finisher = thread::Builder::new().name("finisher".into());
        let finisher = finisher.spawn(move || {
            if let Some(worker) = lock(&worker).take() {
                worker.finish(patience);
            }
            // Nobody waits any more if it took too long.
            let _ = report.send(());
        });
        if finisher.is_ok() {
            // Not in time: the spool stays, and the next reader drains it.
            let _ = done.recv_timeout(patience);
        }
    }
}

/// A panic of the other thread leaves what a failed transaction does.
fn lock(worker: &Shared) -> MutexGuard<'_, Option<Worker>> {
    worker.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the session is over. Waited for by other means than [`thread::park`], which a channel
/// uses as well: what the tap puts on record would wake whoever gathers, each time.
#[derive(Default)]
struct Over {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Over {
    fn say(&self) {
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    fn wait(&self, timeout: Duration) -> bool {
        let is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        let goes_on = |is_over: &mut bool| !*is_over;
        let waited = self.changed.wait_timeout_while(is_over, timeout, goes_on);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The thread that indexes beside the session.
struct IndexerThread {
    worker: Shared,
    tap: Arc<Tap>,
    gauges: Gauges,
    over: Arc<Over>,
}

impl IndexerThread {
    fn run(self) {
        // At normal priority it would take a third of the pumps' speed in a flood.
        let _ = rustix::process::setpriority_process(None, 19);
        let mut need = Need::None;
        while !self.rest(need) {
            need = lock(&self.worker).as_mut().map_or(Need::None, Worker::work);
        }
    }

    /// Sleeps until there is something to do. `true`: the session is over.
    fn rest(&self, need: Need) -> bool {
        let watched = self.gauges.iter().map(|gauge| gauge.watch(&self.tap));
        let writing = watched.fold(false, |any, writing| any | writing);
        match (need, writing) {
            (Need::Now, _) => {}
            (Need::Rest, _) => return self.over.wait(REST),
            (_, true) => thread::park_timeout(STALL),
            (Need::Later, false) => thread::park_timeout(RETRY),
            (Need::None, false) => thread::park(),
        }
        self.over.wait(GATHER)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use nix::sys::resource::{UsageWho, getrusage};

    /// Once the thread that gathers was woken by each chunk, which took a quarter of a replay's
    /// speed.
    #[test]
    fn what_is_put_on_record_does_not_wake_who_gathers() {
        let over = Arc::<Over>::default();
        let gathering = thread::spawn({
            let over = Arc::clone(&over);
            move || {
                assert!(over.wait(Duration::from_mins(1)));
                let usage = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
                usage.voluntary_context_switches()
            }
        });
        for _ in 0..2000 {
            gathering.thread().unpark();
            thread::yield_now();
        }
        over.say();
        let switches = gathering.join().unwrap();
        assert!(switches < 10, "{switches}");
    }
}

// Room on the disk, and disks that are far away.

/// A full disk harms everything else on the machine: so much is left to it.
const RESERVE: u64 = 1 << 30;

/// On disks under 50 GiB the reserve is this part of the whole.
const RESERVE_PART: u64 = 50;

/// Why nothing more should be written beside `path`; `None` if there is room.
pub fn shortage(path: &Path) -> Option<String> {
    let disk = statvfs(path).ok()?;
    #[expect(
        clippy::useless_conversion,
        reason = "the width of these fields differs by platform"
    )]
    let bytes = |blocks: nix::libc::fsblkcnt_t| {
        u64::from(blocks).saturating_mul(u64::from(disk.fragment_size()))
    };
    let reserve = RESERVE.min(bytes(disk.blocks()) / RESERVE_PART);
    let left = bytes(disk.blocks_available());
    (left < reserve).then(|| format!("the disk is nearly full ({} MiB left)", left >> 20))
}

/// A warning if `path` lies on a file system that can hang: a recorder on it would hang with it.
pub fn network(path: &Path) -> Option<String> {
    #[cfg(target_os = "linux")]
    {
        const FAR: [(i64, &str); 7] = [
            (0x6969, "NFS"),
            (0x517B, "SMB"),
            (0xFF53_4D42, "CIFS"),
            (0xFE53_4D42, "SMB"),
            (0x6573_5546, "FUSE"),
            (0x0102_1997, "9P"),
            (0x5346_414F, "AFS"),
        ];
        let kind = nix::sys::statfs::statfs(path).ok()?.filesystem_type().0;
        let (_, name) = FAR
            .iter()
            .find(|(magic, _)| i128::from(*magic) == i128::from(kind))?;
        Some(format!(
            "the recording lies on a file system over {name}: if that hangs, the session hangs"
        ))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        None
    }
}

// What the indexer's thread does each time that it wakes, and at the end of the session.

/// The time between two looks at the room on the disk while traffic flows.
const LOOK_AT_DISK: Duration = Duration::from_millis(250);

/// A recording that cannot be written is tried again after this.
pub const RETRY: Duration = Duration::from_millis(500);

/// After so many attempts the user is told while the session goes on. A reader that is in the way
/// for once is nobody's business.
const ATTEMPTS: u32 = 3;

/// Bytes of the journal that no machine indexes in a second. Who has less time than that takes would
/// wait in vain: the next reader completes the recording in any case.
const FASTEST: u64 = 100 << 20;

/// Whether there is something to index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    None,
    Now,
    /// The indexer is behind, and more came than it took in.
    Rest,
    /// The recording could not be written, and it is too early for another attempt.
    Later,
}

pub struct Worker {
    files: Files,
    tap: Arc<Tap>,
    written: Arc<AtomicU64>,
    indexer: Option<Indexer>,
    retry_at: Moment,
    disk_at: Moment,
    short_of_disk: bool,
    failures: u32,
    warning: Arc<Warning>,
}

impl Worker {
    pub fn new(files: Files, tap: &Arc<Tap>, warning: &Arc<Warning>) -> Self {
        Self {
            written: tap.written(),
            files,
            tap: Arc::clone(tap),
            indexer: None,
            retry_at: Moment(0),
            disk_at: Moment(0),
            short_of_disk: false,
            failures: 0,
            warning: Arc::clone(warning),
        }
    }

    /// Runs a transaction, and looks at the disk. Returns what is left to do.
    pub fn work(&mut self) -> Need {
        self.look_at_disk();
        let was_behind = self.behind();
        self.drain();
        self.warning.tell(&self.tap);
        if self.failures >= ATTEMPTS {
            self.warning.tell_problem();
        }
        if !self.is_behind() {
            Need::None
        } else if self.tap.clock().now() < self.retry_at {
            Need::Later
        } else if self.behind() > was_behind {
            Need::Rest
        } else {
            Need::Now
        }
    }

    fn is_behind(&self) -> bool {
        self.behind() > 0
    }

    /// Bytes of the journal that are not indexed.
    fn behind(&self) -> u64 {
        let position = self.indexer.as_ref().map_or(0, Indexer::position);
        let written = self.written.load(Ordering::Acquire);
        written.saturating_sub(position)
    }

    /// Runs a transaction, if there is something to put into it and it is not too early for another
    /// attempt. `false`: there is more than it could take.
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
        let shortage = shortage(&self.files.spool);
        if shortage.is_some() != self.short_of_disk {
            self.short_of_disk = shortage.is_some();
            self.tap.refuse(shortage.as_deref());
        }
    }

    /// Drains the rest, finishes the recording and removes the spool. The process may end in the
    /// middle of it: whatever is not committed then is still in the spool. Nothing is done where
    /// there is more than somebody waits for who has this `patience`.
    pub fn finish(mut self, patience: Duration) {
        if Duration::from_millis(self.behind().saturating_mul(1000) / FASTEST) > patience {
            return;
        }
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
                let released = self.indexer().map(|indexer| indexer.release_spool());
                // The next reader finds it, and that nothing of it is missing.
                drop(released);
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

fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<_> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}
