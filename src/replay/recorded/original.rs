//! A message without what was taken out of it, where the other recording has that.

use crate::redact::{gaps, token};
use crate::store::reader::{ReadError, Recording};
use crate::trace::frame::Seq;

/// A message of the first recording, or what the second one has in its place if that is the same but
/// for values that are redacted in the first; and how many those are. A redacted recording has the
/// frames of that which it was made of.
pub fn message(
    [recording, beside]: [&Recording; 2],
    seq: Seq,
    part: u32,
) -> Result<Option<(Vec<u8>, u64)>, ReadError> {
    let Some(bytes) = recording.message_bytes(seq, part)? else {
        return Ok(None);
    };
    if token::may_be_in(&bytes)
        && let Some(original) = beside.message_bytes(seq, part)?
        && let Some(values) = gaps::hidden(&bytes, &original)
    {
        return Ok(Some((original, values)));
    }
    Ok(Some((bytes, 0)))
}
