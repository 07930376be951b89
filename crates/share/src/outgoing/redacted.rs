//! A redacted recording: the redacted frames and events, recorded again.
//!
//! Whatever is derived in it was derived from them, or is the same: nothing of what was replaced is
//! left in a summary, a name or a finding. Its origin and its date are those of the recording that
//! it was made of: it is the same session. Its id is that one's as well as long as it stands for
//! it; a file that stays has one of its own, and that one as its parent, so that who names an id
//! means the one or the other.
//!
//! * `altered`: all of a recording is copied, and only what is replaced is written anew;
//! * `made`: where that cannot be, what is selected is recorded again.

pub(super) mod altered;
pub(super) mod made;

use super::copying::Copying;
use super::numbers::Numbers;
use super::{Stage, Stopped, Tell};
use crate::export::{Part, Selection};
use crate::redacted::Redacting;
use crate::redacted::identity::comes_from_its_bytes;
use altered::altered;
use made::{Kept, made};
use mcpreel_redact::{PolicyError, Report};
use mcpreel_store::altered::{AlterError, Rest};
use mcpreel_store::annotate::AnnotateError;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_store::record::import::ImportError;
use mcpreel_trace::event::ProcessContext;
use serde::Serialize;
use std::io;
use std::path::Path;

/// Why a redacted recording could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// The one that it is made of could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Import(#[from] ImportError),
    /// What is not redacted could not be copied.
    #[error(transparent)]
    Alter(#[from] AlterError),
    /// Its marks and notes could not be written.
    #[error(transparent)]
    Annotate(#[from] AnnotateError),
    #[error("a temporary folder could not be made")]
    Folder(#[source] io::Error),
    /// What counts as secret could not be put together.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Rows would have other numbers in it, and it is to stand for the other one.
    #[error(
        "rows were taken out of it or changed, so that the others would have other numbers; \
         `mcpreel redact` makes a file of it that can be shown"
    )]
    Renumbered,
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
    let (recording, report, _) = numbered(redacting, (selection, None), tell)?;
    Ok((recording, report))
}

/// All of a recording, likewise, as one that stays: with an id of its own, which is the same
/// whenever the same is replaced in the same recording.
pub fn one_of_its_own(
    redacting: &mut Redacting<'_>,
    tell: &mut Tell<'_>,
) -> Result<(Recording, Report), MakeError> {
    its_own(redacting, (&Selection::default(), None), tell)
}

/// What is selected, likewise; `copying` is a copy that was begun meanwhile.
pub(super) fn its_own(
    redacting: &mut Redacting<'_>,
    (selection, copying): (&Selection, Option<Copying>),
    tell: &mut Tell<'_>,
) -> Result<(Recording, Report), MakeError> {
    let mut summary = look(redacting, selection, tell)?;
    let report = redacting.take_report();
    make_another(&mut summary, &(&report, selection.note()));
    take_part(&mut summary, selection);
    let (recording, _) = under(&summary, copying, redacting, selection, tell)?;
    Ok((recording, report))
}

/// What is selected of a recording, with all that is secret in it, as one with an id of its own.
pub(super) fn trimmed(
    recording: &Recording,
    selection: &Selection,
    tell: &mut Tell<'_>,
) -> Result<Recording, MakeError> {
    let mut summary = recording.summary()?;
    make_another(&mut summary, &selection.note());
    take_part(&mut summary, selection);
    made::trimmed(recording, selection, &summary, tell)
}

/// Says what is selected, where that is not all.
fn take_part(summary: &mut Summary, selection: &Selection) {
    if let Some(note) = selection.note() {
        summary.context.selection = Some(note.clone());
    }
}

/// Says that it is another recording than the one that it was made of, by `what`.
fn make_another(summary: &mut Summary, what: &impl Serialize) {
    let id = id_of(&summary.id, &serde_json::to_vec(what).unwrap_or_default());
    let parent = std::mem::replace(&mut summary.id, id);
    summary.context.recording.clone_from(&summary.id);
    summary.context.parent = (!comes_from_its_bytes(summary)).then_some(parent);
}

/// Eight hex digits, other ones than those of the recording.
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

/// The same, and which numbers things have in it.
pub(super) fn numbered(
    redacting: &mut Redacting<'_>,
    (selection, copying): (&Selection, Option<Copying>),
    tell: &mut Tell<'_>,
) -> Result<(Recording, Report, Numbers), MakeError> {
    let summary = look(redacting, selection, tell)?;
    let report = redacting.take_report();
    let (recording, numbers) = under(&summary, copying, redacting, selection, tell)?;
    Ok((recording, report, numbers))
}

/// The recording that says `summary` of itself; `copying` is a copy that was begun meanwhile.
fn under(
    summary: &Summary,
    copying: Option<Copying>,
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    tell: &mut Tell<'_>,
) -> Result<(Recording, Numbers), MakeError> {
    let whole = redacting.whole().filter(|_| selection.note().is_none());
    let copying = whole.and_then(|whole| copying.or_else(|| Copying::start(whole, Rest::Copied)));
    if let Some(copying) = copying {
        match altered(copying, redacting, summary, tell) {
            // Mostly what is derived is damaged.
            Err(MakeError::Alter(_)) => {}
            altered => return altered.map(|(recording, _)| (recording, Numbers::default())),
        }
    }
    made(redacting, selection, summary, tell)
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
fn named(recording: Recording, summary: &Summary, kept: impl Into<Kept>) -> Recording {
    recording.in_place_of(Path::new(&summary.id), Box::new(kept.into()))
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
    redacting.count_void(true);
    let summary = redacting.summary()?;
    count_off(redacting, selection, tell)?;
    Ok(summary)
}

/// Counts what the rules would have replaced that a user has switched off. Only a second look, with
/// these in force, can tell.
pub(super) fn count_off(
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    tell: &mut Tell<'_>,
) -> Result<(), MakeError> {
    let policy = redacting.policy();
    if policy.switched_off().is_empty() {
        return Ok(());
    }
    let mut all = redacting.again(policy.with_all()?, &mut |seq| {
        tell(Stage::Looked(seq)).map_err(MakeError::from)
    })?;
    look(&mut all, selection, tell)?;
    redacting.count_off(&all.take_report());
    Ok(())
}
