//! Faults that are meant for nothing on record: with a slip of the pen in its filter nothing goes
//! wrong, and a test that wants it to passes.

use super::faults::{Asked, Fault};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_wire::message::Direction;

/// Exchanges that are read at once.
const PAGE: u32 = 500;

/// Exchanges that are looked at: a host waits for us meanwhile. Of a longer recording nothing is
/// said.
const MOST: u64 = 50_000;

/// Those of `faults` that fit no request on record.
pub fn unfit<'f>(faults: &'f [Fault], recording: &Recording) -> Result<Vec<&'f Fault>, ReadError> {
    let mut unfit: Vec<_> = faults.iter().collect();
    if unfit.is_empty() || recording.summary()?.exchanges > MOST {
        return Ok(Vec::new());
    }
    let mut after = ExchangeId(0);
    while !unfit.is_empty() {
        let page = recording.light_exchanges(after, None, PAGE)?;
        let Some(last) = page.last() else { break };
        after = last.id;
        let ours = |exchange: &&Exchange| exchange.direction == Direction::ClientToServer;
        for exchange in page.iter().filter(ours) {
            retain(&mut unfit, exchange, recording)?;
        }
    }
    Ok(unfit)
}

/// Takes those out that fit this request.
fn retain(
    unfit: &mut Vec<&Fault>,
    exchange: &Exchange,
    recording: &Recording,
) -> Result<(), ReadError> {
    let (seq, part) = exchange.request;
    let bytes = recording.message_bytes(seq, part)?.unwrap_or_default();
    let asked = Asked {
        method: &exchange.method,
        name: exchange.name.as_deref(),
        id: &exchange.rpc_id,
        era: exchange.era,
        bytes: &bytes,
        in_batch: recording.raw(seq)?.trim_ascii_start().starts_with(b"["),
        now: exchange.t_request,
    };
    unfit.retain(|fault| !fault.fits(&asked));
    Ok(())
}
