//! Recordings to look at: of a million frames, and with one very long message.
//!
//! They are made by the indexer from a spool, as in a session. That takes a while, so they stay in
//! `target` until this file, the format, or what is derived changes.

use crate::support::conversation::Conversation;
use crate::support::written::{Session, context};
use mcpreel_capture::spool::Tail;
use mcpreel_store::indexer::{Budget, Indexer};
use mcpreel_store::schema::State;
use mcpreel_store::schema::{DERIVED_VERSION, FormatVersion};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::StreamId;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// To be raised whenever something else is generated.
const VERSION: u32 = 2;

/// What a pump reads at once.
const CHUNK: usize = 64 * 1024;

/// Frames that are written before they are indexed: the spool of a million stays small.
const TOGETHER: u64 = 20_000;

/// Frames around a long message.
pub const AROUND: u64 = 40;

/// A recording of so many frames.
pub fn frames(count: u64) -> anyhow::Result<PathBuf> {
    kept(&format!("{count}-frames"), |session, indexer| {
        converse(Conversation::tame(1), count, session, indexer)
    })
}

/// A folder with two recordings of so many frames of the same server, of which nearly every answer
/// differs.
pub fn pair(count: u64) -> anyhow::Result<PathBuf> {
    let name = |id: u32| format!("{count}-frames-beside/{id}");
    for (id, seed) in [(1, 1), (2, 3)] {
        kept_as(&name(id), id, |session, indexer| {
            converse(Conversation::tame(seed), count, session, indexer)
        })?;
    }
    let path = kept_as(&name(1), 1, |_, _| Ok(()))?;
    Ok(path.parent().unwrap_or(&path).to_owned())
}

fn converse(
    mut lines: Conversation,
    count: u64,
    session: &mut Session,
    indexer: &mut Indexer,
) -> anyhow::Result<()> {
    let mut left = count;
    while left > 0 {
        for line in lines.by_ref().take(usize::try_from(left.min(TOGETHER))?) {
            session.at(line.t).chunk(line.stream, &line.bytes);
        }
        drain(indexer)?;
        left -= left.min(TOGETHER);
    }
    Ok(())
}

/// A recording with one answer of so many bytes among some small messages.
pub fn long_message(bytes: usize) -> anyhow::Result<PathBuf> {
    kept(
        &format!("message-of-{}-mb", bytes / 1_000_000),
        |session, indexer| {
            let mut lines = Conversation::tame(2);
            let mut t = 0;
            for line in lines.by_ref().take(usize::try_from(AROUND)?) {
                t = line.t;
                session.at(t).chunk(line.stream, &line.bytes);
            }
            session.at(t + 1_000_000).chunk(StreamId::C2S, LONG_CALL);
            for piece in long_answer(bytes).chunks(CHUNK) {
                session.chunk(StreamId::S2C, piece);
            }
            drain(indexer)
        },
    )
}

const LONG_CALL: &[u8] = br#"{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":"export_everything","arguments":{}}}
"#;

/// Rows as a database export would have them.
fn long_answer(bytes: usize) -> Vec<u8> {
    const END: &[u8] = b"]}}}\n";
    let mut line = Vec::with_capacity(bytes);
    line.extend_from_slice(
        br#"{"jsonrpc":"2.0","id":"long","result":{"content":[],"structuredContent":{"rows":["#,
    );
    let mut number = 0_u64;
    while line.len() + END.len() + 200 < bytes {
        let comma = if number == 0 { "" } else { "," };
        // Writing to memory does not fail.
        let _ = write!(
            line,
            r#"{comma}{{"id":{number},"name":"row {number}","price":{}.25,"tags":["a","b"],"note":"The quick brown fox jumps over the lazy dog.","stock":{{"oslo":{},"rome":null}}}}"#,
            number % 997,
            number % 13,
        );
        number += 1;
    }
    line.extend_from_slice(END);
    line
}

/// The recording `name`; made by `write` where it is not there yet.
fn kept(
    name: &str,
    write: impl FnOnce(&mut Session, &mut Indexer) -> anyhow::Result<()>,
) -> anyhow::Result<PathBuf> {
    kept_as(name, 0x5EED, write)
}

/// The same with another id.
fn kept_as(
    name: &str,
    id: u32,
    write: impl FnOnce(&mut Session, &mut Indexer) -> anyhow::Result<()>,
) -> anyhow::Result<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "viewer-recordings-{VERSION}-{}-{DERIVED_VERSION}",
        FormatVersion::CURRENT
    ));
    let path = dir.join(format!("{name}.reel"));
    if path.exists() {
        return Ok(path);
    }
    std::fs::create_dir_all(path.parent().unwrap_or(&dir))?;
    writeln!(std::io::stderr(), "generating {}", path.display())?;
    let making = tempfile::tempdir_in(&dir)?;
    let unfinished = making.path().join("unfinished.reel");
    let mut session = Session::begin(&unfinished, context("generated-server", id));
    let mut indexer = session.indexer();
    write(&mut session, &mut indexer)?;
    session.end();
    drain(&mut indexer)?;
    indexer.finish(State::Complete)?;
    drop(indexer);
    std::fs::rename(unfinished, &path)?;
    Ok(path)
}

fn drain(indexer: &mut Indexer) -> anyhow::Result<()> {
    let budget = Budget::alone(Clock::start());
    while !indexer.step(Tail::Final, &budget)? {}
    Ok(())
}
