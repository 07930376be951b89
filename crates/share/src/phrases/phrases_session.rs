//! A session as a whole: who spoke, what they agreed on, how it ended, how much there was of it.

use super::{Session, masked_command};
use mcpreel_store::http::ConversationRow;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{EventKind, ProcessContext, SelectionNote};
use mcpreel_trace::exchange::PROBE;
use mcpreel_trace::session::{Closed, End, Peer, Side, Usage};
use mcpreel_wire::message::Era;
use mcpreel_wire::text::{cut, duration, escape, plural, size};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt::Write as _;

/// Names, and what is said of each; escaped.
pub type Facts = Vec<(&'static str, String)>;

/// The facts of a session: all but the file and the time.
pub fn facts(summary: &Summary, recording: &Recording) -> Result<Facts, ReadError> {
    let origin = (summary.origin != "live").then(|| escape(&summary.origin).into_owned());
    let note = summary.note.as_deref();
    let mut facts = known([
        ("origin", origin),
        ("redacted", summary.redaction.as_deref().map(redacted)),
        ("only", summary.context.selection.as_ref().map(only)),
        ("note", note.map(|note| escape(note).into_owned())),
    ]);
    if summary.messages == 0 {
        facts.push(("protocol", "no MCP message".to_owned()));
    } else {
        sides(&summary.session, &mut facts);
    }
    facts.extend(process(&summary.context));
    facts.extend(known([(
        "other side",
        super::recording::other_side(summary),
    )]));
    ending(&summary.session, summary, &mut facts);
    counts(summary, recording, &mut facts)?;
    Ok(facts)
}

pub(super) fn known<const N: usize>(facts: [(&'static str, Option<String>); N]) -> Facts {
    let facts = facts.into_iter();
    facts
        .filter_map(|(name, said)| Some((name, said?)))
        .collect()
}

/// A selection in words.
pub fn only(note: &SelectionNote) -> String {
    let bounds = [("from", note.from), ("to", note.to)];
    let bound = |(word, seq): (_, Option<u64>)| Some(format!("{word} #{}", seq?));
    let mut words: Vec<_> = bounds.into_iter().filter_map(bound).collect();
    let query = note.query.as_deref();
    words.extend(query.map(|query| format!("what fits {}", escape(query))));
    words.join(", ")
}

/// A remark for an export of a session that was still recorded at `now`.
pub fn live(now: Moment) -> String {
    let after = duration(now.0);
    format!("still recorded when this was written, {after} after its start: it goes on")
}

/// The note of a redaction in words.
fn redacted(note: &str) -> String {
    let note: Value = serde_json::from_str(note).unwrap_or_else(|_| note.into());
    let count = |key: &str| note[key].as_u64();
    match (count("hits"), count("rules")) {
        (Some(hits), Some(rules)) => {
            let (places, rules) = (plural(hits, "place"), plural(rules, "rule"));
            format!("values replaced in {places}, by {rules}")
        }
        _ => escape(&note.to_string()).into_owned(),
    }
}

/// Whether a reader must know of the event before trusting the rest: gaps, warnings, recovery.
pub fn is_remarkable(event: &EventKind) -> bool {
    matches!(
        event,
        EventKind::Gap { .. }
            | EventKind::Copied
            | EventKind::Recovered { .. }
            | EventKind::Skipped { .. }
            | EventKind::Survivors { .. }
            | EventKind::Undelivered { .. }
            | EventKind::Untimed { .. }
            | EventKind::Warning { .. }
    )
}

fn sides(session: &Session, facts: &mut Facts) {
    facts.push(("client", side(&session.client)));
    facts.push(("server", side(&session.server)));

    let asked = session.version_asked.as_deref().map(escape);
    let agreed = session.version_agreed.as_deref().map(escape);
    let mut version = match (asked.as_deref(), agreed.as_deref()) {
        (Some(asked), Some(agreed)) if asked == agreed => agreed.to_owned(),
        (asked, agreed) => {
            let [asked, agreed] = [asked, agreed].map(|version| version.unwrap_or("unknown"));
            format!("{asked} asked, {agreed} agreed")
        }
    };
    let offered = super::versions_offered(session).filter(|offered| *offered != version);
    let mut first = "handshake";
    if session.eras == [Era::Modern] {
        version = format!("no handshake ({version})");
        first = PROBE;
    }
    if let Some(offered) = offered {
        let _ = write!(version, "; offered {offered}");
    }
    if let Some(took) = session.handshake_ns {
        let _ = write!(version, "; {first} {}", duration(took));
    }
    facts.push(("version", version));
}

/// Clients named before `… more`.
const MOST_CLIENTS: usize = 5;

/// Replaces the fact `client` by all clients, where the recording has several.
pub fn name_clients(facts: &mut Facts, conversations: &[ConversationRow]) {
    let peers = conversations
        .iter()
        .filter_map(|it| super::peer(&it.session.client));
    let mut seen = HashSet::new();
    let mut clients: Vec<_> = peers.filter(|it| seen.insert(it.clone())).collect();
    if clients.len() < 2 {
        return;
    }
    let number = plural(clients.len() as u64, "client");
    let more = clients.len().saturating_sub(MOST_CLIENTS);
    clients.truncate(MOST_CLIENTS);
    if more > 0 {
        clients.push(format!("{more} more"));
    }
    for (_, said) in facts.iter_mut().filter(|(name, _)| *name == "client") {
        *said = format!("{number}: {}", clients.join(", "));
    }
}

fn side(peer: &Peer) -> String {
    let mut words = super::peer(peer).unwrap_or_else(|| "did not say who it is".to_owned());
    let capabilities = peer.capabilities.as_deref().map(super::capabilities);
    if let Some(capabilities) = capabilities.filter(|words| !words.is_empty()) {
        let _ = write!(words, "; {capabilities}");
    }
    words
}

const ONE_PIPE: &str = "the host gave one file for stdout and stderr, so what the server writes on stderr stands on stdout";

/// Columns of the host's command line: an editor's is long, and says no more.
const HOST: usize = 160;

fn process(context: &ProcessContext) -> Facts {
    if let Some(url) = &context.url {
        return vec![("url", escape(url).into_owned())];
    }
    let mut host = super::process(&context.host);
    if !context.host.command.is_empty() {
        let command = masked_command(&context.host.command);
        let _ = write!(host, ": {}", cut(&command, HOST));
    }
    let argv = (!context.argv.is_empty()).then(|| super::started(context));
    let escaped = |text: &Option<String>| text.as_deref().map(|text| escape(text).into_owned());
    // mcpreel itself is no news.
    let executable = escaped(&context.executable).filter(|_| context.bridged_url().is_none());
    known([
        ("command", argv),
        ("executable", executable),
        ("in", escaped(&context.cwd)),
        ("started by", Some(host)),
        (
            "stderr",
            context.stderr_in_stdout.then(|| ONE_PIPE.to_owned()),
        ),
    ])
}

fn ending(session: &Session, summary: &Summary, facts: &mut Facts) {
    let Some(end) = session.phase.end() else {
        facts.push(("phase", session.phase.as_str().to_owned()));
        return;
    };
    let is_by_server = |closed: Closed| closed.by == Side::Server;
    let mut words = match end {
        End::Unknown if session.closed_first.is_some_and(is_by_server) => {
            "the server ended, how is not on record".to_owned()
        }
        end => super::end_of_session(end, &summary.context),
    };
    if let Some(closed) = session.closed_first {
        let side = match closed.by {
            Side::Host => "the host",
            Side::Server => "the server",
        };
        let before = summary.t_last_ns.saturating_sub(closed.t.0);
        let _ = write!(
            words,
            "; {side} closed its side {} before that",
            duration(before)
        );
    }
    facts.push(("end", words));
    let is_known = |usage: &Usage| usage.max_rss_bytes > 0 || usage.user_ns > 0;
    if let Some(usage) = session.usage.filter(is_known) {
        let cpu = duration(usage.user_ns.saturating_add(usage.system_ns));
        let peak = size(usage.max_rss_bytes);
        facts.push(("used", format!("{peak} at its peak, {cpu} of CPU")));
    }
}

fn counts(summary: &Summary, recording: &Recording, facts: &mut Facts) -> Result<(), ReadError> {
    let given_up = recording.given_up_count()?;
    let notes = recording.last_finding()?.saturating_sub(summary.findings);
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
    if notes > 0 {
        let _ = write!(words, ", {}", plural(notes, "note"));
    }
    facts.push(("counts", words));
    Ok(())
}
