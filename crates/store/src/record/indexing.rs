//! The indexer's thread: asleep while nothing happens, never in the way of the session.

use super::recorder::{Files, Warning};
use crate::indexer::{Budget, Finished, IndexError, Indexer};
use crate::schema::State;
use mcpreel_capture::gauge::STALL;
use mcpreel_capture::spool::{SpoolReader, Tail};
use mcpreel_capture::stdio::Gauges;
use mcpreel_capture::tap::Tap;
use mcpreel_trace::clock::Moment;
use nix::sys::statvfs::statvfs;
use std::path::Path;
use std::sync::atomic::Ordering;
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
    pub fn start(
        files: &Arc<Files>,
        tap: &Arc<Tap>,
        gauges: &Gauges,
        warning: &Arc<Warning>,
    ) -> Self {
        let over = Arc::<Over>::default();
        let worker = Arc::new(Mutex::new(Some(Worker {
            files: Arc::clone(files),
            tap: Arc::clone(tap),
            indexer: None,
            retry_at: Moment(0),
            disk_at: Moment(0),
            short_of_disk: false,
            failures: 0,
            warning: Arc::clone(warning),
        })));
        let index = {
            let (worker, over) = (Arc::clone(&worker), Arc::clone(&over));
            let (tap, gauges) = (Arc::clone(tap), gauges.clone());
            move || {
                // At normal priority it would take a third of the pumps' speed in a flood.
                let _ = rustix::process::setpriority_process(None, 19);
                let mut need = Need::None;
                while !rest(need, &gauges, &tap, &over) {
                    need = lock(&worker).as_mut().map_or(Need::None, Worker::work);
                }
            }
        };
        let thread = thread::Builder::new().name("indexer".into()).spawn(index);
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

/// A panic of another thread must not stop the session; it leaves what a failed transaction does.
pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sleeps until there is something to index. `true`: the session is over.
fn rest(need: Need, gauges: &Gauges, tap: &Tap, over: &Over) -> bool {
    let watched = gauges.iter().map(|gauge| gauge.watch(tap));
    let writing = watched.fold(false, |any, writing| any | writing);
    match (need, writing) {
        (Need::Now, _) => {}
        (Need::Rest, _) => return over.wait(REST),
        (_, true) => thread::park_timeout(STALL),
        (Need::Later, false) => thread::park_timeout(RETRY),
        (Need::None, false) => thread::park(),
    }
    over.wait(GATHER)
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
        *lock(&self.is_over) = true;
        self.changed.notify_all();
    }

    fn wait(&self, timeout: Duration) -> bool {
        let goes_on = |is_over: &mut bool| !*is_over;
        let changed = &self.changed;
        let waited = changed.wait_timeout_while(lock(&self.is_over), timeout, goes_on);
        *waited.unwrap_or_else(PoisonError::into_inner).0
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
fn shortage(path: &Path) -> Option<String> {
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
const RETRY: Duration = Duration::from_millis(500);

/// After so many attempts the user is told while the session goes on. A reader that is in the way
/// for once is nobody's business.
const ATTEMPTS: u32 = 3;

/// Bytes of the journal that no machine indexes in a second. Who has less time than that takes would
/// wait in vain: the next reader completes the recording in any case.
const FASTEST: u64 = 100 << 20;

/// Whether there is something to index.
#[derive(Clone, Copy)]
enum Need {
    None,
    Now,
    /// The indexer is behind, and more came than it took in.
    Rest,
    /// The recording could not be written and it is too early for another attempt, or the spool
    /// holds more disk space than it needs.
    Later,
}

struct Worker {
    files: Arc<Files>,
    tap: Arc<Tap>,
    indexer: Option<Indexer>,
    retry_at: Moment,
    disk_at: Moment,
    short_of_disk: bool,
    failures: u32,
    warning: Arc<Warning>,
}

impl Worker {
    /// Runs a transaction, and looks at the disk. Returns what is left to do.
    fn work(&mut self) -> Need {
        self.look_at_disk();
        let was_behind = self.behind();
        self.drain(Tail::Growing);
        self.warning.tell(&self.tap);
        if self.failures >= ATTEMPTS {
            self.warning.tell_problem();
        }
        match self.behind() {
            // What a burst took of the disk is given back when nothing more comes.
            0 if !self.tap.is_trim() => Need::Later,
            0 => Need::None,
            _ if self.tap.clock().now() < self.retry_at => Need::Later,
            behind if behind > was_behind => Need::Rest,
            _ => Need::Now,
        }
    }

    /// Bytes of the journal that are not indexed.
    fn behind(&self) -> u64 {
        let position = self.indexer.as_ref().map_or(0, Indexer::position);
        self.written().saturating_sub(position)
    }

    fn written(&self) -> u64 {
        self.tap.written().load(Ordering::Acquire)
    }

    /// Runs a transaction, if there is something to put into it and it is not too early for another
    /// attempt. `false`: there is more than it could take.
    fn drain(&mut self, tail: Tail) -> bool {
        if self.behind() == 0 || self.tap.clock().now() < self.retry_at {
            return true;
        }
        let budget = Budget::beside_a_session(self.tap.clock());
        let stepped = self.indexer().and_then(|it| it.step(tail, &budget));
        match stepped {
            Ok(caught_up) => {
                self.failures = 0;
                self.warning.set_problem(None);
                caught_up
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
        let error: &dyn std::error::Error = error;
        let causes = std::iter::successors(Some(error), |error| error.source());
        let causes: Vec<_> = causes.map(ToString::to_string).collect();
        let rest = if self.tap.is_linked() {
            let spool = self.files.spool.display();
            format!("it is kept in {spool} and will be completed when it is next read")
        } else {
            String::from("its files were removed meanwhile, and nothing of it is kept")
        };
        self.warning.set_problem(Some(format!(
            "the session goes on, but its recording cannot be written ({}); {rest}",
            causes.join(": "),
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
        self.tap.trim();
        let shortage = shortage(&self.files.spool);
        if shortage.is_some() != self.short_of_disk {
            self.short_of_disk = shortage.is_some();
            self.tap.refuse(shortage.as_deref());
        }
    }

    /// Drains the rest, finishes the recording and removes the spool. The process may end in the
    /// middle of it: whatever is not committed then is still in the spool. Nothing is done where
    /// there is more than somebody waits for who has this `patience`.
    fn finish(mut self, patience: Duration) {
        if Duration::from_millis(self.behind().saturating_mul(1000) / FASTEST) > patience {
            return;
        }
        self.retry_at = Moment(0);
        while !self.drain(Tail::Final) {}
        if self.failures > 0 || self.behind() > 0 {
            return;
        }
        if let Err(error) = self.indexer().and_then(complete) {
            self.failed(&error);
        }
    }
}

/// Makes a drained recording one plain file, without a spool.
fn complete(indexer: &mut Indexer) -> Result<(), IndexError> {
    let finished = indexer.finish(State::Complete)?;
    if finished == Finished::Pending {
        return Ok(());
    }
    // Where it stays, the next reader finds that nothing of it is missing.
    drop(indexer.release_spool());
    let mut is_wal = finished == Finished::StillWal;
    while is_wal {
        // A viewer lets go of the file within 33 ms of seeing that it is complete.
        thread::sleep(Duration::from_millis(5));
        is_wal = !indexer.leave_wal().unwrap_or(true);
    }
    Ok(())
}
