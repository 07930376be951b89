//! Going over a recording to learn what is secret in it.

use super::{HELD, Redacting};
use mcpreel_redact::{Learner, Policy, is_readable};
use mcpreel_store::pages::FramePager;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::{FrameHead, Seq};
use std::iter;
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
        let mut looked = FrameSet::default();
        let gone_over = learn_frames(recording, last, (&mut learner, &mut looked), progress)?;
        learn_beside(recording, &mut learner)?;
        let mut redactor = learner.finish();
        let is_known = redactor.knows(gone_over.ready);
        let mut report = redactor.report();
        // What stands first has the first numbers, whatever is written first.
        redactor.context(&summary.context, &mut report);
        let report = redactor.report();
        Ok(Self {
            recording,
            last,
            redactor,
            report,
            looked,
            unseen: if is_known {
                gone_over.before
            } else {
                Seq(u64::MAX)
            },
            has_far: FrameSet::is_far(gone_over.last),
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
    (learner, looked): (&mut Learner, &mut FrameSet),
    progress: &mut dyn FnMut(Seq) -> Result<(), E>,
) -> Result<GoneOver, E> {
    let mut gone_over = GoneOver::default();
    let mut pages = FramePager::new(last, false);
    while let Some(page) = pages.next_page(recording)? {
        let ready = learner.get_ready();
        if gone_over.ready != ready {
            (gone_over.ready, gone_over.before) = (ready, gone_over.last);
        }
        for (head, raw) in page.frames.iter() {
            gone_over.last = head.seq;
            if learn_frame(recording, learner, head, raw)? {
                looked.set(head.seq);
            }
        }
        progress(gone_over.last)?;
    }
    Ok(gone_over)
}

/// Takes in a frame; one that is too long for a page is read alone. Returns whether there may be
/// something to replace in it.
fn learn_frame(
    recording: &Recording,
    learner: &mut Learner,
    head: &FrameHead,
    raw: Option<&[u8]>,
) -> Result<bool, ReadError> {
    let long;
    let raw = match raw {
        None if head.size <= HELD => {
            long = recording.raw(head.seq)?;
            Some(&*long)
        }
        raw => raw,
    };
    // A frame that cannot be read is left out.
    Ok(raw.is_none_or(|raw| !is_readable(raw) || learner.frame(head.stream, raw)))
}

/// What stands beside the frames: events, and what people wrote.
fn learn_beside(recording: &Recording, learner: &mut Learner) -> Result<(), ReadError> {
    let mut after = 0;
    loop {
        let page = recording.events(after)?;
        let Some(last) = page.last() else {
            break;
        };
        after = last.id;
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

/// Words of which each says something of 64 frames. Frames have numbers without gaps, but for a
/// damaged file, where one with a larger number always counts as one of them.
const MOST_WORDS: usize = 1 << 24;

#[derive(Debug, Default)]
pub(super) struct FrameSet(Vec<u64>);

impl FrameSet {
    pub fn is_far(seq: Seq) -> bool {
        Self::place(seq).0 >= MOST_WORDS
    }

    fn place(seq: Seq) -> (usize, u64) {
        let word = usize::try_from(seq.0 / 64).unwrap_or(usize::MAX);
        (word, 1 << (seq.0 % 64))
    }

    pub fn set(&mut self, seq: Seq) {
        let (word, bit) = Self::place(seq);
        if word >= self.0.len() {
            self.0.resize(MOST_WORDS.min(word.saturating_add(1)), 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    pub fn has(&self, seq: Seq) -> bool {
        let (word, bit) = Self::place(seq);
        word >= MOST_WORDS || self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The next one, of those that have a bit.
    pub fn after(&self, seq: Seq) -> Option<Seq> {
        let next = Seq(seq.0.checked_add(1)?);
        let (word, bit) = Self::place(next);
        let first = self.0.get(word)? & !(bit - 1);
        let words = self.0.iter().copied().enumerate().skip(word + 1);
        let mut words = iter::once((word, first)).chain(words);
        let (word, bits) = words.find(|(_, bits)| *bits != 0)?;
        Some(Seq(word as u64 * 64 + u64::from(bits.trailing_zeros())))
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

    #[test]
    fn they_are_found_one_after_the_other() {
        let mut frames = FrameSet::default();
        let seqs = [1, 63, 64, 65, 127, 128, 1000];
        for seq in seqs {
            frames.set(Seq(seq));
        }
        let found = iter::successors(frames.after(Seq(0)), |seq| frames.after(*seq));
        assert_eq!(found.map(|seq| seq.0).collect::<Vec<_>>(), seqs);
        assert!(seqs.iter().all(|seq| frames.has(Seq(*seq))) && !frames.has(Seq(2)));
        assert_eq!(frames.after(Seq(u64::MAX)), None);
    }
}
