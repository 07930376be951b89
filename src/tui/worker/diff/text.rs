//! What is compared of a message.

use super::One;
use crate::protocol::json::Outline;
use crate::replay::compare::Half;
use crate::replay::recorded;
use crate::store::open::OpenError;
use crate::store::reader::ReadError;
use std::io::Read;

/// Longer messages are compared by their outline: comparing takes about as long as reading, and
/// nobody else is answered meanwhile.
const WHOLE: u64 = 2 * 1024 * 1024;

/// Bytes of a long message that are read at once.
const PIECE: usize = 256 * 1024;

/// The bytes of a message of the first one, or its outline where they are too many; and how many
/// values in it are redacted that are as they were in the other one, which is the same but for that.
pub(super) fn text_of(
    [one, other]: [&One<'_>; 2],
    half: Half,
    outline: &mut bool,
) -> Result<Option<(Vec<u8>, u64)>, ReadError> {
    let (recording, exchange) = (one.recording, one.exchange);
    let (place, size) = match half {
        Half::Request => (Some(exchange.request), exchange.request_size),
        Half::Response => (exchange.response, exchange.response_size),
    };
    let Some((seq, part)) = place else {
        return Ok(None);
    };
    if size <= WHOLE {
        return recorded::message([recording, other.recording], seq, part);
    }
    *outline = true;
    let mut shape = Outline::new();
    let mut blob = recording.stream(seq)?;
    let mut piece = vec![0; PIECE];
    loop {
        let read = blob.read(&mut piece);
        let read = read.map_err(|error| OpenError::Io {
            path: recording.path().to_owned(),
            source: error,
        })?;
        if read == 0 {
            break;
        }
        shape.push(&piece[..read]);
    }
    // What is no JSON is compared as the bytes that it begins with.
    Ok(Some((shape.finish().unwrap_or(piece), 0)))
}
