//! Recordings whose every byte and moment is known, made by the real indexer.
//!
//! All tell the same [`viewer_story`], or the beginning of it, and differ in how they stand:
//!
//! | recording | how it stands |
//! |---|---|
//! | [`live`] | being recorded: calls open, a line unfinished, a pipe that is not read |
//! | [`ended`] | over, the server left with exit code 3 while a call was open |
//! | [`killed`] | its recorder was killed, and what it had left was recovered |
//! | [`replayed`] | what has ended, and a replay of it |
//! | [`mocked`] | what has ended, and a session with its mock |
//! | [`bridged`] | both sides of a bridge |
//! | [`broken`] | over; its messages break the rules in several places |
//! | [`said_and_ended`] | over; what was said stands in the test |
//! | [`remarked`] | over; nothing went wrong, but a rule warns |
//! | [`empty`] | being recorded, no message yet |

use crate::support::conversation::Conversation;
use crate::support::written::{Session, bytes, drain, exit};
use crate::viewer_story;
use mcpreel_store::annotate::{set_mark, set_note};
use mcpreel_store::indexer::Indexer;
use mcpreel_store::reader::Recording as Reader;
use mcpreel_store::recovery::bring_up_to_date;
use mcpreel_store::schema::State;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::event::{Closer, EventKind, ProcessContext, ProcessName};
use mcpreel_trace::frame::StreamId;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tempfile::TempDir;

/// 2026-11-20 12:00:00 UTC.
pub const WALL_NS: u64 = 1_795_176_000_000_000_000;

/// A millisecond.
pub const MS: u64 = 1_000_000;

/// A recording in a folder of its own.
pub struct Recording {
    pub path: PathBuf,
    /// What keeps it live: the lock of its spool, the connection that writes.
    recorder: Option<(Session, Indexer)>,
    dir: Rc<TempDir>,
}

impl Recording {
    fn begin(place: &Place, id: u32) -> Self {
        Self::begin_as(place, id, |_| ())
    }

    fn begin_as(place: &Place, id: u32, set: fn(&mut ProcessContext)) -> Self {
        let dir = Rc::clone(&place.dir);
        let name = format!(
            "2026-11-20T{:02}-00-00_weather-server_{id:08x}.reel",
            12 - place.hours
        );
        let path = dir.path().join(name);
        let wall_ns = WALL_NS - place.hours * 3_600_000 * MS;
        let mut context = context(id, wall_ns);
        set(&mut context);
        let session = Session::begin(&path, context);
        let indexer = session.indexer();
        Self {
            path,
            recorder: Some((session, indexer)),
            dir,
        }
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        self.dir.path()
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The session that is recorded, until it is over.
    pub fn session(&mut self) -> &mut Session {
        &mut self.recorder.as_mut().expect("the recorder lives").0
    }

    /// Puts on record what was written so far.
    pub fn index(&mut self) {
        let (_, indexer) = self.recorder.as_mut().expect("the recorder lives");
        drain(indexer, &bytes(u64::MAX));
    }

    /// Completes the recording, as its recorder does.
    pub fn finish(&mut self) {
        self.index();
        let (_, mut indexer) = self.recorder.take().expect("the recorder lives");
        let finished = indexer.finish(State::Complete);
        finished.expect("it can be completed");
        indexer.release_spool().expect("the spool can be removed");
    }

    /// The recorder dies at once.
    pub fn kill(&mut self) {
        self.recorder = None;
    }
}

/// The first lines of `conversation`, being recorded.
pub fn wild(conversation: Conversation, lines: usize) -> Growing {
    let mut growing = Growing {
        recording: Recording::begin(&Place::new(), 0x7f3a_9c26),
        conversation,
    };
    growing.add(lines);
    growing
}

/// So many lines, all of them ASCII; over.
pub fn plain_of(lines: usize) -> Recording {
    let mut recording = Recording::begin(&Place::new(), 0x7f3a_9c27);
    say(&mut recording, Conversation::tame(1), lines);
    recording
}

/// A hundred lines, all of them ASCII; over.
pub fn plain() -> Recording {
    plain_of(100)
}

/// Two sessions of the same server of which much differs, all of them ASCII; the later one first,
/// which is told to be a replay of the other.
pub fn plain_pair() -> Vec<Recording> {
    let mut place = Place::new();
    let mut replay = Recording::begin_as(&place, 0xc04d_1133, |context| {
        context.origin = "replay".into();
        context.parent = Some("b02c77f1".into());
    });
    say(&mut replay, Conversation::tame(2), 100);
    place.hours += 1;
    let mut original = Recording::begin(&place, 0xb02c_77f1);
    say(&mut original, Conversation::tame(1), 100);
    vec![replay, original]
}

/// So many lines of it, and the end.
fn say(recording: &mut Recording, conversation: Conversation, lines: usize) {
    let session = recording.session();
    for line in conversation.take(lines) {
        session.at(line.t).chunk(line.stream, &line.bytes);
    }
    session.end();
    recording.finish();
}

/// A recording that grows.
pub struct Growing {
    recording: Recording,
    conversation: Conversation,
}

impl Growing {
    /// Its file.
    pub fn path(&self) -> &Path {
        &self.recording.path
    }

    /// More lines.
    pub fn add(&mut self, lines: usize) {
        let session = self.recording.session();
        for line in self.conversation.by_ref().take(lines) {
            session.at(line.t).chunk(line.stream, &line.bytes);
        }
        self.recording.index();
    }

    /// More lines, and the end of the session.
    pub fn end(&mut self, lines: usize) {
        self.add(lines);
        self.recording.session().end();
        self.recording.finish();
    }

    /// More lines, put on record by somebody who did not see what came before.
    pub fn go_on_underived(&mut self, lines: usize) {
        let (session, indexer) = self.recording.recorder.take().expect("it is recorded");
        drop(indexer);
        let indexer = Indexer::resume(&self.recording.path, session.spool());
        let indexer = indexer.expect("it can be gone on with");
        self.recording.recorder = Some((session, indexer));
        self.add(lines);
    }

    /// The recorder dies at once.
    pub fn kill(&mut self) {
        self.recording.kill();
    }
}

/// Where and when a recording is made.
struct Place {
    dir: Rc<TempDir>,
    /// How long before [`WALL_NS`].
    hours: u64,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        Self {
            dir: Rc::new(dir),
            hours: 0,
        }
    }
}

/// A folder with one of each, the live one first.
pub fn folder() -> Vec<Recording> {
    let mut place = Place::new();
    let makers = [live_in, ended_in, killed_in, gap_in, empty_in];
    let mut recordings = Vec::new();
    for make in makers {
        recordings.push(make(&place));
        place.hours += 1;
    }
    for recording in &mut recordings[3..] {
        recording.finish();
    }
    recordings
}

/// Calls are open, a line is unfinished, the server does not read.
pub fn live() -> Recording {
    live_in(&Place::new())
}

fn live_in(place: &Place) -> Recording {
    let mut recording = Recording::begin(place, 0x7f3a_9c21);
    let session = recording.session();
    viewer_story::whole(session);
    viewer_story::hang(session);
    recording.index();
    annotate(&recording.path);
    recording
}

/// The server left with an exit code while a call was open.
pub fn ended() -> Recording {
    ended_in(&Place::new())
}

fn ended_in(place: &Place) -> Recording {
    let mut recording = Recording::begin(place, 0xb02c_77e0);
    let session = recording.session();
    viewer_story::whole(session);
    session.at(23_000 * MS);
    session.chunk(StreamId::STDERR, b"fatal: upstream closed the connection\n");
    session.event(&eof(StreamId::S2C));
    session.event(&eof(StreamId::STDERR));
    session.end_with(exit(3));
    recording.finish();
    annotate(&recording.path);
    recording
}

/// What has ended, and a replay of it in which the server does other things; the replay first.
pub fn replayed() -> Vec<Recording> {
    let mut place = Place::new();
    let mut replay = Recording::begin_as(&place, 0xc04d_1122, |context| {
        context.origin = "replay".into();
        context.parent = Some("b02c77e0".into());
    });
    let session = replay.session();
    viewer_story::again(session);
    session.event(&eof(StreamId::S2C));
    session.end_with(exit(0));
    replay.finish();
    place.hours += 1;
    vec![replay, ended_in(&place)]
}

/// What has ended, and a session with its mock, which had nothing for a call; the mock first.
pub fn mocked() -> Vec<Recording> {
    let mut place = Place::new();
    let mut mock = Recording::begin_as(&place, 0xd15e_3344, |context| {
        context.origin = "mock".into();
        context.name = "server".into();
        context.parent = Some("b02c77e0".into());
    });
    let session = mock.session();
    viewer_story::opening(session);
    viewer_story::missed(session);
    session.event(&eof(StreamId::C2S));
    session.end();
    mock.finish();
    place.hours += 1;
    vec![mock, ended_in(&place)]
}

/// Both sides of a bridge whose server does not answer: what passed between host and mcpreel, and what went
/// over the network, which began later. In this order.
pub fn bridged() -> Vec<Recording> {
    let place = Place::new();
    let [host, network] = [0x5702_defc, 0x243d_f284];
    let sides = [
        Recording::begin_as(&place, host, |context| {
            context.other_side = Some("243df284".into());
        }),
        Recording::begin_as(&place, network, |context| {
            context.name += "-http";
            context.wall_ns += 10 * MS;
            context.transport = "http".into();
            context.url = Some("http://localhost:4123/mcp".into());
            context.other_side = Some("5702defc".into());
        }),
    ];
    let both = sides.map(|mut side| {
        let asked = r#"> "id":1,"method":"ping""#;
        let answered = r#"< "id":1,"error":{"code":-32000,"message":"refused"}"#;
        side.session().say(&format!("{asked}\n{answered}"));
        leave(&mut side);
        side
    });
    both.into()
}

/// These lines were said, and it goes on.
pub fn said(lines: &str) -> Recording {
    let mut recording = Recording::begin(&Place::new(), 0x7f3a_9c28);
    recording.session().say(lines);
    recording.index();
    recording
}

/// These lines were said, and the host left; over.
pub fn said_and_ended(lines: &str) -> Recording {
    let mut recording = said(lines);
    leave(&mut recording);
    recording
}

/// The host leaves, and the recording is completed.
pub fn leave(recording: &mut Recording) {
    let session = recording.session();
    session.event(&eof(StreamId::C2S));
    session.end();
    recording.finish();
}

/// Messages break the rules in several places; over.
pub fn broken() -> Recording {
    let mut recording = Recording::begin(&Place::new(), 0x51d3_0aa7);
    let session = recording.session();
    viewer_story::opening(session);
    viewer_story::broken(session);
    session.end();
    recording.finish();
    recording
}

/// Nothing went wrong, but a rule warns; over.
pub fn remarked() -> Recording {
    let mut recording = Recording::begin(&Place::new(), 0x51d3_0aa8);
    let session = recording.session();
    viewer_story::opening(session);
    let twice: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":\
        {\"level\":\"info\",\"data\":1,\"data\":1}}\n";
    session.at(2_000 * MS).chunk(StreamId::S2C, twice);
    session.event(&eof(StreamId::C2S));
    session.end();
    recording.finish();
    recording
}

/// The recorder was killed; the recording was completed from its spool.
pub fn killed() -> Recording {
    killed_in(&Place::new())
}

fn killed_in(place: &Place) -> Recording {
    let mut recording = Recording::begin(place, 0x15aa_0f3d);
    viewer_story::whole(recording.session());
    recording.kill();
    let recovered = bring_up_to_date(&recording.path, Clock::start(), &mut |_| ());
    recovered.expect("it can be completed");
    recording
}

fn gap_in(place: &Place) -> Recording {
    let mut recording = Recording::begin(place, 0xe641_0b92);
    let session = recording.session();
    viewer_story::opening(session);
    session.lose(StreamId::S2C, 12_000);
    session.status(None, Some("no space left on device"));
    viewer_story::forecast(session, 2_000, 50);
    recording.index();
    recording
}

/// The server was started and has said nothing but a line on stderr.
pub fn empty() -> Recording {
    empty_in(&Place::new())
}

fn empty_in(place: &Place) -> Recording {
    let mut recording = Recording::begin(place, 0x0c9d_5512);
    let session = recording.session();
    viewer_story::start(session);
    recording.index();
    recording
}

fn context(id: u32, wall_ns: u64) -> ProcessContext {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    ProcessContext {
        recording: format!("{id:08x}"),
        name: "weather-server".into(),
        origin: "live".into(),
        wall_ns,
        transport: "stdio".into(),
        argv: words("npx -y weather-server --units metric"),
        executable: Some("/usr/bin/npx".into()),
        cwd: Some("/home/ana/work".into()),
        path: Some("/usr/local/bin:/usr/bin:/bin".into()),
        env_names: words("HOME LANG PATH WEATHER_TOKEN"),
        host: ProcessName {
            pid: 4700,
            name: "claude".into(),
            command: words("claude --mcp-config weather.json"),
        },
        mcpreel: "0.1.0".into(),
        slow_ns: Some(1000 * MS),
        ..ProcessContext::default()
    }
}

fn eof(stream: StreamId) -> EventKind {
    let by = Closer::Writer;
    EventKind::Eof { stream, by }
}

/// A note on the first call that failed, a mark on the slow one.
fn annotate(reel: &Path) {
    let recording = Reader::open(reel).expect("it can be read");
    let first = |name: &str| {
        let mut found = None;
        let each = recording.each_exchange(|exchange| {
            if exchange.name.as_deref() == Some(name) && found.is_none() {
                found = Some(exchange.request.0);
            }
        });
        each.expect("it can be read");
        found.expect("the story has it")
    };
    let (failed, slow) = (first("search_docs"), first("yearly_report"));
    drop(recording);
    let note = "the quota again, see the billing page";
    set_note(reel, Some(failed), Some(note)).expect("it can be written");
    set_mark(reel, slow, Some("slow")).expect("it can be written");
}
