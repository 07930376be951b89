//! A redacted recording: the redacted frames and events, recorded again and indexed anew, so that
//! nothing that was replaced is left in a summary, a name or a finding.
//!
//! Its origin and its date are those of the original: it is the same session. Where it stands for
//! the original for a moment it has the id of the original as well. A file that stays has an id of
//! its own, with the original as its parent.

use super::file::Folder;
use super::{Stage, Tell, last};
use crate::export::{Excerpt, ExportError, Part, Selection};
use crate::redacting::{Redacting, annotations, comes_from_its_bytes};
use mcpreel_redact::Report;
use mcpreel_store::annotate;
use mcpreel_store::indexer::COLLECT_LIMIT;
use mcpreel_store::library::REEL;
use mcpreel_store::reader::{EventRow, Recording, Summary};
use mcpreel_store::record::import::Import;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::item::Annotation;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The selected part of a recording, redacted, as a recording that vanishes with this value; and
/// what was replaced.
pub fn redacted(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    tell: &mut Tell<'_>,
) -> Result<(Recording, Report), ExportError> {
    let mut summary = redacting.summary()?;
    let mut copy = Copy::begin(&summary, selection)?;
    copy.fill(redacting, tell)?;
    summary.redaction = Some(redacting.report().note());
    Ok((copy.finish(&summary, None)?, redacting.take_report()))
}

/// The same with an id of its own, which depends only on the original and on what is replaced; `now`
/// is the time of a session that goes on.
pub fn redacted_with_own_id(
    redacting: &mut Redacting<'_>,
    (selection, now): (&Selection, Option<Moment>),
    tell: &mut Tell<'_>,
) -> Result<(Recording, Report), ExportError> {
    let mut summary = look(redacting, selection, tell)?;
    let report = redacting.take_report();
    make_another(&mut summary, selection, &(&report, selection.note()));
    let mut copy = Copy::begin(&summary, selection)?;
    copy.fill(redacting, tell)?;
    Ok((copy.finish(&summary, now)?, report))
}

/// The selected part of a recording, not redacted, with an id of its own; `now` is the time of a
/// session that goes on.
pub(super) fn trimmed(
    recording: &Recording,
    (selection, now): (&Selection, Option<Moment>),
    tell: &mut Tell<'_>,
) -> Result<Recording, ExportError> {
    let mut summary = recording.summary()?;
    make_another(&mut summary, selection, &selection.note());
    let mut copy = Copy::begin(&summary, selection)?;
    let excerpt = Excerpt {
        last: last(recording)?,
        ..Excerpt::of(recording, selection)
    };
    excerpt.walk((COLLECT_LIMIT, false), &mut |part| match part {
        Part::Frame(head, None, _) => {
            let raw = recording.raw(head.seq)?;
            copy.frame(head, &raw, tell)
        }
        part => copy.part(&part, tell),
    })?;
    for row in annotations(recording) {
        let (seq, annotation) = row?;
        copy.annotation(seq, annotation);
    }
    copy.finish(&summary, now)
}

/// Turns `summary` into that of another recording, whose id depends on `what`.
fn make_another(summary: &mut Summary, selection: &Selection, what: &impl Serialize) {
    let id = id_of(&summary.id, &serde_json::to_vec(what).unwrap_or_default());
    let parent = std::mem::replace(&mut summary.id, id);
    summary.context.recording.clone_from(&summary.id);
    summary.context.parent = (!comes_from_its_bytes(summary)).then_some(parent);
    if let Some(note) = selection.note() {
        summary.context.selection = Some(note.clone());
    }
}

/// Eight hex digits, which are never those of `parent`.
fn id_of(parent: &str, what: &[u8]) -> String {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(parent.as_bytes());
    hasher.update(what);
    let number = hasher.finalize();
    let id = format!("{number:08x}");
    if id == parent {
        format!("{:08x}", !number)
    } else {
        id
    }
}

/// A recording that is made of frames and events of another one.
struct Copy<'s> {
    selection: &'s Selection,
    import: Import,
    folder: Folder,
    reel: PathBuf,
    /// The frames of a part of a recording; their places are their numbers in the copy.
    frames: Vec<Seq>,
    annotations: Vec<(Seq, Annotation)>,
}

impl<'s> Copy<'s> {
    fn begin(summary: &Summary, selection: &'s Selection) -> Result<Self, ExportError> {
        let folder = Folder::make().map_err(ExportError::Folder)?;
        let reel = folder.path().join(&summary.id).with_extension(REEL);
        let context = ProcessContext {
            recording: summary.id.clone(),
            name: summary.name.clone(),
            redaction: summary.redaction.clone(),
            ..summary.context.clone()
        };
        Ok(Self {
            selection,
            import: Import::begin(&reel, context)?,
            folder,
            reel,
            frames: Vec::new(),
            annotations: Vec::new(),
        })
    }

    /// Takes in what is redacted, with its marks and notes.
    fn fill(
        &mut self,
        redacting: &mut Redacting<'_>,
        tell: &mut Tell<'_>,
    ) -> Result<(), ExportError> {
        redacting.walk(self.selection, false, &mut |part| self.part(&part, tell))?;
        redacting.annotations(&mut |seq, annotation| {
            self.annotation(seq, annotation);
            Ok::<(), ExportError>(())
        })
    }

    fn part(&mut self, part: &Part<'_>, tell: &mut Tell<'_>) -> Result<(), ExportError> {
        match part {
            Part::Frame(head, raw, _) => self.frame(head, raw.unwrap_or_default(), tell),
            Part::Event(row) => self.event(row),
            Part::Passed(_) => Ok(()),
        }
    }

    fn frame(
        &mut self,
        head: &FrameHead,
        raw: &[u8],
        tell: &mut Tell<'_>,
    ) -> Result<(), ExportError> {
        tell(Stage::Written(head.seq))?;
        if self.selection.note().is_some() {
            self.frames.push(head.seq);
        }
        let import = &mut self.import;
        if head.stream.connection().is_some() {
            return Ok(import.carried(head, raw)?);
        }
        // The first byte has its own moment.
        let own = usize::from(head.t_first != head.t_last).min(raw.len());
        let (first, rest) = raw.split_at(own);
        if !first.is_empty() {
            import.chunk(head.stream, head.t_first, first)?;
        }
        import.chunk(head.stream, head.t_last, rest)?;
        if !raw.ends_with(b"\n") {
            import.end_line(head.stream, head.t_last)?;
        }
        Ok(())
    }

    fn event(&mut self, row: &EventRow) -> Result<(), ExportError> {
        let t = row.event.t;
        match &row.event.kind {
            EventKind::Gap {
                stream,
                bytes: bytes @ 1..,
                reason,
                ..
            } if stream.connection().is_none() => {
                self.import.lose(*stream, t, *bytes, reason.clone())?;
            }
            kind => self.import.event(t, kind)?,
        }
        Ok(())
    }

    fn annotation(&mut self, seq: Seq, annotation: Annotation) {
        let number = match self.frames.binary_search(&seq) {
            _ if self.selection.note().is_none() => seq,
            Ok(at) => Seq(at as u64 + 1),
            Err(_) => return,
        };
        self.annotations.push((number, annotation));
    }

    /// The recording, which is over where the original is; else it goes on, so that what is open in
    /// the original is open in it, and says that it was copied, if it is told the time.
    fn finish(mut self, summary: &Summary, now: Option<Moment>) -> Result<Recording, ExportError> {
        let live = if summary.state.is_final() {
            self.import.finish(Moment(summary.t_last_ns))?;
            None
        } else {
            now.map_or(Ok(()), |now| self.import.event(now, &EventKind::Copied))?;
            self.import.catch_up()?;
            Some(Mutex::new(self.import))
        };
        let whole = (summary.note.as_deref(), summary.redaction.as_deref());
        annotate::write_all(&self.reel, whole, &self.annotations)?;
        let recording = Recording::open(&self.reel)?;
        // The name of the original's file may be secret, so the copy is called by its id.
        Ok(recording.in_place_of(Path::new(&summary.id), Box::new((live, self.folder))))
    }
}

/// Goes over what would be replaced: `redacting` has the report then.
pub fn look(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    tell: &mut Tell<'_>,
) -> Result<Summary, ExportError> {
    redacting.go_over(selection, &mut |seq| tell(Stage::Looked(seq)))?;
    redacting.summary().map_err(ExportError::from)
}
