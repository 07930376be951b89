//! The network transport: a recorder in the place of a server that is reached by a URL.
//!
//! ```text
//!  client ──connection──▶ listener ──▶ relay ──a connection of its own──▶ server
//! ```
//!
//! * [`upstream`]: what the URL says, and how the server is reached;
//! * [`tls`]: TLS to it;
//! * [`server`]: the server as a process, where it is started too;
//! * `workers`: the threads on which connections are relayed; `relay`: a client's connection, and the one to
//!   the server that belongs to it;
//! * `edits`: follows heads and bodies; `changes`: the few bytes that have to be changed in them;
//!   `endpoint`: the event in which some have to be; `settings`: what they depend on;
//! * [`credentials`]: what does not go on record, and `held`: bodies in which it stands.
//!
//! Each connection has two streams on record. What they mean is nobody's business here.

mod changes;
pub mod credentials;
mod edits;
mod endpoint;
mod held;
mod relay;
pub mod server;
mod settings;
pub mod tls;
pub mod upstream;
mod workers;

use crate::process::context::SignalSet;
use crate::process::signals;
use crate::tap::Tap;
use credentials::Credentials;
use mcpreel_trace::event::EventKind;
use relay::Relay;
use server::{Server, Starting};
pub use settings::MAX_RECORDED_EDITS;
use settings::Settings;
use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::process::ExitStatus;
use std::rc::Rc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread;
use std::time::Duration;
use tls::Tls;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::{JoinHandle, LocalSet};
use upstream::{Unreachable, Upstream};
use workers::{Accepted, Workers};

/// The port at which a proxy listens that nobody gave another one.
pub const PORT: u16 = 7339;

/// Ports after a taken one that are tried.
const TRIES: u16 = 50;

/// What is asked of a proxy.
pub struct Plan {
    pub upstream: Upstream,
    /// For a server that is reached by TLS.
    pub tls: Option<Tls>,
    /// Where to listen; `None`: at a free port of this machine alone.
    pub listen: Option<SocketAddr>,
    /// Pass `Host`, `Origin` and `Referer` as they are, and refuse nobody.
    pub keep_host: bool,
    /// End by Ctrl-C even where that was ignored from the start.
    pub takes_ctrl_c: bool,
    /// Headers that are added to each request.
    pub headers: Vec<(String, String)>,
    /// Takes credentials out of what goes on record; `None`: they are kept.
    pub credentials: Option<Credentials>,
    /// Tells the user whether the server can be reached. May block.
    pub say: fn(&str),
}

impl Plan {
    /// A URL as it goes on record.
    pub fn recorded(&self, url: &str) -> String {
        let credentials = self.credentials.as_ref();
        credentials.map_or_else(|| url.to_owned(), |it| it.hide_in_url(url))
    }
}

/// The sockets at which a proxy listens.
pub struct Listener {
    sockets: Vec<std::net::TcpListener>,
    address: SocketAddr,
}

impl Listener {
    /// Listens where `plan` says.
    pub fn open(plan: &Plan) -> io::Result<Self> {
        let bind = |address: SocketAddr| {
            let socket = std::net::TcpListener::bind(address)?;
            socket.set_nonblocking(true)?;
            Ok::<_, io::Error>(socket)
        };
        if let Some(address) = plan.listen {
            let socket = bind(address)?;
            let address = socket.local_addr()?;
            let sockets = vec![socket];
            return Ok(Self { sockets, address });
        }
        let mut last = io::Error::from(io::ErrorKind::AddrInUse);
        for port in PORT..PORT + TRIES {
            match bind((Ipv4Addr::LOCALHOST, port).into()) {
                Ok(socket) => {
                    let address = socket.local_addr()?;
                    // `localhost` may mean either; a machine without IPv6 has only the one.
                    let other = bind((Ipv6Addr::LOCALHOST, port).into()).ok();
                    let sockets = std::iter::once(socket).chain(other).collect();
                    return Ok(Self { sockets, address });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL that a host on this machine has to use.
    pub fn url(&self, plan: &Plan) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            // All addresses of this machine: a place to listen at, and none to connect to.
            address.set_ip(match address {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        plan.upstream.url_at(address)
    }

    fn authorities(&self) -> Vec<String> {
        let port = self.address.port();
        let mut names = vec![self.address.to_string()];
        for name in ["127.0.0.1", "localhost", "[::1]"] {
            names.push(format!("{name}:{port}"));
            if port == 80 {
                names.push(name.to_owned());
            }
        }
        names
    }
}

/// Whether only this machine reaches an address.
pub fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Reports that wait to be said to the user, at most.
const REPORTS: usize = 16;

/// How long connections may go on that were open when the server, or our own client, ended.
const DRAINED: Duration = Duration::from_millis(250);

/// A client of our own, which is over when the future is.
pub type OwnClient = Pin<Box<dyn Future<Output = ()>>>;

/// Relays every connection until a signal says that it is over, until the client of our own is, or until
/// `server` has ended, which gets the signals then. Returns how it ended. `ready` is called when clients
/// can connect and signals are waited for; it gives the client of our own, if there is one.
pub fn serve(
    plan: Plan,
    listener: Listener,
    server: Option<Server>,
    tap: &Arc<Tap>,
    ready: impl FnOnce() -> Option<OwnClient>,
) -> io::Result<Option<ExitStatus>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let starting = server.as_ref().map(|_| Starting::new(tap));
    let ignored = if plan.takes_ctrl_c {
        signals::ignored_but_ctrl_c()
    } else {
        signals::ignored()
    };
    let proxy = Arc::new(Proxy {
        reports: report_to(plan.say),
        reached: Mutex::default(),
        settings: Arc::new(Settings {
            ours: listener.authorities(),
            upstream: plan.upstream,
            tls: plan.tls,
            keep_host: plan.keep_host,
            added: plan.headers,
            credentials: plan.credentials,
            recorded_edits: Mutex::default(),
        }),
        starting,
        tap: Arc::clone(tap),
    });
    let workers = Rc::new(Workers::start(&proxy)?);
    let here = LocalSet::new();
    here.block_on(&runtime, async {
        // Each connection has a sender. When the last one is gone, there is none to receive from.
        let (open, mut all_over) = channel::<()>(1);
        let (mut accepting, count) = (Vec::new(), Rc::new(Cell::new(0)));
        for socket in listener.sockets {
            let socket = TcpListener::from_std(socket)?;
            let accept = accept(socket, Rc::clone(&workers), Rc::clone(&count), open.clone());
            accepting.push(tokio::task::spawn_local(accept));
        }
        drop(open);
        let Some(mut server) = server else {
            let mut signals = Signals::catch(ignored)?;
            let Some(client) = ready() else {
                signals.arrived().await;
                return Ok(None);
            };
            tokio::select! {
                () = client => {}
                () = signals.arrived() => {}
            }
            // With it its connections end, which is to be on record.
            accepting.iter().for_each(JoinHandle::abort);
            let _ = tokio::time::timeout(DRAINED, all_over.recv()).await;
            return Ok(None);
        };
        ready();
        let status = server.ended(tap).await?;
        proxy.starting.iter().for_each(Starting::ended);
        accepting.iter().for_each(JoinHandle::abort);
        let drained = async {
            all_over.recv().await;
            server.silent().await;
        };
        // Whoever holds the server's output, or a connection to us, does not hold us.
        let _ = tokio::time::timeout(DRAINED, drained).await;
        Ok(Some(status))
    })
}

/// The signals that end whoever listens.
pub struct Signals(Vec<Signal>);

impl Signals {
    /// From now on they end nothing by themselves, but for those that are to stay `ignored`. To be called
    /// within a runtime.
    pub fn catch(ignored: SignalSet) -> io::Result<Self> {
        let kinds = [
            SignalKind::hangup(),
            SignalKind::interrupt(),
            SignalKind::terminate(),
        ];
        let kinds = kinds
            .into_iter()
            .filter(|kind| !ignored.contains(kind.as_raw_value()));
        kinds.map(signal).collect::<io::Result<_>>().map(Self)
    }

    /// Waits for one of them.
    pub async fn arrived(&mut self) {
        poll_fn(|cx| {
            let mut arrived = self.0.iter_mut().map(|it| it.poll_recv(cx).is_ready());
            if arrived.any(|it| it) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}

/// What all connections have in common.
struct Proxy {
    settings: Arc<Settings>,
    starting: Option<Starting>,
    tap: Arc<Tap>,
    reports: SyncSender<String>,
    reached: Mutex<Reached>,
}

/// Whether the server can be reached, as the user knows it.
#[derive(Default)]
struct Reached {
    /// Why the server cannot be reached, if so.
    unreachable: Option<String>,
    /// The last connection that has reached it.
    connection: u32,
}

/// Starts a thread that says each report to the user, in order. The user may not read what is said, and no
/// connection waits for that.
fn report_to(say: fn(&str)) -> SyncSender<String> {
    let (sender, reports) = sync_channel::<String>(REPORTS);
    let reporting = move || reports.iter().for_each(|report| say(&report));
    // Without a thread nothing is said; the recording has it all.
    drop(
        thread::Builder::new()
            .name("reports".into())
            .spawn(reporting),
    );
    sender
}

/// Gives every connection to a thread, with the number that `count` has come to.
async fn accept(socket: TcpListener, workers: Rc<Workers>, count: Rc<Cell<u32>>, open: Sender<()>) {
    loop {
        // Without a descriptor for it a connection waits until there is one.
        let accepted = socket.accept().await;
        let Ok((client, peer)) = accepted.and_then(|(client, peer)| Ok((client.into_std()?, peer)))
        else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        count.set(count.get() + 1);
        workers.relay(Accepted {
            number: count.get(),
            client,
            peer,
            open: open.clone(),
        });
    }
}

impl Proxy {
    /// Tells the user whether `connection` has reached the server, where that is news.
    fn report(&self, connection: u32, unreachable: Option<&Unreachable>) {
        let message = unreachable.map(|it| it.message.clone());
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        if message.is_none() {
            reached.connection = reached.connection.max(connection);
        } else if connection < reached.connection {
            // A later connection has reached the server meanwhile.
            return;
        }
        if reached.unreachable == message {
            return;
        }
        let report = match &message {
            Some(message) => format!("the server could not be reached: {message}"),
            None => "the server can be reached again".to_owned(),
        };
        reached.unreachable = message;
        drop(self.reports.try_send(report));
    }

    async fn relay(&self, number: u32, client: TcpStream, peer: SocketAddr) {
        let _ = client.set_nodelay(true);
        let (settings, tap, peer) = (&self.settings, &self.tap, peer.to_string());
        let relay = Relay::new(number, peer.clone(), tap, settings);
        let connected = match &self.starting {
            Some(starting) => {
                starting
                    .connect(&settings.upstream, settings.tls.as_ref(), tap)
                    .await
            }
            None => {
                settings
                    .upstream
                    .connect(settings.tls.as_ref(), tap.clock())
                    .await
            }
        };
        self.report(number, connected.as_ref().err());
        match connected {
            Ok((server, address, took)) => {
                tap.event(EventKind::Connected {
                    connection: number,
                    client: peer,
                    server: address.to_string(),
                    name_ns: took.name,
                    tcp_ns: took.tcp,
                    tls_ns: took.tls,
                });
                relay.run(client, server).await;
            }
            Err(unreachable) => {
                let message = unreachable.message;
                tap.event(EventKind::Unreachable {
                    connection: number,
                    client: peer,
                    step: unreachable.step,
                    message: message.clone(),
                });
                if unreachable.is_reset {
                    relay.pass_reset(&client);
                } else {
                    relay.answer_unreachable(client, &message).await;
                }
            }
        }
    }
}
