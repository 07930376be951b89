//! Records a server that is reached by a URL, until somebody ends it.

use super::{Ending, Options, Recorder, conclude};
use mcpreel_capture::net::server::Server;
use mcpreel_capture::net::{self, Listener, OwnClient, Plan};
use mcpreel_capture::process::signals;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::event::EventKind;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Why a proxy did not come about, or came to its end.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    #[error("cannot listen at {at}: {source}")]
    Listen { at: String, source: io::Error },
    #[error("the proxy could not go on")]
    Serve(#[source] io::Error),
}

/// A proxy that has ended.
#[derive(Debug)]
pub struct Finished {
    pub ending: Ending,
    /// The recording, if one could be begun.
    pub reel: Option<PathBuf>,
}

/// Relays and records connections until a signal comes, or until the server of `options` has ended, where
/// that has a command. `ready` is called once clients can connect, with the URL that they have to use and
/// the address in it. A client of our own that it gives ends all when it is over.
pub fn proxy(
    options: &Options,
    plan: Plan,
    ready: impl FnOnce(&str, SocketAddr) -> Option<OwnClient>,
) -> Result<Finished, ProxyError> {
    signals::survive_large_files();
    let listener = Listener::open(&plan).map_err(|source| {
        let at = plan
            .listen
            .map_or_else(|| net::PORT.to_string(), |at| at.to_string());
        ProxyError::Listen { at, source }
    })?;
    let mut recorder = Recorder::create(options, Clock::start());
    let reel = recorder.path().map(Path::to_owned);
    let tap = recorder.tap();
    recorder.record_remarks(options);
    let (url, address) = (listener.url(&plan), listener.address());
    tap.event(EventKind::Listening {
        url: plan.recorded(&url),
        upstream: plan.recorded(&plan.upstream.to_string()),
    });
    let is_started = !options.command.is_empty();
    let server = is_started.then(|| Server::start(&options.command, &tap));
    let server = match server.transpose() {
        Ok(server) => server,
        Err(error) => {
            let ending = conclude(&Err(error), &recorder);
            recorder.finish();
            return Ok(Finished { ending, reel });
        }
    };
    let ended = net::serve(plan, listener, server, &tap, || {
        recorder.start();
        ready(&url, address)
    });
    let ending = if let Ok(Some(status)) = ended {
        conclude(&Ok(status), &recorder)
    } else {
        tap.end(None);
        Ending::Code(0)
    };
    recorder.finish();
    ended.map_err(ProxyError::Serve)?;
    Ok(Finished { ending, reel })
}
