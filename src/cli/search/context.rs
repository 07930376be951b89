//! What stands around a match, as much of it as there is room for.

use crate::cli::exit::Failure;
use mcpreel_store::reader::Recording;
use mcpreel_store::search::Place;
use mcpreel_trace::frame::FrameHead;
use mcpreel_wire::text::{cut, escape, escape_bytes, width};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation as _;

/// Bytes of context that are shown before a match, and of the match and what follows.
const BEFORE: u64 = 30;
const AFTER: u64 = 120;

/// What stands around a match, escaped.
pub(super) struct Context {
    pub(super) before: String,
    pub(super) hit: String,
    pub(super) after: String,
}

/// What stands before a match and the match in `room` columns: the match is worth more.
pub(super) fn around(context: &Context, room: usize) -> (String, String) {
    let hit = cut(&context.hit, room);
    let left = room - width(&hit);
    if width(&context.before) <= left {
        return (context.before.clone(), hit);
    }
    let from = context.before.grapheme_indices(true);
    let mut rests = from.map(|(at, _)| &context.before[at..]);
    let rest = rests.find(|rest| width(rest) < left).unwrap_or_default();
    let ellipsis = if left > 0 { "…" } else { "" };
    (format!("{ellipsis}{rest}"), hit)
}

/// What stands around what was found in a frame.
pub(super) fn context(
    recording: &Recording,
    head: &FrameHead,
    place: &Place,
) -> Result<Context, Failure> {
    let Place::Bytes(range) = place else {
        let messages = recording.messages_of_frame(head.seq)?;
        let summaries = messages.iter().map(|row| escape(&row.record.summary));
        return Ok(Context {
            before: String::new(),
            hit: summaries.collect::<Vec<_>>().join(" · "),
            after: String::new(),
        });
    };
    let mut from = range.start.saturating_sub(BEFORE);
    // Blanks at the beginning of a line say where in a table it belongs.
    if from <= BEFORE && recording.piece(head.seq, 0..from)?.trim_ascii().is_empty() {
        from = 0;
    }
    let to = range.end.min(range.start + AFTER);
    let until = (range.start + AFTER)
        .max(range.end)
        .min(head.size)
        .min(to + AFTER);
    let piece = |range: Range<u64>| recording.piece(head.seq, range);
    let (before, hit, after) = (
        piece(from..range.start)?,
        piece(range.start..to)?,
        piece(to..until)?,
    );
    let ellipsis = |is_cut: bool| if is_cut { "…" } else { "" };
    let before = escape_bytes(whole_start(&before)).into_owned();
    let rest = escape_bytes(whole_end(&after).trim_ascii_end()).into_owned();
    Ok(Context {
        before: format!("{}{before}", ellipsis(from > 0)),
        hit: format!("{}{}", escape_bytes(&hit), ellipsis(to < range.end)),
        after: format!("{rest}{}", ellipsis(until < head.size)),
    })
}

/// Without the rest of a character whose beginning was cut off.
fn whole_start(bytes: &[u8]) -> &[u8] {
    let rest = bytes
        .iter()
        .take(3)
        .take_while(|byte| **byte & 0xC0 == 0x80);
    &bytes[rest.count()..]
}

/// Without the beginning of a character whose rest was cut off.
fn whole_end(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_is_seen_however_little_room_there_is() {
        let context = Context {
            before: format!("{}transport '", " ".repeat(32)),
            hit: "stdio".to_owned(),
            after: "'".to_owned(),
        };
        for room in 0..60 {
            let (before, hit) = around(&context, room);
            assert!(width(&before) + width(&hit) <= room, "{room}: {before:?}");
            assert!(room < 5 || hit == "stdio", "{room}: {hit:?}");
            assert_eq!(before == context.before, room >= 48, "{room}");
        }
        assert_eq!(around(&context, 12).0, "…port '");
        assert_eq!(around(&context, usize::MAX).0, context.before);
    }
}
