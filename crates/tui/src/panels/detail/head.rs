//! Drawing the headings of the parts of a body.
//!
//! ```text
//! ✗ error  rpc-result-not-object  number, 7  result
//! ▾ request  id 7                                        412 B   +12:04.318
//! ▾ response  ✗ tool-error  842 ms ███████░░░ client 250 ms        1.9 kB   +12:05.160
//! … no response yet  13.8 s
//! ```

use super::jobs::{Text, TextRole};
use super::part::{Part, PartKind};
use crate::panels::detail::draw::Pane;
use crate::panels::list;
use crate::theme;
use crate::theme::{Glyph, Look, Role};
use crate::widget::spans;
use crate::widget::spans::Spans;
use mcpreel_share::phrases::phrases_story::on_wire;
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::item::What;
use mcpreel_wire::text::{count, duration, escape, plural, since, size, width};

/// Cells of the bar that divides a latency.
const BAR: u64 = 10;

/// From this width on there is room for whole sentences.
const WIDE: usize = 84;

pub fn line(pane: &Pane<'_>, part: &Part) -> Spans {
    let look = pane.app.settings.look;
    match part.kind {
        PartKind::Finding(at) => match pane.shown.findings.get(at) {
            Some(finding) => finding_line(finding, look),
            None => Spans::new(),
        },
        PartKind::MoreFindings(more) => {
            let hidden = pane.shown.findings.iter().rev().take(more);
            let notes = hidden.filter(|one| &*one.severity == "note").count();
            match more - notes {
                0 => vec![(Role::Faint, plural(notes as u64, "note"))],
                _ => vec![(Role::Warn, plural(more as u64, "more finding"))],
            }
        }
        PartKind::Note => note(pane, look),
        PartKind::Near => near(pane, look),
        PartKind::Missing => missing(pane, look),
        PartKind::Text(role) => {
            let mut left = vec![(Role::Strong, format!("{} ", sign(part, look)))];
            left.extend(what(pane, role, look));
            left.extend(not_marked(part));
            let wrong = part.wrong_at_head();
            left.extend(
                wrong
                    .into_iter()
                    .flat_map(|wrong| super::draw::sign(wrong, look)),
            );
            let room = pane.columns().saturating_sub(spans::width(&left) + 2);
            let right = part.text.as_ref();
            let right = right.map_or_else(Spans::new, |text| facts(text, room));
            spans::justified(left, right, pane.columns())
        }
    }
}

/// `✗ error  frame-not-json  a line on stdout that is no JSON`
pub fn finding_line(finding: &FindingRow, look: Look) -> Spans {
    let (glyph, role) = theme::severity(&finding.severity);
    let path = finding.path.as_deref().map(escape);
    vec![
        (
            role,
            format!("{} {}  ", look.glyph(glyph), escape(&finding.severity)),
        ),
        (Role::Strong, escape(&finding.rule).into_owned()),
        (Role::Text, format!("  {}", escape(&finding.detail))),
        (
            Role::Faint,
            path.map_or_else(String::new, |path| format!("  {path}")),
        ),
    ]
}

/// That a search found more in it than is marked.
fn not_marked(part: &Part) -> Option<(Role, String)> {
    let marked = count(part.hits.len() as u64);
    let text = format!("  the first {marked} hits are marked");
    part.more_hits.then_some((Role::Warn, text))
}

fn note(pane: &Pane<'_>, look: Look) -> Spans {
    let annotation = pane.shown.item.annotation.as_ref();
    let note = annotation.and_then(|annotation| annotation.note.as_deref());
    let text = escape(note.unwrap_or_default());
    vec![(Role::Event, format!("{} {text}", look.glyph(Glyph::Noted)))]
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

fn sign(part: &Part, look: Look) -> &'static str {
    let glyph = if part.folded {
        Glyph::Folded
    } else {
        Glyph::Unfolded
    };
    look.glyph(glyph)
}

/// `412 B   +12:04.318`, where there is no room for both the size.
fn facts(text: &Text, room: usize) -> Spans {
    let head = text.head.as_ref();
    let size = head.map_or_else(|| size(text.size), |head| on_wire(text.size, head.size));
    let time = text.head.map(|head| since(head.t_last.0));
    let both = time.map(|time| format!("{size}   +{time}"));
    let both = both.filter(|both| width(both) <= room);
    vec![(Role::Faint, both.unwrap_or(size))]
}

fn what(pane: &Pane<'_>, role: TextRole, look: Look) -> Spans {
    let strong = |word: &str| vec![(Role::Strong, word.to_owned())];
    match (role, &pane.shown.item.what) {
        (TextRole::Request, What::Exchange(exchange)) => {
            let mut left = strong("request");
            let id = escape(exchange.rpc_id.json());
            left.push((Role::Faint, format!("  id {id}")));
            left
        }
        (TextRole::Response, What::Exchange(exchange)) => {
            let mut left = strong("response");
            left.extend(outcome(exchange, pane.columns(), look));
            left
        }
        (TextRole::Message, What::Message { record, .. }) => {
            let mut left = strong(match record.kind {
                MessageKind::Request => "request",
                MessageKind::Response => "response",
                MessageKind::Notification => "notification",
                MessageKind::Other => "no JSON-RPC message",
            });
            let id = record.rpc_id.as_ref();
            left.extend(id.map(|id| (Role::Faint, format!("  id {}", escape(id.json())))));
            left
        }
        (TextRole::Event, _) => strong("event"),
        _ => strong("line"),
    }
}

/// `✗ tool-error  842 ms ███████░░░ client 250 ms`
fn outcome(exchange: &Exchange, columns: usize, look: Look) -> Spans {
    let mut spans = status(exchange, look);
    let code = exchange.code.as_deref();
    spans.extend(code.map(|code| (Role::Bad, format!(" {}", escape(code)))));
    let Some(latency) = exchange.latency_ns() else {
        return spans;
    };
    spans.push((Role::Text, format!("  {}", duration(latency))));
    let waited = exchange.own_ns().map_or(0, |own| latency - own);
    if waited > 0 {
        let client = (waited * BAR)
            .checked_div(latency)
            .unwrap_or(0)
            .clamp(1, BAR);
        let cells = |glyph, cells: u64| {
            look.glyph(glyph)
                .repeat(usize::try_from(cells).unwrap_or(0))
        };
        spans.push((Role::Text, format!(" {}", cells(Glyph::Bar, BAR - client))));
        spans.push((Role::Faint, cells(Glyph::Track, client)));
        let client = if columns < WIDE {
            " client"
        } else {
            " waited for the client"
        };
        spans.push((Role::Faint, format!("{client} {}", duration(waited))));
    }
    // Of a long answer that trickled in.
    let transfer = exchange
        .transfer_ns()
        .filter(|&transfer| transfer > latency / 10);
    let transfer = transfer.filter(|&transfer| transfer > 1_000_000);
    spans.extend(transfer.map(|transfer| {
        let text = format!("  and {} for its bytes", duration(transfer));
        (Role::Faint, text)
    }));
    spans
}

fn status(exchange: &Exchange, look: Look) -> Spans {
    let (glyph, role, word) = list::list_draw::status(exchange);
    let text = format!("  {} {word}", look.glyph(glyph));
    vec![(role, text)]
}

/// `no response yet  … open  13.8 s`
fn missing(pane: &Pane<'_>, look: Look) -> Spans {
    let Some(exchange) = pane.shown.item.exchange() else {
        return Spans::new();
    };
    let words = no_response(exchange.status);
    let mut spans = vec![(Role::Strong, words.to_owned())];
    spans.extend(status(exchange, look));
    if is_waiting(exchange.status) {
        let now = pane.session.now(pane.app.now);
        let waited = now.0.saturating_sub(exchange.t_request.0);
        spans.push((Role::Open, format!("  {}", duration(waited))));
    }
    spans
}

fn is_waiting(status: Status) -> bool {
    matches!(status, Status::Open | Status::Listening | Status::Task)
}

fn no_response(status: Status) -> &'static str {
    match status {
        status if is_waiting(status) => "  no response yet",
        Status::GivenUp => "  no response is known",
        _ => "  no response",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_was_given_up_it_is_not_said_that_there_was_no_response() {
        let is_unknown = |status: &&Status| no_response(**status).trim() == "no response is known";
        let unknown: Vec<_> = Status::ALL.iter().filter(is_unknown).copied().collect();
        assert_eq!(unknown, [Status::GivenUp]);
    }
}
