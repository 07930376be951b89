//! Who has gone away is missed at once, whatever is in the way.

use crate::support::Library;
use crate::support::proxy::{Proxy, close_by_reset, recording, upstream};
use mcpreel_wire::message::Direction;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::Write as _;
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

/// Once nothing was on record of a head that its client had broken off.
#[test]
fn what_came_of_a_head_before_the_reset_is_on_record() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &[]);
    let (mut client, (server, _)) = (proxy.connect(), listener.accept().unwrap());
    let beginning = "POST /mcp HTTP/1.1\r\nHo";
    client.write_all(beginning.as_bytes()).unwrap();
    close_by_reset(&client);
    drop(client);
    wait_for_reset(&server, "the head was broken off");
    proxy.end();
    let recorded = recording(&library)
        .wire(1, Direction::ClientToServer)
        .unwrap();
    assert_eq!(String::from_utf8(recorded).unwrap(), beginning);
}
