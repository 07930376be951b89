//! What a recording asks for before any of it is played: which tools only read, which calls would
//! be refused.

use super::guard::Guard;
use crate::protocol::json::Document;
use crate::replay::script::LONGEST;
use crate::store::reader::{ReadError, Recording};
use crate::trace::exchange::{Exchange, ExchangeId};
use crate::trace::frame::Seq;
use std::collections::{BTreeMap, BTreeSet};

/// Exchanges that are read at once.
const PAGE: u32 = 500;

/// Lists of tools that are read, the first ones. A client may ask for the list in a loop.
const MOST_LISTS: usize = 1000;

/// Tools that are counted; a recording that names more is not told in full.
const MOST_TOOLS: usize = 1000;

/// Bytes of names of tools that are put on record with a replay: its first record is to hold them. A
/// call of one that is left out is refused.
const MOST_NAMES: usize = 8 * 1024;

/// Gives `visit` every exchange of a method up to the frame `until`, until it says that it is
/// enough.
fn each(
    recording: &Recording,
    method: &str,
    until: Seq,
    mut visit: impl FnMut(&Exchange) -> Result<bool, ReadError>,
) -> Result<(), ReadError> {
    let mut after = ExchangeId(0);
    loop {
        let page = recording.light_exchanges_with(method, after, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.id;
        for exchange in &page {
            if exchange.request.0 > until || !visit(exchange)? {
                return Ok(());
            }
        }
    }
}

/// Tells `guard` what the recorded server said of its tools, the latest word counting. What the
/// recording said from which this one was made came before.
pub fn learn_tools(recording: &Recording, guard: &mut Guard) -> Result<(), ReadError> {
    for tool in &recording.summary()?.context.read_only_tools {
        guard.recorded_reading(tool);
    }
    let mut lists = 0;
    each(recording, "tools/list", Seq(u64::MAX), |exchange| {
        let Some((seq, part)) = exchange.response else {
            return Ok(true);
        };
        lists += 1;
        if exchange.response_size <= LONGEST {
            let raw = recording.raw(seq)?;
            if let Ok(document) = Document::parse(&raw) {
                let root = document.root();
                let message = if root.is_object() {
                    Some(root)
                } else {
                    root.index(part as usize)
                };
                if let Some(result) = message.and_then(|message| message.get("result")) {
                    guard.recorded_list(result);
                }
            }
        }
        Ok(lists < MOST_LISTS)
    })
}

/// The tools whose recorded calls `guard` does not allow, with how many calls there are. Names as
/// on the wire.
pub fn refused(
    recording: &Recording,
    guard: &Guard,
    until: Option<Seq>,
    wanted: &mut dyn FnMut(&Exchange) -> bool,
) -> Result<BTreeMap<Box<str>, u64>, ReadError> {
    let mut counts = BTreeMap::new();
    each(
        recording,
        "tools/call",
        until.unwrap_or(Seq(u64::MAX)),
        |exchange| {
            let tool = exchange.name.as_deref().unwrap_or_default();
            if !guard.allows(tool) && wanted(exchange) {
                *counts.entry(tool.into()).or_default() += 1;
            }
            Ok(counts.len() < MOST_TOOLS)
        },
    )?;
    Ok(counts)
}

/// The tools that are called in a recording and that only read by what `guard` was told of it, in
/// the order of their names.
pub fn read_only(recording: &Recording, guard: &Guard) -> Result<Vec<String>, ReadError> {
    let mut names = BTreeSet::new();
    let mut left = MOST_NAMES;
    each(recording, "tools/call", Seq(u64::MAX), |exchange| {
        let tool = exchange.name.as_deref().unwrap_or_default();
        if tool.len() <= left && guard.is_recorded_reading(tool) && !names.contains(tool) {
            left -= tool.len();
            names.insert(tool.to_owned());
        }
        Ok(left > 0)
    })?;
    Ok(names.into_iter().collect())
}
