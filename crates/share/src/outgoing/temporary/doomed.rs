//! What is removed when a signal ends us.
//!
//! Whoever is ended by a signal drops nothing, so a thread of its own waits for signals: it removes
//! what there is, and ends the process as the signal would have.

use mcpreel_capture::process::inspect;
use mcpreel_store::record::{Ending, end_as};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;

/// What is removed when a signal comes.
static DOOMED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

static WATCH: Once = Once::new();

/// Whether somebody else takes care of signals.
static HANDED_OVER: AtomicBool = AtomicBool::new(false);

/// From now on somebody else ends us when a signal comes, and has what there is [removed](remove)
/// before, or by [`Sweep`].
pub fn hand_signals_over() {
    HANDED_OVER.store(true, Ordering::SeqCst);
}

/// Removes what there is: whoever is ended by a signal drops nothing.
pub fn remove() {
    remove_all(&doomed());
}

/// Removes what there is when it is dropped, also by a panic.
#[derive(Debug)]
pub struct Sweep;

impl Drop for Sweep {
    fn drop(&mut self) {
        remove();
    }
}

fn remove_all(doomed: &BTreeSet<PathBuf>) {
    for path in doomed {
        let _ = if path.is_dir() {
            std::fs::remove_dir_all(path)
        } else {
            std::fs::remove_file(path)
        };
    }
}

/// A path that is removed when a signal comes, for as long as this value lives.
#[derive(Debug)]
pub(super) struct Doomed(PathBuf);

impl Doomed {
    /// `path`, which is among `all` from now on.
    pub fn among(all: &mut BTreeSet<PathBuf>, path: &Path) -> Self {
        all.insert(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Doomed {
    fn drop(&mut self) {
        doomed().remove(&self.0);
    }
}

/// All of them; held as long as something is made that is to be among them.
pub(super) fn doomed() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A panic of another thread leaves a set that is whole.
    DOOMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to wait for signals, but those that were ignored when we were started.
pub(super) fn watch() {
    WATCH.call_once(|| {
        let ignored = inspect::dispositions("self").unwrap_or_default().0;
        let signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];
        let handled = signals
            .into_iter()
            .filter(|signal| !ignored.contains(*signal));
        // Without it a signal leaves files behind, which is no reason to refuse.
        if let Ok(mut signals) = Signals::new(handled) {
            let builder = thread::Builder::new().name("signals".into());
            drop(builder.spawn(move || signals.forever().for_each(end)));
        }
    });
}

fn end(signal: i32) {
    if HANDED_OVER.load(Ordering::SeqCst) {
        return;
    }
    // Held until the end: nothing new is made meanwhile.
    let doomed = doomed();
    remove_all(&doomed);
    let _ = end_as(Ending::Signal(signal));
}
