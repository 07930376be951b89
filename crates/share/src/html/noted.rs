//! What people put on frames: marks and notes.

use super::block::Blocks;
use crate::export::{Excerpt, WriteError};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::cut;
use serde::Serialize;
use std::io::Write;

/// Columns of a note: whoever writes more writes a text of its own.
const NOTE: usize = 4000;

/// A mark, a note, or both, on the frame `n`.
#[derive(Serialize)]
struct Noted {
    n: u64,
    /// A word, empty for a plain mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

pub(super) fn write(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), WriteError> {
    let mut blocks = Blocks::new(out, "notes");
    let mut after = Seq(0);
    loop {
        let page = excerpt.recording.annotations(after)?;
        let Some((last, _)) = page.last() else {
            break;
        };
        after = *last;
        for (seq, annotation) in page.iter().filter(|(seq, _)| excerpt.has(*seq)) {
            let short = |text: &Option<Box<str>>| text.as_deref().map(|text| cut(text, NOTE));
            blocks.push(&Noted {
                n: seq.0,
                mark: short(&annotation.mark),
                note: short(&annotation.note),
            })?;
        }
    }
    Ok(blocks.finish()?)
}
