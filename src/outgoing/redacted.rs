//! A redacted recording: the redacted frames and events, recorded again.
//!
//! Whatever is derived in it was derived from them, or is the same: nothing of what was replaced is
//! left in a summary, a name or a finding. Its origin and its date are those of the recording that it
//! was made of: it is the same session. Its id is that one's as well as long as it stands for it; a
//! file that stays has one of its own, and that one as its parent, so that who names an id means the
//! one or the other. Where nothing is replaced in any frame or event, it is a copy, which says
//! something else of the session as a whole; where little is, only that is written anew.

use super::begun::{Begun, place};
use super::numbers::Numbers;
use super::temporary::Folder;
use super::{Stage, Stopped, Tell};
use crate::formats::export::{Part, Selection};
use crate::formats::redacted::Redacting;
use crate::formats::redacted::identity::comes_from_its_bytes;
use crate::record::import::{Import, ImportError};
use crate::redact::Report;
use crate::store::altered::{AlterError, Derived};
use crate::store::annotate::{self, AnnotateError};
use crate::store::reader::{EventRow, ReadError, Recording, Summary};
use crate::trace::clock::Moment;
use crate::trace::event::{EventKind, ProcessContext};
use crate::trace::frame::{FrameHead, Seq};
use crate::trace::item::Annotation;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Why a redacted recording could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// The one that it is made of could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It could not be written.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// What is not redacted could not be copied.
    #[error(transparent)]
    Alter(#[from] AlterError),
    /// Its marks and notes could not be written.
    #[error(transparent)]
    Annotate(#[from] AnnotateError),
    /// There is no place for it.
    #[error("a temporary folder could not be made")]
    Folder(#[source] io::Error),
    /// Rows would have other numbers in it, and it is to stand for the other one.
    #[error(
        "rows were taken out of it or changed, so that the others would have other numbers; \
         `mcpreel redact` makes a file of it that can be shown"
    )]
    Renumbered,
    /// It was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// What is selected of a recording, without what is secret in it, as a recording that vanishes with
/// this value; and what was replaced.
pub fn recording(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    tell: &mut Tell<'_>,
) -> Result<(Recording, Report), MakeError> {
    let (recording, report, _) = numbered(redacting, selection, tell)?;
    Ok((recording, report))
}

/// All of a recording, likewise, as one that stays: with an id of its own, which is the same whenever
/// the same is replaced in the same recording.
pub fn one_of_its_own(
    redacting: &mut Redacting<'_>,
    tell: &mut Tell<'_>,
) -> Result<(Recording, Report), MakeError> {
    let all = Selection::default();
    let (mut summary, report, begun) = looked(redacting, &all, tell)?;
    let id = id_of(&summary.id, &report);
    let parent = std::mem::replace(&mut summary.id, id);
    summary.context.recording.clone_from(&summary.id);
    summary.context.parent = (!comes_from_its_bytes(&summary)).then_some(parent);
    let (recording, _) = under(&summary, begun, redacting, &all, tell)?;
    Ok((recording, report))
}

/// Eight hex digits, other ones than those of the recording.
fn id_of(parent: &str, report: &Report) -> String {
    let replaced = serde_json::to_vec(report).unwrap_or_default();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(parent.as_bytes());
    hasher.update(&replaced);
    let number = hasher.finalize();
    let id = format!("{number:08x}");
    if id == parent {
        format!("{:08x}", !number)
    } else {
        id
    }
}

/// The same, and which numbers things have in it.
pub(super) fn numbered(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    tell: &mut Tell<'_>,
) -> Result<(Recording, Report, Numbers), MakeError> {
    let (summary, report, begun) = looked(redacting, selection, tell)?;
    let (recording, numbers) = under(&summary, begun, redacting, selection, tell)?;
    Ok((recording, report, numbers))
}

/// What it says of itself, what is replaced, and a copy that was begun meanwhile.
fn looked(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    tell: &mut Tell<'_>,
) -> Result<(Summary, Report, Option<Begun>), MakeError> {
    let whole = redacting.whole().filter(|_| selection.note().is_none());
    let begun = match whole.filter(|_| redacting.looks_at_all()) {
        Some(whole) if whole.is_ours()? => Begun::start(whole).ok(),
        _ => None,
    };
    let summary = look(redacting, selection, tell)?;
    Ok((summary, redacting.take_report(), begun))
}

/// The recording that says `summary` of itself.
fn under(
    summary: &Summary,
    begun: Option<Begun>,
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    tell: &mut Tell<'_>,
) -> Result<(Recording, Numbers), MakeError> {
    let is_all = selection.note().is_none();
    let unchanged = redacting.unchanged().filter(|_| is_all);
    let whole = redacting.whole().filter(|_| is_all);
    match (unchanged, begun, whole) {
        (Some(same), ..) if same.is_ours()? => copied(same, redacting, summary),
        (None, Some(begun), _) => altered_or_made(begun, redacting, summary, tell),
        (None, None, Some(whole)) if whole.is_ours()? => match Begun::start(whole) {
            Ok(begun) => altered_or_made(begun, redacting, summary, tell),
            Err(_) => made(redacting, selection, summary, tell),
        },
        _ => made(redacting, selection, summary, tell),
    }
}

/// Where nothing is replaced in what was recorded, nothing of what is derived from it has to be.
fn copied(
    recording: &Recording,
    redacting: &mut Redacting<'_>,
    summary: &Summary,
) -> Result<(Recording, Numbers), MakeError> {
    let (folder, reel) = place(&summary.id)?;
    File::create_new(&reel).map_err(MakeError::Folder)?;
    recording.copy_under(summary, &reel)?;
    let (all, numbers) = (Selection::default(), Numbers::default());
    // Somebody may have written more of them meanwhile.
    annotations(redacting, &all, &numbers, &reel)?;
    Ok((named(Recording::open(&reel)?, summary, folder), numbers))
}

/// Where something is replaced all else is as it was, and everything has its number.
pub(super) fn altered(
    begun: Begun,
    redacting: &mut Redacting<'_>,
    summary: &Summary,
    tell: &mut Tell<'_>,
) -> Result<(Recording, Derived), MakeError> {
    let (mut copy, reel, folder) = begun.finish()?;
    copy.describe(&context(summary))?;
    let mut tell = |seq| Ok::<(), MakeError>(tell(Stage::Written(seq))?);
    let has_changed_events = redacting.has_changed_events();
    redacting.walk_changed(&mut |part| match part {
        Part::Frame(head, raw, _) => {
            copy.frames(Seq(head.seq.0.saturating_sub(1)), &mut tell)?;
            tell(head.seq)?;
            Ok(copy.frame(head.seq, raw.unwrap_or_default())?)
        }
        Part::Event(row) => Ok(copy.event(row)?),
        Part::Passed(_) => Ok::<(), MakeError>(()),
    })?;
    copy.frames(Seq(summary.frames), &mut tell)?;
    let derived = copy.finish(summary.state, has_changed_events, &mut tell)?;
    let (all, numbers) = (Selection::default(), Numbers::default());
    annotated(redacting, &all, summary, (&numbers, &reel))?;
    Ok((named(Recording::open(&reel)?, summary, folder), derived))
}

/// The same of all of a recording. Where the copy cannot be made, mostly since what is derived is
/// damaged, everything is recorded again.
fn altered_or_made(
    begun: Begun,
    redacting: &mut Redacting<'_>,
    summary: &Summary,
    tell: &mut Tell<'_>,
) -> Result<(Recording, Numbers), MakeError> {
    match altered(begun, redacting, summary, tell) {
        Err(MakeError::Alter(_)) => made(redacting, &Selection::default(), summary, tell),
        altered => altered.map(|(recording, _)| (recording, Numbers::default())),
    }
}

/// Who asked for what where, as `summary` says it.
fn context(summary: &Summary) -> ProcessContext {
    ProcessContext {
        recording: summary.id.clone(),
        name: summary.name.clone(),
        redaction: summary.redaction.clone(),
        ..summary.context.clone()
    }
}

/// It is called by its id: its own file vanishes, and the name of the file that it was made of may
/// say what is secret.
fn named(recording: Recording, summary: &Summary, folder: Folder) -> Recording {
    recording.in_place_of(Path::new(&summary.id), Box::new(folder))
}

/// Goes over what would be replaced: `redacting` has the report then.
pub fn look(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    tell: &mut Tell<'_>,
) -> Result<Summary, MakeError> {
    redacting.look(selection, &mut |part| match part {
        Part::Frame(head, _, _) => Ok::<(), MakeError>(tell(Stage::Looked(head.seq))?),
        Part::Event(_) | Part::Passed(_) => Ok(()),
    })?;
    redacting.annotations(&mut |_, _| Ok::<(), ReadError>(()))?;
    Ok(redacting.summary()?)
}

pub(super) fn made(
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
pub(super) struct Poured {
    pub folder: Folder,
    pub import: Import,
    pub reel: PathBuf,
    pub numbers: Numbers,
}

/// Tells it there.
pub(super) fn poured(
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
pub(super) fn annotated(
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
