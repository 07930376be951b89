//! A recording that the kernel refuses never stops or changes what passes: it is said once, and what is
//! missing is stated exactly.

use crate::support::Library;
use crate::support::proxy::{Proxy, upstream};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

/// A client and the server that answers it, on one connection.
struct Pair {
    client: TcpStream,
    server: TcpStream,
    hosts: [String; 2],
    /// What the client and the server have written.
    sent: [usize; 2],
}

impl Pair {
    /// A pair, and its proxy.
    fn through(run: impl FnOnce(&str) -> Proxy) -> (Self, Proxy) {
        let (listener, url) = upstream();
        let proxy = run(&url);
        let pair = Self {
            client: proxy.connect(),
            server: listener.accept().unwrap().0,
            hosts: [proxy.authority(), url["http://".len()..].to_owned()],
            sent: [0; 2],
        };
        (pair, proxy)
    }

    /// Asks and answers so often; every byte has to come.
    fn exchange(&mut self, times: usize) {
        for number in 0..times {
            let fill = format!("{number:01000}");
            let head = |host: &str| format!("POST / HTTP/1.1\r\nHost: {host}\r\n");
            let body = format!("Content-Length: 1000\r\n\r\n{fill}");
            let [asked, passed] = self.hosts.each_ref().map(|host| head(host) + &body);
            let answer = format!("HTTP/1.1 200 OK\r\n{body}");
            pass(&self.client, &self.server, &asked, &passed);
            pass(&self.server, &self.client, &answer, &answer);
            self.sent[0] += asked.len();
            self.sent[1] += answer.len();
        }
    }
}

fn pass(mut from: &TcpStream, mut to: &TcpStream, sent: &str, passed: &str) {
    from.write_all(sent.as_bytes()).unwrap();
    let mut read = vec![0; passed.len()];
    to.read_exact(&mut read).unwrap();
    assert!(read == passed.as_bytes());
}

/// Ends a proxy, which must have said once that something is not recorded, with these words.
fn assert_said_once(proxy: Proxy, words: &str) {
    let (status, said) = proxy.end();
    assert!(status.success(), "{said}");
    let warnings: Vec<_> = said
        .lines()
        .filter(|it| it.contains("not recorded"))
        .collect();
    assert_eq!(warnings.len(), 1, "{said}");
    assert!(warnings[0].contains(words), "{said}");
}

#[test]
fn a_folder_that_cannot_be_written_costs_the_recording_only() {
    let library = Library::new();
    let file = library.path().join("file");
    std::fs::write(&file, "").unwrap();
    // Nobody can write in the second, not even root.
    for folder in [&*file.join("recordings"), Path::new("/sys")] {
        let folder = folder.to_str().unwrap();
        let more = ["--dir", folder];
        let (mut pair, proxy) = Pair::through(|url| Proxy::start(&library, url, &more));
        pair.exchange(100);
        assert_said_once(proxy, folder);
    }
}

#[cfg(all(feature = "long-tests", target_os = "linux"))]
mod full_disk {
    use super::{Pair, assert_said_once};
    use crate::support::proxy::{Proxy, recording};
    use crate::support::small_disk::{SmallDisk, copy};
    use crate::support::{Library, wait_for};
    use mcpreel_wire::message::Direction;

    #[test]
    fn a_disk_that_fills_up_and_gets_room_again_costs_what_is_stated() {
        let disk = SmallDisk::mount(16);
        let library = Library::within(&disk.root);
        let (mut pair, proxy) = Pair::through(|url| Proxy::start(&library, url, &[]));
        pair.exchange(100);
        let ballast = disk.fill();
        // What the spool holds already takes some more, on a busy machine all of it.
        wait_for("a refusal", || {
            pair.exchange(300);
            proxy.said().contains("in full").then_some(())
        });
        pair.exchange(3000);
        std::fs::remove_file(ballast).unwrap();
        let spool = library.files("spool").remove(0);
        let size = || spool.metadata().map_or(0, |metadata| metadata.len());
        let full = size();
        wait_for("recording goes on", || {
            pair.exchange(1);
            (size() > full).then_some(())
        });
        let sent = pair.sent;
        drop(pair);
        assert_said_once(proxy, "in full");
        let library = copy(&library);
        let recording = recording(&library);
        let gaps = library.events("gap");
        let ways = [Direction::ClientToServer, Direction::ServerToClient];
        for (way, sent) in ways.into_iter().zip(sent) {
            let recorded = recording.wire(1, way).unwrap().len();
            let of_way = gaps.iter().filter(|gap| gap["stream"] == way.as_str());
            let missing: u64 = of_way.filter_map(|gap| gap["bytes"].as_u64()).sum();
            assert!(missing > 0 && recorded > 0);
            assert_eq!(recorded as u64 + missing, sent as u64, "{gaps:?}");
        }
    }
}
