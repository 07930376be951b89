//! One frame, and the whole exchange that it belongs to.

use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use crate::cli::rows::{finding_line, ink, stream_arrow, summaries};
use mcpreel_share::phrases::phrases_story::{self, Row, Tone};
use mcpreel_share::phrases::{self, phrases_network};
use mcpreel_share::row::{self, arrow};
use mcpreel_store::reader::Recording;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::http::HttpExchange;
use mcpreel_wire::text::{
    Limits, count, duration, escape, layout, pad_end, pad_start, plural, since, size,
};
use std::collections::BTreeSet;

/// Bytes of a frame that are looked at for showing it.
const LOOKED_AT: u64 = 256 * 1024;

/// Bytes of a part of HTTP that are looked at for its line.
const LINE: u64 = 1000;

/// Parts of an HTTP exchange that are shown.
const PARTS: u32 = 20;

/// Exchanges of one frame that are shown: a batch can have thousands.
const EXCHANGES: usize = 20;

/// Writes the frame, its exchanges, and the findings in what was shown.
pub fn write(
    recording: &Recording,
    head: &FrameHead,
    until: Option<Moment>,
    out: &mut Output,
) -> Result<(), Failure> {
    let mut shown = Shown {
        recording,
        until,
        why_lost: phrases::why_lost(&recording.summary()?),
        out,
        frames: BTreeSet::new(),
    };
    shown.body(head)?;
    let exchanges = recording.exchanges_of_frame(head.seq)?;
    if exchanges.is_empty() {
        shown.carried(head)?;
    }
    for exchange in exchanges.iter().take(EXCHANGES) {
        shown.out.line("")?;
        shown.exchange(exchange)?;
    }
    if let more @ 1.. = exchanges.len().saturating_sub(EXCHANGES) {
        let more = plural(more as u64, "more exchange");
        let hint = format!("… {more} of this batch not shown; show --exchanges has all");
        shown.out.inked(Ink::Warn, &hint)?;
    }
    shown.authorization(head.carried.http)?;
    shown.findings()
}

struct Shown<'a> {
    recording: &'a Recording,
    /// The end of the recording, or now; none where nobody knows it.
    until: Option<Moment>,
    why_lost: Option<String>,
    out: &'a mut Output,
    /// Frames that were shown.
    frames: BTreeSet<Seq>,
}

impl Shown<'_> {
    /// A heading and the bytes below it.
    fn body(&mut self, head: &FrameHead) -> Result<(), Failure> {
        self.frames.insert(head.seq);
        let mut what = summaries(&self.recording.messages_of_frame(head.seq)?);
        if what.is_empty() && head.carried.http > 0 {
            let beginning = self.recording.piece(head.seq, 0..LINE)?;
            what = escape(&phrases_network::part(head, &beginning)).into_owned();
        }
        let title = format!("#{} {} {what}", head.seq.0, stream_arrow(head.stream));
        self.out.inked(Ink::Strong, title.trim_end())?;
        let (stream, bytes, at) = (head.stream.as_str(), size(head.size), since(head.t_last.0));
        let facts = format!("{stream}, {bytes}, at {at}");
        self.out.inked(Ink::Faint, &facts)?;
        let raw = self.recording.piece(head.seq, 0..LOOKED_AT)?;
        let left_out = head.size.saturating_sub(raw.len() as u64);
        let text = phrases_network::legible(head, raw);
        let mut laid = layout(&text, Limits::SCREEN);
        // To say that it is left out takes no less room.
        if laid.left_out < Limits::SCREEN.line {
            let lines = Limits::SCREEN.lines * 2;
            laid = layout(
                &text,
                Limits {
                    lines,
                    ..Limits::SCREEN
                },
            );
        }
        laid.lines.iter().try_for_each(|line| self.out.line(line))?;
        let left_out = laid.left_out as u64 + left_out;
        if left_out > 0 {
            let hint = format!("… {} not shown; with --json all of it is", size(left_out));
            self.out.inked(Ink::Warn, &hint)?;
        }
        Ok(())
    }

    /// The HTTP exchange of a frame that belongs to no exchange of messages.
    fn carried(&mut self, head: &FrameHead) -> Result<(), Failure> {
        let Some(http) = self.recording.http(head.carried.http)? else {
            return Ok(());
        };
        self.out.line("")?;
        self.out.fact("  http", &self::http(&http))?;
        let timing = self.recording.timing(&http)?;
        self.out
            .fact("  timing", &phrases_network::timing(&timing))?;
        for edit in self.edits(&http)? {
            self.out.fact("  changed", &edit)?;
        }
        for other in self.recording.carried(http.id, PARTS)? {
            if !self.frames.contains(&other.seq) {
                self.out.line("")?;
                self.body(&other)?;
            }
        }
        Ok(())
    }

    /// What the proxy changed in an HTTP exchange.
    fn edits(&self, http: &HttpExchange) -> Result<Vec<String>, Failure> {
        let edits = self.recording.edits(http)?;
        Ok(edits.iter().filter_map(phrases_network::edit).collect())
    }

    /// The steps of logging in, if the HTTP exchange is one of them.
    fn authorization(&mut self, http: u32) -> Result<(), Failure> {
        let Some(http) = self.recording.http(http)? else {
            return Ok(());
        };
        let steps = self.recording.authorization_around(&http)?;
        let lines = phrases_network::authorization(&steps, Some(http.request));
        if !lines.is_empty() {
            self.out.inked(Ink::Strong, "\nauthorization")?;
        }
        lines.iter().try_for_each(|line| self.out.line(line))?;
        Ok(())
    }

    fn exchange(&mut self, exchange: &Exchange) -> Result<(), Failure> {
        let title = format!("exchange #{}", exchange.request.0.0);
        let title = self.out.paint(Ink::Strong, &title);
        let tone = ink(row::Tone::of(exchange));
        let status = self.out.paint(tone, exchange.status.as_str());
        self.out.line(&format!("{title}  {status}"))?;
        let mut facts = phrases_story::facts(exchange, self.why_lost.as_deref());
        let waited = exchange.unanswered_ns(self.until);
        facts.extend(waited.map(|ns| ("waited", format!("{} without an answer", duration(ns)))));
        for (name, id) in [("asked in", exchange.parent), ("chain of", exchange.chain)] {
            let ids: Vec<_> = id.into_iter().filter(|id| *id != exchange.id).collect();
            let others = self.recording.exchanges_of(&ids)?.into_iter();
            let told = others.map(|one| format!("#{} {}", one.request.0.0, escape(&one.summary)));
            facts.extend(told.map(|told| (name, told)));
        }
        let http = self.recording.http(exchange.http)?;
        if let Some(http) = &http {
            let timing = self.recording.timing(http)?;
            facts.push(("http", self::http(http)));
            facts.push(("timing", phrases_network::timing(&timing)));
            let edits = self.edits(http)?.into_iter();
            facts.extend(edits.map(|edit| ("changed", edit)));
        }
        for (name, value) in facts {
            self.out.fact(&format!("  {name}"), &value)?;
        }
        self.story(exchange)?;
        let response = exchange.response.map(|(seq, _)| seq);
        let heads = http
            .into_iter()
            .flat_map(|http| [Some(http.request), http.response]);
        let frames = std::iter::once(exchange.request.0).chain(response);
        for seq in frames.chain(heads.flatten()) {
            let head = self.recording.head(seq)?;
            if let Some(head) = head.filter(|_| !self.frames.contains(&seq)) {
                self.out.line("")?;
                self.body(&head)?;
            }
        }
        let related = self.recording.messages_of_exchange(exchange.id)?;
        let frames = related.iter().map(|row| row.record.frame);
        self.frames.extend(frames);
        Ok(())
    }

    /// What happened from the request to the answer, with the time since the request.
    fn story(&mut self, exchange: &Exchange) -> Result<(), Failure> {
        let Some(story) = self.recording.story(exchange.id)? else {
            return Ok(());
        };
        let story = phrases_story::Told::new(story);
        self.out.inked(Ink::Faint, "  story")?;
        // Findings stand below, with their rules.
        for row in story.rows.iter().filter(|row| row.tone != Tone::Finding) {
            let after = duration(row.t.0.saturating_sub(exchange.t_request.0));
            let after = pad_start(&format!("+{after}"), 12);
            let after = self.out.paint(Ink::Faint, &after);
            let entry = entry(row);
            self.out.line(&format!("  {after}  {entry}"))?;
        }
        if story.left_out > 0 {
            let left_out = count(story.left_out);
            let left_out = format!("  … {left_out} more of the same are not shown");
            self.out.inked(Ink::Warn, &left_out)?;
        }
        Ok(())
    }

    fn findings(&mut self) -> Result<(), Failure> {
        let mut heading = Some("\nfindings");
        for &seq in &self.frames {
            for finding in self.recording.findings_of_frame(seq)? {
                if let Some(heading) = heading.take() {
                    self.out.inked(Ink::Strong, heading)?;
                }
                let line = finding_line(&finding, self.out);
                self.out.line(&format!("  {line}"))?;
            }
        }
        Ok(())
    }
}

/// `POST /mcp → 200 OK, 3 events; connection 2, conversation 1`, escaped.
fn http(http: &HttpExchange) -> String {
    let said = escape(&phrases_network::http(http)).into_owned();
    match http.conversation {
        0 => format!("{said}; connection {}", http.connection),
        talk => format!(
            "{said}; connection {}, conversation {talk}",
            http.connection
        ),
    }
}

/// `#1187  → request, 412 B: tools/call search_docs {q:"rust"}`
fn entry(row: &Row) -> String {
    // An event stands between two frames.
    let (sign, place) = match (row.tone, row.direction) {
        (Tone::Event, _) => ("•", String::new()),
        (_, direction) => (direction.map_or("!", arrow), format!("#{}", row.key.seq.0)),
    };
    let size = row.size.as_ref();
    let size = size.map_or_else(String::new, |size| format!(", {size}"));
    let aside = match row.tone {
        Tone::Child => " (asked in between)",
        Tone::Round => " (another round)",
        _ => "",
    };
    let (place, word, text) = (pad_end(&place, 6), row.word, &row.text);
    format!("{place}  {sign} {word}{size}: {text}{aside}")
}
