//! The rows of the list: exchanges, other messages and lines, events. The page puts them in their
//! order, and finds out by itself which messages belong to which exchange.

use super::block::Blocks;
use crate::export::{Excerpt, ExportError, all_rows};
use crate::row::RowView;
use mcpreel_lint::Rule;
use mcpreel_store::reader::{FindingRow, MessageRow};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::item::{Annotation, Item};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::cut;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;

/// Frames that are looked at between two questions to the recording.
const PAGE: u32 = 1000;

/// Bytes of such frames, but for the first: a batch may be nothing but messages.
const PAGE_BYTES: u64 = 1 << 20;

pub(super) fn write(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), ExportError> {
    exchanges(excerpt, out)?;
    https(excerpt, out)?;
    messages(excerpt, out)?;
    events(excerpt, out)
}

fn exchanges(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), ExportError> {
    let mut blocks = Blocks::new(out, "rows");
    excerpt.exchanges(&mut |exchange| {
        let shown = shown(excerpt, exchange);
        let mut row = of_exchange(&shown);
        if let Some(http) = excerpt.recording.http(exchange.http)? {
            let heads = [Some(http.request), http.response].into_iter().flatten();
            row["h"] = of_frames(excerpt, heads);
            row["hs"] = json!(http.status.filter(|status| ![200, 202].contains(status)));
        }
        Ok::<_, ExportError>(blocks.push_sparse(row)?)
    })?;
    Ok(blocks.finish()?)
}

/// Parts of an HTTP exchange without messages that a row has; a stream of a day has many.
const PARTS: u32 = 50;

/// Requests of HTTP without a message, with all that they carried.
fn https(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), ExportError> {
    let mut blocks = Blocks::new(out, "rows");
    let page = |after: &u32| excerpt.recording.https(*after, PAGE);
    for http in all_rows(0, page, |http| http.id) {
        let http = http?;
        if http.has_messages || !excerpt.has(http.request) {
            continue;
        }
        let mut row = of_view(&RowView::of_http(&http), 0);
        let carried = excerpt.recording.carried(http.id, PARTS)?;
        row["h"] = of_frames(excerpt, carried.iter().map(|head| head.seq));
        blocks.push_sparse(row)?;
    }
    Ok(blocks.finish()?)
}

/// The frames that are in the page.
fn of_frames(excerpt: &Excerpt<'_>, frames: impl Iterator<Item = Seq>) -> Value {
    let shown = frames.filter(|seq| excerpt.has(*seq));
    json!(shown.map(|seq| seq.0).collect::<Vec<_>>())
}

/// The exchange without what is not in the page: what a live recording got meanwhile, and what was
/// not selected.
fn shown(excerpt: &Excerpt<'_>, exchange: &Exchange) -> Exchange {
    let mut shown = exchange.clone();
    let answer = exchange.response.map(|(seq, _)| seq);
    if !answer.is_some_and(|seq| excerpt.has(seq)) {
        let is_live = excerpt.last.0 < u64::MAX;
        if is_live || excerpt.is_cut() {
            shown.summary = exchange.asked().into();
            shown.code = None;
        }
    } else if !excerpt.has(exchange.request.0) {
        let answered = exchange.answered().unwrap_or_default();
        shown.summary = format!("{} → {answered}", exchange.method).into();
    }
    if excerpt.is_cut() {
        shown.progress = None;
    }
    if !excerpt.has(exchange.request.0) {
        shown.name = None;
    }
    shown
}

fn messages(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), ExportError> {
    let mut blocks = Blocks::new(out, "rows");
    let mut after = Seq(0);
    let is_derived = excerpt.recording.summary()?.derived;
    loop {
        // To look for it in the frames themselves takes as long as to read them.
        if is_derived {
            let Some(next) = excerpt.recording.next_beside(after)? else {
                break;
            };
            after = Seq(next.0.saturating_sub(1));
        }
        let mut heads = excerpt.recording.heads(after, PAGE)?;
        heads.retain(|head| head.seq <= excerpt.last);
        // Frames at the end that are too many bytes to be looked at together wait.
        let mut bytes = 0;
        let fits = heads.iter().take_while(|head| {
            bytes += head.size;
            bytes <= PAGE_BYTES
        });
        let fits = fits.count().max(1);
        heads.truncate(fits);
        let Some(end) = heads.last().map(|head| head.seq) else {
            break;
        };
        beside(excerpt, (after, end), &heads, &mut blocks)?;
        after = end;
    }
    Ok(blocks.finish()?)
}

/// Adds what stands beside the exchanges in the frames after the first up to the last of these.
fn beside<W: Write>(
    excerpt: &Excerpt<'_>,
    (after, end): (Seq, Seq),
    heads: &[FrameHead],
    blocks: &mut Blocks<'_, W>,
) -> Result<(), ExportError> {
    let head_of = |seq: Seq| {
        let at = heads.binary_search_by_key(&seq, |head| head.seq).ok();
        at.map(|at| &heads[at]).filter(|_| excerpt.has(seq))
    };
    for (seq, preview) in excerpt.recording.bare(after, end, Item::PREVIEW)? {
        // What HTTP carries is told with it.
        if let Some(head) = head_of(seq).filter(|head| head.carried.http == 0) {
            blocks.push_sparse(of_view(&RowView::of_line(head, &preview), 0))?;
        }
    }
    // The rest are the requests and responses of exchanges, and told with these.
    for row in excerpt.recording.messages_beside(after, end)? {
        if let Some(head) = head_of(row.record.frame) {
            blocks.push_sparse(of_message(&row, head))?;
        }
    }
    Ok(())
}

fn events(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), ExportError> {
    let mut blocks = Blocks::new(out, "rows");
    // That of the start stands in the session.
    for row in excerpt.events() {
        let row = row?;
        blocks.push_sparse(of_view(&RowView::of_event(&row.event), row.id))?;
    }
    Ok(blocks.finish()?)
}

/// Columns of a text that a row has: the whole of it stands in the frame.
const TEXT: usize = 600;

// Rows as the page reads them: numbers are nanoseconds and bytes; members that are null are left
// out. Texts off the wire are not escaped but for those of lines and events.
//
// `k` kind, `n` frame (of an exchange that of its request, of an event the last one before it), `p`
// place in a batch or number of the event, `t` time, `d` direction, `m` method, `x` exchange,
// `folded` part of its exchange and no row of its own; of an exchange `s` status, `re` frame and
// place of the response, `te` its time; `h` the frames of HTTP that carried it, `hs` its status where
// that is not 200 or 202.

fn of_exchange(exchange: &Exchange) -> Value {
    json!({
        "k": "request",
        "n": exchange.request.0.0,
        "p": nonzero(exchange.request.1.into()),
        "t": exchange.t_request.0,
        "d": exchange.direction.as_str(),
        "m": short(&exchange.method),
        "name": exchange.name.as_deref().map(short),
        "id": short(exchange.rpc_id.json()),
        "text": short(&exchange.summary),
        "size": nonzero(exchange.request_size),
        "code": exchange.code,
        "era": exchange.era.as_str(),
        "x": exchange.id.0,
        "s": exchange.status.as_str(),
        "failed": flag(exchange.has_failed()),
        "re": exchange.response.map(|(seq, part)| (seq.0, part)),
        "te": exchange.t_response.map(|t| t.0),
        "latency": exchange.latency_ns(),
        "transfer": exchange.transfer_ns(),
        "waited": nonzero(exchange.waited_ns),
        "retry": flag(exchange.is_retry()),
        "ressize": nonzero(exchange.response_size),
        "parent": exchange.parent.map(|id| id.0),
        "chain": exchange.chain.map(|id| id.0),
        "task": exchange.task,
        "progress": exchange.progress,
    })
}

/// The row of a message, or what a message is to its exchange.
fn of_message(row: &MessageRow, head: &FrameHead) -> Value {
    let record = &row.record;
    let method = record.method.as_deref();
    // Log messages stay rows of their own even where the call is known in which they came.
    let of_state = ["notifications/progress", "notifications/cancelled"];
    let is_state = method.is_some_and(|method| of_state.contains(&method));
    let is_notification = record.kind == MessageKind::Notification;
    json!({
        "k": record.kind.as_str(),
        "n": record.frame.0,
        "p": nonzero(record.part.into()),
        "t": head.t_last.0,
        "d": record.direction.as_str(),
        "m": method.map(short),
        "name": record.name.as_deref().map(short),
        "id": record.rpc_id.as_ref().map(|id| short(id.json())),
        "text": short(&record.summary),
        "size": nonzero(head.size),
        "code": record.code,
        "era": record.era.as_str(),
        "x": record.exchange.map(|id| id.0),
        "folded": flag(record.exchange.is_some() && (is_state || !is_notification)),
    })
}

/// A line that is no message, or an event with this number.
fn of_view(view: &RowView<'_>, event: u64) -> Value {
    json!({
        "k": view.kind.as_str(),
        "n": view.seq.0,
        "p": nonzero(event),
        "t": view.t.0,
        "d": view.direction.map(Direction::as_str),
        "text": view.summary,
        "size": view.size.and_then(nonzero),
    })
}

fn nonzero(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}

fn flag(is_so: bool) -> Option<bool> {
    is_so.then_some(true)
}

fn short(text: &str) -> String {
    cut(text, TEXT)
}

// Findings with the rules that found them, and the marks and notes that people put on frames.

pub(super) fn write_findings(
    excerpt: &Excerpt<'_>,
    out: &mut impl Write,
) -> Result<(), ExportError> {
    let mut rules = BTreeMap::new();
    let mut blocks = Blocks::new(&mut *out, "findings");
    let page = |after: &u64| excerpt.recording.findings(*after);
    for row in all_rows(0, page, |row| row.id) {
        let row = row?;
        if is_meant(excerpt, &row) {
            blocks.push_sparse(finding(&row))?;
            // One that a newer version found by a rule of its own stays without words.
            rules.extend(mcpreel_lint::rule(&row.rule).map(|rule| (rule.id, rule)));
        }
    }
    blocks.finish()?;
    let mut blocks = Blocks::new(out, "rules");
    for rule in rules.into_values() {
        blocks.push(&about(rule))?;
    }
    Ok(blocks.finish()?)
}

/// A finding about the process belongs to the whole recording, not to a part of it.
fn is_meant(excerpt: &Excerpt<'_>, row: &FindingRow) -> bool {
    row.frame.map_or(!excerpt.is_cut(), |seq| excerpt.has(seq))
}

fn finding(row: &FindingRow) -> Value {
    let related: Vec<_> = row.related.iter().map(|seq| seq.0).collect();
    json!({
        "rule": row.rule,
        "severity": row.severity,
        "n": row.frame.map(|seq| seq.0),
        "x": row.exchange.map(|id| id.0),
        "path": row.path,
        "related": (!related.is_empty()).then_some(related),
        "text": row.detail,
    })
}

fn about(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "summary": rule.summary,
        "why": rule.why,
        "fix": rule.fix,
        "section": rule.reference(),
    })
}

/// Columns of a note: whoever writes more writes a text of its own.
const NOTE: usize = 4000;

pub(super) fn write_notes(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), ExportError> {
    let mut blocks = Blocks::new(out, "notes");
    let short = |text: &Option<Box<str>>| text.as_deref().map(|text| cut(text, NOTE));
    let page = |after: &Seq| excerpt.recording.annotations(*after);
    for row in all_rows(Seq(0), page, |(seq, _)| *seq) {
        let (seq, Annotation { mark, note }) = row?;
        if excerpt.has(seq) {
            let (mark, note) = (short(&mark), short(&note));
            blocks.push_sparse(json!({"n": seq.0, "mark": mark, "note": note}))?;
        }
    }
    Ok(blocks.finish()?)
}
