//! What is compared of a message.

use super::One;
use mcpreel_replay::compare::Half;
use mcpreel_replay::recorded;
use mcpreel_store::open::OpenError;
use mcpreel_store::reader::ReadError;
use mcpreel_wire::json::Outline;
use std::io::Read;

/// Longer messages are compared by their outline: comparing takes about as long as reading, and
/// nobody else is answered meanwhile.
const WHOLE: u64 = 2 * 1024 * 1024;

/// Bytes of a long message that are read at once.
const PIECE: usize = 256 * 1024;

/// The bytes of a message of the first one, or its outline where they are too many; and how many
/// values in it are redacted that are as they were in the other one, which is the same but for
/// that.
pub(super) fn text_of(
    [one, other]: [&One<'_>; 2],
    half: Half,
    outline: &mut bool,
) -> Result<Option<(Vec<u8>, u64)>, ReadError> {
    let of = |one: &One<'_>| match half {
        Half::Request => (Some(one.exchange.request), one.exchange.request_size),
        Half::Response => (one.exchange.response, one.exchange.response_size),
    };
    let recording = one.recording;
    let (Some(place), size) = of(one) else {
        return Ok(None);
    };
    if size <= WHOLE {
        let counterpart = of(other).0;
        let message = recorded::message([recording, other.recording], place, counterpart)?;
        return Ok(message.map(|original| (original.bytes, original.redacted)));
    }
    *outline = true;
    let mut shape = Outline::new();
    let mut blob = recording.stream(place.0)?;
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
