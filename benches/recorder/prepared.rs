//! A spool as a session would have left it, and its way into a recording.

use crate::{machine, traffic};
use anyhow::Context;
use mcpreel_capture::spool::{RecordKind, SpoolReader, Tail, Writer};
use mcpreel_store::indexer::{Budget, Indexer};
use mcpreel_store::schema::State;
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the messages of a spool are.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Notifications from the server, 64 KiB read at once.
    Notifications,
    /// Calls and answers in turn, each read alone.
    Calls,
    /// The same with arguments and structured results, by the schemas of tools listed before.
    Searches,
    /// The same with a secret in every thousandth frame.
    Secrets,
    /// The same without, but one in what the server says of itself, and of its tools.
    Greeting,
    /// The same, and a log message or a line on stderr with a secret for every thousandth frame.
    Logs,
}

/// A spool with the traffic of a session.
pub struct Prepared {
    dir: PathBuf,
    frames: usize,
    raw_bytes: u64,
}

/// What became of a spool.
pub struct Indexed {
    /// Frames, the handshake not counted.
    pub frames: usize,
    /// Bytes of the messages.
    pub raw_bytes: u64,
    /// Bytes of the finished recording.
    pub size: u64,
    /// How long the indexer worked.
    pub took: Duration,
    /// How much of that it was on a CPU.
    pub cpu: Duration,
}

impl Prepared {
    /// Writes about `frames` messages of `size` bytes into a new spool in `dir`.
    pub fn write(dir: &Path, kind: Kind, size: usize, frames: usize) -> anyhow::Result<Self> {
        let greeting = match kind {
            Kind::Greeting => traffic::initialized_result_with(traffic::SECRET),
            _ => traffic::initialized_result(),
        };
        let mut session = Session::begin(dir, &greeting)?;
        let written = match kind {
            Kind::Notifications => session.notifications(size, frames)?,
            Kind::Calls => {
                let answers = [traffic::answer(size), traffic::answer(size)];
                session.calls(traffic::echo(size), answers, frames)?
            }
            Kind::Searches | Kind::Secrets | Kind::Greeting | Kind::Logs => {
                session.searches(kind, size, frames)?
            }
        };
        Ok(session.end(dir, written))
    }

    /// Writes a session of these calls and their answers, in order, `together` of them under way at
    /// once: whenever one is answered, the next one is made.
    pub fn exchanges(
        dir: &Path,
        together: usize,
        exchanges: impl Iterator<Item = anyhow::Result<[Vec<u8>; 2]>>,
    ) -> anyhow::Result<Self> {
        let mut session = Session::begin(dir, &traffic::initialized_result())?;
        let (mut waiting, mut frames) = (VecDeque::<Vec<u8>>::new(), 0);
        for exchange in exchanges {
            let [call, answer] = exchange?;
            if waiting.len() == together
                && let Some(answer) = waiting.pop_front()
            {
                session.chunk(StreamId::S2C, &answer)?;
            }
            session.chunk(StreamId::C2S, &call)?;
            waiting.push_back(answer);
            frames += 2;
        }
        for answer in waiting {
            session.chunk(StreamId::S2C, &answer)?;
        }
        Ok(session.end(dir, frames))
    }

    /// Drains it into a recording that stays.
    pub fn recording(self) -> anyhow::Result<PathBuf> {
        let reel = self.dir.join("prepared.reel");
        let reader = SpoolReader::open(&spool(&self.dir))?;
        let context = ProcessContext {
            recording: "5eed5eed".to_owned(),
            name: "prepared".to_owned(),
            origin: "live".to_owned(),
            transport: "stdio".to_owned(),
            ..ProcessContext::default()
        };
        let mut indexer = Indexer::create(&reel, &context, reader)?;
        let budget = Budget::beside_a_session(Clock::start());
        while !indexer.step(Tail::Final, &budget)? {}
        indexer.finish(State::Complete)?;
        std::fs::remove_file(spool(&self.dir))?;
        Ok(reel)
    }

    /// Drains it into a recording, as it is done beside a session, and finishes that.
    pub fn index(self) -> anyhow::Result<Indexed> {
        let reel = self.dir.join("prepared.reel");
        let reader = SpoolReader::open(&spool(&self.dir))?;
        let (clock, cpu_before) = (Clock::start(), machine::cpu_time()?);
        let mut indexer = Indexer::create(&reel, &ProcessContext::default(), reader)?;
        let budget = Budget::beside_a_session(clock);
        while !indexer.step(Tail::Final, &budget)? {}
        let (took, cpu) = (
            clock.now().since(Moment(0)),
            machine::cpu_time()?.saturating_sub(cpu_before),
        );
        indexer.finish(State::Complete)?;
        drop(indexer);
        let size = std::fs::metadata(&reel)
            .context("the recording is gone")?
            .len();
        std::fs::remove_file(&reel)?;
        std::fs::remove_file(spool(&self.dir))?;
        Ok(Indexed {
            frames: self.frames,
            raw_bytes: self.raw_bytes,
            size,
            took,
            cpu,
        })
    }
}

fn spool(dir: &Path) -> PathBuf {
    dir.join("prepared.spool")
}

/// A session that is only written down.
struct Session {
    writer: Writer,
    t: u64,
    sent: [u64; 3],
    /// The id of the next call.
    next_id: u64,
    raw_bytes: u64,
}

impl Session {
    /// The handshake is over.
    fn begin(dir: &Path, greeting: &[u8]) -> anyhow::Result<Self> {
        let start = EventKind::Start(Box::default());
        let writer = Writer::create(&spool(dir), 0x5EED, &serde_json::to_vec(&start)?)?;
        let mut session = Self {
            writer,
            t: 0,
            sent: [0; 3],
            next_id: traffic::FIRST_ID,
            raw_bytes: 0,
        };
        session.chunk(StreamId::C2S, &traffic::initialize())?;
        session.chunk(StreamId::S2C, greeting)?;
        session.chunk(StreamId::C2S, &traffic::initialized())?;
        Ok(session)
    }

    fn end(self, dir: &Path, frames: usize) -> Prepared {
        Prepared {
            dir: dir.to_owned(),
            frames,
            raw_bytes: self.raw_bytes,
        }
    }

    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> anyhow::Result<()> {
        self.t += 10_000;
        let sent = &mut self.sent[stream.index()];
        self.writer
            .append(RecordKind::Chunk, stream, Moment(self.t), *sent, bytes)?;
        *sent += bytes.len() as u64;
        self.raw_bytes += bytes.len() as u64;
        Ok(())
    }

    fn notifications(&mut self, size: usize, frames: usize) -> anyhow::Result<usize> {
        let together = (64 * 1024 / size).max(1);
        let block = traffic::notification(size).repeat(together);
        let blocks = frames / together;
        (0..blocks).try_for_each(|_| self.chunk(StreamId::S2C, &block))?;
        Ok(blocks * together)
    }

    /// Calls by the schemas of tools that are listed before, and what else there is of that kind.
    fn searches(&mut self, kind: Kind, size: usize, frames: usize) -> anyhow::Result<usize> {
        let tools = match kind {
            Kind::Greeting => traffic::tools_result_with(traffic::SECRET),
            _ => traffic::tools_result(),
        };
        self.chunk(StreamId::C2S, &traffic::list_tools())?;
        self.chunk(StreamId::S2C, &tools)?;
        let rare = match kind {
            Kind::Secrets => traffic::found_secret(size),
            _ => traffic::found(size),
        };
        let answers = [traffic::found(size), rare];
        if !matches!(kind, Kind::Logs) {
            return self.calls(traffic::search(size), answers, frames);
        }
        let (log, line) = (traffic::log_secret(size), traffic::stderr_secret(size));
        let mut written = 0;
        for round in 0..frames / 1000 {
            let beside = match round % 2 {
                0 => (StreamId::S2C, &log),
                _ => (StreamId::STDERR, &line),
            };
            self.chunk(beside.0, beside.1)?;
            written += 1 + self.calls(traffic::search(size), answers.clone(), 998)?;
        }
        Ok(written)
    }

    /// Calls and answers in turn, `frames` of them together; one of 500 answers is the second.
    fn calls(
        &mut self,
        mut call: Vec<u8>,
        [mut usual, mut rare]: [Vec<u8>; 2],
        frames: usize,
    ) -> anyhow::Result<usize> {
        let first = self.next_id;
        self.next_id += frames as u64 / 2;
        for id in (first..).take(frames / 2) {
            let answer = match id % 500 {
                0 => &mut rare,
                _ => &mut usual,
            };
            traffic::set_id(&mut call, id);
            traffic::set_id(answer, id);
            self.chunk(StreamId::C2S, &call)?;
            self.chunk(StreamId::S2C, answer)?;
        }
        Ok(frames / 2 * 2)
    }
}
