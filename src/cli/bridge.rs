//! The client of our own: a host on our standard streams, carried to a server behind a URL.

use super::output;
use mcpreel_bridge::Client;
use mcpreel_bridge::to_http::Bridge;
use mcpreel_capture::net::OwnClient;
use mcpreel_capture::net::upstream::Upstream;
use mcpreel_wire::text::{escape, masked_url};
use std::cell::Cell;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::rc::Rc;
use std::thread;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

/// Lines that wait; whoever is behind makes the other side wait.
const WAITING: usize = 64;

/// Carries our standard streams to the proxy at `address`, which stands for `url`. `was_there` becomes
/// false if the server ended first.
pub fn own_client(
    url: &Upstream,
    address: SocketAddr,
    headers: Vec<(String, String)>,
    was_there: &Rc<Cell<bool>>,
) -> OwnClient {
    let headers = headers
        .into_iter()
        .map(|(name, value)| (name.into(), value));
    let client = Client::new(address, headers.collect());
    let shown = masked_url(&url.to_string());
    let named = (shown, url.origin(), url.target().to_owned());
    let was_there = Rc::clone(was_there);
    Box::pin(async move {
        let (lines, written) = stdout();
        let say = |text: &str| output::say(&escape(text));
        let bridge = Bridge::new(client, named, lines, Box::new(say));
        was_there.set(Rc::new(bridge).run(stdin()).await);
        let _ = written.await;
    })
}

/// The lines of our stdin.
fn stdin() -> Receiver<Vec<u8>> {
    let (give, lines) = channel(WAITING);
    thread::spawn(move || {
        let lines = BufReader::new(io::stdin()).split(b'\n');
        for line in lines.map_while(Result::ok) {
            if give.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Takes lines for our stdout; the other is told when all are written, or nobody reads them any more.
fn stdout() -> (Sender<Vec<u8>>, oneshot::Receiver<()>) {
    let (lines, mut taken) = channel::<Vec<u8>>(WAITING);
    let (done, written) = oneshot::channel();
    thread::spawn(move || {
        let mut stdout = io::stdout().lock();
        while let Some(line) = taken.blocking_recv() {
            let written = stdout.write_all(&line);
            if written.and_then(|()| stdout.flush()).is_err() {
                break;
            }
        }
        let _ = done.send(());
    });
    (lines, written)
}
