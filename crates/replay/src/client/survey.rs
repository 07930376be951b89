//! What a recording asks for before any of it is played: which tools only read, which calls would
//! be refused.

use super::guard::Guard;
use crate::script::LONGEST;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Value};
use std::collections::BTreeMap;

/// Exchanges that are read at once.
const PAGE: u32 = 500;

/// Lists of tools that are read, the first ones. A client may ask for the list in a loop.
const MOST_LISTS: usize = 1000;

/// Tools that are counted; a recording that names more is not told in full.
const MOST_TOOLS: usize = 1000;

/// Bytes of names of tools that are put on record with a replay: its first record is to hold them. A
/// call of one that is left out is refused.
const MOST_NAMES: usize = 8 * 1024;

/// Gives `visit` every exchange of a rare method, until it says that it is enough.
fn each(
    recording: &Recording,
    method: &str,
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
            if !visit(exchange)? {
                return Ok(());
            }
        }
    }
}

/// A guard that knows what the recorded server said of its tools, the latest word counting; `is_own`
/// if this user made the recording.
pub fn guard(recording: &Recording, is_own: bool) -> Result<Guard, ReadError> {
    let mut guard = Guard::new(is_own);
    // What the recording said from which this one was made came before.
    for tool in &recording.summary()?.context.read_only_tools {
        guard.recorded_as_reading(tool);
    }
    lists(recording, |result| guard.recorded_list(result))?;
    Ok(guard)
}

/// Tells `guard` what the server that is driven said of its tools in a replay of it.
pub fn learn_live(made: &Recording, guard: &mut Guard) -> Result<(), ReadError> {
    lists(made, |result| guard.live_list(result))
}

/// Gives `visit` the recorded results of `tools/list`.
fn lists(recording: &Recording, mut visit: impl FnMut(Value<'_>)) -> Result<(), ReadError> {
    let mut lists = 0;
    each(recording, "tools/list", |exchange| {
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
                    visit(result);
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
    let until = until.unwrap_or(Seq(u64::MAX));
    let (mut counts, mut after) = (BTreeMap::new(), ExchangeId(0));
    loop {
        // All of them: those of a frequent method are found sooner among all than by it.
        let page = recording.light_exchanges(after, None, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(counts);
        };
        after = last.id;
        for exchange in page.iter().filter(|one| one.method == "tools/call") {
            if exchange.request.0 > until || counts.len() >= MOST_TOOLS {
                return Ok(counts);
            }
            let tool = exchange.name.as_deref().unwrap_or_default();
            if !guard.allows(tool) && wanted(exchange) {
                *counts.entry(tool.into()).or_default() += 1;
            }
        }
    }
}

/// The tools that are called in a recording and that only read by what `guard` knows, in the order of
/// their names.
pub fn read_only(recording: &Recording, guard: &Guard) -> Result<Vec<String>, ReadError> {
    let mut tools: Vec<_> = guard.reading().into_iter().collect();
    tools.sort_unstable();
    let (mut names, mut left) = (Vec::new(), MOST_NAMES);
    for tool in tools {
        if tool.len() <= left && recording.has_exchange_with("tools/call", tool)? {
            left -= tool.len();
            names.push(tool.to_owned());
        }
    }
    Ok(names)
}
