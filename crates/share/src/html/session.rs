//! The session as a whole: who, which versions, how it ended, why.

use super::block::Blocks;
use crate::export::{Excerpt, WriteError};
use crate::phrases;
use mcpreel_lint::cause::{Cause, Evidence, Place, causes};
use mcpreel_store::reader::Summary;
use mcpreel_trace::session::{End, Peer, Side};
use mcpreel_wire::text::cut;
use serde_json::{Value, json};
use std::io::Write;

/// Columns of a text about the session.
const TEXT: usize = 600;

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
    let session = session(excerpt, (&summary, is_untimed), &causes, left_out);
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

fn session(
    excerpt: &Excerpt<'_>,
    (summary, is_untimed): (&Summary, bool),
    causes: &[Cause],
    causes_left_out: usize,
) -> Value {
    let facts = &summary.session;
    let eras: Vec<_> = facts.eras.iter().map(|era| era.as_str()).collect();
    let context = &summary.context;
    let has_command = !context.argv.is_empty();
    let has_host = !context.host.name.is_empty();
    let usage = facts.usage;
    // Texts off the wire are escaped. Counts are those of the whole recording, whatever is selected.
    json!({
        "tool": concat!("mcpreel ", env!("CARGO_PKG_VERSION")),
        "id": summary.id,
        "title": short(&phrases::recording::title_of(summary)),
        "state": summary.state.as_str(),
        "origin": summary.origin,
        // 0 where that is not known.
        "wall_ms": summary.wall_ns / 1_000_000,
        "t_last": summary.t_last_ns,
        "times": is_untimed.then_some(phrases::UNTIMED),
        // The time as it was written, if it was still recorded.
        "now": excerpt.now.map(|now| now.0),
        "slow": summary.slow_ns,
        "frame_bytes": super::FRAME_BYTES,
        "server": side(&facts.server),
        "client": side(&facts.client),
        "asked": facts.version_asked,
        "agreed": facts.version_agreed,
        "offered": phrases::versions_offered(facts),
        "eras": eras,
        "handshake": facts.handshake_ns,
        "phase": facts.phase.as_str(),
        "ended": ended(summary),
        "counts": {
            "frames": summary.frames,
            "bytes": summary.bytes,
            "messages": summary.messages,
            "exchanges": summary.exchanges,
            "failed": summary.failed,
            "open": summary.open,
            "findings": summary.findings,
        },
        "gap_bytes": summary.gap_bytes,
        "note": summary.note,
        "redaction": summary.redaction,
        "selection": excerpt.selection.note(),
        "process": {
            "command": has_command.then(|| phrases::command(&context.argv)),
            "executable": context.executable,
            "cwd": context.cwd,
            "host": has_host.then(|| phrases::process(&context.host)),
            "recorder": context.mcpreel,
            "peak": usage.map(|usage| usage.max_rss_bytes),
            "cpu": usage.map(|usage| usage.user_ns.saturating_add(usage.system_ns)),
        },
        "causes": causes.iter().map(cause).collect::<Vec<_>>(),
        "causes_left_out": causes_left_out,
    })
}

fn side(peer: &Peer) -> Value {
    let capabilities = peer.capabilities.as_deref();
    json!({
        "who": phrases::peer(peer).map(|who| short(&who)),
        "capabilities": capabilities.map(|json| short(&phrases::capabilities(json))),
    })
}

/// What a peer says of itself stands in the page as a whole; above it there is room for so much.
fn short(text: &str) -> String {
    cut(text, TEXT)
}

fn ended(summary: &Summary) -> Option<Value> {
    let end = summary.session.phase.end()?;
    let first = summary.session.closed_first.map(|closed| {
        let side = match closed.by {
            Side::Host => "the host",
            Side::Server => "the server",
        };
        (side, closed.t.0)
    });
    Some(json!({
        "short": phrases::end_short(end),
        "sentence": phrases::end(end),
        "how": match end {
            End::Exited { code: 0 } => "good",
            End::Unknown => "unknown",
            End::Exited { .. } | End::Killed { .. } | End::NotStarted { .. } => "bad",
        },
        "first": first,
    }))
}

fn cause(cause: &Cause) -> Value {
    let shown = |evidence: &Evidence| {
        let t = match evidence.place {
            Place::Event { t, .. } => Some(t.0),
            Place::Frame(_) | Place::Stderr(_) | Place::Session => None,
        };
        json!({"n": evidence.place.frame().map(|seq| seq.0), "t": t, "text": evidence.text})
    };
    json!({
        "certainty": cause.certainty.as_str(),
        "means": cause.certainty.help(),
        "trouble": cause.is_trouble(),
        "shown": cause.evidence.iter().map(shown).collect::<Vec<_>>(),
        "sentence": cause.sentence,
        "advice": cause.advice,
    })
}
