//! A session whose spool is written by hand: each record at the moment, with the bytes, that a
//! test or a bench names. What drains it is the real indexer.
//!
//! The unit tests of the store include this file as well, so it uses nothing of its neighbours.

use mcpreel_capture::spool::{EndNote, MAX_CHUNK, RecordKind, SpoolReader, Status, Tail, Writer};
use mcpreel_store::indexer::{Budget, Indexer};
use mcpreel_store::library::{file_stem, spool_of};
use mcpreel_store::schema::State;
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What passes between two records unless the writer says otherwise, nanoseconds.
const STEP: u64 = 1000;

/// A session, as far as its recorder has come.
pub struct Session {
    pub reel: PathBuf,
    context: ProcessContext,
    writer: Option<Writer>,
    sent: [u64; 3],
    /// Bytes of the streams of connections.
    carried: BTreeMap<u32, u64>,
    t: u64,
}

impl Session {
    /// A session of the server `name` in the folder `dir`.
    pub fn start(dir: &Path, name: &str, id: u32) -> Self {
        let context = context(name, id);
        let stem = file_stem(context.wall_ns, name, &context.recording);
        Self::begin(&dir.join(format!("{stem}.reel")), context)
    }

    /// The session that `context` describes, to be recorded in `reel`.
    pub fn begin(reel: &Path, context: ProcessContext) -> Self {
        let start = EventKind::Start(Box::new(context.clone()));
        let start = serde_json::to_vec(&start).expect("an event can be written");
        let id = u32::from_str_radix(&context.recording, 16).expect("an id is eight hex digits");
        let writer = Writer::create(&spool_of(reel), 0xABCD_0000 ^ id, &start);
        Self {
            reel: reel.to_owned(),
            context,
            writer: Some(writer.expect("the folder can be written")),
            sent: [0; 3],
            carried: BTreeMap::new(),
            t: 0,
        }
    }

    /// The next record stands at `t`, nanoseconds; it never goes back.
    pub fn at(&mut self, t: u64) -> &mut Self {
        self.set_clock(t.max(self.t + STEP))
    }

    /// The next record stands at `t`, though the clock went back.
    pub fn set_clock(&mut self, t: u64) -> &mut Self {
        self.t = t.saturating_sub(STEP);
        self
    }

    /// The next record stands so many nanoseconds later.
    pub fn later(&mut self, ns: u64) -> &mut Self {
        self.at(self.t + ns)
    }

    /// Bytes that a pump reads at once.
    pub fn chunk(&mut self, stream: StreamId, bytes: &[u8]) {
        let at = self.sent[stream.index()];
        self.append(RecordKind::Chunk, stream, at, bytes);
        self.sent[stream.index()] += bytes.len() as u64;
    }

    /// Bytes that are read at once from one way of a connection.
    pub fn carry(&mut self, stream: StreamId, bytes: &[u8]) {
        for piece in bytes.chunks(MAX_CHUNK) {
            let at = self.carried.get(&stream.0).copied().unwrap_or_default();
            self.append(RecordKind::Chunk, stream, at, piece);
            self.carried.insert(stream.0, at + piece.len() as u64);
        }
    }

    /// Bytes of one way of a connection so far.
    pub fn carried(&self, stream: StreamId) -> u64 {
        self.carried.get(&stream.0).copied().unwrap_or_default()
    }

    /// Lines of the client (`>`), the server (`<`) and its stderr (`!`), each after its time in
    /// milliseconds if it has one. What begins with a quote stands for the members of a message.
    pub fn say(&mut self, lines: &str) {
        let lines = lines.lines().map(str::trim_start);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (first, rest) = line.split_once(' ').expect("a line says who speaks");
            let said = first.parse().map_or(line, |ms: u64| {
                self.at(ms * 1_000_000);
                rest
            });
            let (who, text) = said.split_at(2);
            let stream = match who {
                "> " => StreamId::C2S,
                "< " => StreamId::S2C,
                _ => StreamId::STDERR,
            };
            let text = match text.strip_prefix('"') {
                Some(members) if who != "! " => format!("{{\"jsonrpc\":\"2.0\",\"{members}}}\n"),
                _ => format!("{text}\n"),
            };
            for piece in text.as_bytes().chunks(60_000) {
                self.chunk(stream, piece);
            }
        }
    }

    /// Bytes that are forwarded but not recorded.
    pub fn lose(&mut self, stream: StreamId, bytes: u64) {
        self.sent[stream.index()] += bytes;
    }

    pub fn event(&mut self, kind: &EventKind) {
        let json = serde_json::to_vec(kind).expect("an event can be written");
        self.append(RecordKind::Event, StreamId(0), 0, &json);
    }

    /// Writes the status block.
    pub fn status(&mut self, end: Option<EventKind>, gap: Option<&str>) {
        let status = Status {
            forwarded: self.sent,
            gap: gap.map(Into::into),
            end: end.map(|exit| EndNote {
                t_ns: self.t,
                exit: Some(exit),
            }),
            ..Status::default()
        };
        let written = self.writer().write_status(&status);
        written.expect("the spool can be written");
    }

    /// The server exits and the session ends as it should.
    pub fn end(&mut self) {
        self.end_with(exit(0));
    }

    /// The server ends as `exit` says.
    pub fn end_with(&mut self, exit: EventKind) {
        self.event(&exit);
        self.status(Some(exit), None);
    }

    /// The recorder dies: its lock is free.
    pub fn die(&mut self) {
        self.writer = None;
    }

    /// Where the next record will stand.
    pub fn written(&mut self) -> u64 {
        self.writer().end()
    }

    pub fn spool(&self) -> SpoolReader {
        SpoolReader::open(&spool_of(&self.reel)).expect("the spool can be read")
    }

    /// The indexer that makes the recording.
    pub fn indexer(&self) -> Indexer {
        let indexer = Indexer::create(&self.reel, &self.context, self.spool());
        indexer.expect("the recording can be made")
    }

    /// All that was written becomes the recording: its file.
    pub fn finish(self) -> PathBuf {
        self.finish_with(&bytes(u64::MAX))
    }

    /// The same in transactions of this size.
    pub fn finish_with(self, budget: &Budget) -> PathBuf {
        let mut indexer = self.indexer();
        drain(&mut indexer, budget);
        indexer.finish(State::Complete).expect("it can be finished");
        indexer.release_spool().expect("it can be removed");
        self.reel
    }

    fn writer(&mut self) -> &mut Writer {
        self.writer.as_mut().expect("the recorder lives")
    }

    fn append(&mut self, kind: RecordKind, stream: StreamId, offset: u64, payload: &[u8]) {
        self.t += STEP;
        let t = Moment(self.t);
        let appended = self.writer().append(kind, stream, t, offset, payload);
        appended.expect("the spool can be written");
    }
}

/// What a recorder knows of itself at its start.
pub fn context(name: &str, id: u32) -> ProcessContext {
    ProcessContext {
        recording: format!("{id:08x}"),
        name: name.into(),
        origin: "live".into(),
        wall_ns: 1_795_000_000_000_000_000 + u64::from(id) * 1_000_000_000,
        transport: "stdio".into(),
        ..ProcessContext::default()
    }
}

/// The server exits with this code.
pub fn exit(code: i32) -> EventKind {
    EventKind::Exit {
        code: Some(code),
        signal: None,
        max_rss_bytes: 1,
        user_ns: 2,
        system_ns: 3,
    }
}

/// A budget of so many bytes in each transaction, whatever the time.
pub fn bytes(bytes: u64) -> Budget {
    Budget {
        bytes,
        nanos: u64::MAX,
        clock: Clock::start(),
    }
}

/// Steps until the whole spool is drained.
pub fn drain(indexer: &mut Indexer, budget: &Budget) {
    let mut step = || {
        indexer
            .step(Tail::Final, budget)
            .expect("it can be indexed")
    };
    while !step() {}
}

/// What becomes of a session: the file of its recording, in `dir`.
pub fn recorded(dir: &Path, session: impl FnOnce(&mut Session)) -> PathBuf {
    recorded_of(Session::start(dir, "weather", 1), session)
}

/// The same of the session that `context` describes, in the file `reel`.
pub fn recorded_as(
    reel: &Path,
    context: ProcessContext,
    session: impl FnOnce(&mut Session),
) -> PathBuf {
    recorded_of(Session::begin(reel, context), session)
}

fn recorded_of(mut made: Session, session: impl FnOnce(&mut Session)) -> PathBuf {
    session(&mut made);
    made.finish_with(&bytes(1 << 26))
}
