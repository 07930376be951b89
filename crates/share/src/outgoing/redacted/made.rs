//! What is selected of a recording, recorded again.

use super::{MakeError, context, named};
use crate::export::{Excerpt, Part, Selection};
use crate::outgoing::copying::place;
use crate::outgoing::numbers::Numbers;
use crate::outgoing::temporary::Folder;
use crate::outgoing::{Stage, Tell, last};
use crate::redacted::Redacting;
use mcpreel_store::annotate;
use mcpreel_store::reader::{EventRow, Recording, Summary};
use mcpreel_store::record::import::Import;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::item::Annotation;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What is selected of a recording, recorded again.
pub(crate) fn made(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    summary: &Summary,
    tell: &mut Tell<'_>,
) -> Result<(Recording, Numbers), MakeError> {
    let poured = poured(redacting, selection, summary, tell)?;
    let (kept, reel, numbers) = poured.settled(summary)?;
    annotated(redacting, selection, summary, (&numbers, &reel))?;
    let recording = named(Recording::open(&reel)?, summary, kept);
    Ok((recording, numbers))
}

/// What is selected of a recording, as it is.
pub(crate) fn trimmed(
    recording: &Recording,
    selection: &Selection,
    summary: &Summary,
    tell: &mut Tell<'_>,
) -> Result<Recording, MakeError> {
    let last = last(recording)?;
    let excerpt = Excerpt {
        last,
        ..Excerpt::of(recording, selection)
    };
    let poured = pour(summary, tell, |visit| {
        excerpt.walk_alone(&mut |part| match part {
            // It is too long for what shows it.
            Part::Frame(head, None, link) => {
                visit(Part::Frame(head, Some(&recording.raw(head.seq)?), link))
            }
            part => visit(part),
        })
    })?;
    let (kept, reel, numbers) = poured.settled(summary)?;
    let mut after = Seq(0);
    while let page = recording.annotations(after)?
        && let Some((last, _)) = page.last()
    {
        after = *last;
        for (seq, annotation) in page {
            annotate(selection, (&numbers, &reel), seq, &annotation)?;
        }
    }
    note(summary, &reel)?;
    Ok(named(Recording::open(&reel)?, summary, kept))
}

/// All that happened, in a recording that is not finished.
pub(crate) struct Poured {
    pub folder: Folder,
    pub import: Import,
    pub reel: PathBuf,
    pub numbers: Numbers,
}

/// What such a recording is read from: its folder, and where it goes on what writes it.
pub(crate) struct Kept {
    import: Option<Mutex<Import>>,
    folder: Folder,
}

impl From<Folder> for Kept {
    fn from(folder: Folder) -> Self {
        let import = None;
        Self { import, folder }
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Kept");
        shown.field("is_live", &self.import.is_some());
        shown.field("folder", &self.folder).finish()
    }
}

impl Poured {
    /// It is over where the session is that it was made of, and else goes on: what is open there is
    /// open here.
    fn settled(self, summary: &Summary) -> Result<(Kept, PathBuf, Numbers), MakeError> {
        let mut kept = Kept::from(self.folder);
        let mut import = self.import;
        if summary.state.is_final() {
            import.finish(Moment(summary.t_last_ns))?;
        } else {
            import.catch_up()?;
            kept.import = Some(Mutex::new(import));
        }
        Ok((kept, self.reel, self.numbers))
    }
}

pub(crate) fn poured(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    summary: &Summary,
    tell: &mut Tell<'_>,
) -> Result<Poured, MakeError> {
    pour(summary, tell, |mut visit| {
        redacting.walk_alone(selection, &mut visit)
    })
}

fn pour(
    summary: &Summary,
    tell: &mut Tell<'_>,
    walk: impl FnOnce(&mut dyn FnMut(Part<'_>) -> Result<(), MakeError>) -> Result<(), MakeError>,
) -> Result<Poured, MakeError> {
    let (folder, reel) = place(&summary.id)?;
    let mut import = Import::begin(&reel, context(summary))?;
    let (mut numbers, mut frames) = (Numbers::default(), 0);
    walk(&mut |part| match part {
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
        Part::Passed(_) => Ok(()),
    })?;
    Ok(Poured {
        folder,
        import,
        reel,
        numbers,
    })
}

pub(crate) fn annotated(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    summary: &Summary,
    (numbers, reel): (&Numbers, &Path),
) -> Result<(), MakeError> {
    redacting.annotations(&mut |seq, annotation| {
        annotate(selection, (numbers, reel), seq, &annotation)
    })?;
    note(summary, reel)
}

/// The note on the recording as a whole.
fn note(summary: &Summary, reel: &Path) -> Result<(), MakeError> {
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

/// The mark and the note of a frame, if that is selected.
fn annotate(
    selection: &Selection,
    (numbers, reel): (&Numbers, &Path),
    seq: Seq,
    Annotation { mark, note }: &Annotation,
) -> Result<(), MakeError> {
    if !selection.has_frame(seq) {
        return Ok(());
    }
    let seq = numbers.of_frame(seq);
    if mark.is_some() {
        annotate::set_mark(reel, seq, mark.as_deref())?;
    }
    if note.is_some() {
        annotate::set_note(reel, Some(seq), note.as_deref())?;
    }
    Ok(())
}
