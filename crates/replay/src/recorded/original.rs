//! A message without what was taken out of it, where the other recording has that.

use mcpreel_redact::{gaps, token};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::frame::Seq;

/// Where a message stands: its frame, and its place in that if it is a batch.
pub type Place = (Seq, u32);

#[derive(Debug, Default)]
pub struct Original {
    /// Its bytes, or what the other recording has in its place.
    pub bytes: Vec<u8>,
    /// How many values are redacted in the first recording and not here.
    pub redacted: u64,
    /// Where the other recording has what stands here in its place.
    pub at: Option<Place>,
}

/// The message of the first recording at `place`, or what the second one has in its place if that
/// is the same but for values that are redacted in the first. That stands for it at `counterpart`,
/// as far as it is known what does, or in the same place: a redacted recording has the frames of
/// that which it was made of.
pub fn message(
    [recording, beside]: [&Recording; 2],
    place: Place,
    counterpart: Option<Place>,
) -> Result<Option<Original>, ReadError> {
    let Some(bytes) = recording.message_bytes(place.0, place.1)? else {
        return Ok(None);
    };
    let counterpart = counterpart.filter(|counterpart| *counterpart != place);
    let places = counterpart.into_iter().chain([place]);
    for at in places.filter(|_| token::may_be_in(&bytes)) {
        if let Some(original) = beside.message_bytes(at.0, at.1)?
            && let Some(redacted) = gaps::hidden(&bytes, &original)
        {
            return Ok(Some(Original {
                bytes: original,
                redacted,
                at: Some(at),
            }));
        }
    }
    Ok(Some(Original {
        bytes,
        ..Original::default()
    }))
}
