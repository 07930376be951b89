//! Work that runs on a thread of its own until it is done or stopped.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Thread};
use std::time::Duration;

/// How long it is waited for where the viewer ends: it stops within a few frames. What it leaves
/// behind is removed by whoever ends the process.
const PATIENCE: Duration = Duration::from_secs(3);

/// Work that runs on a thread of its own.
pub(super) struct Errand {
    stop: Arc<AtomicBool>,
    thread: Thread,
    /// Hangs up when the thread has ended.
    end: Receiver<()>,
}

impl Errand {
    /// Starts it. It looks at what it is given every now and then, and ends once that is set.
    pub fn start(name: &str, work: impl FnOnce(&AtomicBool) + Send + 'static) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (alive, end) = sync_channel(0);
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new().name(name.to_owned());
        let handle = thread.spawn(move || {
            let _alive: SyncSender<()> = alive;
            work(&stopped);
        })?;
        let thread = handle.thread().clone();
        Ok(Self { stop, thread, end })
    }

    /// Tells it to end; it is not waited for.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }

    /// Tells it to end, and waits for that.
    pub fn end(self) {
        self.stop();
        let _ = self.end.recv_timeout(PATIENCE);
    }
}
