//! The rows of the list: exchanges, other messages and lines, events. The page puts them in their
//! order, and finds out by itself which messages belong to which exchange.

use super::block::Blocks;
use crate::export::{Excerpt, WriteError};
use crate::row::RowView;
use mcpreel_store::reader::{EventRow, MessageRow};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::item::Item;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::cut;
use serde::Serialize;
use std::borrow::Cow;
use std::io::Write;

/// Frames that are looked at between two questions to the recording.
const PAGE: u32 = 1000;

/// Bytes of such frames, but for the first: a batch may be nothing but messages.
const PAGE_BYTES: u64 = 1 << 20;

pub(super) fn write(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), WriteError> {
    exchanges(excerpt, out)?;
    messages(excerpt, out)?;
    events(excerpt, out)
}

fn exchanges(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), WriteError> {
    let mut blocks = Blocks::new(out, "rows");
    excerpt.told_exchanges(&mut |exchange| {
        let shown = shown(excerpt, exchange);
        Ok::<_, WriteError>(blocks.push(&Row::of_exchange(&shown))?)
    })?;
    Ok(blocks.finish()?)
}

/// The exchange without what is not in the page: what a live recording got meanwhile, and what was
/// not selected.
fn shown<'e>(excerpt: &Excerpt<'_>, exchange: &'e Exchange) -> Cow<'e, Exchange> {
    let is_live = excerpt.last.0 < u64::MAX;
    if excerpt.is_cut() {
        return Cow::Owned(within(excerpt, exchange.clone()));
    }
    if !is_live || exchange.response.is_some() {
        return Cow::Borrowed(exchange);
    }
    Cow::Owned(Exchange {
        summary: exchange.asked().into(),
        ..exchange.clone()
    })
}

/// The exchange without what those of its frames say that are not in the page.
fn within(excerpt: &Excerpt<'_>, mut exchange: Exchange) -> Exchange {
    let has = |seq: Option<Seq>| seq.is_some_and(|seq| excerpt.has(seq));
    exchange.progress = None;
    if !has(exchange.response.map(|(seq, _)| seq)) {
        exchange.summary = exchange.asked().into();
        exchange.code = None;
    }
    if !has(Some(exchange.request.0)) {
        let answered = exchange.answered().unwrap_or_default();
        exchange.summary = format!("{} → {answered}", exchange.method).into();
        exchange.name = None;
    }
    exchange
}

fn messages(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), WriteError> {
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
        shorten(&mut heads);
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
) -> Result<(), WriteError> {
    let head_of = |seq: Seq| {
        let at = heads.binary_search_by_key(&seq, |head| head.seq).ok();
        at.map(|at| &heads[at]).filter(|_| excerpt.has(seq))
    };
    for (seq, preview) in excerpt.recording.bare(after, end, Item::PREVIEW)? {
        if let Some(head) = head_of(seq) {
            blocks.push(&Row::of_line(head, &preview))?;
        }
    }
    // The rest are the requests and responses of exchanges, and told with these.
    for row in excerpt.recording.messages_beside(after, end)? {
        if let Some(head) = head_of(row.record.frame) {
            blocks.push(&Row::of_message(&row, head))?;
        }
    }
    Ok(())
}

/// Leaves out frames at the end that are too many bytes to be looked at together.
fn shorten(heads: &mut Vec<FrameHead>) {
    let mut bytes = 0;
    let fits = heads.iter().take_while(|head| {
        let fits = bytes < PAGE_BYTES;
        bytes += head.size;
        fits
    });
    let fits = fits.count();
    heads.truncate(fits);
}

fn events(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), WriteError> {
    let mut blocks = Blocks::new(out, "rows");
    // That of the start stands in the session.
    excerpt.events(&mut |row| Ok::<_, WriteError>(blocks.push(&Row::of_event(row))?))?;
    Ok(blocks.finish()?)
}

/// Columns of a text that a row has: the whole of it stands in the frame.
const TEXT: usize = 600;

/// A row of the list. Numbers are nanoseconds and bytes; what is not there is left out. Texts are
/// not escaped but for those of lines and events.
#[derive(Default, Serialize)]
struct Row<'a> {
    /// What it is: a word of `kind` in filters.
    k: &'static str,
    /// Its frame, of an exchange that of its request, of an event the last one before it.
    n: u64,
    /// Its place in a batch; of an event its number.
    #[serde(skip_serializing_if = "is_none")]
    p: u64,
    t: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    d: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Its line, or the bytes that it begins with.
    text: String,
    /// Bytes: of an exchange those of the request.
    #[serde(skip_serializing_if = "is_none")]
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    era: Option<&'static str>,
    /// The number of the exchange that it is or belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<u64>,
    /// Whether it is part of its exchange and no row of its own.
    #[serde(skip_serializing_if = "is_false")]
    folded: bool,
    #[serde(flatten)]
    exchange: Option<Answer<'a>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    s: &'static str,
    #[serde(skip_serializing_if = "is_false")]
    failed: bool,
    /// The frame of the response and its place in a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    re: Option<(u64, u32)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    te: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transfer: Option<u64>,
    #[serde(skip_serializing_if = "is_none")]
    waited: u64,
    #[serde(skip_serializing_if = "is_false")]
    retry: bool,
    #[serde(skip_serializing_if = "is_none")]
    ressize: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<&'a str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_none(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl<'a> Row<'a> {
    fn of_exchange(exchange: &'a Exchange) -> Self {
        Self {
            k: "request",
            n: exchange.request.0.0,
            p: exchange.request.1.into(),
            t: exchange.t_request.0,
            d: Some(exchange.direction.as_str()),
            m: Some(short(&exchange.method)),
            name: exchange.name.as_deref().map(short),
            id: Some(short(exchange.rpc_id.json())),
            text: short(&exchange.summary),
            size: exchange.request_size,
            code: exchange.code.as_deref(),
            era: Some(exchange.era.as_str()),
            x: Some(exchange.id.0),
            folded: false,
            exchange: Some(Answer {
                s: exchange.status.as_str(),
                failed: exchange.has_failed(),
                re: exchange.response.map(|(seq, part)| (seq.0, part)),
                te: exchange.t_response.map(|t| t.0),
                latency: exchange.latency_ns(),
                transfer: exchange.transfer_ns(),
                waited: exchange.waited_ns,
                retry: exchange.is_retry(),
                ressize: exchange.response_size,
                parent: exchange.parent.map(|id| id.0),
                chain: exchange.chain.map(|id| id.0),
                task: exchange.task.as_deref(),
                progress: exchange.progress.as_deref(),
            }),
        }
    }

    /// The row of a message, or what a message is to its exchange.
    fn of_message(row: &'a MessageRow, head: &FrameHead) -> Self {
        let record = &row.record;
        let method = record.method.as_deref();
        // Log messages stay rows of their own even where the call is known in which they came.
        let is_state = matches!(
            method,
            Some("notifications/progress" | "notifications/cancelled")
        );
        let is_notification = record.kind == MessageKind::Notification;
        Self {
            k: record.kind.as_str(),
            n: record.frame.0,
            p: record.part.into(),
            t: head.t_last.0,
            d: Some(record.direction.as_str()),
            m: method.map(short),
            name: record.name.as_deref().map(short),
            id: record.rpc_id.as_ref().map(|id| short(id.json())),
            text: short(&record.summary),
            size: head.size,
            code: record.code.as_deref(),
            era: Some(record.era.as_str()),
            x: record.exchange.map(|id| id.0),
            folded: record.exchange.is_some() && (is_state || !is_notification),
            exchange: None,
        }
    }
}

impl Row<'static> {
    fn of_line(head: &FrameHead, preview: &[u8]) -> Self {
        Self::of_view(&RowView::of_line(head, preview))
    }

    fn of_event(row: &EventRow) -> Self {
        Self {
            p: row.id,
            ..Self::of_view(&RowView::of_event(&row.event))
        }
    }

    fn of_view(view: &RowView<'_>) -> Self {
        Self {
            k: view.kind.as_str(),
            n: view.seq.0,
            t: view.t.0,
            d: view.direction.map(Direction::as_str),
            text: view.summary.clone().into_owned(),
            size: view.size.unwrap_or(0),
            ..Self::default()
        }
    }
}

fn short(text: &str) -> String {
    cut(text, TEXT)
}
