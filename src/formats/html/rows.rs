//! What stands in the list: exchanges, other messages and lines, events. The page puts them in
//! their order, and finds out by itself what belongs to which exchange.

use super::block::Blocks;
use super::row::Row;
use crate::formats::export::{Excerpt, WriteError};
use crate::store::reader::{EventRow, MessageRow};
use crate::trace::correlator::MessageKind;
use crate::trace::event::EventKind;
use crate::trace::exchange::{Exchange, ExchangeId};
use crate::trace::frame::{FrameHead, Seq};
use crate::trace::item::Item;
use std::collections::HashSet;
use std::io::Write;

/// Frames that are looked at between two questions to the recording.
const PAGE: u32 = 1000;

/// Bytes of such frames, but for the first: a batch may be nothing but messages.
const PAGE_BYTES: u64 = 1 << 20;

/// Writes them.
pub(super) fn write(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), WriteError> {
    exchanges(excerpt, out)?;
    messages(excerpt, out)?;
    events(excerpt, out)
}

fn exchanges(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), WriteError> {
    let mut blocks = Blocks::new(out, "rows");
    let mut after = ExchangeId(0);
    loop {
        let page = excerpt.recording.exchanges(after)?;
        let Some(last) = page.last() else {
            break;
        };
        after = last.id;
        for exchange in page {
            let seqs = [
                Some(exchange.request.0),
                exchange.response.map(|(seq, _)| seq),
            ];
            if seqs.into_iter().flatten().any(|seq| excerpt.has(seq)) {
                blocks.push(&Row::of_exchange(&within(
                    excerpt,
                    until(exchange, excerpt.last),
                )))?;
            }
        }
    }
    Ok(blocks.finish()?)
}

/// The exchange as it stood at `last`: what a live recording got meanwhile is not in the page.
fn until(exchange: Exchange, last: Seq) -> Exchange {
    let is_later = |seq: Option<Seq>| seq.is_some_and(|seq| seq > last);
    if !is_later(exchange.response.map(|(seq, _)| seq)) && !is_later(exchange.cancelled) {
        return exchange;
    }
    let asked = exchange.asked().into();
    Exchange {
        summary: asked,
        ..exchange.at(last)
    }
}

/// The exchange without what those of its frames say that are not in the page.
fn within(excerpt: &Excerpt<'_>, mut exchange: Exchange) -> Exchange {
    if !excerpt.is_cut() {
        return exchange;
    }
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
    loop {
        let mut heads = excerpt.recording.heads(after, PAGE)?;
        heads.retain(|head| head.seq <= excerpt.last);
        shorten(&mut heads);
        let Some(end) = heads.last().map(|head| head.seq) else {
            break;
        };
        let messages = excerpt.recording.messages_between(after, end)?;
        let with: HashSet<Seq> = messages.iter().map(|row| row.record.frame).collect();
        for head in heads.iter().filter(|head| excerpt.has(head.seq)) {
            if !with.contains(&head.seq) {
                blocks.push(&line(excerpt, head)?)?;
            }
        }
        for row in messages.iter().filter(|row| excerpt.has(row.record.frame)) {
            let head = heads.binary_search_by_key(&row.record.frame, |head| head.seq);
            // The rest are the requests and responses of exchanges, and told with these.
            if let (Ok(at), true) = (head, is_told(row)) {
                blocks.push(&Row::of_message(row, &heads[at]))?;
            }
        }
        after = end;
    }
    Ok(blocks.finish()?)
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

fn is_told(row: &MessageRow) -> bool {
    let kind = row.record.kind;
    row.record.exchange.is_none() || matches!(kind, MessageKind::Notification | MessageKind::Other)
}

fn line(excerpt: &Excerpt<'_>, head: &FrameHead) -> Result<Row<'static>, WriteError> {
    let preview = excerpt.recording.piece(head.seq, 0..Item::PREVIEW as u64)?;
    Ok(Row::of_line(head, &preview))
}

fn events(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), WriteError> {
    let mut blocks = Blocks::new(out, "rows");
    let mut after = 0;
    loop {
        let page = excerpt.recording.events(after)?;
        let Some(last) = page.last() else {
            break;
        };
        after = last.id;
        let is_meant = |row: &&EventRow| {
            row.event.after_seq <= excerpt.last && excerpt.selection.has_event(row)
        };
        for row in page.iter().filter(is_meant) {
            // That of the start stands in the session.
            if !matches!(row.event.kind, EventKind::Start(_)) {
                blocks.push(&Row::of_event(row))?;
            }
        }
    }
    Ok(blocks.finish()?)
}
