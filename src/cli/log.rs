//! `MCPREEL_LOG=debug`: what the program does, for whoever looks into "it hung".
//!
//! The lines of all processes go to `mcpreel.log` beside the viewer's state, never to a terminal or a
//! pipe. They have no bytes of the traffic. Without the variable nothing is opened or written.

use mcpreel_config::Environment;
use mcpreel_share::phrases::when;
use mcpreel_trace::clock::wall_clock_ns;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Mutex;
use tracing::Level;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

const VARIABLE: &str = "MCPREEL_LOG";

/// A longer log is begun anew.
const LONGEST: u64 = 16 << 20;

/// Begins the log, if it is asked for. Where it cannot be written there is none.
pub fn begin() {
    let Some(wanted) = std::env::var_os(VARIABLE).filter(|wanted| !wanted.is_empty()) else {
        return;
    };
    // Whoever writes `1` or `on` wants to see what happens; `1` is also the level of errors.
    let level = wanted.to_str().filter(|wanted| *wanted != "1");
    let level = level.and_then(|wanted| wanted.parse().ok());
    if let Some(file) = open() {
        let log = tracing_subscriber::fmt()
            .with_max_level(level.unwrap_or(Level::DEBUG))
            .with_timer(TimeAndProcess)
            .with_ansi(false)
            .log_internal_errors(false)
            .with_writer(Mutex::new(file));
        let _ = tracing::subscriber::set_global_default(log.finish());
        tracing::debug!(version = env!("CARGO_PKG_VERSION"), "begun");
    }
}

fn open() -> Option<File> {
    let path = Environment::of_process().state_file()?;
    let path = path.with_file_name("mcpreel.log");
    std::fs::create_dir_all(path.parent()?).ok()?;
    let mut options = OpenOptions::new();
    let file = options.append(true).create(true).mode(0o600).open(path);
    let file = file.ok()?;
    if file.metadata().is_ok_and(|it| it.len() > LONGEST) {
        file.set_len(0).ok()?;
    }
    Some(file)
}

/// Several processes write the same log.
struct TimeAndProcess;

impl FormatTime for TimeAndProcess {
    fn format_time(&self, out: &mut Writer<'_>) -> fmt::Result {
        write!(
            out,
            "{} {}",
            when::rfc3339(wall_clock_ns()),
            std::process::id()
        )
    }
}
