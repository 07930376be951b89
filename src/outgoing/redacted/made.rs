//! What is selected of a recording, recorded again.

use super::{MakeError, context, named};
use crate::formats::export::{Part, Selection};
use crate::formats::redacted::Redacting;
use crate::outgoing::copying::place;
use crate::outgoing::numbers::Numbers;
use crate::outgoing::temporary::Folder;
use crate::outgoing::{Stage, Tell};
use crate::record::import::Import;
use crate::store::annotate;
use crate::store::reader::{EventRow, Recording, Summary};
use crate::trace::clock::Moment;
use crate::trace::event::EventKind;
use crate::trace::frame::FrameHead;
use crate::trace::item::Annotation;
use std::path::{Path, PathBuf};

/// What is selected of a recording, recorded again.
pub(in crate::outgoing) fn made(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    summary: &Summary,
    tell: &mut Tell<'_>,
) -> Result<(Recording, Numbers), MakeError> {
    let poured = poured(redacting, selection, summary, tell)?;
    poured.import.finish(Moment(summary.t_last_ns))?;
    let (reel, numbers) = (poured.reel, poured.numbers);
    annotated(redacting, selection, summary, (&numbers, &reel))?;
    let recording = named(Recording::open(&reel)?, summary, poured.folder);
    Ok((recording, numbers))
}

/// All that happened, in a recording that is not finished.
pub(in crate::outgoing) struct Poured {
    pub folder: Folder,
    pub import: Import,
    pub reel: PathBuf,
    pub numbers: Numbers,
}

/// Tells it there.
pub(in crate::outgoing) fn poured(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    summary: &Summary,
    tell: &mut Tell<'_>,
) -> Result<Poured, MakeError> {
    let (folder, reel) = place(&summary.id)?;
    let mut import = Import::begin(&reel, context(summary))?;
    let (mut numbers, mut frames) = (Numbers::default(), 0);
    redacting.walk_alone(selection, &mut |part| match part {
        Part::Frame(head, raw, _) => {
            tell(Stage::Written(head.seq))?;
            frames += 1;
            numbers.frame(head.seq, frames);
            frame(&mut import, head, raw.unwrap_or_default())
        }
        Part::Event(row) => {
            event(&mut import, row)?;
            numbers.event(row.id, import.events());
            Ok(())
        }
        Part::Passed(_) => Ok::<(), MakeError>(()),
    })?;
    Ok(Poured {
        folder,
        import,
        reel,
        numbers,
    })
}

/// What people wrote about it.
pub(in crate::outgoing) fn annotated(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    summary: &Summary,
    (numbers, reel): (&Numbers, &Path),
) -> Result<(), MakeError> {
    annotations(redacting, selection, numbers, reel)?;
    if let Some(note) = &summary.note {
        annotate::set_note(reel, None, Some(note))?;
    }
    Ok(())
}

/// A frame, its first byte at its own moment.
fn frame(import: &mut Import, head: &FrameHead, raw: &[u8]) -> Result<(), MakeError> {
    let rest = if head.t_first == head.t_last {
        raw
    } else {
        let (first, rest) = raw.split_at(raw.len().min(1));
        import.chunk(head.stream, head.t_first, first)?;
        rest
    };
    import.chunk(head.stream, head.t_last, rest)?;
    if !raw.ends_with(b"\n") {
        import.end_line(head.stream, head.t_last)?;
    }
    Ok(())
}

fn event(import: &mut Import, row: &EventRow) -> Result<(), MakeError> {
    let t = row.event.t;
    match &row.event.kind {
        EventKind::Gap {
            stream,
            bytes: bytes @ 1..,
            reason,
            ..
        } => import.lose(*stream, t, *bytes, reason.clone())?,
        kind => import.event(t, kind)?,
    }
    Ok(())
}

/// Marks and notes, where all frames are there: else they have other numbers.
fn annotations(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    numbers: &Numbers,
    reel: &Path,
) -> Result<(), MakeError> {
    if selection.note().is_some() {
        return Ok(());
    }
    redacting.annotations(&mut |seq, Annotation { mark, note }| {
        let seq = numbers.of_frame(seq);
        if mark.is_some() {
            annotate::set_mark(reel, seq, mark.as_deref())?;
        }
        if note.is_some() {
            annotate::set_note(reel, Some(seq), note.as_deref())?;
        }
        Ok(())
    })
}
