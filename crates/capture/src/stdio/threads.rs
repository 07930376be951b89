//! The threads beside the main one, each of which tells it when something has happened.

use super::plumbing::StreamEnds;
use super::{Gauges, Notice};
use crate::process::ending::wait_without_reaping;
use crate::pump::Pump;
use crate::tap::Tap;
use mcpreel_trace::frame::StreamId;
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
