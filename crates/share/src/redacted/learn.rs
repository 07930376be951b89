//! Going over a recording to learn what is secret in it.

use super::course::{Counts, Course};
use super::frame_set::FrameSet;
use super::{Changed, HELD, Redacting, Void};
use mcpreel_redact::{Glance, Learner, Policy, is_readable};
use mcpreel_store::halves;
use mcpreel_store::indexer::COLLECT_LIMIT;
use mcpreel_store::pages::{FramePager, Pages};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::{FrameHead, Seq};
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
        let gone_over = learn_frames(recording, last, taken, progress)?;
        learn_beside(recording, &mut learner, &mut course)?;
        let mut redactor = learner.finish();
        let is_known = redactor.knows(gone_over.ready);
        let mut report = redactor.report();
        // What stands first has the first numbers, whatever is written first.
        redactor.context(&summary.context, &mut report);
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
            unseen: if is_known {
                gone_over.before
            } else {
                Seq(u64::MAX)
            },
            has_far: FrameSet::is_far(gone_over.last),
            void: Void {
                unnumbered: recording.unnumbered()?,
                empty: course.empty(),
            },
        })
    }
}

#[derive(Debug, Default)]
struct GoneOver {
    last: Seq,
    /// What was looked for besides in those at the end, as [`Learner::get_ready`] has it.
    ready: Option<u64>,
    before: Seq,
}

/// Takes in the frames up to `last`.
fn learn_frames<E: From<ReadError>>(
    recording: &Recording,
    last: Seq,
    (learner, looked, course): (&mut Learner, &mut FrameSet, &mut Course),
    progress: &mut dyn FnMut(Seq) -> Result<(), E>,
) -> Result<GoneOver, E> {
    let mut gone_over = GoneOver::default();
    let mut pages = Pages::new(recording, FramePager::new(last, false));
    while let Some(page) = pages.next_page()? {
        let ready = learner.get_ready();
        if gone_over.ready != ready {
            (gone_over.ready, gone_over.before) = (ready, gone_over.last);
        }
        let frames: Vec<_> = page.frames.iter().collect();
        let glances = glances(learner, &frames);
        for ((head, raw), glance) in frames.iter().zip(glances) {
            course.frame(head);
            gone_over.last = head.seq;
            if learn_frame(recording, learner, head, raw.zip(glance))? {
                looked.set(head.seq);
            }
        }
        progress(gone_over.last)?;
    }
    Ok(gone_over)
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

/// What is seen in the frames of a page at a glance; of those without bytes, or that cannot
/// be read, nothing.
fn glances(
    learner: &Learner,
    frames: &[(&FrameHead, Option<&[u8]>)],
) -> impl Iterator<Item = Option<Glance>> + use<> {
    let look = |frames: &[(&FrameHead, Option<&[u8]>)]| {
        let readable = frames
            .iter()
            .map(|(_, raw)| raw.filter(|raw| is_readable(raw)));
        let glances = readable.map(|raw| raw.map(|raw| learner.glance(raw)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{Part, Selection};
    use crate::written::recorded;
    use mcpreel_redact::Settings;
    use mcpreel_trace::frame::StreamId;

    const SECRET: &str = "Kq8vWp3mXrT4ZbLd7";

    /// Of five thousand lines, in some of which the secret stands alone, and in one of which it is
    /// told that it is one: up to which all are looked through again, and which are given otherwise
    /// than they are.
    fn looked(said: &[u64], told: u64) -> (Seq, Vec<u64>) {
        let dir = tempfile::tempdir().unwrap();
        let reel = recorded(dir.path(), |session| {
            for line in 1..=5000 {
                let text = match line {
                    line if line == told => format!("password={SECRET}\n"),
                    line if said.contains(&line) => format!("line {line} {SECRET}\n"),
                    line => format!("line {line}\n"),
                };
                session.chunk(StreamId::STDERR, text.as_bytes());
            }
            session.end();
        });
        let recording = Recording::open(&reel).unwrap();
        let policy = Arc::new(Policy::new(&Settings::default()).unwrap());
        let mut go_on = |_| Ok::<(), ReadError>(());
        let redacting = Redacting::learn(&recording, Seq(u64::MAX), policy, &mut go_on);
        let mut redacting = redacting.unwrap();
        let mut others = Vec::new();
        let given = redacting.look(&Selection::default(), &mut |part| {
            if let Part::Frame(head, Some(raw), _) = part {
                let text = String::from_utf8_lossy(raw);
                assert!(!text.contains(SECRET), "{text}");
                others.extend(text.contains("secret:1").then_some(head.seq.0));
            }
            Ok::<(), ReadError>(())
        });
        given.unwrap();
        (redacting.unseen, others)
    }

    #[test]
    fn what_becomes_known_late_is_replaced_before_and_after() {
        let said = [1, 999, 2499, 2501, 3000, 3001, 5000];
        let (until, others) = looked(&said, 2500);
        assert_eq!(others, [1, 999, 2499, 2500, 2501, 3000, 3001, 5000]);
        assert_eq!(
            until,
            Seq(3000),
            "later ones were looked through for it at once"
        );
        let (until, others) = looked(&[1, 3001], 5000);
        assert_eq!(others, [1, 3001, 5000]);
        assert_eq!(until, Seq(u64::MAX), "it became known with the last one");
        assert_eq!(
            looked(&[], 0),
            (Seq(0), vec![]),
            "there is nothing to look for"
        );
    }
}
