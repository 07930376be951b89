//! `mcpreel proxy`: the recorder in the place of a server that is reached by a URL.

use super::exit::{Exit, Failure, Outcome};
use super::folder::{Folder, Settings};
use super::output;
use super::{quantity, run};
use clap::Args;
use mcpreel_capture::net::credentials::Credentials;
use mcpreel_capture::net::tls::{CaError, Tls};
use mcpreel_capture::net::upstream::Upstream;
use mcpreel_capture::net::{Plan, is_loopback};
use mcpreel_store::record::{self, proxy::proxy};
use mcpreel_wire::text::escape;
use std::ffi::OsString;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

/// Record a server that is reached by a URL
///
/// Listens on this machine, relays every connection to the server at URL, and records what goes over it,
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
    #[arg(value_name = "URL", value_parser = Upstream::parse)]
    url: Upstream,
    /// Where to listen [default: 127.0.0.1:7339, or the next free port]
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
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
    /// Add a header to each request; may be given several times
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header)]
    headers: Vec<(String, String)>,
    /// Pass Host, Origin and Referer as they are, and refuse no web page: behind a tunnel, for hosts in
    /// a cloud
    #[arg(long)]
    keep_host: bool,
    #[command(flatten)]
    trust: Trust,
    /// Record credentials as well: tokens, cookies, codes
    #[arg(long)]
    keep_credentials: bool,
    /// Start the server as well: record what it prints, and end with it
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Whom a server with TLS has to be.
#[derive(Debug, Args)]
struct Trust {
    /// Believe this authority as well, for a server with TLS: its certificate in PEM
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Believe any certificate of the server
    #[arg(long)]
    insecure: bool,
}

impl Trust {
    fn tls(&self) -> Result<Tls, CaError> {
        Tls::new(self.ca.as_deref(), self.insecure)
    }
}

impl Proxy {
    pub fn run(self) -> Outcome {
        if let Some(at) = self
            .listen
            .filter(|at| !is_loopback(at.ip()) && !self.expose)
        {
            let why = format!(
                "other machines can reach {at}, and the server behind it with them; --expose says that \
                 it is meant"
            );
            return Err(Failure::Usage(why));
        }
        let settings = Settings::read();
        let mut faults: Vec<String> = settings.faults().collect();
        let [max_size, slow_ns] = run::configured(&settings, &mut faults);
        let is_alone = self.command.is_empty();
        let name = self
            .name
            .or_else(|| is_alone.then(|| self.url.host().to_owned()));
        let (upstream, transport) = (self.url.to_string(), self.url.transport());
        let mut key = [0; 32];
        if !self.keep_credentials {
            getrandom::fill(&mut key)?;
        }
        let tls = self.url.is_tls().then(|| self.trust.tls());
        let tls = tls
            .transpose()
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let plan = Plan {
            upstream: self.url,
            tls,
            listen: self.listen,
            keep_host: self.keep_host,
            headers: self.headers,
            credentials: (!self.keep_credentials).then(|| Credentials::new(key)),
        };
        let options = record::Options {
            name: name.and_then(|name| run::usable(name, &mut faults)),
            command: self.command,
            dir: settings.recordings_dir(&self.folder),
            cwd: None,
            origin: "live",
            transport,
            url: Some(plan.recorded(&upstream)),
            parent: None,
            played: None,
            read_only_tools: Vec::new(),
            max_size: self.max_size.or(max_size),
            slow_ns,
            remarks: faults,
        };
        let is_everywhere = self.listen.is_some_and(|at| at.ip().is_unspecified());
        let others = if is_everywhere {
            "; on other machines, with an address of this one in it"
        } else {
            ""
        };
        let ready = |url: &str| {
            let put = format!(
                "put {} into your host{others} (Ctrl-C ends it)",
                escape(url)
            );
            output::say(&format!("recording {}: {put}", escape(&upstream)));
        };
        let ending = proxy(&options, plan, ready)?;
        Ok(Exit::Process(record::end_as(ending)))
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let text = match text.parse::<u16>() {
        Ok(port) => format!("127.0.0.1:{port}"),
        Err(_) => text.to_owned(),
    };
    let found = text
        .to_socket_addrs()
        .ok()
        .and_then(|mut found| found.next());
    found
        .ok_or_else(|| "an address and a port, for example 127.0.0.1:8000 or [::1]:8000".to_owned())
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header is NAME: VALUE")?;
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(format!("{name:?} is no name of a header"));
    }
    if value.contains(['\r', '\n', '\0']) {
        return Err("the value of a header is one line".to_owned());
    }
    Ok((name.to_owned(), value.trim().to_owned()))
}
