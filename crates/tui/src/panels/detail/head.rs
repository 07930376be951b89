//! The headings of the parts of a body.
//!
//! ```text
//! ‼ error  rpc-result-not-object  number, 7  result
//! ▾ request  id 7                                        412 B   +12:04.318
//! ▾ response  ✗ tool-error  842 ms, client 250 ms                  1.9 kB   +12:05.160
//!   no response yet  … open  13.8 s
//! ```

use super::detail_draw::{INDENT, Pane, sign};
use super::part::{Part, PartKind, Text, TextRole};
use super::timing_bar;
use crate::panels::list::cells;
use crate::theme::{self, Glyph, Look, Role};
use crate::widget::spans::{self, Spans};
use mcpreel_share::phrases::{self, phrases_story::on_wire};
use mcpreel_share::row::Tone;
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::item::What;
use mcpreel_wire::http;
use mcpreel_wire::text::{count, duration, escape, plural, since, size};

pub fn line(pane: &Pane<'_>, part: &Part) -> Spans {
    let look = pane.app.settings.look;
    let (findings, item) = (&pane.shown.findings, &pane.shown.item);
    match part.kind {
        PartKind::Finding(at) => {
            let finding = findings.get(at).map(|finding| finding_line(finding, look));
            let mut line = finding.unwrap_or_default();
            // What follows stands in the lines below.
            let mut room = part.first_line();
            for (_, text) in line.iter_mut().skip(1) {
                text.truncate(room);
                room -= text.len();
            }
            line
        }
        PartKind::MoreFindings(more) => {
            let hidden = findings.iter().rev().take(more);
            if hidden.clone().all(|one| &*one.severity == "note") {
                let rules = hidden.map(|one| escape(&one.rule)).collect::<Vec<_>>();
                let notes = plural(more as u64, "note");
                vec![(Role::Faint, format!("{notes}: {}", rules.join(", ")))]
            } else {
                vec![(Role::Warn, plural(more as u64, "more finding"))]
            }
        }
        PartKind::Note => {
            let annotation = item.annotation.as_ref();
            let note = annotation.and_then(|annotation| annotation.note.as_deref());
            let text = escape(note.unwrap_or_default());
            vec![(Role::Event, format!("{} {text}", look.glyph(Glyph::Noted)))]
        }
        PartKind::Near => near(pane, look),
        PartKind::Words(_) => match item.exchange() {
            Some(exchange) => {
                let mut line = outcome(exchange, look);
                line[0].1.drain(..INDENT);
                line
            }
            None => vec![(Role::Strong, "event".to_owned())],
        },
        PartKind::Edits => vec![(Role::Strong, "  changed".to_owned())],
        PartKind::Authorization => vec![(Role::Strong, "  authorization".to_owned())],
        PartKind::Timing => timing_bar::bar(&pane.shown.timing, pane.columns(), look),
        PartKind::Missing => missing(pane, look),
        PartKind::Text(role) => {
            let folded = [Glyph::Unfolded, Glyph::Folded][usize::from(part.folded)];
            let mut left = vec![(Role::Strong, format!("{} ", look.glyph(folded)))];
            left.extend(what(pane, (role, part.text.as_ref()), look));
            if part.more_hits {
                let marked = count(part.hits.len() as u64);
                left.push((Role::Warn, format!("  the first {marked} hits are marked")));
            }
            let wrong = part.wrong_at_head().into_iter();
            left.extend(wrong.flat_map(|wrong| sign(wrong, look)));
            let right = part.text.as_ref().map_or_else(Spans::new, facts);
            spans::justified(left, right, pane.columns())
        }
    }
}

/// `‼ error  frame-not-json  a line on stdout that is no JSON`
pub fn finding_line(finding: &FindingRow, look: Look) -> Spans {
    let path = finding.path.as_deref().map(escape).unwrap_or_default();
    let mut line = severity_and_rule(finding, look);
    line.push((Role::Text, format!("  {}", escape(&finding.detail))));
    line.push((Role::Faint, format!("  {path}")));
    line
}

/// `‼ error  frame-not-json`
pub fn severity_and_rule(finding: &FindingRow, look: Look) -> Spans {
    let (glyph, role) = theme::severity(&finding.severity);
    vec![
        (role, format!("{} ", look.glyph(glyph))),
        (role, format!("{}  ", escape(&finding.severity))),
        (Role::Strong, escape(&finding.rule).into_owned()),
    ]
}

/// `⚠ not on record; d compares it with the nearest, 7f3a#23`
fn near(pane: &Pane<'_>, look: Look) -> Spans {
    let Some(near) = &pane.shown.near else {
        return Spans::new();
    };
    let short = near.recording.get(..4).unwrap_or_default();
    let spot = format!("{short}#{}", near.seq.0);
    let text = if near.is_served {
        format!("not on record, answered like {spot} (d compares)")
    } else {
        format!("not on record; d compares it with the nearest, {spot}")
    };
    let sign = look.glyph(Glyph::Warning);
    vec![(Role::Warn, format!("{sign} {text}"))]
}

/// `412 B   +12:04.318`
fn facts(text: &Text) -> Spans {
    let facts = match text.head {
        Some(head) => {
            let time = since(head.t_last.0);
            format!("{}   +{time}", on_wire(text.size, head.size))
        }
        None => size(text.size),
    };
    vec![(Role::Faint, facts)]
}

/// The part of HTTP that a text is.
fn carried(text: Option<&Text>) -> &'static str {
    match text.and_then(|it| it.head).map(|head| head.carried.part) {
        Some(http::Part::RequestHead) => "HTTP request",
        Some(http::Part::ResponseHead) => "HTTP response",
        Some(http::Part::Body) => "body",
        Some(http::Part::Event) => "event",
        Some(http::Part::Comment) => "comment, which keeps the stream open",
        Some(http::Part::End) => "end of the response",
        _ => "line",
    }
}

fn what(pane: &Pane<'_>, (role, text): (TextRole, Option<&Text>), look: Look) -> Spans {
    let (word, id) = match (role, &pane.shown.item.what) {
        (TextRole::Request, What::Exchange(exchange)) => ("request", Some(&exchange.rpc_id)),
        (TextRole::Response, What::Exchange(exchange)) => {
            let mut left = vec![(Role::Strong, "response".to_owned())];
            left.extend(outcome(exchange, look));
            return left;
        }
        (TextRole::Message, What::Message { record, .. }) => {
            let word = match record.kind {
                MessageKind::Request => "request",
                MessageKind::Response => "response",
                MessageKind::Notification => "notification",
                MessageKind::Other => "not a JSON-RPC message",
            };
            (word, record.rpc_id.as_ref())
        }
        (TextRole::Event, _) => ("as recorded", None),
        (TextRole::Http, _) => (carried(text), None),
        _ => ("line", None),
    };
    let id = id.map_or_else(String::new, |id| format!("  id {}", escape(id.json())));
    vec![(Role::Strong, word.to_owned()), (Role::Faint, id)]
}

/// `✗ tool-error  842 ms, client 250 ms`
fn outcome(exchange: &Exchange, look: Look) -> Spans {
    let mut spans = status(exchange, look);
    let code = exchange.code.as_deref();
    spans.extend(code.map(|code| (Role::Bad, format!(" {}", escape(code)))));
    let Some(latency) = exchange.latency_ns() else {
        return spans;
    };
    spans.push((Role::Text, format!("  {}", duration(latency))));
    let waited = exchange.own_ns().map_or(0, |own| latency - own);
    if waited > 0 {
        spans.push((Role::Faint, format!(", client {}", duration(waited))));
    }
    spans
}

fn status(exchange: &Exchange, look: Look) -> Spans {
    let (glyph, role) = cells::sign(Tone::of(exchange));
    let text = format!("  {} {}", look.glyph(glyph), exchange.status.as_str());
    vec![(role, text)]
}

/// `no response yet  … open  13.8 s`
fn missing(pane: &Pane<'_>, look: Look) -> Spans {
    let Some(exchange) = pane.shown.item.exchange() else {
        return Spans::new();
    };
    let (words, is_waiting) = match exchange.status {
        Status::Open | Status::Listening | Status::Task => ("  no response yet", true),
        Status::GivenUp => ("  no response is known", false),
        _ => ("  no response", false),
    };
    let mut spans = vec![(Role::Strong, words.to_owned())];
    spans.extend(status(exchange, look));
    let now = pane.session.now(pane.app.now);
    // A subscription or a task is not waited for in vain.
    let age = || is_waiting.then(|| duration(now.ns_since(exchange.t_request)));
    let took = phrases::took(exchange, now).or_else(age);
    spans.extend(took.map(|took| (Role::Open, format!("  {took}"))));
    spans
}
