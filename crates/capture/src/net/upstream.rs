//! The server behind the URL: what the URL says, and how it is reached.

use super::is_loopback;
use super::tls::Tls;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::event::Step;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio_rustls::client::TlsStream;

/// A server that is reached over the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    scheme: Scheme,
    /// Without the brackets of an IPv6 address.
    host: String,
    port: u16,
    /// Path and query.
    target: String,
    authority: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
    Ws,
    Wss,
    Tcp,
}

const SCHEMES: [(&str, Scheme); 5] = [
    ("http", Scheme::Http),
    ("https", Scheme::Https),
    ("ws", Scheme::Ws),
    ("wss", Scheme::Wss),
    ("tcp", Scheme::Tcp),
];

impl Upstream {
    /// Reads a URL; an error says in one sentence what is wrong with it, and repeats none of it: a part that
    /// makes no sense may be a password.
    pub fn parse(url: &str) -> Result<Self, String> {
        let known = "http://, https://, ws://, wss:// or tcp://";
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(format!("a URL begins with {known}"));
        };
        let scheme_of = |(word, _): &&(&str, Scheme)| word.eq_ignore_ascii_case(scheme);
        let Some(&(_, scheme)) = SCHEMES.iter().find(scheme_of) else {
            return Err(format!(
                "such a URL cannot be recorded; one begins with {known}"
            ));
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        if authority.contains('@') {
            return Err("credentials belong into a header: --header 'Authorization: …'".to_owned());
        }
        let target = target.split('#').next().unwrap_or_default();
        let target = match target {
            "" => "/".to_owned(),
            query if query.starts_with('?') => format!("/{query}"),
            path => path.to_owned(),
        };
        let (host, port) = split(authority)?;
        let port = match (port, scheme) {
            (Some(port), _) => port,
            (None, Scheme::Http | Scheme::Ws) => 80,
            (None, Scheme::Https | Scheme::Wss) => 443,
            (None, Scheme::Tcp) => return Err("tcp:// needs a port: tcp://HOST:PORT".to_owned()),
        };
        let named = bracketed(host);
        let authority = match (port, scheme) {
            (80, Scheme::Http | Scheme::Ws) | (443, Scheme::Https | Scheme::Wss) => named,
            _ => format!("{named}:{port}"),
        };
        Ok(Self {
            scheme,
            host: host.to_owned(),
            port,
            target,
            authority,
        })
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    /// A name for recordings of it: its host, and on this machine, where all have the same, its port.
    pub fn name(&self) -> String {
        let host = match &*self.host {
            "::1" => "localhost".to_owned(),
            // No name has a colon in it.
            host => host.replace(':', "."),
        };
        let address = self.host.parse::<IpAddr>();
        if self.host == "localhost" || address.is_ok_and(is_loopback) {
            return format!("{host}-{}", self.port);
        }
        host
    }

    /// Path and query.
    pub fn target(&self) -> &str {
        &self.target
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn is_tls(&self) -> bool {
        matches!(self.scheme, Scheme::Https | Scheme::Wss)
    }

    /// Whether it carries lines, and no HTTP.
    pub fn is_tcp(&self) -> bool {
        self.scheme == Scheme::Tcp
    }

    /// The word for its transport in a recording.
    pub fn transport(&self) -> &'static str {
        match self.scheme {
            Scheme::Http | Scheme::Https => "http",
            Scheme::Ws | Scheme::Wss => "ws",
            Scheme::Tcp => "tcp",
        }
    }

    /// What the header `Host` says of it.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Its origin, as the header `Origin` has it (RFC 6454).
    pub fn origin(&self) -> String {
        let scheme = if self.is_tls() { "https" } else { "http" };
        format!("{scheme}://{}", self.authority())
    }

    /// The URL that a host has to use for the recorder that listens at `address`.
    pub fn url_at(&self, address: SocketAddr) -> String {
        let scheme = match self.scheme {
            Scheme::Http | Scheme::Https => "http",
            Scheme::Ws | Scheme::Wss => "ws",
            Scheme::Tcp => return format!("tcp://{address}"),
        };
        format!("{scheme}://{address}{}", self.target)
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = SCHEMES.iter().find(|(_, scheme)| *scheme == self.scheme);
        let scheme = word.map_or("", |(word, _)| word);
        let target = if self.is_tcp() { "" } else { &self.target };
        write!(f, "{scheme}://{}{target}", self.authority())
    }
}

fn bracketed(host: &str) -> String {
    if host.contains(':') {
        format!("[{host}]")
    } else {
        host.to_owned()
    }
}

fn split(authority: &str) -> Result<(&str, Option<u16>), String> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, behind) = rest
                .split_once(']')
                .ok_or("the bracket of the address is open")?;
            (host, behind.strip_prefix(':'))
        }
        None => match authority.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err("an IPv6 address stands in brackets: [::1]".to_owned());
            }
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if host.is_empty() {
        return Err("the URL names no host".to_owned());
    }
    let port = port.filter(|port| !port.is_empty()).map(|port| {
        let number = port.parse::<u16>().ok().filter(|port| *port > 0);
        number.ok_or("the port is not a number from 1 to 65535")
    });
    Ok((host, port.transpose()?))
}

/// A connection to the server.
pub enum Link {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// How long the steps took, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Took {
    pub name: u64,
    pub tcp: u64,
    pub tls: Option<u64>,
}

/// A server that was reached: where, and how long that took.
pub type Reached = (Link, SocketAddr, Took);

/// Why the server could not be reached.
#[derive(Debug)]
pub struct Unreachable {
    pub step: Step,
    /// One sentence that says what to look at.
    pub message: String,
    /// The server took the connection, and reset it before it was known to stand.
    pub is_reset: bool,
}

impl Upstream {
    /// Connects to the server; with TLS, where its URL says so and there is a `tls`.
    pub async fn connect(&self, tls: Option<&Tls>, clock: Clock) -> Result<Reached, Unreachable> {
        let mut took = Took::default();
        let began = clock.now();
        let failed = |step, message| Unreachable {
            step,
            message,
            is_reset: false,
        };
        let found = lookup_host((&*self.host, self.port)).await;
        let found = found.map(Iterator::collect::<Vec<_>>).map_err(|error| {
            let host = &self.host;
            failed(
                Step::Name,
                format!("{host} has no address ({error}): is the name right?"),
            )
        })?;
        took.name = clock.now().0 - began.0;
        let began = clock.now();
        let last = match connect_to_any(in_turn(&found)).await {
            Ok((stream, address)) => {
                took.tcp = clock.now().0 - began.0;
                // Where it fails, small messages wait for a moment.
                let _ = stream.set_nodelay(true);
                let Some(tls) = tls.filter(|_| self.is_tls()) else {
                    return Ok((Link::Plain(stream), address, took));
                };
                let began = clock.now();
                let stream = tls.connect(&self.host, stream).await?;
                took.tls = Some(clock.now().0 - began.0);
                return Ok((Link::Tls(Box::new(stream)), address, took));
            }
            Err(last) => last,
        };
        let at = self.authority();
        let hint = match last.kind() {
            io::ErrorKind::ConnectionRefused => "nothing listens there: is the server running?",
            io::ErrorKind::ConnectionReset => {
                "the server takes connections and resets them at once"
            }
            io::ErrorKind::TimedOut => "no answer: is it the right address?",
            _ => "is the network there?",
        };
        Err(Unreachable {
            is_reset: last.kind() == io::ErrorKind::ConnectionReset,
            ..failed(Step::Tcp, format!("{at}: {last}; {hint}"))
        })
    }
}

/// An address that has not answered for so long gets company (RFC 8305 section 5).
const HEAD_START: Duration = Duration::from_millis(250);

/// Addresses of a name with both families by turns, the resolver's first one first: where one family leads
/// nowhere, the next attempt is of the other (RFC 8305 section 4).
fn in_turn(found: &[SocketAddr]) -> Vec<SocketAddr> {
    let is_first = |address: &SocketAddr| address.is_ipv4() == found[0].is_ipv4();
    let (first, other): (Vec<_>, Vec<_>) = found.iter().copied().partition(is_first);
    let (mut first, mut other) = (first.into_iter(), other.into_iter());
    let pairs = std::iter::from_fn(|| {
        let pair = [first.next(), other.next()];
        pair.iter().any(Option::is_some).then_some(pair)
    });
    pairs.flatten().flatten().collect()
}

/// Connects to the first of these addresses that answers. Each is given a head start before the next one
/// is tried too, and all are waited for until the kernel gives them up.
async fn connect_to_any(addresses: Vec<SocketAddr>) -> io::Result<(TcpStream, SocketAddr)> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let mut attempts = JoinSet::new();
    let mut addresses = addresses.into_iter();
    loop {
        if let Some(address) = addresses.next() {
            attempts.spawn(connect_to(address));
        }
        let ended = if addresses.len() > 0 {
            match tokio::time::timeout(HEAD_START, attempts.join_next()).await {
                Ok(ended) => ended,
                Err(_) => continue,
            }
        } else {
            attempts.join_next().await
        };
        match ended {
            Some(Ok(Ok(connected))) => return Ok(connected),
            Some(Ok(Err(error))) => last = error,
            Some(Err(panicked)) => last = panicked.into(),
            None => return Err(last),
        }
    }
}

async fn connect_to(address: SocketAddr) -> io::Result<(TcpStream, SocketAddr)> {
    let stream = TcpStream::connect(address).await?;
    // Where nobody listens at a port that outgoing connections get as well, one can have been connected
    // to itself (RFC 9293 section 3.5, simultaneous open).
    if stream.local_addr().is_ok_and(|own| own == address) {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    Ok((stream, address))
}

impl Link {
    /// Lets the server see a reset when the connection is dropped.
    pub fn reset(&self) {
        let stream = match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => stream.get_ref().0,
        };
        let _ = stream.set_zero_linger();
    }
}

impl AsyncRead for Link {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => match Pin::new(stream).poll_read(cx, buffer) {
                // Many servers close without a word of TLS about it. Whether something is missing
                // is for the client to judge, which sees the same end.
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    Poll::Ready(Ok(()))
                }
                read => read,
            },
        }
    }
}

impl AsyncWrite for Link {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_whom_to_reach_and_what_the_host_has_to_use() {
        let address = "127.0.0.1:7339".parse().unwrap();
        for (url, authority, shown, ours) in [
            (
                "http://a.example/mcp",
                "a.example",
                "http://a.example/mcp",
                "http://127.0.0.1:7339/mcp",
            ),
            (
                "HTTPS://a.example:8443",
                "a.example:8443",
                "https://a.example:8443/",
                "http://127.0.0.1:7339/",
            ),
            (
                "http://[::1]:3000/sse?k=v",
                "[::1]:3000",
                "http://[::1]:3000/sse?k=v",
                "http://127.0.0.1:7339/sse?k=v",
            ),
            (
                "wss://a.example",
                "a.example",
                "wss://a.example/",
                "ws://127.0.0.1:7339/",
            ),
            (
                "tcp://localhost:9100",
                "localhost:9100",
                "tcp://localhost:9100",
                "tcp://127.0.0.1:7339",
            ),
        ] {
            let upstream = Upstream::parse(url).unwrap();
            assert_eq!(upstream.authority(), authority);
            assert_eq!(upstream.to_string(), shown);
            assert_eq!(upstream.url_at(address), ours);
        }
    }

    #[test]
    fn servers_of_this_machine_are_told_apart_by_their_ports() {
        for (url, name) in [
            ("https://api.example.com:8443/mcp", "api.example.com"),
            ("http://127.0.0.1:3000/mcp", "127.0.0.1-3000"),
            ("http://localhost/mcp", "localhost-80"),
            ("tcp://[::1]:9100", "localhost-9100"),
            ("http://[fd00::1]:80/", "fd00..1"),
        ] {
            assert_eq!(Upstream::parse(url).unwrap().name(), name);
        }
    }

    #[test]
    fn what_is_wrong_with_a_url_is_said() {
        for (url, said) in [
            ("localhost:3000", "begins with"),
            ("ftp://a", "cannot be recorded"),
            ("http://", "names no host"),
            ("http://::1/", "in brackets"),
            ("http://a:99999/", "is not a number"),
            ("tcp://a", "needs a port"),
            ("http://me:pw@a/", "--header"),
        ] {
            let error = Upstream::parse(url).unwrap_err();
            assert!(error.contains(said), "{url}: {error}");
        }
    }
    #[test]
    fn the_families_of_a_name_are_tried_by_turns() {
        let of = |texts: &[&str]| -> Vec<SocketAddr> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        let found = of(&["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1"]);
        let expected = of(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "[::3]:1"]);
        assert_eq!(in_turn(&found), expected);
        assert_eq!(in_turn(&[]), []);
    }

    /// A listener whose queue is full: what knocks there is not answered at all.
    fn silent() -> (SocketAddr, Vec<std::net::TcpStream>) {
        use nix::sys::socket::{Backlog, listen};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listen(&listener, Backlog::new(0).unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let knock = || std::net::TcpStream::connect_timeout(&address, Duration::from_millis(50));
        let queued = std::iter::from_fn(|| knock().ok()).collect();
        // It stays open to the end of the test.
        std::mem::forget(listener);
        (address, queued)
    }

    /// Once each was waited for in turn until the kernel gave it up, which takes minutes.
    #[tokio::test]
    async fn an_address_that_never_answers_does_not_keep_the_next_one_waiting() {
        let (silent, _queued) = silent();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let refusing = "127.0.0.1:1".parse().unwrap();
        let answering = listener.local_addr().unwrap();
        let addresses = vec![silent, refusing, answering];
        let connected = tokio::time::timeout(Duration::from_mins(1), connect_to_any(addresses));
        assert_eq!(connected.await.unwrap().unwrap().1, answering);
        let refused = connect_to_any(vec![refusing]).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        assert!(connect_to_any(Vec::new()).await.is_err());
    }
}
