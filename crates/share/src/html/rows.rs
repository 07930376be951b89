//! What stands in the list: exchanges, other messages and lines, events. The page puts them in
//! their order, and finds out by itself what belongs to which exchange.

use super::block::Blocks;
use super::row::Row;
use crate::export::{Excerpt, WriteError};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::item::Item;
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
