//! `mcpreel proxy`: the recorder in the place of a server that is reached by a URL.

use super::exit::{Exit, Failure, Outcome};
use super::folder::{Folder, Settings};
use super::output;
use super::reach::{Reach, ServerUrl};
use super::{bridge, listen, quantity, run};
use clap::Args;
use mcpreel_capture::net::Plan;
use mcpreel_capture::net::upstream::Upstream;
use mcpreel_share::phrases;
use mcpreel_store::library::spool_of;
use mcpreel_store::reader::Recording;
use mcpreel_store::record::proxy::{Finished, proxy};
use mcpreel_store::record::{self, Ending};
use mcpreel_store::recovery::{self, Outcome as Done};
use mcpreel_store::schema::is_id;
use mcpreel_trace::clock::Clock;
use mcpreel_wire::text::{count, escape, masked_url, plural};
use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// The makers of recordings of a proxy.
const ORIGINS: [&str; 3] = ["live", "demo", "replay"];

/// Bytes of a spool that are indexed in no time: the user waits for the count of what was recorded.
const LITTLE: u64 = 16 << 20;

/// On a busy machine that takes longer; an indexer that was stopped keeps nobody waiting for ever.
const PATIENCE: Duration = Duration::from_secs(10);

/// The wait where there may be more to index.
const SHORT: Duration = Duration::from_millis(500);

/// A free port of this machine alone.
const ANY_PORT: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));

/// Record a server that is reached by a URL
///
/// Listens on this machine, relays every connection to the server at URL, and records the traffic,
/// byte for byte: HTTP (streamable, or with events of 2024-11-05), WebSocket, lines over TCP. Put the
/// URL that it prints into the host in place of the server's. Ctrl-C ends it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel proxy https://api.example.com/mcp
  mcpreel proxy http://127.0.0.1:3000/mcp --header 'Authorization: Bearer …'
  mcpreel proxy tcp://127.0.0.1:9100
  mcpreel proxy http://127.0.0.1:3000/mcp -- node server.js

What passes is what either side sends, but for Host, Origin and Referer in requests, and
Location and the endpoint of events in responses, where they name this proxy or the server
itself. Each such change is on record.

Tokens, cookies and the like pass, but are not recorded: in their place stands ‹cred:1 9f3c›,
the same wherever the same value was sent. --keep-credentials records them.

A server that is started has no input; what it prints comes out on stderr, as does what mcpreel
says. Connections wait until it listens. mcpreel ends when it does, with its exit code.")]
pub struct Proxy {
    /// The server: http://, https://, ws://, wss:// or tcp://
    #[arg(value_name = "URL", value_parser = ServerUrl(Upstream::parse))]
    url: Upstream,
    /// Where to listen [default: 127.0.0.1:7339, or the next free port]
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen::address)]
    listen: Option<SocketAddr>,
    /// Allow an address that other machines can reach
    #[arg(long)]
    expose: bool,
    /// The name of the recording [default: the server's, or the command's]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    folder: Folder,
    /// Record at most this much traffic (connections go on), for example 500MB
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    max_size: Option<u64>,
    /// Forward Host, Origin and Referer unchanged, and accept requests of web pages: for a proxy behind
    /// a tunnel, which a host in a cloud dials
    #[arg(long)]
    keep_host: bool,
    /// Serve a host on stdin and stdout, and forward its messages to URL. `run --url` records both
    /// sides
    #[arg(long, conflicts_with_all = ["listen", "expose", "keep_host", "command"])]
    stdio: bool,
    /// The maker of the recording
    #[arg(long, hide = true, default_value = "live", value_parser = ORIGINS)]
    origin: String,
    /// The id of the recording
    #[arg(long, hide = true, value_name = "ID", value_parser = recording_id)]
    recording_id: Option<String>,
    /// The id of the recording of the other side
    #[arg(long, hide = true, value_name = "ID", value_parser = recording_id)]
    other_side: Option<String>,
    /// Start the server too, record what it prints, and end when it ends
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    #[command(flatten)]
    reach: Reach,
}

fn recording_id(text: &str) -> Result<String, String> {
    let id = is_id(text).then(|| text.to_owned());
    id.ok_or_else(|| "an id is eight hexadecimal digits".to_owned())
}

/// Tells the user which URL to put into the host; `is_everywhere`: other machines can use it too.
fn say_where(upstream: &str, url: &str, is_everywhere: bool) {
    let others = if is_everywhere {
        "; on other machines, with an address of this one in it"
    } else {
        ""
    };
    let (upstream, url) = (masked_url(upstream), escape(url));
    let put = format!("put {url} into your host{others} (Ctrl-C ends it)");
    output::say(&format!("recording {}: {put}", escape(&upstream)));
}

/// What was recorded, and the command that tells of it; `is_elsewhere`: not where commands look for it.
fn recorded(reel: &Path, is_elsewhere: bool) -> Result<String, Failure> {
    let left = fs::metadata(spool_of(reel)).map_or(0, |spool| spool.len());
    let patience = if left <= LITTLE { PATIENCE } else { SHORT };
    let done = recovery::drain_for(reel, Clock::start(), patience).map_err(anyhow::Error::from)?;
    let summary = Recording::open(reel)?.summary()?;
    let mut parts = vec![format!("recorded {}", escape(&summary.name))];
    // What is still to be indexed is not counted.
    if matches!(done, Done::Whole | Done::Completed { .. }) {
        parts.push(plural(summary.exchanges, "exchange"));
        let failed = (summary.failed > 0).then(|| format!("{} failed", count(summary.failed)));
        parts.extend(failed);
    }
    let named = if is_elsewhere {
        reel.to_string_lossy().into_owned()
    } else {
        summary.id
    };
    let named = phrases::command(&[named]);
    Ok(format!("{}: mcpreel why {named}", parts.join(", ")))
}

impl Proxy {
    pub fn run(self) -> Outcome {
        listen::check(self.listen, self.expose)?;
        let settings = Settings::read();
        let mut faults: Vec<String> = settings.faults().collect();
        let [max_size, slow_ns] = run::configured(&settings, &mut faults);
        let is_alone = self.command.is_empty();
        let name = self.name.or_else(|| is_alone.then(|| self.url.name()));
        let (upstream, transport) = (self.url.to_string(), self.url.transport());
        let tls = self.url.is_tls().then(|| self.reach.tls());
        let tls = tls
            .transpose()
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let mut headers = self.reach.headers().map_err(Failure::Usage)?;
        let credentials = self.reach.credentials(&headers)?;
        let own_client = self
            .stdio
            .then(|| (self.url.clone(), std::mem::take(&mut headers)));
        let plan = Plan {
            upstream: self.url,
            tls,
            listen: self.listen.or(self.stdio.then_some(ANY_PORT)),
            keep_host: self.keep_host,
            // `run --url` is a server of `run`, which leaves ignored what was.
            takes_ctrl_c: !self.stdio,
            headers,
            credentials,
            // Our own client says it itself.
            say: if self.stdio {
                |_| ()
            } else {
                |message| output::say(&escape(message))
            },
        };
        let options = record::Options {
            name: name.and_then(|name| run::usable(name, &mut faults)),
            command: self.command,
            secrets: self.reach.secrets(&upstream),
            dir: settings.recordings_dir(&self.folder),
            cwd: None,
            origin: (ORIGINS.into_iter().find(|it| **it == self.origin)).unwrap_or(ORIGINS[0]),
            transport,
            url: Some(plan.recorded(&upstream)),
            parent: None,
            id: self.recording_id,
            other_side: self.other_side,
            played: None,
            read_only_tools: Vec::new(),
            max_size: self.max_size.or(max_size),
            slow_ns,
            remarks: faults,
        };
        let is_everywhere = self.listen.is_some_and(|at| at.ip().is_unspecified());
        let was_there = Rc::new(Cell::new(true));
        let ready = |url: &str, address| {
            if let Some((url, headers)) = own_client {
                // The headers are the client's own: nobody else who finds the port gets them.
                return Some(bridge::own_client(&url, address, headers, &was_there));
            }
            say_where(&upstream, url, is_everywhere);
            None
        };
        let is_quiet = self.stdio || options.origin != ORIGINS[0];
        let Finished { mut ending, reel } = proxy(&options, plan, ready)?;
        if !was_there.get() {
            ending = Ending::Code(1);
        }
        if let Some(reel) = reel.filter(|_| !is_quiet) {
            let is_elsewhere = self.folder.dir.is_some();
            if let Ok(recorded) = recorded(&reel, is_elsewhere) {
                output::say(&recorded);
            }
        }
        Ok(Exit::Process(record::end_as(ending)))
    }
}
