//! Connections taken apart: which pieces they give, that the cutting of reads does not matter, and
//! that nothing a peer sends can hurt.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod hostile;
mod made;
mod scenarios;

use mcpreel_wire::http::{Decoder, Part, Piece, Protocol};
use mcpreel_wire::message::Direction::{self, ClientToServer, ServerToClient};
use std::collections::HashMap;

/// What happens on a connection.
#[derive(Clone, Debug)]
enum Step {
    Bytes(Direction, Vec<u8>),
    Missing(Direction, u64),
    End(Direction),
}

fn client(bytes: impl AsRef<[u8]>) -> Step {
    Step::Bytes(ClientToServer, bytes.as_ref().to_vec())
}

fn server(bytes: impl AsRef<[u8]>) -> Step {
    Step::Bytes(ServerToClient, bytes.as_ref().to_vec())
}

/// How long the next read is, given what is there.
type Cutting<'a> = &'a mut dyn FnMut(usize) -> usize;

/// A piece with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Given {
    direction: Direction,
    part: Part,
    wire: std::ops::Range<u64>,
    /// The piece as a line: direction, exchange, part, how it ended, fields, bytes.
    shown: String,
}

impl Given {
    fn of(piece: &Piece) -> Self {
        let arrow = match piece.direction {
            ClientToServer => '>',
            ServerToClient => '<',
        };
        let mut words = vec![
            arrow.to_string(),
            piece.exchange.to_string(),
            piece.part.as_str().to_owned(),
        ];
        words.extend(piece.ended.map(|ended| ended.as_str().to_owned()));
        if let Some(fields) = &piece.event {
            words.extend(fields.id.iter().map(|id| format!("id={id}")));
            words.extend(fields.event.iter().map(|event| format!("event={event}")));
            words.extend(fields.retry.iter().map(|retry| format!("retry={retry}")));
        }
        let head = matches!(piece.part, Part::RequestHead | Part::ResponseHead);
        let bytes = match piece.bytes.split(|byte| *byte == b'\r').next() {
            Some(line) if head => line,
            _ => piece.bytes,
        };
        match bytes.len() {
            0 => {}
            1..=100 => words.push(bytes.escape_ascii().to_string()),
            length => words.push(format!("[{length}]")),
        }
        if piece.total != piece.bytes.len() as u64 {
            words.push(format!("of {}", piece.total));
        }
        Self {
            direction: piece.direction,
            part: piece.part,
            wire: piece.wire.clone(),
            shown: words.join(" "),
        }
    }
}

/// The pieces of a connection whose reads are cut so. Both directions end with the steps.
fn decode(protocol: Protocol, steps: &[Step], cutting: Cutting) -> Vec<Given> {
    let mut decoder = Decoder::new(protocol);
    let mut given = Vec::new();
    let mut read = 0;
    let emit = &mut |piece: Piece| {
        assert!(piece.t_first <= piece.t_last, "{piece:?}");
        given.push(Given::of(&piece));
    };
    let mut steps = steps.to_vec();
    for direction in [ClientToServer, ServerToClient] {
        let ends = |step: &Step| matches!(step, Step::End(one) if *one == direction);
        if !steps.iter().any(ends) {
            steps.push(Step::End(direction));
        }
    }
    for step in &steps {
        read += 1;
        match step {
            Step::Bytes(direction, bytes) => {
                let mut rest = &bytes[..];
                while !rest.is_empty() {
                    let (now, later) = rest.split_at(cutting(rest.len()).clamp(1, rest.len()));
                    decoder.push(*direction, read, now, emit);
                    read += 1;
                    rest = later;
                }
            }
            Step::Missing(direction, bytes) => decoder.skip(*direction, read, *bytes, emit),
            Step::End(direction) => decoder.end(*direction, read, emit),
        }
    }
    given
}

fn in_one_read(length: usize) -> usize {
    length
}

fn byte_by_byte(_: usize) -> usize {
    1
}

/// Fails where pieces of a direction overlap or are out of order. Control frames may stand within
/// a message that is given later.
fn assert_places_grow(given: &[Given]) {
    let mut ends: HashMap<Direction, u64> = HashMap::new();
    let mut controls: HashMap<Direction, u64> = HashMap::new();
    for piece in given {
        let end = ends.entry(piece.direction).or_default();
        assert!(piece.wire.start <= piece.wire.end, "{given:#?}");
        if piece.part == Part::Control {
            let before = controls
                .insert(piece.direction, piece.wire.end)
                .unwrap_or(0);
            assert!(before <= piece.wire.start, "{given:#?}");
        } else {
            assert!(*end <= piece.wire.start, "{piece:?} in {given:#?}");
            *end = piece.wire.end;
        }
    }
}

/// When an event came, and where it stands: each is there with the read that completes it.
#[test]
fn an_event_is_given_with_its_last_byte_also_in_a_compressed_stream() {
    for scenario in scenarios::all() {
        if !scenario.name.starts_with("events in ") {
            continue;
        }
        let mut decoder = Decoder::new(scenario.protocol);
        let (mut wire, mut events) = (0, Vec::new());
        for (t, step) in (0..).zip(&scenario.steps) {
            let Step::Bytes(direction, bytes) = step else {
                continue;
            };
            decoder.push(*direction, t, bytes, &mut |piece| {
                if piece.part == Part::Event {
                    assert_eq!((piece.t_first, piece.t_last), (t, t), "{}", scenario.name);
                    assert!(wire < piece.wire.start, "{}", scenario.name);
                    assert!(
                        piece.wire.end <= wire + bytes.len() as u64,
                        "{}",
                        scenario.name
                    );
                    events.push(t);
                }
            });
            if *direction == ServerToClient {
                wire += bytes.len() as u64;
            }
        }
        assert_eq!(events, [2, 3], "{}", scenario.name);
    }
}

#[test]
fn a_piece_has_the_place_and_the_times_of_its_first_and_last_byte() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    let body = "8\r\ndata: on\r\n9\r\ne\r\n\r\n: hi\r\n2\r\n\n\n\r\n0\r\n\r\n";
    let stream = format!("{head}{body}");
    let mut decoder = Decoder::new(Protocol::Http);
    let mut given = Vec::new();
    for (t, byte) in (0..).zip(stream.as_bytes()) {
        let emit = &mut |piece: Piece| {
            if piece.part != Part::End {
                assert_eq!(
                    (piece.t_first, piece.t_last + 1),
                    (piece.wire.start, piece.wire.end)
                );
            }
            let wire = [piece.wire.start, piece.wire.end].map(|at| usize::try_from(at).unwrap());
            let wire = &stream[wire[0]..wire[1]];
            given.push((piece.part, wire.to_owned()));
        };
        decoder.push(ServerToClient, t, &[*byte], emit);
    }
    let part = |part, wire: &str| (part, wire.to_owned());
    assert_eq!(given[0], part(Part::ResponseHead, head));
    assert_eq!(
        given[1..],
        [
            part(Part::Event, "data: on\r\n9\r\ne\r\n\r\n"),
            part(Part::Comment, ": hi\r\n2\r\n\n\n"),
            part(Part::End, ""),
        ]
    );
}
