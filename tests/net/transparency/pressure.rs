//! Back-pressure passes through: what a side does not read is left with the other.

use crate::support::pieces::Pieces;
use crate::support::proxy::{Proxy, upstream};
use crate::support::{Library, peak_memory, wait_for};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const BLOCK: usize = 1 << 16;
const BLOCKS: usize = 1600;

/// What reads slowly reads so much of it so.
const SLOW: usize = 1 << 20;

/// The block of that number: none is like another.
fn block(number: usize) -> Vec<u8> {
    let mut block: Vec<u8> = (0..=255).cycle().take(BLOCK).collect();
    block[..8].copy_from_slice(&(number as u64).to_le_bytes());
    block
}

fn write_all(mut socket: &TcpStream, head: &str, written: &AtomicUsize) {
    socket.write_all(head.as_bytes()).unwrap();
    for number in 0..BLOCKS {
        socket.write_all(&block(number)).unwrap();
        written.fetch_add(BLOCK, Ordering::Relaxed);
    }
}

/// Reads all of it, the beginning in small pieces with a pause behind each.
fn read_all(mut socket: &TcpStream, head: &str) {
    let mut read = vec![0; head.len()];
    socket.read_exact(&mut read).unwrap();
    assert_eq!(String::from_utf8(read).unwrap(), head);
    for number in 0..BLOCKS {
        let mut read = vec![0; BLOCK];
        let is_slow = (number * BLOCK) < SLOW;
        for piece in read.chunks_mut(if is_slow { 1000 } else { BLOCK }) {
            socket.read_exact(piece).unwrap();
            if is_slow {
                Pieces::pause();
            }
        }
        let is_same = read == block(number);
        if !is_same {
            // The writers would wait forever for a reader that has failed.
            let _ = socket.shutdown(Shutdown::Both);
        }
        assert!(is_same, "block {number}");
    }
}

#[test]
fn sides_that_do_not_read_cost_no_memory_and_get_all_of_it_later() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &["--max-size", "1MB"]);
    let (client, (server, _)) = (proxy.connect(), listener.accept().unwrap());
    let length = BLOCK * BLOCKS;
    let head = |first: &str| format!("{first}\r\nContent-Length: {length}\r\n\r\n");
    let up = head(&format!(
        "POST / HTTP/1.1\r\nHost: {}",
        &url["http://".len()..]
    ));
    let asked = up.replace(&url["http://".len()..], &proxy.authority());
    let down = head("HTTP/1.1 200 OK");
    let written = [0, 0].map(AtomicUsize::new);
    let before = peak_memory(proxy.child.id());
    thread::scope(|scope| {
        scope.spawn(|| write_all(&client, &asked, &written[0]));
        scope.spawn(|| write_all(&server, &down, &written[1]));
        for written in &written {
            let mut last = 0;
            wait_for("the writer to be held up", || {
                let before = std::mem::replace(&mut last, written.load(Ordering::Relaxed));
                (before > 0 && before == last).then_some(())
            });
            assert!(last < length, "it waits for its reader");
        }
        scope.spawn(|| read_all(&server, &up));
        scope.spawn(|| read_all(&client, &down));
    });
    if let (Some(before), Some(after)) = (before, peak_memory(proxy.child.id())) {
        assert!(after - before < 8 << 20, "{before} bytes, then {after}");
    }
    proxy.end();
}
