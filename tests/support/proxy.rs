//! A proxy between sockets of a test.

use super::dice::Dice;
use super::host_session::Collected;
use super::pieces::Pieces;
use super::{Library, send, wait_for};
use mcpreel_store::reader::Recording;
use nix::sys::signal::Signal;
use nix::sys::socket::{setsockopt, sockopt};
use std::io::Read as _;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};

/// `mcpreel proxy`, listening.
pub struct Proxy {
    pub child: Child,
    err: Option<Collected>,
    authority: String,
    pub port: u16,
}

impl Proxy {
    /// `mcpreel proxy URL` at a free port, with these arguments more.
    pub fn start(library: &Library, url: &str, more: &[&str]) -> Self {
        Self::run(Self::command(library, url, more))
    }

    pub fn command(library: &Library, url: &str, more: &[&str]) -> Command {
        Self::command_at("127.0.0.1:0", library, url, more)
    }

    /// `mcpreel proxy URL --listen ADDRESS`, with these arguments more.
    pub fn command_at(address: &str, library: &Library, url: &str, more: &[&str]) -> Command {
        let mut command = library.mcpreel("proxy");
        command.arg(url).args(["--listen", address]).args(more);
        command
    }

    pub fn run(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let err = Collected::from(child.stderr.take().expect("stderr is a pipe"));
        let authority = wait_for("the proxy to say where it listens", || {
            let said = String::from_utf8(err.so_far()).expect("it says text");
            let (_, behind) = said.split_once(": put ")?;
            let (_, behind) = behind.split_once("://")?;
            Some(behind.split_once(['/', ' '])?.0.to_owned())
        });
        let (_, port) = authority.rsplit_once(':').expect("it has a port");
        Self {
            child,
            err: Some(err),
            port: port.parse().expect("a port is a number"),
            authority,
        }
    }

    pub fn authority(&self) -> String {
        self.authority.clone()
    }

    pub fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.authority).expect("it listens")
    }

    /// What comes back until the end for these bytes, on a connection of their own.
    pub fn ask(&self, bytes: impl Into<Vec<u8>>) -> String {
        self.ask_in(&Pieces(vec![bytes.into()]))
    }

    /// The same, written in pieces.
    pub fn ask_in(&self, pieces: &Pieces) -> String {
        String::from_utf8_lossy(&self.answer_to(pieces)).into_owned()
    }

    /// The same, whatever bytes these are.
    pub fn answer_to(&self, pieces: &Pieces) -> Vec<u8> {
        let mut client = self.connect();
        pieces.write_to(&client).expect("the proxy reads");
        client.shutdown(Shutdown::Write).expect("it is open");
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).expect("it ends well");
        answer
    }

    /// What it has said so far.
    pub fn said(&self) -> String {
        let said = self.err.as_ref().map(Collected::so_far);
        String::from_utf8_lossy(&said.unwrap_or_default()).into_owned()
    }

    /// Ends it by a signal: its status, and what it said.
    pub fn end(self) -> (ExitStatus, String) {
        send(Signal::SIGTERM, self.child.id());
        self.wait()
    }

    /// Waits for its end: its status, and what it said.
    pub fn wait(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().expect("the child is ours");
        let said = self.err.take().map(Collected::whole).unwrap_or_default();
        (status, String::from_utf8_lossy(&said).into_owned())
    }
}

/// A test that fails leaves none behind.
impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A listener, and the URL of what it stands for.
pub fn upstream() -> (TcpListener, String) {
    upstream_at("127.0.0.1:0")
}

/// The same at a free port of `address`.
pub fn upstream_at(address: &str) -> (TcpListener, String) {
    let listener =
        TcpListener::bind(address).expect("this machine has the address, and a free port");
    let address = listener.local_addr().expect("it has an address");
    (listener, format!("http://{address}"))
}

/// An address for a server that will listen later, and its URL: no outgoing connection of anybody gets
/// such a port meanwhile.
pub fn later_upstream() -> (SocketAddr, String) {
    let mut dice = Dice::shaken();
    let listener = wait_for("a free port", || {
        let port = u16::try_from(10_000 + dice.below(20_000)).expect("a port");
        TcpListener::bind(("127.0.0.1", port)).ok()
    });
    let address = listener.local_addr().expect("it has an address");
    (address, format!("http://{address}"))
}

/// The whole recording of a proxy that has ended.
pub fn recording(library: &Library) -> Recording {
    Recording::open(&library.recordings()[0]).expect("it can be read")
}

/// What `why` says where the server of a proxy that has ended could not be reached.
pub fn why_unreachable(library: &Library) -> String {
    let why = library.json(&["why", "@"]).remove(0);
    assert_eq!(why["cause"], "server-unreachable", "{why}");
    why.to_string()
}

/// From now on, closing the socket resets the connection.
pub fn close_by_reset(socket: &TcpStream) {
    let at_once = nix::libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    setsockopt(socket, sockopt::Linger, &at_once).expect("it is a socket");
}
