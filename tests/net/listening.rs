//! Where a proxy listens.

use crate::support::proxy::Proxy;
use crate::support::{Library, text};
use std::net::TcpListener;

#[test]
fn a_taken_port_that_was_asked_for_is_named() {
    let library = Library::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut command = Proxy::command_at(&address, &library, "http://127.0.0.1:9", &[]);
    let output = command.output().unwrap();
    let said = text(&output);
    assert!(!output.status.success(), "{said}");
    assert!(
        said.contains(&format!("cannot listen at {address}")),
        "{said}"
    );
    assert_eq!(library.files("spool").len(), 0, "nothing was recorded");
}

#[test]
fn where_nobody_asked_for_a_port_the_next_free_one_is_taken() {
    let library = Library::new();
    // Somebody else may have it already, and give it back at any moment.
    let taken = TcpListener::bind("127.0.0.1:7339");
    let first = 7339 + u16::from(taken.is_ok());
    let mut command = library.mcpreel("proxy");
    command.arg("http://127.0.0.1:9");
    let proxy = Proxy::run(command);
    assert!((first..7389).contains(&proxy.port), "{}", proxy.port);
    drop(proxy.connect());
    drop(taken);
    let (_, said) = proxy.end();
    // Whoever ended it reads what was recorded, and what to do with it.
    let done = "recorded 127.0.0.1-9, 0 exchanges: mcpreel why ";
    assert!(said.contains(done), "{said}");
}

#[test]
fn other_machines_are_let_in_only_where_that_is_meant() {
    let library = Library::new();
    let open = || {
        let mut command = library.mcpreel("proxy");
        command.args(["http://127.0.0.1:9", "--listen", "0.0.0.0:0"]);
        command
    };
    let refused = open().output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--expose"));
    // At every address of this machine; the URL has one that can be dialled.
    let mut meant = open();
    meant.arg("--expose");
    let meant = Proxy::run(meant);
    drop(meant.connect());
    let (status, said) = meant.end();
    assert!(status.success(), "{said}");
}
