//! Going over a recording to learn what is secret in it.

use super::course::{Counts, Course};
use super::frame_set::FrameSet;
use super::{Changed, HELD, Redacting, Void};
use crate::redact::{Glance, Learner, Policy, is_readable};
use crate::store::halves;
use crate::store::indexer::COLLECT_LIMIT;
use crate::store::pages::{FramePager, Pages};
use crate::store::reader::{ReadError, Recording};
use crate::trace::event::EventKind;
use crate::trace::frame::{FrameHead, Seq};
use std::sync::Arc;

impl<'r> Redacting<'r> {
    /// Goes over `recording` up to the frame `last`, and learns what is secret in it. `progress` is
    /// told how far it is, and may stop it.
    pub fn learn<E: From<ReadError>>(
        recording: &'r Recording,
        last: Seq,
        policy: Arc<Policy>,
        progress: &mut dyn FnMut(Seq) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut learner = Learner::new(policy);
        let summary = recording.summary()?;
        learner.context(&summary.context);
        if let Some(note) = &summary.note {
            learner.text(note);
        }
        let (mut looked, mut course) = (FrameSet::default(), Course::default());
        let taken = (&mut learner, &mut looked, &mut course);
        let after = learn_frames(recording, last, taken, progress)?;
        learn_beside(recording, &mut learner, &mut course)?;
        let redactor = learner.finish();
        let report = redactor.report();
        let said = Counts {
            frames: summary.frames,
            bytes: summary.bytes,
            gap_bytes: summary.gap_bytes,
        };
        Ok(Self {
            recording,
            last,
            redactor,
            report,
            looked,
            is_whole: course.is_whole(said),
            is_counted: course.is_counted(said),
            changed: Changed::default(),
            has_far: FrameSet::is_far(after),
            void: Void {
                unnumbered: recording.unnumbered()?,
                empty: course.empty(),
            },
        })
    }
}

/// Takes in the frames up to `last`: the last one that there is.
fn learn_frames<E: From<ReadError>>(
    recording: &Recording,
    last: Seq,
    (learner, looked, course): (&mut Learner, &mut FrameSet, &mut Course),
    progress: &mut dyn FnMut(Seq) -> Result<(), E>,
) -> Result<Seq, E> {
    let mut after = Seq(0);
    let mut pages = Pages::new(recording, FramePager::new(last, false));
    while let Some(page) = pages.next_page()? {
        let frames: Vec<_> = page.frames.iter().collect();
        let glances = glances(learner.policy(), &frames);
        for ((head, raw), glance) in frames.iter().zip(glances) {
            course.frame(head);
            after = head.seq;
            if learn_frame(recording, learner, head, raw.zip(glance))? {
                looked.set(head.seq);
            }
        }
        progress(after)?;
    }
    Ok(after)
}

/// Takes in a frame, of which these are the bytes and what was seen of them; one that is too long
/// for a page is read alone. Whether there was something to be looked at.
fn learn_frame(
    recording: &Recording,
    learner: &mut Learner,
    head: &FrameHead,
    seen: Option<(&[u8], Glance)>,
) -> Result<bool, ReadError> {
    Ok(match seen {
        Some((raw, glance)) => learner.glanced(head.stream, raw, glance),
        None if (COLLECT_LIMIT + 1..=HELD).contains(&head.size) => {
            let raw = recording.raw(head.seq)?;
            !is_readable(&raw) || learner.frame(head.stream, &raw)
        }
        // It will be left out.
        None => true,
    })
}

/// What the policy sees in the frames of a page at a glance; of those without bytes, or that cannot
/// be read, nothing.
fn glances(
    policy: &Policy,
    frames: &[(&FrameHead, Option<&[u8]>)],
) -> impl Iterator<Item = Option<Glance>> + use<> {
    let look = |frames: &[(&FrameHead, Option<&[u8]>)]| {
        let readable = frames
            .iter()
            .map(|(_, raw)| raw.filter(|raw| is_readable(raw)));
        let glances = readable.map(|raw| raw.map(|raw| policy.glance(raw)));
        glances.collect::<Vec<_>>()
    };
    halves::of(frames, look).into_iter().flatten()
}

/// What stands beside the frames: events, and what people wrote.
fn learn_beside(
    recording: &Recording,
    learner: &mut Learner,
    course: &mut Course,
) -> Result<(), ReadError> {
    let mut after = 0;
    loop {
        let page = recording.events(after)?;
        let Some(last) = page.last() else {
            break;
        };
        after = last.id;
        for row in &page {
            course.event(row);
        }
        let kinds = page.iter().map(|row| &row.event.kind);
        let others = kinds.filter(|kind| !matches!(kind, EventKind::Start(_)));
        others.for_each(|kind| learner.event(kind));
    }
    let mut after = Seq(0);
    loop {
        let page = recording.annotations(after)?;
        let Some((last, _)) = page.last() else {
            return Ok(());
        };
        after = *last;
        for (_, annotation) in &page {
            let texts = [&annotation.mark, &annotation.note];
            texts
                .into_iter()
                .flatten()
                .for_each(|text| learner.text(text));
        }
    }
}
