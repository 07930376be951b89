//! The indexer's thread: asleep while nothing happens, never in the way of the session.

use super::recorder::Files;
use super::warning::Warning;
use super::worker::{Need, RETRY, Worker};
use crate::capture::gauge::STALL;
use crate::capture::stdio::Gauges;
use crate::capture::tap::Tap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long the end of a session may wait for the recording. Clients kill after 2 s.
pub(super) const PATIENCE: Duration = Duration::from_millis(150);

/// After the first sign of traffic, how long more of it is gathered before it is indexed: waking
/// for every chunk costs the session a tenth of its round trips, and viewers look every 33 ms.
const GATHER: Duration = Duration::from_millis(5);

/// A running indexer thread.
pub struct Indexing {
    worker: Shared,
    thread: thread::Thread,
    stop: SyncSender<()>,
}

/// Held by the thread that indexes: beside the session the indexer's, at its end the finisher's,
/// which takes the worker out.
type Shared = Arc<Mutex<Option<Worker>>>;

impl Indexing {
    /// Starts indexing `files` as the tap fills them. Without a thread all is left to the end.
    pub fn start(files: Files, tap: &Arc<Tap>, gauges: &Gauges, warning: &Arc<Warning>) -> Self {
        let (stop, stopped) = sync_channel(1);
        let worker = Arc::new(Mutex::new(Some(Worker::new(files, tap, warning))));
        let indexer = Indexer {
            worker: Arc::clone(&worker),
            tap: Arc::clone(tap),
            gauges: gauges.clone(),
            stopped,
        };
        let builder = thread::Builder::new().name("indexer".into());
        let thread = builder.spawn(move || indexer.run());
        let thread = thread.map_or_else(|_| thread::current(), |handle| handle.thread().clone());
        tap.set_indexer(thread.clone());
        thread.unpark();
        Self {
            worker,
            thread,
            stop,
        }
    }

    /// The session is over: waits so long for the recording to be finished.
    ///
    /// A thread of normal priority does it. The indexer's cannot get its own back, and beside
    /// busy processes it would be late for the few milliseconds of work that are left.
    pub fn finish(self, patience: Duration) {
        let _ = self.stop.try_send(());
        self.thread.unpark();
        let (report, done) = sync_channel(1);
        let worker = self.worker;
        let finisher = thread::Builder::new().name("finisher".into());
        let finisher = finisher.spawn(move || {
            if let Some(worker) = lock(&worker).take() {
                worker.finish();
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

/// The thread that indexes beside the session.
struct Indexer {
    worker: Shared,
    tap: Arc<Tap>,
    gauges: Gauges,
    stopped: Receiver<()>,
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
            (_, true) => thread::park_timeout(STALL),
            (Need::Later, false) => thread::park_timeout(RETRY),
            (Need::None, false) => thread::park(),
        }
        match self.stopped.recv_timeout(GATHER) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => true,
            Err(RecvTimeoutError::Timeout) => false,
        }
    }
}
