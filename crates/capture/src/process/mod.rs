//! The server as a process: what it was started with, its start, signals, its end, and who outlives
//! it.

pub mod context;
pub mod signals;
pub mod spawn;

use mcpreel_trace::event::EventKind;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use nix::sys::time::{TimeVal, TimeValLike};
use std::os::fd::RawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

// The descriptors that we were given beside the three standard ones.
//
// They are the server's: it inherits them. Kept open by us as well, they would hide from the host
// that the server has closed its own.

/// The descriptors above 2 that are open now. To be asked before we open any ourselves.
pub fn inherited() -> Vec<RawFd> {
    let dir = if cfg!(target_os = "linux") {
        "/proc/self/fd"
    } else {
        "/dev/fd"
    };
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    let numbers: Vec<RawFd> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    // The listing was read through a descriptor that is closed by now.
    let is_open = |number: &RawFd| std::fs::metadata(format!("{dir}/{number}")).is_ok();
    numbers.into_iter().filter(is_open).collect()
}

/// Closes our copies of what [`inherited`] listed, once the server has its own.
pub fn release(descriptors: Vec<RawFd>) {
    for descriptor in descriptors {
        // Nothing of ours has these numbers: they were taken before we opened anything.
        let _ = nix::unistd::close(descriptor);
    }
}

// How a server ended.

/// The event for the end of the server, the only child that was reaped.
pub fn exit_event(status: ExitStatus) -> EventKind {
    with_usage(status, UsageWho::RUSAGE_CHILDREN)
}

/// The event for our own end, where we were the server.
pub fn own_exit_event(status: ExitStatus) -> EventKind {
    with_usage(status, UsageWho::RUSAGE_SELF)
}

fn with_usage(status: ExitStatus, whose: UsageWho) -> EventKind {
    let usage = getrusage(whose).ok();
    let nanos = |time: TimeVal| {
        let micros = u64::try_from(time.num_microseconds()).unwrap_or(0);
        micros * 1_000
    };
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    EventKind::Exit {
        code: status.code(),
        signal: status.signal().map(signal_name),
        max_rss_bytes: usage.map_or(0, |u| u64::try_from(u.max_rss()).unwrap_or(0) * unit),
        user_ns: usage.map_or(0, |u| nanos(u.user_time())),
        system_ns: usage.map_or(0, |u| nanos(u.system_time())),
    }
}

pub fn signal_name(number: i32) -> String {
    Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |s| s.as_str().to_owned())
}

/// Waits for the end of process `server` and leaves it to the main thread to reap it: until then
/// its process id cannot belong to anybody else, so that no signal can reach a stranger.
pub fn wait_without_reaping(server: u32) {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let pid = i32::try_from(server)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(
            waitid(WaitId::Pid(pid), options),
            Err(rustix::io::Errno::INTR)
        ) {}
    }
}
