//! `kill -9` of the recorder, at any moment, loses nothing that either side had received.

mod support;

use mcpreel::capture::spool::{RecordKind, SpoolReader, Writer};
use mcpreel::store::indexer::{Budget, Indexer};
use mcpreel::store::recovery;
use mcpreel::store::values::State;
use mcpreel::trace::clock::{Clock, Moment};
use mcpreel::trace::event::{EventKind, ProcessContext};
use mcpreel::trace::frame::StreamId;
use nix::fcntl::{Flock, FlockArg};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use support::dice::Dice;
use support::rows::Rows;
use support::session::Collected;
use support::{Library, peer, wait_for};

const ROUNDS: usize = if cfg!(feature = "long-tests") { 50 } else { 5 };

/// How much the host may have received when the recorder is killed.
const AT_MOST: u64 = 400_000;

/// What both sides had received when the recorder was gone.
struct Received {
    by_server: Vec<u8>,
    out: Vec<u8>,
    err: Vec<u8>,
    sent_by_host: Vec<u8>,
}

#[test]
fn kill_nine_at_any_moment_loses_nothing_that_either_side_had_received() {
    for round in 0..ROUNDS {
        let seed = Dice::shaken();
        eprintln!("round {round}, seed {:#x}", seed.0);
        let library = Library::new();
        let received = killed_session(&library, seed);
        recover(&library, round);
        assert_all_is_there(&library, &received);
        assert_as_if_undisturbed(&library);
    }
}

/// A session under load, whose recorder is killed when the host has received a certain amount.
fn killed_session(library: &Library, mut dice: Dice) -> Received {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let mut run = library.run([
        peer().as_os_str(),
        OsStr::new("chatter"),
        dir.path().as_os_str(),
    ]);
    let mut recorder = run.spawn().expect("the program starts");
    let out = Collected::from(recorder.stdout.take().expect("stdout is a pipe"));
    let err = Collected::from(recorder.stderr.take().expect("stderr is a pipe"));
    let stdin = recorder.stdin.take().expect("stdin is a pipe");
    let requests = Dice(dice.below(u64::MAX));
    let host = thread::spawn(move || send_requests(stdin, requests));
    let enough = dice.below(AT_MOST);
    wait_for("enough traffic", || {
        ((out.len() + err.len()) as u64 >= enough).then_some(())
    });
    recorder.kill().expect("the recorder runs");
    recorder.wait().expect("the recorder is ours");
    Received {
        sent_by_host: host.join().expect("it does not panic"),
        by_server: got_by_server(&dir.path().join("got")),
        out: out.whole(),
        err: err.whole(),
    }
}

/// Requests without end, in pieces, until nobody reads them; returns what was sent.
fn send_requests(mut stdin: impl Write, mut dice: Dice) -> Vec<u8> {
    let mut sent = Vec::new();
    for id in 1_u64.. {
        let fill = "q".repeat(usize::try_from(dice.below(1500)).expect("it is small"));
        let line = match id % 9 {
            4 => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
                id - 2
            ),
            7 => format!(
                r#"{{"jsonrpc":"2.0","id":"s{}","result":{{}}}}"#,
                id / 9 * 7
            ),
            _ => format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","fill":"{fill}"}}}}"#
            ),
        };
        let line = format!("{line}\n");
        let at = usize::try_from(dice.below(line.len() as u64)).expect("it is small");
        for piece in [&line[..at], &line[at..]] {
            // More than what could be delivered may be recorded, but nothing that was not sent.
            sent.extend(piece.as_bytes());
            if stdin.write_all(piece.as_bytes()).is_err() {
                return sent;
            }
        }
    }
    sent
}

/// What the server has kept, once it is gone.
fn got_by_server(path: &Path) -> Vec<u8> {
    wait_for("the end of the server", || {
        let file = File::open(path).ok()?;
        Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()
    });
    std::fs::read(path).expect("the server has kept what it got")
}

/// Whichever command reads the recording first completes it.
fn recover(library: &Library, round: usize) {
    let first: &[&str] = match round % 3 {
        0 => &["show", "@"],
        1 => &["reindex", "@"],
        _ => &["ls"],
    };
    let output = library
        .mcpreel(first[0])
        .args(&first[1..])
        .output()
        .expect("mcpreel starts");
    assert!(output.status.success(), "{}", support::text(&output));
    assert_eq!(library.json(&["show", "@"])[0]["state"], "recovered");
    assert_eq!(
        library.files("spool"),
        [""; 0].map(PathBuf::from),
        "the spool is drained"
    );
    assert_eq!(library.events("recovered").len(), 1);
    assert_eq!(library.events("gap").len(), 0);
}

fn assert_all_is_there(library: &Library, received: &Received) {
    let [c2s, s2c, stderr] = ["c2s", "s2c", "stderr"].map(|stream| library.stream(stream));
    assert!(
        c2s.starts_with(&received.by_server),
        "what the server received"
    );
    assert!(s2c.starts_with(&received.out), "what the host received");
    assert!(
        stderr.starts_with(&received.err),
        "what the host received on stderr"
    );
    assert!(
        received.sent_by_host.starts_with(&c2s),
        "nothing that was not sent"
    );
    // What the server wrote and nobody received: numbered, so that each is there once.
    assert_numbered(&s2c, r#""data":"#, |n| if n % 7 == 6 { 2 } else { 1 });
    assert_numbered(&stderr, "line ", |_| 1);
}

/// Every whole line with a number after `mark` has the one that follows the one before.
fn assert_numbered(stream: &[u8], mark: &str, step: impl Fn(u64) -> u64) {
    let text = std::str::from_utf8(stream).expect("the server writes text");
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut last = 0;
    for line in whole.lines() {
        let Some((_, rest)) = line.split_once(mark) else {
            continue;
        };
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
        let number: u64 = digits
            .and_then(|digits| digits.parse().ok())
            .expect("it is numbered");
        assert_eq!(number, last + step(last), "{line}");
        last = number;
    }
}

/// What is derived equals what an indexer derives that nobody disturbs, and what `reindex` does.
fn assert_as_if_undisturbed(library: &Library) {
    let recovered = library.files("reel").remove(0);
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let undisturbed = index_anew(library, dir.path());
    let derived = Rows::derived(&recovered);
    Rows::frames(&recovered).assert_same(&Rows::frames(&undisturbed), "the same frames");
    derived.assert_same(&Rows::derived(&undisturbed), "recovered, undisturbed");
    let output = library
        .mcpreel("reindex")
        .arg("@")
        .output()
        .expect("mcpreel starts");
    assert!(output.status.success(), "{}", support::text(&output));
    derived.assert_same(&Rows::derived(&recovered), "recovered, reindexed");
}

/// A recording of the same frames and events, from a spool that is there as a whole.
fn index_anew(library: &Library, dir: &Path) -> PathBuf {
    let frames = library.json(&["show", "@", "--frames"]);
    let events = library.json(&["show", "@", "--events"]);
    let mut events = events
        .into_iter()
        .filter(|event| event["kind"] != "recovered");
    let start = events.next().expect("it begins with the start event");
    let mut spool = Spool::create(&dir.join("a.spool"), &start);
    let mut events = events.peekable();
    for frame in &frames {
        while let Some(event) =
            events.next_if(|event| event["after_seq"].as_u64() < frame["seq"].as_u64())
        {
            spool.event(&event);
        }
        spool.frame(frame);
    }
    events.for_each(|event| spool.event(&event));
    drop(spool);
    index(dir, |_| ())
}

/// Indexes the spool `a.spool` of `dir`, one record after the other, and finishes the recording;
/// `between` sees what is on disk after each.
fn index(dir: &Path, mut between: impl FnMut(usize)) -> PathBuf {
    let (reel, spool) = (dir.join("a.reel"), dir.join("a.spool"));
    let mut reader = SpoolReader::open(&spool).expect("it is a spool");
    let mut payload = Vec::new();
    let first = reader.first_position();
    reader
        .read(first, u64::MAX, &mut payload)
        .expect("it can be read");
    let Ok(EventKind::Start(context)) = serde_json::from_slice(&payload) else {
        panic!("it begins with the start event");
    };
    let mut indexer = Indexer::create(&reel, &context, reader).expect("it can be created");
    let one_record = Budget {
        bytes: 1,
        nanos: u64::MAX,
        clock: Clock::start(),
    };
    for nth in 0.. {
        between(nth);
        if indexer
            .step(u64::MAX, &one_record)
            .expect("it can be written")
            .caught_up
        {
            break;
        }
    }
    indexer.finish(State::Recovered).expect("it can be written");
    reel
}

/// A spool being written.
struct Spool {
    writer: Writer,
    offsets: [u64; 3],
}

impl Spool {
    fn create(path: &Path, start: &Value) -> Self {
        let writer = Writer::create(path, 7, &event_bytes(start)).expect("it can be created");
        Self {
            writer,
            offsets: [0; 3],
        }
    }

    fn chunk(&mut self, stream: StreamId, t: Moment, bytes: &[u8]) {
        let offset = &mut self.offsets[usize::from(stream.0)];
        let written = self
            .writer
            .append(RecordKind::Chunk, stream, t, *offset, bytes);
        written.expect("it can be written");
        *offset += bytes.len() as u64;
    }

    /// A frame in two chunks, if it did not come in one, so that its times are the same.
    fn frame(&mut self, frame: &Value) {
        let time = |key: &str| Moment(frame[key].as_u64().expect("it is a time"));
        let stream = StreamId::STDIO
            .into_iter()
            .find(|stream| frame["stream"] == stream.as_str());
        let stream = stream.expect("the session has three streams");
        let bytes = support::frame_bytes(frame);
        let in_first = usize::from(time("t_first_ns") != time("t_last_ns"));
        if in_first > 0 {
            self.chunk(stream, time("t_first_ns"), &bytes[..in_first]);
        }
        self.chunk(stream, time("t_last_ns"), &bytes[in_first..]);
    }

    fn event(&mut self, event: &Value) {
        let t = Moment(event["t_ns"].as_u64().expect("it is a time"));
        let written = self
            .writer
            .append(RecordKind::Event, StreamId(0), t, 0, &event_bytes(event));
        written.expect("it can be written");
    }
}

/// An event of `show --events --json` as a record holds it.
fn event_bytes(event: &Value) -> Vec<u8> {
    let mut event = event.clone();
    let stream = StreamId::STDIO
        .into_iter()
        .find(|stream| event["stream"] == stream.as_str());
    if let Some(stream) = stream {
        event["stream"] = stream.0.into();
    }
    serde_json::to_vec(&event).expect("it is JSON")
}

#[test]
fn a_kill_between_any_two_batches_and_in_mid_line_changes_nothing() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    write_three_interleaved_streams(&dir.path().join("a.spool"));
    let mut killed = Vec::new();
    let undisturbed = index(dir.path(), |nth| {
        // Exactly what a kill would leave.
        let copy = dir.path().join(format!("killed-{nth}"));
        std::fs::create_dir(&copy).expect("a folder can be made");
        for file in ["a.spool", "a.reel", "a.reel-wal"] {
            drop(std::fs::copy(dir.path().join(file), copy.join(file)));
        }
        killed.push(copy.join("a.reel"));
    });
    let (frames, derived) = (Rows::frames(&undisturbed), Rows::derived(&undisturbed));
    assert_eq!((frames.count("frame"), derived.count("exchange")), (21, 6));
    assert!(killed.len() > 30, "a kill after every record");
    for reel in killed {
        let what = reel.display().to_string();
        recovery::bring_up_to_date(&reel, Clock::start(), &mut |_| ())
            .expect("it can be recovered");
        Rows::frames(&reel).assert_same(&frames, &what);
        Rows::derived(&reel).assert_same(&derived, &what);
        assert!(!reel.with_extension("spool").exists(), "{what}");
    }
}

/// Requests, answers and free text, each line in three chunks, between those of the others.
fn write_three_interleaved_streams(path: &Path) {
    let start = EventKind::Start(Box::new(ProcessContext {
        recording: "0badcafe".into(),
        ..ProcessContext::default()
    }));
    let mut spool = Spool::create(path, &serde_json::to_value(start).expect("it is JSON"));
    let mut t = 0;
    for n in 0..7 {
        let lines = [
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"ping\"}}\n"),
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}\n", n - 1),
            format!("step {n}\n"),
        ];
        for part in 0..3 {
            for (stream, line) in StreamId::STDIO.into_iter().zip(&lines) {
                t += 1000;
                let third = line.len() / 3;
                let end = if part == 2 {
                    line.len()
                } else {
                    third * (part + 1)
                };
                // The last line of stderr has no end, the last request is no JSON.
                let end = if n == 6 && stream != StreamId::S2C {
                    end.min(line.len() - 3)
                } else {
                    end
                };
                spool.chunk(stream, Moment(t), &line.as_bytes()[third * part..end]);
            }
        }
    }
}
