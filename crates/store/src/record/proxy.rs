//! Records a server that is reached by a URL, until somebody ends it.

use super::{Options, Recorder};
use mcpreel_capture::net::{self, Listener, Plan};
use mcpreel_capture::process::signals;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::event::EventKind;
use std::io;

/// Why a proxy did not come about, or came to its end.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    #[error("cannot listen at {at}: {source}")]
    Listen { at: String, source: io::Error },
    #[error("the proxy could not go on")]
    Serve(#[source] io::Error),
}

/// Relays and records connections until a signal comes. `ready` is called once clients can connect,
/// with the URL that they have to use.
pub fn proxy(options: &Options, plan: Plan, ready: impl FnOnce(&str)) -> Result<(), ProxyError> {
    signals::survive_large_files();
    let listener = Listener::open(&plan).map_err(|source| {
        let at = plan
            .listen
            .map_or_else(|| net::PORT.to_string(), |at| at.to_string());
        ProxyError::Listen { at, source }
    })?;
    let mut recorder = Recorder::create(options, Clock::start());
    let tap = recorder.tap();
    recorder.record_remarks(options);
    let url = listener.url(&plan);
    tap.event(EventKind::Listening {
        url: plan.recorded(&url),
        upstream: plan.recorded(&plan.upstream.to_string()),
    });
    recorder.start();
    ready(&url);
    let served = net::serve(plan, listener, &tap);
    tap.end(None);
    recorder.finish();
    served.map_err(ProxyError::Serve)
}
