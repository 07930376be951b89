//! A recording as a whole: who spoke, what they agreed on, how it ended.

use super::rows::each_event;
use crate::cli::exit::Failure;
use crate::cli::json;
use crate::cli::output::{Ink, Output};
use crate::cli::select;
use crate::store::reader::{Recording, Summary};
use crate::text::{clock, duration, escape, pad_end, plural, size};
use crate::trace::event::{EventKind, ProcessContext};
use crate::trace::session::{Peer, Session, Side};
use crate::words::{self, when};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;

/// The summary as one JSON object.
#[derive(Serialize)]
struct Whole {
    path: String,
    #[serde(flatten)]
    summary: Value,
}

/// Writes the summary as one JSON object.
pub fn json(recording: &Recording, out: &mut Output) -> Result<(), Failure> {
    let summary = recording.summary()?;
    let state = select::state(recording, &summary);
    let mut summary = serde_json::to_value(summary).map_err(anyhow::Error::from)?;
    summary["state"] = state.into();
    summary["redaction"] = json::redaction(summary["redaction"].as_str()).into();
    for side in ["client", "server"] {
        let Some(capabilities) = summary.pointer_mut(&format!("/session/{side}/capabilities"))
        else {
            continue;
        };
        // On record as the text from the wire; what is no JSON stays text.
        let parsed = capabilities
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok());
        *capabilities = parsed.unwrap_or_else(|| capabilities.take());
    }
    let path = recording.path().to_string_lossy().into_owned();
    Ok(out.json(&Whole { path, summary })?)
}

/// Writes the summary for people.
pub fn write(recording: &Recording, out: &mut Output) -> Result<(), Failure> {
    let summary = recording.summary()?;
    let session = summary.session.clone();
    let title = format!("{}  {}", summary.id, escape(&summary.name));
    out.line(&format!(
        "{}  {}",
        out.paint(Ink::Strong, &title),
        select::state(recording, &summary)
    ))?;
    let mut facts = Vec::new();
    whole(recording, &summary, &mut facts);
    if summary.messages == 0 {
        facts.push(("protocol", "nobody spoke MCP".to_owned()));
    } else {
        sides(&session, &mut facts);
    }
    process(&summary.context, &mut facts);
    ending(&session, &summary, &mut facts);
    counts(&summary, recording.given_up_count()?, &mut facts);
    for (name, value) in facts {
        out.line(&format!(
            "{}{value}",
            out.paint(Ink::Faint, &pad_end(name, 11))
        ))?;
    }
    for remark in remarks(recording)? {
        out.line(&format!(
            "{}{remark}",
            out.paint(Ink::Warn, &pad_end("remark", 11))
        ))?;
    }
    Ok(())
}

type Facts = Vec<(&'static str, String)>;

fn whole(recording: &Recording, summary: &Summary, facts: &mut Facts) {
    let path = recording.path().to_string_lossy();
    facts.push(("file", escape(&path).into_owned()));
    let started = when::exact(summary.wall_ns);
    facts.push((
        "started",
        format!("{started}, {} long", clock(summary.t_last_ns)),
    ));
    if summary.origin != "live" {
        facts.push(("origin", escape(&summary.origin).into_owned()));
    }
    if let Some(redaction) = &summary.redaction {
        facts.push(("redacted", redacted(redaction)));
    }
    if let Some(note) = &summary.note {
        facts.push(("note", escape(note).into_owned()));
    }
}

/// What was taken out of it, as far as it says so.
fn redacted(note: &str) -> String {
    let note = json::redaction(Some(note)).unwrap_or_default();
    let count = |key: &str| note[key].as_u64();
    match (count("hits"), count("rules")) {
        (Some(hits), Some(rules)) => {
            let (places, rules) = (plural(hits, "place"), plural(rules, "rule"));
            format!("values replaced in {places}, by {rules}")
        }
        _ => escape(&note.to_string()).into_owned(),
    }
}

fn sides(session: &Session, facts: &mut Facts) {
    facts.push(("client", side(&session.client)));
    facts.push(("server", side(&session.server)));
    let unknown = "unknown";
    let asked = session.version_asked.as_deref().map(escape);
    let agreed = session.version_agreed.as_deref().map(escape);
    let mut version = match (asked.as_deref(), agreed.as_deref()) {
        (Some(asked), Some(agreed)) if asked == agreed => format!("{agreed}, asked and agreed"),
        (asked, agreed) => format!(
            "{} asked, {} agreed",
            asked.unwrap_or(unknown),
            agreed.unwrap_or(unknown)
        ),
    };
    if let Some(offered) = words::versions_offered(session) {
        let _ = write!(version, " (offered {offered})");
    }
    let eras: Vec<_> = session.eras.iter().map(|era| era.as_str()).collect();
    if !eras.is_empty() {
        let _ = write!(version, "; {}", eras.join(" and "));
    }
    if let Some(handshake) = session.handshake_ns {
        let _ = write!(version, "; handshake {}", duration(handshake));
    }
    facts.push(("version", version));
}

fn side(peer: &Peer) -> String {
    let mut words = words::peer(peer).unwrap_or_else(|| "did not say who it is".to_owned());
    let capabilities = peer.capabilities.as_deref().map(words::capabilities);
    if let Some(capabilities) = capabilities.filter(|words| !words.is_empty()) {
        let _ = write!(words, "; {capabilities}");
    }
    words
}

fn process(context: &ProcessContext, facts: &mut Facts) {
    if !context.argv.is_empty() {
        facts.push(("command", words::command(&context.argv)));
    }
    if let Some(executable) = &context.executable {
        facts.push(("executable", escape(executable).into_owned()));
    }
    if let Some(cwd) = &context.cwd {
        facts.push(("in", escape(cwd).into_owned()));
    }
    let mut host = words::process(&context.host);
    if !context.host.command.is_empty() {
        let _ = write!(host, ": {}", words::command(&context.host.command));
    }
    facts.push(("started by", host));
}

fn ending(session: &Session, summary: &Summary, facts: &mut Facts) {
    let Some(end) = session.phase.end() else {
        facts.push(("phase", session.phase.as_str().to_owned()));
        return;
    };
    let mut words = words::end(end);
    if let Some(closed) = session.closed_first {
        let side = match closed.by {
            Side::Host => "the host",
            Side::Server => "the server",
        };
        let before = summary.t_last_ns.saturating_sub(closed.t.0);
        let _ = write!(words, "; {side} closed first, {} before", duration(before));
    }
    facts.push(("end", words));
    if let Some(usage) = session.usage {
        let cpu = duration(usage.user_ns.saturating_add(usage.system_ns));
        facts.push((
            "used",
            format!("{} at its peak, {cpu} of CPU", size(usage.max_rss_bytes)),
        ));
    }
}

fn counts(summary: &Summary, given_up: u64, facts: &mut Facts) {
    let mut words = format!(
        "{} ({}), {}, {}: {} failed",
        plural(summary.frames, "frame"),
        size(summary.bytes),
        plural(summary.messages, "message"),
        plural(summary.exchanges, "exchange"),
        summary.failed
    );
    if summary.open > 0 {
        let _ = write!(words, ", {} open", summary.open);
    }
    if given_up > 0 {
        let _ = write!(words, ", {given_up} given up");
    }
    let _ = write!(words, "; {}", plural(summary.findings, "finding"));
    facts.push(("counts", words));
}

/// What a reader must know before trusting the rest: gaps, warnings, recovery.
fn remarks(recording: &Recording) -> Result<Vec<String>, Failure> {
    let mut remarks = Vec::new();
    each_event(recording, |event| {
        use EventKind::{Gap, Recovered, SpawnFailed, Survivors, Undelivered, Warning};
        let is_remarkable = matches!(
            event.kind,
            Gap { .. }
                | Recovered { .. }
                | SpawnFailed { .. }
                | Survivors { .. }
                | Undelivered { .. }
                | Warning { .. }
        );
        remarks.extend(is_remarkable.then(|| words::event(&event.kind)));
        Ok(())
    })?;
    Ok(remarks)
}
