//! The indexer's thread: asleep while nothing happens, never in the way of the session.

use super::recorder::Files;
use super::warning::Warning;
use super::worker::{Need, RETRY, Worker};
use mcpreel_capture::gauge::STALL;
use mcpreel_capture::stdio::Gauges;
use mcpreel_capture::tap::Tap;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long the end of a session may wait for the recording. Clients kill after 2 s.
pub(super) const PATIENCE: Duration = Duration::from_millis(150);

/// After the first sign of traffic, how long more of it is gathered before it is indexed: waking
/// for every chunk costs the session a tenth of its round trips, and viewers look every 33 ms.
const GATHER: Duration = Duration::from_millis(5);

/// How long it rests where more comes than it takes in: it cannot catch up while that lasts, and the
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
        let indexer = Indexer {
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
struct Indexer {
    worker: Shared,
    tap: Arc<Tap>,
    gauges: Gauges,
    over: Arc<Over>,
}

impl Indexer {
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
