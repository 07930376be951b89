//! One frame, and the whole exchange that it belongs to.

use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use crate::cli::rows::{finding_line, frame_words, ink, stream_arrow};
use mcpreel_share::phrases;
use mcpreel_share::phrases::phrases_story::{Row, Tone};
use mcpreel_share::row::{self, arrow};
use mcpreel_store::reader::{FindingRow, Recording};
use mcpreel_store::story::Told;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_wire::text::{
    Limits, count, duration, escape, layout, pad_end, pad_start, plural, since, size,
};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Bytes of a frame that are looked at for showing it.
const LOOKED_AT: u64 = 256 * 1024;

/// Exchanges of one frame that are shown: a batch can have thousands.
const EXCHANGES: usize = 20;

/// What was shown already.
struct Shown {
    frames: BTreeSet<Seq>,
    /// Findings by number.
    findings: BTreeSet<u64>,
}

/// Writes it.
pub fn write(recording: &Recording, head: &FrameHead, out: &mut Output) -> Result<(), Failure> {
    body(recording, head, out)?;
    let mut shown = Shown {
        frames: BTreeSet::from([head.seq]),
        findings: BTreeSet::new(),
    };
    let exchanges = recording.exchanges_of_frame(head.seq)?;
    for exchange in exchanges.iter().take(EXCHANGES) {
        out.line("")?;
        write_exchange(recording, exchange, &mut shown, out)?;
    }
    let more = exchanges.len().saturating_sub(EXCHANGES) as u64;
    if more > 0 {
        let more = plural(more, "more exchange");
        let hint = format!("… {more} of this batch not shown; show --exchanges has all");
        out.inked(Ink::Warn, &hint)?;
    }
    findings(recording, &shown, out)
}

/// A heading and the bytes below it.
fn body(recording: &Recording, head: &FrameHead, out: &mut Output) -> Result<(), Failure> {
    let what = frame_words(recording, head, Some(b""))?;
    let title = format!("#{} {} {what}", head.seq.0, stream_arrow(head.stream));
    let title = title.trim_end();
    out.inked(Ink::Strong, title)?;
    let mut facts = format!(
        "{}, {}, at {}",
        head.stream.as_str(),
        size(head.size),
        since(head.t_last.0)
    );
    let transfer = head.t_last.0.saturating_sub(head.t_first.0);
    if transfer > 0 {
        let _ = write!(facts, ", {} from first to last byte", duration(transfer));
    }
    out.inked(Ink::Faint, &facts)?;
    let raw = recording.piece(head.seq, 0..LOOKED_AT)?;
    let laid = layout(&raw, Limits::SCREEN);
    for line in &laid.lines {
        out.line(line)?;
    }
    let left_out = laid.left_out as u64 + head.size.saturating_sub(raw.len() as u64);
    if left_out > 0 {
        let hint = format!("… {} not shown; with --json all of it is", size(left_out));
        out.inked(Ink::Warn, &hint)?;
    }
    Ok(())
}

fn write_exchange(
    recording: &Recording,
    exchange: &Exchange,
    shown: &mut Shown,
    out: &mut Output,
) -> Result<(), Failure> {
    let title = format!("exchange #{}", exchange.request.0.0);
    let status = out.paint(ink(row::Tone::of(exchange)), exchange.status.as_str());
    out.line(&format!("{}  {status}", out.paint(Ink::Strong, &title)))?;
    for (name, value) in facts(recording, exchange)? {
        let name = out.paint(Ink::Faint, &pad_end(name, 10));
        out.line(&format!("  {name}{value}"))?;
    }
    story(recording, exchange, shown, out)?;
    let response = exchange.response.map(|(seq, _)| seq);
    for seq in std::iter::once(exchange.request.0).chain(response) {
        if shown.frames.insert(seq)
            && let Some(head) = recording.head(seq)?
        {
            out.line("")?;
            body(recording, &head, out)?;
        }
    }
    let related = recording.messages_of_exchange(exchange.id)?;
    let frames = related.iter().map(|row| row.record.frame);
    shown.frames.extend(frames);
    Ok(())
}

type Facts = Vec<(&'static str, String)>;

fn facts(recording: &Recording, exchange: &Exchange) -> Result<Facts, Failure> {
    let mut facts = Vec::new();
    let mut add = |name, value: Option<&str>| {
        facts.extend(value.map(|value| (name, escape(value).into_owned())));
    };
    add("method", Some(&exchange.method));
    add("name", exchange.name.as_deref());
    add("id", Some(exchange.rpc_id.json()));
    add("era", Some(exchange.era.as_str()));
    add("code", exchange.code.as_deref());
    let latency = exchange.latency_ns();
    let latency = latency.map(|latency| timing(exchange, latency));
    add("latency", latency.as_deref());
    add("task", exchange.task.as_deref());
    if exchange.status == Status::GivenUp {
        let unknown = "nobody knows: too many requests were open at once for all to be followed";
        add("answered", Some(unknown));
    }
    for (name, id) in [("asked in", exchange.parent), ("chain of", exchange.chain)] {
        let id = id.filter(|id| *id != exchange.id);
        let other = id.map(|id| recording.exchange(id)).transpose()?.flatten();
        let other = other.map(|other| format!("#{} {}", other.request.0.0, other.summary));
        add(name, other.as_deref());
    }
    Ok(facts)
}

fn timing(exchange: &Exchange, latency: u64) -> String {
    let mut words = duration(latency);
    let waited = duration(exchange.waited_ns);
    match exchange.own_ns() {
        Some(own) if own < latency => {
            let own = duration(own);
            let _ = write!(words, ": {own} of its own, {waited} waiting for the client");
        }
        _ if exchange.waited_ns > 0 => {
            let _ = write!(words, ", after {waited} waiting for the client");
        }
        _ => {}
    }
    if let Some(transfer) = exchange.transfer_ns().filter(|&transfer| transfer > 0) {
        let _ = write!(words, ", then {} of transfer", duration(transfer));
    }
    words
}

/// What happened from the request to the answer, with the time since it was asked.
fn story(
    recording: &Recording,
    exchange: &Exchange,
    shown: &mut Shown,
    out: &mut Output,
) -> Result<(), Failure> {
    let Some(story) = recording.story(exchange.id)? else {
        return Ok(());
    };
    let told = story.entries.iter().filter_map(|entry| match &entry.what {
        Told::Finding(finding) => Some(finding.id),
        _ => None,
    });
    shown.findings.extend(told);
    let story = phrases::phrases_story::Told::new(story);
    out.inked(Ink::Faint, "  story")?;
    for row in &story.rows {
        let after = duration(row.t.0.saturating_sub(exchange.t_request.0));
        let after = out.paint(Ink::Faint, &pad_start(&format!("+{after}"), 12));
        out.line(&format!("  {after}  {}", entry(row, out)))?;
    }
    if story.left_out > 0 {
        let left_out = count(story.left_out);
        let left_out = format!("  … {left_out} more of the same are not shown");
        out.inked(Ink::Warn, &left_out)?;
    }
    Ok(())
}

/// `#1187  → request, 412 B: tools/call search_docs {q:"rust"}`
fn entry(row: &Row, out: &Output) -> String {
    let (sign, ink) = match (row.tone, row.direction) {
        (Tone::Finding, _) => ("⚠", Ink::Warn),
        (Tone::Event, _) => ("•", Ink::Plain),
        (_, direction) => (direction.map_or("!", arrow), Ink::Plain),
    };
    let place = match row.tone {
        // An event stands between two frames.
        Tone::Event => String::new(),
        _ => format!("#{}", row.key.seq.0),
    };
    let size = row.size.as_ref();
    let size = size.map_or_else(String::new, |size| format!(", {size}"));
    let aside = match row.tone {
        Tone::Child => " (asked in between)",
        Tone::Round => " (another round)",
        _ => "",
    };
    let words = format!("{sign} {}{size}: {}{aside}", row.word, row.text);
    format!("{}  {}", pad_end(&place, 6), out.paint(ink, &words))
}

/// Findings in what was shown that no story has told.
fn findings(recording: &Recording, shown: &Shown, out: &mut Output) -> Result<(), Failure> {
    let mut found: Vec<FindingRow> = Vec::new();
    for &seq in &shown.frames {
        found.extend(recording.findings_of_frame(seq)?);
    }
    found.retain(|finding| !shown.findings.contains(&finding.id));
    if found.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.inked(Ink::Strong, "findings")?;
    for finding in &found {
        out.line(&format!("  {}", finding_line(finding, out)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::clock::Moment;
    use mcpreel_trace::exchange::ExchangeId;

    fn told(exchange: &Exchange) -> String {
        timing(exchange, exchange.latency_ns().unwrap())
    }

    #[test]
    fn only_what_was_waited_within_the_latency_is_taken_from_it() {
        let call = Exchange {
            t_response: Some(Moment(50_000_000)),
            t_response_last: Some(Moment(54_000_000)),
            waited_ns: 20_000_000,
            ..Exchange::begun(
                mcpreel_wire::message::Direction::ClientToServer,
                mcpreel_wire::id::RequestId::from_json("1").expect("it is JSON"),
                "tools/call",
            )
        };
        assert_eq!(
            told(&call),
            "50 ms: 30 ms of its own, 20 ms waiting for the client, then 4.0 ms of transfer"
        );
        let retry = Exchange {
            id: ExchangeId(2),
            chain: Some(ExchangeId(1)),
            waited_ns: 500_000_000,
            t_response_last: call.t_response,
            ..call
        };
        assert_eq!(told(&retry), "50 ms, after 500 ms waiting for the client");
    }
}
