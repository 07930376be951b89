//! A message as it is compared: as a whole, or by its outline.

use super::original::{Original, Place, message};
use crate::key::{Digest, Digesting};
use mcpreel_store::open::OpenError;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_wire::json::Outline;
use std::io::Read as _;

/// Bytes of a long message that are read at once.
const PIECE: usize = 256 * 1024;

/// A message, or its outline with the digest of all of it.
pub(super) struct Message {
    /// Without what is redacted in it, where the other side has that.
    pub(super) original: Original,
    pub(super) outline: Option<Digest>,
}

impl Message {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.original.bytes
    }

    /// The bytes of it, where it was read as a whole.
    pub(super) fn whole(&self) -> Option<&[u8]> {
        self.outline.is_none().then(|| self.bytes())
    }

    /// The message of the first recording at `place`; what stands for it in the other one, as far
    /// as that is known, stands at `counterpart`.
    pub(super) fn read(
        recordings: [&Recording; 2],
        place: Place,
        counterpart: Option<Place>,
        whole: bool,
    ) -> Result<Option<Self>, ReadError> {
        if !whole {
            return Self::outline(recordings[0], place).map(Some);
        }
        let message = message(recordings, place, counterpart)?;
        Ok(message.map(|original| Self {
            original,
            outline: None,
        }))
    }

    fn outline(recording: &Recording, (seq, _): Place) -> Result<Self, ReadError> {
        let (mut shape, mut digest) = (Outline::new(), Digesting::default());
        let mut blob = recording.stream(seq)?;
        let mut piece = vec![0; PIECE];
        loop {
            let read = blob.read(&mut piece).map_err(|source| OpenError::Io {
                path: recording.path().to_owned(),
                source,
            })?;
            if read == 0 {
                break;
            }
            shape.push(&piece[..read]);
            digest.push(&piece[..read]);
        }
        Ok(Self {
            original: Original {
                // What is no JSON is compared by its digest alone.
                bytes: shape.finish().unwrap_or_default(),
                ..Original::default()
            },
            outline: Some(digest.finish()),
        })
    }
}
