//! The bytes of the frames.

use super::FRAME_BYTES;
use super::block::Blocks;
use crate::export::{Excerpt, ExportError, Part, Progress, Written};
use mcpreel_store::indexer::COLLECT_LIMIT;
use serde_json::{Value, json};
use std::io::Write;

/// Writes the frames: number, bytes, how many bytes are left out.
pub(super) fn write(
    excerpt: &Excerpt<'_>,
    out: &mut impl Write,
    progress: &mut Progress<'_>,
) -> Result<Written, ExportError> {
    let mut written = Written::default();
    let mut blocks = Blocks::new(out, "frames");
    excerpt.walk((COLLECT_LIMIT, false), &mut |part| {
        match part {
            Part::Frame(head, raw, _) => {
                written.frames += 1;
                let piece;
                let bytes = if let Some(raw) = raw {
                    raw
                } else {
                    piece = excerpt.recording.piece(head.seq, 0..FRAME_BYTES)?;
                    &piece
                };
                let bytes = beginning(bytes);
                let left_out = head.size.saturating_sub(bytes.len() as u64);
                let frame = json!([head.seq.0, in_pieces(bytes), left_out]);
                blocks.push_numbered(head.seq.0, &frame)?;
                progress(head.seq)?;
            }
            Part::Passed(head) => {
                written.left_out += 1;
                progress(head.seq)?;
            }
            Part::Event(_) => written.events += 1,
        }
        Ok::<(), ExportError>(())
    })?;
    blocks.finish()?;
    Ok(written)
}

/// The bytes that a page has of a frame: never half a character.
fn beginning(bytes: &[u8]) -> &[u8] {
    let limit = usize::try_from(FRAME_BYTES).unwrap_or(usize::MAX);
    if bytes.len() < limit {
        return bytes;
    }
    let kept = &bytes[..limit];
    match std::str::from_utf8(kept) {
        Err(error) if error.error_len().is_none() => &kept[..error.valid_up_to()],
        _ => kept,
    }
}

/// The bytes of a frame as text; if some are no UTF-8, in pieces, text and bytes in turn.
fn in_pieces(bytes: &[u8]) -> Value {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    let chunks = bytes.utf8_chunks();
    let pieces = chunks.flat_map(|chunk| [json!(chunk.valid()), json!(chunk.invalid())]);
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_stand_beside_the_text_around_them() {
        let json = |bytes| serde_json::to_string(&in_pieces(bytes)).unwrap();
        assert_eq!(json("naïve\n".as_bytes()), "\"naïve\\n\"");
        assert_eq!(
            json(b"a\xff\xfeb\n"),
            "[\"a\",[255],\"\",[254],\"b\\n\",[]]"
        );
    }

    #[test]
    fn no_character_is_cut_in_half() {
        let limit = usize::try_from(FRAME_BYTES).unwrap();
        let mut text = "x".repeat(limit - 1);
        assert_eq!(beginning(text.as_bytes()).len(), limit - 1);
        text.push('é');
        assert_eq!(beginning(text.as_bytes()).len(), limit - 1);
        let mut bytes = vec![0xff; limit + 9];
        bytes[limit - 1] = 0xc3;
        assert_eq!(beginning(&bytes).len(), limit, "it is no text anyway");
    }
}
