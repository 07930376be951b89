//! What nobody should send: it must not hurt, and must not be read one way or another.

use crate::made::{frame, gzip, text, websocket, with, zstd};
use crate::scenarios::all;
use crate::{Given, Step, assert_places_grow, byte_by_byte, client, decode, in_one_read, server};
use mcpreel_wire::http::head::MAX_HEAD;
use mcpreel_wire::http::{Decoder, KEPT, LIMIT, Protocol};
use mcpreel_wire::message::Direction::{self, ClientToServer, ServerToClient};
use proptest::prelude::*;
use proptest::sample::Index;

/// Decodes in one read, byte by byte, and in reads of `length`: the same pieces.
fn decode_all_ways(protocol: Protocol, steps: &[Step], length: usize) -> Vec<Given> {
    let whole = decode(protocol, steps, &mut in_one_read);
    assert_eq!(decode(protocol, steps, &mut byte_by_byte), whole);
    assert_eq!(decode(protocol, steps, &mut |_| length), whole);
    assert_places_grow(&whole);
    whole
}

/// Beginnings behind which hostile bytes are read by different parts of the decoder.
fn beginnings() -> Vec<Vec<Step>> {
    let responses = [
        "",
        "HTTP/1.1 200 OK||",
        "HTTP/1.1 200 OK|Transfer-Encoding: chunked||",
        "HTTP/1.1 200 OK|Transfer-Encoding: chunked||0|",
        "HTTP/1.1 200 OK|Content-Type: text/event-stream||",
        "HTTP/1.1 200 OK|Content-Encoding: gzip||",
        "HTTP/1.1 200 OK|Content-Encoding: deflate||",
        "HTTP/1.1 200 OK|Content-Encoding: br||",
        "HTTP/1.1 200 OK|Content-Encoding: zstd||",
        "HTTP/1.1 200 OK|Content-Encoding: br, zstd|Content-Type: text/event-stream||",
    ];
    let mut beginnings: Vec<Vec<Step>> = responses
        .iter()
        .map(|head| vec![client(text("GET / HTTP/1.1||")), server(text(head))])
        .collect();
    beginnings.push(websocket("permessage-deflate", []));
    beginnings.push(vec![]);
    beginnings
}

/// Bytes that have a meaning somewhere more often than others.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        3 => prop::sample::select(&b"\r\n\r\n :;,01fdata"[..]),
        1 => prop::sample::select(&[0x81, 0xc1, 0x01, 0x00, 0x89, 0x1f, 0x8b, 0x28, 0xff][..]),
        1 => any::<u8>(),
    ];
    prop::collection::vec(byte, 0..200)
}

#[derive(Clone, Debug)]
enum Change {
    Flip(Index, u8),
    Remove(Index),
    Insert(Index, Vec<u8>),
    Miss(u64),
}

fn change() -> impl Strategy<Value = (Index, Change)> {
    let change = prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, bits)| Change::Flip(at, bits)),
        2 => any::<Index>().prop_map(Change::Remove),
        2 => (any::<Index>(), bytes()).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        1 => (1u64..20).prop_map(Change::Miss),
    ];
    (any::<Index>(), change)
}

fn apply(steps: &mut Vec<Step>, at: Index, change: Change) {
    let at = at.index(steps.len());
    let Step::Bytes(direction, bytes) = &mut steps[at] else {
        return;
    };
    let place = |index: Index, bytes: &[u8]| index.index(bytes.len().max(1));
    match change {
        Change::Flip(at, bits) => {
            let at = place(at, bytes);
            bytes
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|byte| *byte ^= bits);
        }
        Change::Remove(at) => bytes.truncate(place(at, bytes)),
        Change::Insert(at, more) => {
            let at = place(at, bytes).min(bytes.len());
            bytes.splice(at..at, more);
        }
        Change::Miss(count) => {
            let step = Step::Missing(*direction, count);
            steps.insert(at, step);
        }
    }
}

proptest! {
    #[test]
    fn random_bytes_are_read_one_way_only(bytes in bytes(), length in 2usize..30) {
        for beginning in beginnings() {
            for last in [client(&bytes), server(&bytes)] {
                let steps: Vec<Step> = beginning.iter().cloned().chain([last]).collect();
                decode_all_ways(Protocol::Http, &steps, length);
                decode_all_ways(Protocol::Lines, &steps, length);
            }
        }
    }

    #[test]
    fn damaged_connections_are_read_one_way_only(
        changes in prop::collection::vec(change(), 1..4),
        length in 2usize..30,
    ) {
        for scenario in all() {
            let mut steps = scenario.steps;
            for (at, change) in &changes {
                apply(&mut steps, *at, change.clone());
            }
            decode_all_ways(scenario.protocol, &steps, length);
        }
    }
}

/// Feeds `unit` again and again behind a beginning, in reads of `read` bytes, up to `total`.
/// Returns the pieces' number, and the longest bytes that one had.
fn feed(
    beginning: &[Step],
    direction: Direction,
    unit: &[u8],
    read: usize,
    total: usize,
) -> (usize, usize) {
    let (mut count, mut longest) = (0, 0);
    let emit = &mut |piece: mcpreel_wire::http::Piece| {
        count += 1;
        longest = longest.max(piece.bytes.len());
    };
    let mut decoder = Decoder::new(Protocol::Http);
    for step in beginning {
        if let Step::Bytes(direction, bytes) = step {
            decoder.push(*direction, 0, bytes, emit);
        }
    }
    let block: Vec<u8> = unit
        .iter()
        .copied()
        .cycle()
        .take(read.next_multiple_of(unit.len()))
        .collect();
    let mut fed = 0;
    while fed < total {
        decoder.push(direction, 0, &block, emit);
        fed += block.len();
    }
    for direction in [ClientToServer, ServerToClient] {
        decoder.end(direction, 0, emit);
    }
    (count, longest)
}

/// If any of it took quadratic time, this would not end.
#[test]
fn time_is_linear_however_little_is_read_at_once() {
    let units: [&[u8]; 8] = [
        b"\n",
        b"\r",
        b"a",
        b": comment\n",
        b"1\r\na\r\n",
        b"0\r\n",
        b"\x00\x01a",
        b"data: x\n\n",
    ];
    for beginning in beginnings() {
        for unit in units {
            feed(&beginning, ClientToServer, unit, 1, 1 << 18);
            feed(&beginning, ServerToClient, unit, 1, 1 << 18);
        }
    }
}

/// The most memory that this process had, in bytes.
fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim()
        .strip_suffix(" kB")?
        .trim()
        .parse::<usize>()
        .ok()
        .map(|kib| kib << 10)
}

#[test]
fn memory_is_bounded_whatever_does_not_end() {
    const ENDLESS: usize = 100 << 20;
    const ENOUGH: usize = 60 << 20;
    // In a process of its own: what other tests need does not count.
    if std::env::var_os("ALONE").is_none() {
        let name = "hostile::memory_is_bounded_whatever_does_not_end";
        let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
        let output = alone
            .args(["--exact", name])
            .env("ALONE", "yes")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
        return;
    }
    let asked = |head: &str| vec![client(text("GET / HTTP/1.1||")), server(text(head))];
    let first_fragment = server(frame(0x01, false, b"a"));
    for (beginning, unit) in [
        (vec![], &b"a"[..]),
        (vec![], b"\r\n"),
        (asked("HTTP/1.1 200 OK|"), b"Name: value\r\n"),
        (asked("HTTP/1.1 200 OK||"), b"a"),
        (
            asked("HTTP/1.1 200 OK|Transfer-Encoding: chunked||1;"),
            b"a",
        ),
        (
            asked("HTTP/1.1 200 OK|Transfer-Encoding: chunked||0|"),
            b"Name: value\r\n",
        ),
        (asked("HTTP/1.1 200 OK|Content-Encoding: gzip||"), b"a"),
        (
            asked("HTTP/1.1 200 OK|Content-Type: text/event-stream||data: "),
            b"a",
        ),
        (
            asked("HTTP/1.1 200 OK|Content-Type: text/event-stream||"),
            b"data: a\n",
        ),
        (
            websocket("", [first_fragment]),
            &frame(0x00, false, &vec![b'a'; 60000]),
        ),
    ] {
        let (_, longest) = feed(&beginning, ServerToClient, unit, 60000, ENDLESS);
        assert!(longest <= LIMIT);
    }
    let pipelined = text("GET / HTTP/1.1||").into_bytes();
    feed(&[], ClientToServer, &pipelined, 60000, ENDLESS);
    if let Some(peak) = peak_memory() {
        assert!(peak < ENOUGH, "{} MiB", peak >> 20);
    }
}

#[test]
fn limits_hold_to_the_byte() {
    let shown = |steps: &[Step]| -> Vec<String> {
        let pieces = decode(Protocol::Http, steps, &mut in_one_read);
        assert_eq!(decode(Protocol::Http, steps, &mut |_| 999), pieces);
        pieces.into_iter().map(|piece| piece.shown).collect()
    };
    let head = |length: usize| {
        let start = text("GET / HTTP/1.1|A: ");
        let value = "a".repeat(length - start.len() - 4);
        client(start + &value + "\r\n\r\n")
    };
    assert_eq!(
        shown(&[head(MAX_HEAD)])[0],
        "> 1 request-head GET / HTTP/1.1"
    );
    let other = ["> 0 other [65536]"; 4];
    assert_eq!(
        shown(&[head(MAX_HEAD + 1)]),
        [&other[..], &["> 0 other \\n"]].concat()
    );
    let trailers = "HTTP/1.1 200 OK|Transfer-Encoding: chunked||0|";
    let trailers = with(trailers, text("A: b|").repeat(50000));
    assert_eq!(
        shown(&[server(trailers)])[1..],
        ["< 1 end whole", "< 1 other [262144]", "< 0 other [37856]"]
    );
}

#[test]
fn a_long_body_whose_coding_breaks_is_read_one_way_only() {
    let letters = (0u32..800_000).map(|n| n.wrapping_mul(0x9e37_79b9).rotate_left(n % 31) % 16);
    let long: Vec<u8> = letters
        .map(|letter| b"0123456789abcdef"[letter as usize])
        .collect();
    for (coding, mut body) in [("gzip", gzip(&long)), ("zstd", zstd(&long))] {
        assert!(body.len() > 200_000);
        body[80_000..180_000].fill(0xff);
        let head = format!("HTTP/1.1 200 OK|Content-Encoding: {coding}||");
        let steps = [server(with(&head, body))];
        let pieces = decode_all_ways(Protocol::Http, &steps, 1000);
        assert!(
            pieces[1].shown.starts_with("< 1 body cut ["),
            "{coding} {pieces:?}"
        );
    }
}

#[test]
fn of_a_long_body_the_beginning_is_kept_and_all_is_counted() {
    let long = vec![b'a'; LIMIT + 1];
    let head = "HTTP/1.1 200 OK|Content-Encoding: zstd||";
    let pieces = decode(
        Protocol::Http,
        &[server(with("HTTP/1.1 200 OK||", &long)), client("")],
        &mut |_| 50000,
    );
    let expected = format!("< 1 body closed [{KEPT}] of {}", long.len());
    assert_eq!(pieces[1].shown, expected);
    let pieces = decode(
        Protocol::Http,
        &[server(with(head, zstd(&long)))],
        &mut in_one_read,
    );
    assert_eq!(pieces[1].shown, expected);
    let pieces = decode(
        Protocol::Http,
        &[server(with(head, zstd(&long[1..])))],
        &mut in_one_read,
    );
    assert_eq!(pieces[1].shown, format!("< 1 body closed [{LIMIT}]"));
}

#[test]
fn a_bomb_is_not_decompressed_to_its_end() {
    let zeros = zstd(&vec![0; 1 << 20]).repeat(300);
    let newlines = zstd(&vec![b'\n'; 1 << 20]).repeat(300);
    let twice = zstd(&zeros);
    for (head, body, ended) in [
        (
            "Content-Encoding: zstd",
            &zeros,
            format!("body cut [{KEPT}] of 268435456"),
        ),
        (
            "Content-Encoding: zstd, zstd",
            &twice,
            format!("body cut [{KEPT}] of "),
        ),
        (
            "Content-Type: text/event-stream|Content-Encoding: zstd",
            &newlines,
            "end cut".into(),
        ),
    ] {
        let head = format!("HTTP/1.1 200 OK|{head}||");
        let pieces = decode(
            Protocol::Http,
            &[server(with(&head, body))],
            &mut in_one_read,
        );
        assert!(
            pieces[1].shown.starts_with(&format!("< 1 {ended}")),
            "{pieces:?}"
        );
    }
}

#[test]
fn a_stream_of_events_may_go_on_for_ever() {
    let comment = zstd(format!(":{}\n\n", "a".repeat(16 << 10)).as_bytes());
    let head = "HTTP/1.1 200 OK|Content-Type: text/event-stream|Content-Encoding: zstd||";
    let body = comment.repeat(20_000);
    let pieces = decode(
        Protocol::Http,
        &[server(with(head, body))],
        &mut in_one_read,
    );
    let last = pieces.last().map(|piece| &*piece.shown);
    assert_eq!((pieces.len(), last), (20_002, Some("< 1 end closed")));
}
