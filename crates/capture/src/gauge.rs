//! What a pump is doing right now, for whoever watches it.
//!
//! Two questions are asked from outside: "has a write been hanging?" (by the keeper's thread,
//! which looks every 100 ms while one is under way) and "may the process end?" (by the main
//! thread). Both are answered from atomics, without a lock on the hot path.

use super::tap::Tap;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// A write that takes longer is a stall: somebody does not read.
pub const STALL: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct Gauge {
    stream: StreamId,
    /// Between reading and having delivered.
    busy: AtomicBool,
    /// When the bytes that are being written were read, plus one; 0 while nothing is written.
    writing_since: AtomicU64,
    /// Bytes read and not yet delivered.
    pending: AtomicU64,
    last_read: AtomicU64,
    /// When a write that had been hanging last went on.
    resumed: AtomicU64,
    stalled: AtomicBool,
    /// Set by the main thread: read nothing more.
    closing: AtomicBool,
}

impl Gauge {
    pub fn new(stream: StreamId) -> Self {
        Self {
            stream,
            busy: AtomicBool::new(false),
            writing_since: AtomicU64::new(0),
            pending: AtomicU64::new(0),
            last_read: AtomicU64::new(0),
            resumed: AtomicU64::new(0),
            stalled: AtomicBool::new(false),
            closing: AtomicBool::new(false),
        }
    }

    pub fn stream(&self) -> StreamId {
        self.stream
    }

    /// The pump is about to read. `false`: it must not, the process is about to end.
    pub(super) fn begin_read(&self) -> bool {
        self.busy.store(true, Ordering::SeqCst);
        let allowed = !self.closing.load(Ordering::SeqCst);
        if !allowed {
            self.busy.store(false, Ordering::SeqCst);
        }
        allowed
    }

    /// `bytes` that were read at `t` are about to be written.
    pub fn begin_write(&self, t: Moment, bytes: usize) {
        self.last_read.store(t.0, Ordering::Relaxed);
        self.pending.store(bytes as u64, Ordering::Relaxed);
        self.writing_since.store(t.0 + 1, Ordering::Release);
    }

    /// Of the bytes being written, `bytes` are left.
    pub fn left(&self, bytes: usize) {
        self.pending.store(bytes as u64, Ordering::Relaxed);
    }

    /// The write has ended; says so in the recording if it had stalled.
    pub fn end_write(&self, tap: &Tap) {
        let (now, began) = (
            tap.clock().now(),
            self.writing_since.load(Ordering::Relaxed),
        );
        if now.since(Moment(began.saturating_sub(1))) >= STALL {
            self.resumed.store(now.0, Ordering::SeqCst);
        }
        // Whoever sees that nothing is pending sees since when.
        self.pending.store(0, Ordering::Release);
        let since = self.writing_since.swap(0, Ordering::AcqRel);
        self.end_stall(tap, since);
    }

    fn end_stall(&self, tap: &Tap, since: u64) {
        if self.stalled.swap(false, Ordering::AcqRel) {
            let lasted_ns = tap.clock().now().0.saturating_sub(since.saturating_sub(1));
            tap.event(EventKind::StallEnded {
                stream: self.stream,
                lasted_ns,
            });
        }
    }

    /// The pump waits for more, or has ended.
    pub(super) fn idle(&self) {
        self.busy.store(false, Ordering::SeqCst);
    }

    /// Whether a write is under way; if it has been hanging for [`STALL`], puts that on record,
    /// once.
    pub fn watch(&self, tap: &Tap) -> bool {
        let since = self.writing_since.load(Ordering::Acquire);
        if since == 0 {
            return false;
        }
        let hanging = tap.clock().now().since(Moment(since - 1)) >= STALL;
        if hanging && !self.stalled.load(Ordering::Acquire) {
            let bytes = self.pending.load(Ordering::Relaxed);
            tap.event(EventKind::StallBegan {
                stream: self.stream,
                bytes,
            });
            self.stalled.store(true, Ordering::Release);
            if self.writing_since.load(Ordering::Acquire) != since {
                // The write ended in between, and did not see that it had stalled.
                self.end_stall(tap, since);
            }
        }
        true
    }

    /// Tells the pump to read nothing more.
    pub fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
    }

    /// Whether the pump may hold bytes that it has not delivered.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::SeqCst)
    }

    /// Bytes that are being written now; 0 while nothing is.
    pub fn pending(&self) -> u64 {
        self.pending.load(Ordering::Acquire)
    }

    /// When a write that had been hanging last went on.
    pub fn resumed(&self) -> Moment {
        Moment(self.resumed.load(Ordering::SeqCst))
    }

    pub fn last_read(&self) -> Moment {
        Moment(self.last_read.load(Ordering::Relaxed))
    }
}
