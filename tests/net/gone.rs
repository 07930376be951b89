//! Who has gone away is missed at once, whatever is in the way.

use crate::support::Library;
use crate::support::proxy::{Proxy, close_by_reset, recording, upstream};
use mcpreel_wire::message::Direction;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd as _;
use std::time::Duration;

/// Writes until the other side takes no more.
fn fill(mut socket: &TcpStream) {
    let pause = Some(Duration::from_millis(100));
    socket.set_write_timeout(pause).unwrap();
    let block = vec![b'x'; 1 << 16];
    while socket.write(&block).is_ok() {}
}

/// Waits until the other side has reset the connection, without reading.
fn wait_for_reset(socket: &TcpStream, what: &str) {
    let mut fds = [PollFd::new(socket.as_fd(), PollFlags::empty())];
    let minute = PollTimeout::try_from(Duration::from_mins(1)).unwrap();
    assert_eq!(poll(&mut fds, minute), Ok(1), "{what}");
}

/// Once a server learned that a client had cancelled when it read all that the client had sent before, which
/// a server that is at work on it may never do.
#[test]
fn a_server_sees_at_once_that_its_client_has_gone() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(
        &library,
        &url.replace("http", "tcp"),
        &["--max-size", "1MB"],
    );
    for (what, up, down, is_half_closed) in [
        ("nothing is in the way", false, false, false),
        ("the server does not read", true, false, false),
        ("the client does not read", false, true, false),
        ("nobody reads", true, true, false),
        ("the client had said all", false, false, true),
        (
            "the client had said all, and does not read",
            false,
            true,
            true,
        ),
    ] {
        let (client, (server, _)) = (proxy.connect(), listener.accept().unwrap());
        if up {
            fill(&client);
        }
        if down {
            fill(&server);
        }
        if is_half_closed {
            client.shutdown(Shutdown::Write).unwrap();
        }
        close_by_reset(&client);
        drop(client);
        wait_for_reset(&server, what);
    }
    proxy.end();
}

/// Once nothing was on record of what was held when the other side broke off.
#[test]
fn what_came_of_a_head_before_the_reset_is_on_record() {
    let beginnings = ["GET / HTTP/1.1\r\nHo", "HTTP/1.1 200 OK\r\nContent-Le"];
    for is_by_client in [true, false] {
        let library = Library::new();
        let (listener, url) = upstream();
        let proxy = Proxy::start(&library, &url, &["--keep-host"]);
        let (client, (server, _)) = (proxy.connect(), listener.accept().unwrap());
        let whole = ["GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 204 No\r\n\r\n"];
        // Whoever has the first message knows that the proxy has read what came with it.
        for (at, &(mut from, mut to)) in [(&client, &server), (&server, &client)].iter().enumerate()
        {
            let both = [whole[at], beginnings[at]].concat();
            from.write_all(both.as_bytes()).unwrap();
            to.read_exact(&mut vec![0; whole[at].len()]).unwrap();
        }
        let (gone, other) = if is_by_client {
            (client, server)
        } else {
            (server, client)
        };
        close_by_reset(&gone);
        drop(gone);
        wait_for_reset(&other, "the connection was broken off");
        proxy.end();
        let recording = recording(&library);
        let ways = [Direction::ClientToServer, Direction::ServerToClient];
        for ((way, whole), beginning) in ways.into_iter().zip(whole).zip(beginnings) {
            let recorded = String::from_utf8(recording.wire(1, way).unwrap()).unwrap();
            assert_eq!(recorded, [whole, beginning].concat(), "{is_by_client}");
        }
        // And the other side has not received it.
        let undelivered = library.events("undelivered");
        let bytes = undelivered.iter().map(|it| it["bytes"].as_u64());
        let held = beginnings.map(|it| Some(it.len() as u64));
        assert_eq!(bytes.collect::<Vec<_>>(), held, "{is_by_client}");
    }
}
