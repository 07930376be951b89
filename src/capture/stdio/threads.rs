//! The threads beside the main one, each of which tells it when something has happened.

use super::plumbing::StreamEnds;
use super::{Gauges, Notice};
use crate::capture::pump::Pump;
use crate::capture::tap::Tap;
use crate::trace::frame::StreamId;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

/// A thread for each stream, one for signals, one that waits for the server.
pub(super) fn start(
    ends: Vec<StreamEnds>,
    tap: &Arc<Tap>,
    gauges: &Gauges,
    mut signals: SignalsInfo<WithOrigin>,
    server: u32,
    notify: &SyncSender<Notice>,
) -> io::Result<()> {
    for StreamEnds {
        stream,
        source,
        sink,
    } in ends
    {
        let gauge = Arc::clone(&gauges[usize::from(stream.0)]);
        let pump = Pump {
            source,
            sink,
            tap: Arc::clone(tap),
            gauge,
            keeps_sink: stream == StreamId::STDERR,
        };
        thread(stream.as_str(), notify, move |notify| {
            let kept = pump.run();
            drop(notify.send(Notice::PumpEnded(stream, kept)));
        })?;
    }
    thread("signals", notify, move |notify| {
        for origin in signals.forever() {
            drop(notify.send(Notice::Signal(origin)));
        }
    })?;
    thread("reaper", notify, move |notify| {
        wait_without_reaping(server);
        drop(notify.send(Notice::ServerEnded));
    })
}

fn thread(
    name: &str,
    notify: &SyncSender<Notice>,
    body: impl FnOnce(SyncSender<Notice>) + Send + 'static,
) -> io::Result<()> {
    let notify = notify.clone();
    std::thread::Builder::new()
        .name(name.into())
        .spawn(move || body(notify))
        .map(drop)
}

/// Waits for the end of process `server` and leaves it to the main thread to reap it: until then
/// its process id cannot belong to anybody else, so that no signal can reach a stranger.
fn wait_without_reaping(server: u32) {
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
