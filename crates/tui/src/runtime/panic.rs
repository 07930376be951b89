//! The end of a viewer that is broken itself.
//!
//! A panic on any thread ends the viewer: the terminal is given back before anything is said, the
//! report with its backtrace goes to a file of its own, and what stays on the terminal is one line
//! of what broke and one with the name of that file. Recording goes on elsewhere.

use std::backtrace::Backtrace;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::panic::PanicHookInfo;
use std::path::PathBuf;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Some thread has panicked: nothing may be drawn any more.
static BROKEN: AtomicBool = AtomicBool::new(false);

/// Names the key press, counted from 1, at which the viewer breaks on purpose, so that a test
/// sees what happens then. Not in release builds.
const BREAK: &str = "MCPREEL_PANIC_AT_KEY";

/// From here on a panic calls `give_back` first and is told afterwards.
pub(super) fn install(give_back: fn()) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(move |info| {
            // Whoever panics because somebody else has says nothing new.
            if !BROKEN.swap(true, Ordering::SeqCst) {
                give_back();
                tell(info);
            }
        }));
    });
}

/// An error once some thread has panicked.
pub(super) fn check() -> io::Result<()> {
    if BROKEN.load(Ordering::SeqCst) {
        return Err(io::Error::other(
            "the viewer has ended; the recording goes on",
        ));
    }
    Ok(())
}

/// Counts keys, so that a test can break the viewer at one of them.
#[derive(Debug, Default)]
pub(super) struct Fuse {
    left: Option<u32>,
}

impl Fuse {
    /// The key that the environment names; none in release builds.
    pub fn of_process() -> Self {
        let wanted = std::env::var(BREAK).ok().filter(|_| cfg!(debug_assertions));
        Self {
            left: wanted.and_then(|text| text.parse().ok()),
        }
    }

    pub fn burn(&mut self) {
        self.left = self.left.map(|left| left.saturating_sub(1));
        assert!(self.left != Some(0), "{BREAK} asks for it");
    }
}

fn tell(info: &PanicHookInfo<'_>) {
    let what = info.payload_as_str().unwrap_or("a value without words");
    let at = info.location().map(ToString::to_string).unwrap_or_default();
    let report = write_report(what, &at);
    let mut err = io::stderr().lock();
    // Nothing can be done if even this fails.
    let _ = writeln!(err, "mcpreel: the viewer panicked: {what} ({at})");
    let _ = match report {
        Ok(path) => writeln!(err, "mcpreel: the report is in {}", path.display()),
        Err(error) => writeln!(err, "mcpreel: the report could not be written: {error}"),
    };
}

fn write_report(what: &str, at: &str) -> io::Result<PathBuf> {
    let name = format!("mcpreel-panic-{}.log", std::process::id());
    let path = std::env::temp_dir().join(name);
    // Others may write into that folder as well: a file that is there already is left alone.
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    let version = env!("CARGO_PKG_VERSION");
    let backtrace = Backtrace::force_capture();
    writeln!(file, "mcpreel {version}\n{what}\nat {at}\n\n{backtrace}")?;
    Ok(path)
}
