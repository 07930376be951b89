//! A recording without what is secret in it: what every export goes through unless it is raw.
//!
//! ```text
//!  Redacting::learn   goes over all of the recording, whatever is selected of it
//!  Redacting::walk    gives what is selected, with tokens in place of secrets: as often as needed
//!  Redacting::summary the session as a whole, likewise; Redacting::report what was replaced
//! ```
//!
//! Bytes are read page by page; the largest thing that is held is a frame of [`HELD`] bytes. A frame
//! that is longer, or has more values than can be read, is not passed on: a line that says so stands
//! in its place, so that all others keep their numbers, and the report names it.

use super::export::{Excerpt, Part, Selection};
use crate::redact::{Learner, Left, Place, Policy, Redactor, Report, is_readable};
use crate::store::links::Link;
use crate::store::reader::{EventRow, ReadError, Recording, Summary};
use crate::trace::event::{Event, EventKind};
use crate::trace::frame::{FrameHead, Seq};
use crate::trace::item::Annotation;
use std::sync::Arc;

/// A longer frame is left out, bytes: it has to be held to be looked through.
pub const HELD: u64 = 64 * 1024 * 1024;

/// Words of which each says something of 64 frames. Frames have numbers without gaps, but for a
/// damaged file, where one with a larger number is always looked at.
const MOST_WORDS: usize = 1 << 24;

/// A recording that is given without its secrets.
#[derive(Debug)]
pub struct Redacting<'r> {
    recording: &'r Recording,
    last: Seq,
    redactor: Redactor,
    report: Report,
    looked: Looked,
}

/// Frames in which there is something to be looked at, a bit for each.
#[derive(Debug, Default)]
struct Looked(Vec<u64>);

impl Looked {
    fn place(seq: Seq) -> (usize, u64) {
        let word = usize::try_from(seq.0 / 64).unwrap_or(usize::MAX);
        (word, 1 << (seq.0 % 64))
    }

    fn set(&mut self, seq: Seq) {
        let (word, bit) = Self::place(seq);
        if word >= self.0.len() {
            self.0.resize(MOST_WORDS.min(word.saturating_add(1)), 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    fn has(&self, seq: Seq) -> bool {
        let (word, bit) = Self::place(seq);
        word >= MOST_WORDS || self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

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
        let (mut after, mut looked) = (Seq(0), Looked::default());
        loop {
            let page = recording.frames(after)?;
            let Some((head, _)) = page.last() else {
                break;
            };
            after = head.seq;
            for (head, raw) in page.into_iter().take_while(|(head, _)| head.seq <= last) {
                let raw = match raw {
                    Some(raw) => raw,
                    None if head.size <= HELD => recording.raw(head.seq)?,
                    None => continue,
                };
                if is_readable(&raw) && learner.frame(head.stream, &raw) {
                    looked.set(head.seq);
                }
            }
            progress(after)?;
        }
        learn_beside(recording, &mut learner)?;
        let redactor = learner.finish();
        let report = redactor.report();
        Ok(Self {
            recording,
            last,
            redactor,
            report,
            looked,
        })
    }

    /// Gives what is selected to `visit`, as [`Excerpt::walk`] does; every frame has its
    /// bytes.
    pub fn walk<E: From<ReadError>>(
        &mut self,
        selection: &Selection,
        visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self {
            recording,
            last,
            redactor,
            report,
            looked,
        } = self;
        let excerpt = Excerpt {
            last: *last,
            ..Excerpt::of(recording, selection)
        };
        excerpt.walk_holding(HELD, &mut |part| match part {
            Part::Frame(head, raw, link) => {
                let link = link.map(|link| redacted_link(redactor, link));
                if let Some(raw) = raw.filter(|raw| is_readable(raw)) {
                    let place = Place::Frame(head.seq.0);
                    let raw = (raw, looked.has(head.seq));
                    let raw = redactor.learned_frame(place, raw, report);
                    visit(Part::Frame(&sized(head, &raw), Some(&raw), link.as_ref()))
                } else {
                    let (seq, bytes) = (head.seq.0, head.size);
                    report.left.push(Left { seq, bytes });
                    let said = stand_in(bytes);
                    visit(Part::Frame(&sized(head, &said), Some(&said), None))
                }
            }
            Part::Passed(head) => visit(Part::Passed(head)),
            Part::Event(row) => {
                let place = Place::Event(row.event.after_seq.0);
                let kind = redactor.event(place, &row.event.kind, report);
                let event = Event {
                    kind,
                    ..row.event.clone()
                };
                visit(Part::Event(&EventRow { id: row.id, event }))
            }
        })
    }

    /// The session as a whole, without what is secret in it, and with a note that it is so.
    pub fn summary(&mut self) -> Result<Summary, ReadError> {
        let summary = self.recording.summary()?;
        let (redactor, report) = (&mut self.redactor, &mut self.report);
        let context = redactor.context(&summary.context, report);
        // What is derived was made of frames, where it is counted.
        let mut derived = Report::default();
        let session = redactor.value(Place::Recording, &summary.session, &mut derived);
        let note = summary.note.as_deref();
        let note = note.map(|note| redactor.text(Place::Recording, note, report).into_owned());
        let name = redactor
            .text(Place::Recording, &summary.name, &mut derived)
            .into_owned();
        Ok(Summary {
            name,
            context,
            note,
            session: session.unwrap_or_default(),
            redaction: Some(self.report.note()),
            ..summary
        })
    }

    /// Gives the marks and notes on frames to `visit`.
    pub fn annotations<E: From<ReadError>>(
        &mut self,
        visit: &mut impl FnMut(Seq, Annotation) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut after = Seq(0);
        loop {
            let page = self.recording.annotations(after)?;
            let Some((last, _)) = page.last() else {
                return Ok(());
            };
            after = *last;
            for (seq, annotation) in page {
                let mut text = |text: Option<Box<str>>| {
                    let place = Place::Note(seq.0);
                    text.map(|text| self.redactor.text(place, &text, &mut self.report).into())
                };
                let (mark, note) = (text(annotation.mark), text(annotation.note));
                visit(seq, Annotation { mark, note })?;
            }
        }
    }

    /// What knows the secrets of this recording.
    #[must_use]
    pub fn into_redactor(self) -> Redactor {
        self.redactor
    }

    /// What was replaced so far.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Begins another report: what is given from now on has been counted, or is to be counted anew.
    pub fn take_report(&mut self) -> Report {
        std::mem::replace(&mut self.report, self.redactor.report())
    }
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

fn redacted_link(redactor: &mut Redactor, link: &Link) -> Link {
    let mut link = link.clone();
    if let Some(method) = &link.method {
        // It stands in the frame as well, where it is counted.
        let method = redactor.text(Place::Start, method, &mut Report::default());
        link.method = Some(method.into());
    }
    link
}

/// A frame that has other bytes now.
fn sized(head: &FrameHead, raw: &[u8]) -> FrameHead {
    FrameHead {
        size: raw.len() as u64,
        ..*head
    }
}

/// What stands in place of a frame that is left out.
fn stand_in(bytes: u64) -> Vec<u8> {
    format!("[mcpreel left out a line of {bytes} bytes: too long to be redacted]\n").into_bytes()
}
