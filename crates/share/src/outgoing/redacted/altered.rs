//! All of a recording, copied but for what is replaced.

use super::{MakeError, context, named};
use crate::export::Part;
use crate::outgoing::copying::{Begun, Copying};
use crate::outgoing::{Stage, Tell};
use crate::redacted::Redacting;
use mcpreel_store::altered::Derived;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::frame::Seq;

/// Where something is replaced all else is as it was, and everything has its number. Says how what
/// is derived came to it.
pub(crate) fn altered(
    copying: Copying,
    redacting: &mut Redacting<'_>,
    summary: &Summary,
    tell: &mut Tell<'_>,
) -> Result<(Recording, Derived), MakeError> {
    let Begun {
        altered: mut copy,
        folder,
    } = copying.finish()?;
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
    redacting.annotations(&mut |seq, wrote| Ok::<_, MakeError>(copy.annotate(seq, &wrote)?))?;
    if let Some(note) = &summary.note {
        copy.note(note)?;
    }
    let (recording, derived) = copy.finish(summary.state, has_changed_events, &mut tell)?;
    Ok((named(recording, summary, folder), derived))
}
