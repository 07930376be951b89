//! The session as a whole: who, which versions, how it ended, why.

use super::block::Blocks;
use crate::export::{Excerpt, WriteError};
use crate::phrases;
use mcpreel_lint::cause::{Cause, Evidence, Place, causes};
use mcpreel_store::reader::Summary;
use mcpreel_trace::event::ProcessContext;
use mcpreel_trace::part::SelectionNote;
use mcpreel_trace::session::{End, Peer, Side};
use mcpreel_wire::text::cut;
use serde::Serialize;
use std::io::Write;

/// Columns of a text about the session.
const TEXT: usize = 600;

/// What the page says above everything else. Texts off the wire in it are escaped.
#[derive(Serialize)]
struct Session<'a> {
    tool: &'static str,
    id: &'a str,
    title: String,
    state: &'static str,
    origin: &'a str,
    /// Milliseconds since the Unix epoch, 0 where that is not known.
    wall_ms: u64,
    t_last: u64,
    /// What is to be known of times where none is on record.
    times: Option<&'static str>,
    /// The time as it was written, if it was still recorded.
    now: Option<u64>,
    slow: u64,
    frame_bytes: u64,
    server: Speaker,
    client: Speaker,
    asked: Option<&'a str>,
    agreed: Option<&'a str>,
    offered: Option<String>,
    eras: Vec<&'static str>,
    handshake: Option<u64>,
    phase: &'static str,
    ended: Option<Ended>,
    counts: Counts,
    gap_bytes: u64,
    note: Option<&'a str>,
    redaction: Option<&'a str>,
    selection: Option<&'a SelectionNote>,
    process: Process<'a>,
    causes: Vec<Told>,
    causes_left_out: usize,
}

#[derive(Serialize)]
struct Speaker {
    who: Option<String>,
    capabilities: Option<String>,
}

#[derive(Serialize)]
struct Ended {
    short: String,
    sentence: String,
    how: &'static str,
    first: Option<(&'static str, u64)>,
}

/// Of the whole recording, whatever is selected.
#[derive(Serialize)]
struct Counts {
    frames: u64,
    bytes: u64,
    messages: u64,
    exchanges: u64,
    failed: u64,
    open: u64,
    findings: u64,
}

#[derive(Serialize)]
struct Process<'a> {
    command: Option<String>,
    executable: Option<&'a str>,
    cwd: Option<&'a str>,
    host: Option<String>,
    recorder: &'a str,
    peak: Option<u64>,
    cpu: Option<u64>,
}

#[derive(Serialize)]
struct Told {
    sentence: String,
    certainty: &'static str,
    means: &'static str,
    trouble: bool,
    advice: String,
    shown: Vec<Shown>,
}

#[derive(Serialize)]
struct Shown {
    n: Option<u64>,
    t: Option<u64>,
    text: String,
}

pub(super) fn write(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), WriteError> {
    let summary = excerpt.recording.summary()?;
    let all = causes(&excerpt.recording.facts(excerpt.now)?);
    let found = all.len();
    let causes: Vec<_> = all
        .into_iter()
        .filter(|one| is_shown(excerpt, one))
        .collect();
    let left_out = found - causes.len();
    let is_untimed = excerpt.recording.is_untimed()?;
    let session = session(excerpt, (&summary, is_untimed), causes, left_out);
    let mut blocks = Blocks::new(out, "session");
    blocks.push(&session)?;
    Ok(blocks.finish()?)
}

/// Whether the page has all that shows a cause: of a part of a recording nothing is told that
/// whoever selected it has left out.
fn is_shown(excerpt: &Excerpt<'_>, cause: &Cause) -> bool {
    let has = |evidence: &Evidence| match evidence.place {
        Place::Frame(seq) | Place::Stderr(seq) => excerpt.has(seq),
        Place::Event { .. } | Place::Session => false,
    };
    !excerpt.is_cut() || (!cause.evidence.is_empty() && cause.evidence.iter().all(has))
}

fn session<'a>(
    excerpt: &'a Excerpt<'_>,
    (summary, is_untimed): (&'a Summary, bool),
    causes: Vec<Cause>,
    causes_left_out: usize,
) -> Session<'a> {
    let facts = &summary.session;
    Session {
        tool: concat!("mcpreel ", env!("CARGO_PKG_VERSION")),
        id: &summary.id,
        title: short(&phrases::recording::title_of(summary)),
        state: summary.state.as_str(),
        origin: &summary.origin,
        wall_ms: summary.wall_ns / 1_000_000,
        t_last: summary.t_last_ns,
        times: is_untimed.then_some(phrases::UNTIMED),
        now: excerpt.now.map(|now| now.0),
        slow: summary.slow_ns,
        frame_bytes: super::FRAME_BYTES,
        server: side(&facts.server),
        client: side(&facts.client),
        asked: facts.version_asked.as_deref(),
        agreed: facts.version_agreed.as_deref(),
        offered: phrases::versions_offered(facts),
        eras: facts.eras.iter().map(|era| era.as_str()).collect(),
        handshake: facts.handshake_ns,
        phase: facts.phase.as_str(),
        ended: ended(summary),
        counts: counts(summary),
        gap_bytes: summary.gap_bytes,
        note: summary.note.as_deref(),
        redaction: summary.redaction.as_deref(),
        selection: excerpt.selection.note(),
        process: process(&summary.context, summary),
        causes: causes.into_iter().map(told).collect(),
        causes_left_out,
    }
}

fn side(peer: &Peer) -> Speaker {
    Speaker {
        who: phrases::peer(peer).map(|who| short(&who)),
        capabilities: peer
            .capabilities
            .as_deref()
            .map(|json| short(&phrases::capabilities(json))),
    }
}

/// What a peer says of itself stands in the page as a whole; above it there is room for so much.
fn short(text: &str) -> String {
    cut(text, TEXT)
}

fn ended(summary: &Summary) -> Option<Ended> {
    let end = summary.session.phase.end()?;
    let first = summary.session.closed_first.map(|closed| {
        let side = match closed.by {
            Side::Host => "the host",
            Side::Server => "the server",
        };
        (side, closed.t.0)
    });
    Some(Ended {
        short: phrases::end_short(end),
        sentence: phrases::end(end),
        how: match end {
            End::Exited { code: 0 } => "good",
            End::Unknown => "unknown",
            End::Exited { .. } | End::Killed { .. } | End::NotStarted { .. } => "bad",
        },
        first,
    })
}

fn counts(summary: &Summary) -> Counts {
    Counts {
        frames: summary.frames,
        bytes: summary.bytes,
        messages: summary.messages,
        exchanges: summary.exchanges,
        failed: summary.failed,
        open: summary.open,
        findings: summary.findings,
    }
}

fn process<'a>(context: &'a ProcessContext, summary: &Summary) -> Process<'a> {
    let usage = summary.session.usage;
    let has_command = !context.argv.is_empty();
    let has_host = !context.host.name.is_empty();
    Process {
        command: has_command.then(|| phrases::command(&context.argv)),
        executable: context.executable.as_deref(),
        cwd: context.cwd.as_deref(),
        host: has_host.then(|| phrases::process(&context.host)),
        recorder: &context.mcpreel,
        peak: usage.map(|usage| usage.max_rss_bytes),
        cpu: usage.map(|usage| usage.user_ns.saturating_add(usage.system_ns)),
    }
}

fn told(cause: Cause) -> Told {
    let shown = |evidence: &Evidence| Shown {
        n: evidence.place.frame().map(|seq| seq.0),
        t: match evidence.place {
            Place::Event { t, .. } => Some(t.0),
            Place::Frame(_) | Place::Stderr(_) | Place::Session => None,
        },
        text: evidence.text.clone(),
    };
    Told {
        certainty: cause.certainty.as_str(),
        means: cause.certainty.help(),
        trouble: cause.is_trouble(),
        shown: cause.evidence.iter().map(shown).collect(),
        sentence: cause.sentence,
        advice: cause.advice,
    }
}
