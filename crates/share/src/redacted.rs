//! A recording without what is secret in it: what every export goes through unless it is raw.
//!
//! ```text
//!  Redacting::learn   goes over all of the recording, whatever is selected of it
//!  Redacting::walk    gives what is selected, with tokens in place of secrets: as often as needed
//!  Redacting::summary the session as a whole, likewise; Redacting::report what was replaced
//! ```
//!
//! Bytes are read page by page; the largest thing that is held is a frame of [`HELD`] bytes. A
//! frame that is longer, or has more values than can be read, is not passed on: a line that says so
//! stands in its place, so that all others keep their numbers, and the report names it.

use super::export::{Excerpt, ExportError, Part, Progress, Selection, all_rows};
use mcpreel_redact::{Learner, Left, Place, Policy, Redactor, Report, is_readable};
use mcpreel_store::notices::Link;
use mcpreel_store::reader::{EventRow, ReadError, Recording, Summary};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::item::Annotation;
use std::borrow::Cow;
use std::sync::Arc;

/// A longer frame is left out, bytes: it has to be held to be looked through.
pub const HELD: u64 = 64 * 1024 * 1024;

/// A recording that is given without its secrets.
#[derive(Debug)]
pub struct Redacting<'r> {
    recording: &'r Recording,
    last: Seq,
    redactor: Redactor,
    report: Report,
}

impl Redacting<'_> {
    /// Gives what is selected to `visit`, as [`Excerpt::walk`] does; every frame has its bytes.
    pub fn walk<E: From<ReadError>>(
        &mut self,
        selection: &Selection,
        with_links: bool,
        visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let excerpt = Excerpt {
            last: self.last,
            ..Excerpt::of(self.recording, selection)
        };
        let mut without = Without {
            redactor: &mut self.redactor,
            report: &mut self.report,
        };
        excerpt.walk((HELD, with_links), &mut |part| without.give(&part, visit))
    }

    /// The session as a whole, without what is secret in it, and with a note that it is so.
    pub fn summary(&mut self) -> Result<Summary, ReadError> {
        let mut summary = self.recording.summary()?;
        make_public(&mut summary);
        let (redactor, report) = (&mut self.redactor, &mut self.report);
        let mut context = redactor.context(&summary.context, report);
        // What is derived was made of frames, where it is counted.
        let mut derived = Report::default();
        let session = redactor.value(Place::Recording, &summary.session, &mut derived);
        let note = summary.note.as_deref();
        let note = note.map(|note| redactor.text(Place::Recording, note, report).into_owned());
        let mut text = |text: &str| {
            let text = redactor.text(Place::Recording, text, &mut derived);
            text.into_owned()
        };
        // Somebody may have written it there by hand.
        for said in [&mut context.origin, &mut context.transport] {
            *said = text(said);
        }
        context.parent = context.parent.as_deref().map(&mut text);
        let (name, transport) = (text(&summary.name), text(&summary.transport));
        Ok(Summary {
            name,
            transport,
            origin: text(&summary.origin),
            context,
            note,
            session: session.unwrap_or_default(),
            redaction: Some(self.report.note()),
            ..summary
        })
    }

    /// What was selected, as it may be told: somebody may have looked for a secret.
    pub fn selected(&mut self, selection: &Selection) -> Selection {
        let (redactor, report) = (&mut self.redactor, &mut self.report);
        selection.told(|query| redactor.filter(query, report))
    }

    pub fn policy(&self) -> Arc<Policy> {
        self.redactor.policy()
    }

    /// The same recording, gone over by another policy.
    pub fn again(&self, policy: Policy, progress: &mut Progress<'_>) -> Result<Self, ExportError> {
        Self::learn(self.recording, self.last, Arc::new(policy), progress)
    }

    /// Counts what the rules that are switched off replaced in `all`, where they were in force.
    pub fn count_off(&mut self, all: &Report) {
        let off = self.redactor.policy();
        let of = |rule: &String| all.rules.get(&**rule).copied().unwrap_or(0);
        let counted = off.switched_off().iter();
        self.report.off = counted
            .map(|rule| (rule.as_str().into(), of(rule)))
            .collect();
    }

    /// Gives the marks and notes on frames to `visit`; those on frames that are not there are
    /// counted.
    pub fn annotations<E: From<ReadError>>(
        &mut self,
        visit: &mut impl FnMut(Seq, Annotation) -> Result<(), E>,
    ) -> Result<(), E> {
        let recording = self.recording;
        for row in all_rows(
            Seq(0),
            |after| recording.annotations(*after),
            |(seq, _)| *seq,
        ) {
            let (seq, annotation) = row?;
            if seq > self.last {
                // It came while this was looked through.
                break;
            }
            if recording.head(seq)?.is_none() {
                // The file is damaged; a copy of it would have that text as it is.
                self.report.unplaced += 1;
                continue;
            }
            let mut redacted = |text: Option<Box<str>>| -> Option<Box<str>> {
                let place = Place::Note(seq.0);
                Some(self.redactor.text(place, &text?, &mut self.report).into())
            };
            let (mark, note) = (redacted(annotation.mark), redacted(annotation.note));
            visit(seq, Annotation { mark, note })?;
        }
        Ok(())
    }

    /// What knows the secrets of this recording.
    pub fn into_redactor(self) -> Redactor {
        self.redactor
    }

    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Begins another report: what is given from now on has been counted, or is to be counted anew.
    pub fn take_report(&mut self) -> Report {
        std::mem::replace(&mut self.report, self.redactor.report())
    }
}

/// Gives `summary` an id that may be known, the same for the same recording.
pub(super) fn make_public(summary: &mut Summary) {
    summary.parent = None;
    summary.context.parent = None;
    summary.context.played = None;
    if comes_from_its_bytes(summary) {
        let mut hasher = crc32fast::Hasher::new();
        for number in [summary.wall_ns, summary.frames, summary.t_last_ns] {
            hasher.update(&number.to_le_bytes());
        }
        summary.id = format!("{:08x}", hasher.finalize());
        summary.context.recording.clone_from(&summary.id);
    }
}

/// Whether the id of this recording is a sum of all its bytes.
pub fn comes_from_its_bytes(summary: &Summary) -> bool {
    summary.origin == "import"
}

impl Redacting<'_> {
    /// Gives what stands in a code its token, in the order of the whole recording. Only where some
    /// of what is selected has none yet, all is gone over. `progress` is told how far it is, and may
    /// stop it.
    pub fn number(
        &mut self,
        selection: &Selection,
        progress: &mut Progress<'_>,
    ) -> Result<(), ExportError> {
        if selection.note().is_none() {
            // Whoever gives all of it gives it in that order.
            return Ok(());
        }
        let mark = self.redactor.mark();
        self.go_over(selection, progress)?;
        if self.redactor.back_to(&mark) {
            self.go_over(&Selection::default(), progress)?;
        }
        self.report = self.redactor.report();
        Ok(())
    }

    fn go_over(
        &mut self,
        selection: &Selection,
        progress: &mut Progress<'_>,
    ) -> Result<(), ExportError> {
        self.walk(selection, false, &mut |part| match part {
            Part::Frame(head, _, _) => Ok::<(), ExportError>(progress(head.seq)?),
            Part::Event(_) | Part::Passed(_) => Ok(()),
        })?;
        self.annotations(&mut |_, _| Ok::<(), ExportError>(()))
    }
}

/// What it takes to give parts without their secrets.
struct Without<'a> {
    redactor: &'a mut Redactor,
    report: &'a mut Report,
}

impl Without<'_> {
    /// Gives it to `visit`; every frame has its bytes.
    fn give<E>(
        &mut self,
        part: &Part<'_>,
        visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match part {
            Part::Frame(head, raw, link) => {
                let link = link.map(|link| self.link(link));
                let (raw, link) = match raw.and_then(|raw| self.frame(head, raw)) {
                    Some(raw) => (raw, link),
                    None => (Cow::Owned(self.left_out(head)), None),
                };
                let head = FrameHead {
                    size: raw.len() as u64,
                    ..**head
                };
                visit(Part::Frame(&head, Some(&raw), link.as_ref()))
            }
            Part::Passed(head) => visit(Part::Passed(head)),
            Part::Event(row) => {
                let redacted = self.event(row);
                visit(Part::Event(&redacted))
            }
        }
    }

    fn link(&mut self, link: &Link) -> Link {
        let mut link = link.clone();
        if let Some(method) = &link.method {
            // It stands in the frame as well, where it is counted.
            let mut counted = Report::default();
            let method = self.redactor.text(Place::Start, method, &mut counted);
            link.method = Some(method.into());
        }
        link
    }

    /// What is given of a frame; `None`: it cannot be looked through.
    fn frame<'f>(&mut self, head: &FrameHead, raw: &'f [u8]) -> Option<Cow<'f, [u8]>> {
        let is_readable = is_readable(raw);
        let place = Place::Frame(head.seq.0);
        is_readable.then(|| self.redactor.frame(place, raw, self.report))
    }

    /// What stands in place of a frame that is left out.
    fn left_out(&mut self, head: &FrameHead) -> Vec<u8> {
        let (seq, bytes) = (head.seq.0, head.size);
        self.report.left.push(Left { seq, bytes });
        let text = format!("[mcpreel left out a line of {bytes} bytes: too long to be redacted]\n");
        text.into_bytes()
    }

    fn event(&mut self, row: &EventRow) -> EventRow {
        let mut row = row.clone();
        let place = Place::Event(row.event.after_seq.0);
        row.event.kind = self.redactor.event(place, &row.event.kind, self.report);
        row
    }
}

impl<'r> Redacting<'r> {
    /// Goes over `recording` up to the frame `last`, and learns what is secret in it. `progress` is
    /// told how far it is, and may stop it.
    pub fn learn(
        recording: &'r Recording,
        last: Seq,
        policy: Arc<Policy>,
        progress: &mut Progress<'_>,
    ) -> Result<Self, ExportError> {
        let mut learner = Learner::new(policy);
        let summary = recording.summary()?;
        learner.context(&summary.context);
        if let Some(note) = &summary.note {
            learner.text(note);
        }
        learn_frames(recording, last, &mut learner, progress)?;
        learn_beside(recording, &mut learner)?;
        let mut redactor = learner.finish();
        let mut report = redactor.report();
        // What stands first has the first numbers, whatever is written first.
        redactor.context(&summary.context, &mut report);
        let report = redactor.report();
        Ok(Self {
            recording,
            last,
            redactor,
            report,
        })
    }
}

/// Takes in the frames up to `last`.
fn learn_frames(
    recording: &Recording,
    last: Seq,
    learner: &mut Learner,
    progress: &mut Progress<'_>,
) -> Result<(), ExportError> {
    let mut after = Seq(0);
    loop {
        let mut page = recording.frames(after)?;
        page.retain(|(head, _)| head.seq <= last);
        let Some(end) = page.last().map(|(head, _)| head.seq) else {
            return Ok(());
        };
        for (head, raw) in &page {
            // A longer frame is left out, and so is one that cannot be read.
            let long;
            let raw = match raw {
                None if head.size <= HELD => {
                    long = recording.raw(head.seq)?;
                    Some(&*long)
                }
                raw => raw.as_deref(),
            };
            if let Some(raw) = raw.filter(|raw| is_readable(raw)) {
                learner.frame(head.stream, raw);
            }
        }
        after = end;
        progress(end)?;
    }
}

/// What stands beside the frames: events, and what people wrote.
fn learn_beside(recording: &Recording, learner: &mut Learner) -> Result<(), ReadError> {
    for row in all_rows(0, |after| recording.events(*after), |row| row.id) {
        let kind = row?.event.kind;
        if !matches!(kind, EventKind::Start(_)) {
            learner.event(&kind);
        }
    }
    for row in all_rows(
        Seq(0),
        |after| recording.annotations(*after),
        |(seq, _)| *seq,
    ) {
        let (_, Annotation { mark, note }) = row?;
        let texts = [mark, note].into_iter().flatten();
        texts.for_each(|text| learner.text(&text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::recorded;
    use mcpreel_redact::Settings;
    use mcpreel_trace::frame::StreamId;

    const SECRET: &str = "Kq8vWp3mXrT4ZbLd7";

    #[test]
    fn what_becomes_known_late_is_replaced_before_and_after() {
        let said = [1, 999, 2499, 2501, 5000];
        let dir = tempfile::tempdir().unwrap();
        let reel = recorded(dir.path(), |session| {
            for line in 1..=5000 {
                let text = match line {
                    2500 => format!("password={SECRET}\n"),
                    line if said.contains(&line) => format!("line {line} {SECRET}\n"),
                    line => format!("line {line}\n"),
                };
                session.chunk(StreamId::STDERR, text.as_bytes());
            }
            session.end();
        });
        let recording = Recording::open(&reel).unwrap();
        let policy = Arc::new(Policy::new(&Settings::default()).unwrap());
        let mut go_on = |_| Ok(());
        let redacting = Redacting::learn(&recording, Seq(u64::MAX), policy, &mut go_on);
        let mut others = Vec::new();
        let given = redacting
            .unwrap()
            .walk(&Selection::default(), false, &mut |part| {
                if let Part::Frame(head, Some(raw), _) = part {
                    let text = String::from_utf8_lossy(raw);
                    assert!(!text.contains(SECRET), "{text}");
                    others.extend(text.contains("secret:1").then_some(head.seq.0));
                }
                Ok::<(), ReadError>(())
            });
        given.unwrap();
        assert_eq!(others, [1, 999, 2499, 2500, 2501, 5000]);
    }
}
