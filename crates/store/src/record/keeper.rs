//! The thread beside the pumps that looks after all else: the process that indexes, stalls, and the
//! disk. Asleep while nothing happens, never in the way of the session.

use super::indexer_process::{PROBLEM_END, Written};
use super::recorder::{Files, Warning};
use mcpreel_capture::gauge::STALL;
use mcpreel_capture::stdio::Gauges;
use mcpreel_capture::tap::Tap;
use mcpreel_trace::clock::Moment;
use nix::sys::statvfs::statvfs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// The wait at the end of a session for the recording. Clients kill after 2 s.
const PATIENCE: Duration = Duration::from_millis(150);

/// After the first sign of traffic, how long more of it is gathered before the indexer is woken:
/// waking for every chunk costs the session a tenth of its round trips, and viewers look every 33 ms.
const GATHER: Duration = Duration::from_millis(10);

/// Disk space that the spool does not need any more is given back after this much time: what comes
/// meanwhile is written twice as fast into pages that are there.
const HOLD: Duration = Duration::from_millis(500);

/// Until it is given back it is looked at this often.
const QUIET: Duration = Duration::from_millis(250);

/// The time between two looks at the room on the disk while traffic flows.
const LOOK_AT_DISK: Duration = Duration::from_millis(250);

/// An indexer that has ended is started again after this; after each further end in twice the time.
const RESTART: Duration = Duration::from_secs(1);

/// Bytes of the journal that no machine indexes in a second. Who has less time than that takes would
/// wait in vain: the indexer goes on without us.
const FASTEST: u64 = 100 << 20;

/// The program that indexes: this one. Without it the next reader of a recording does.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// From now on each recording is indexed by a process of this program, which is to call
/// [`super::indexer_process::main`] for it. Tests have another program.
pub fn index_by_this_program() {
    // This name is the running program's, also when an update has replaced its file.
    let running = Path::new("/proc/self/exe");
    let program = if running.exists() {
        Ok(running.to_owned())
    } else {
        std::env::current_exe()
    };
    drop(program.map(|program| PROGRAM.set(program)));
}

/// The thread of one recording.
pub struct Keeping {
    over: Arc<Over>,
    thread: thread::Thread,
    done: Receiver<()>,
}

impl Keeping {
    /// Begins to look after `files`. Without a thread all is left to the next reader.
    pub fn start(
        files: &Arc<Files>,
        tap: &Arc<Tap>,
        gauges: &Gauges,
        warning: &Arc<Warning>,
    ) -> Self {
        let over = Arc::<Over>::default();
        let (report, done) = sync_channel(1);
        let mut keeper = Keeper {
            files: Arc::clone(files),
            tap: Arc::clone(tap),
            gauges: gauges.clone(),
            over: Arc::clone(&over),
            warning: Arc::clone(warning),
            indexer: None,
            start_at: Moment(0),
            pause: RESTART,
            said: Vec::new(),
            disk_at: Moment(0),
            trim_at: None,
            short_of_disk: false,
        };
        let keep = move || {
            while !keeper.rest() {
                keeper.work();
            }
            keeper.finish();
            // Nobody waits any more if it took too long.
            let _ = report.send(());
        };
        let thread = thread::Builder::new().name("keeper".into()).spawn(keep);
        let thread = thread.map_or_else(|_| thread::current(), |handle| handle.thread().clone());
        tap.set_keeper(thread.clone());
        thread.unpark();
        Self { over, thread, done }
    }

    /// The session is over: waits a moment for the recording to be finished, not at all where that
    /// would be in vain. The indexer goes on after us.
    pub fn finish(self) {
        self.over.say();
        self.thread.unpark();
        let _ = self.done.recv_timeout(2 * PATIENCE);
    }
}

struct Keeper {
    files: Arc<Files>,
    tap: Arc<Tap>,
    gauges: Gauges,
    over: Arc<Over>,
    warning: Arc<Warning>,
    /// Our end of the indexer's standard input.
    indexer: Option<UnixStream>,
    start_at: Moment,
    pause: Duration,
    /// What the indexer said, up to its last line.
    said: Vec<u8>,
    disk_at: Moment,
    /// When disk space that is not needed is given back.
    trim_at: Option<Moment>,
    short_of_disk: bool,
}

impl Keeper {
    /// Sleeps until there is something to do. `true`: the session is over.
    fn rest(&self) -> bool {
        let watched = self.gauges.iter().map(|gauge| gauge.watch(&self.tap));
        let writing = watched.fold(false, |any, writing| any | writing);
        if writing {
            thread::park_timeout(STALL);
        } else if !self.tap.is_trim() || self.indexer.is_none() {
            thread::park_timeout(QUIET);
        } else {
            thread::park();
        }
        self.over.wait(GATHER)
    }

    fn work(&mut self) {
        let now = self.tap.clock().now();
        if now >= self.disk_at {
            self.disk_at = now + LOOK_AT_DISK;
            if !self.tap.is_trim() && now >= *self.trim_at.get_or_insert(now + HOLD) {
                self.tap.trim();
            }
            if self.tap.is_trim() {
                self.trim_at = None;
            }
            self.look_at_disk();
        }
        if self.indexer.is_none() && now >= self.start_at {
            self.start_at = now + self.pause;
            self.pause *= 2;
            // Where it fails, for example since there are too many processes, it is tried again.
            let started = start_indexer(&self.files.spool);
            tracing::debug!(error = ?started.as_ref().err(), "an indexer is started");
            self.indexer = started.ok();
        }
        self.wake();
        self.listen();
        self.warning.tell(&self.tap);
    }

    /// Tells the indexer how much is written.
    fn wake(&mut self) {
        let Some(indexer) = &mut self.indexer else {
            return;
        };
        let written: Written = self.tap.written().load(Ordering::Acquire).to_le_bytes();
        match indexer.write(&written) {
            // It has more to read than it comes to, and is awake.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => {
                tracing::debug!(?error, "the indexer has ended");
                self.indexer = None;
            }
            Ok(_) => {}
        }
    }

    /// Takes what the indexer says of itself; returns whether it has ended.
    fn listen(&mut self) -> bool {
        let Some(indexer) = &mut self.indexer else {
            return true;
        };
        let mut bytes = [0; 4096];
        let ended = match indexer.read(&mut bytes) {
            Ok(0) => true,
            Ok(n) => {
                self.said.extend(&bytes[..n]);
                false
            }
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        };
        let mut said = self.said.split(|byte| *byte == PROBLEM_END).rev();
        let rest = said.next().unwrap_or_default().to_vec();
        if let Some(problem) = said.next() {
            let problem = String::from_utf8_lossy(problem).into_owned();
            self.warning
                .set_problem(Some(problem).filter(|it| !it.is_empty()));
            self.warning.tell_problem();
        }
        self.said = rest;
        ended
    }

    fn look_at_disk(&mut self) {
        let shortage = shortage(&self.files.spool);
        if shortage.is_some() != self.short_of_disk {
            self.short_of_disk = shortage.is_some();
            self.tap.refuse(shortage.as_deref());
        }
    }

    /// Lets the indexer come to its end, and waits for that if it can come in time.
    fn finish(&mut self) {
        self.work();
        let Some(indexer) = &self.indexer else {
            return;
        };
        let _ = indexer.shutdown(Shutdown::Write);
        let written = self.tap.written().load(Ordering::Acquire);
        let behind = written.saturating_sub(self.tap.drained());
        if Duration::from_millis(behind.saturating_mul(1000) / FASTEST) > PATIENCE {
            return;
        }
        let deadline = self
            .tap
            .clock()
            .deadline(u64::try_from(PATIENCE.as_nanos()).unwrap_or(0));
        let _ = indexer.set_nonblocking(false);
        while deadline.left_ns() > 0 {
            let left = Duration::from_nanos(deadline.left_ns().max(1));
            let _ = self
                .indexer
                .as_ref()
                .map(|it| it.set_read_timeout(Some(left)));
            if self.listen() {
                break;
            }
        }
    }
}

/// Starts the process that indexes `spool`. It has none of the descriptors that the host gave us, and
/// a process group of its own: what the host does to ours is not meant for it. A session of its own
/// would have its own share of the processors on Linux (`sched_autogroup`), whatever its niceness: it
/// cost each round trip 2 µs.
fn start_indexer(spool: &Path) -> std::io::Result<UnixStream> {
    let program = PROGRAM.get().ok_or(ErrorKind::NotFound)?;
    let (ours, its) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Command::new(program)
        .arg0("mcpreel")
        .arg(super::indexer_process::COMMAND)
        .arg(std::path::absolute(spool)?)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::from(OwnedFd::from(its)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // It is never waited for: what it used would be counted as the server's.
    Ok(ours)
}

/// A panic of another thread must not stop the session.
pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
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

// Room on the disk, and disks that are far away.

/// A full disk harms everything else on the machine: so much is left to it.
const RESERVE: u64 = 1 << 30;

/// On disks under 50 GiB the reserve is this part of the whole.
const RESERVE_PART: u64 = 50;

/// Why nothing more should be written beside `path`; `None` if there is room.
pub(super) fn shortage(path: &Path) -> Option<String> {
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
