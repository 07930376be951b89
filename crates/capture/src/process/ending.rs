//! How a server ended.

use mcpreel_trace::event::EventKind;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use nix::sys::time::{TimeVal, TimeValLike};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

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
