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
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::item::Annotation;
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

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
        excerpt.walk((HELD, with_links), &mut |part| self.give(&part, visit))
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
        for id in [&mut context.parent, &mut context.other_side] {
            *id = id.as_deref().map(&mut text);
        }
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

    /// The selection without secrets in its query: somebody may have looked for one.
    pub fn selected(&mut self, selection: &Selection) -> Selection {
        let (redactor, report) = (&mut self.redactor, &mut self.report);
        selection.told(|query| redactor.filter(query, report))
    }

    /// Gives the marks and notes on frames to `visit`; those on frames that are not there are
    /// counted.
    pub fn annotations<E: From<ReadError>>(
        &mut self,
        visit: &mut impl FnMut(Seq, Annotation) -> Result<(), E>,
    ) -> Result<(), E> {
        let recording = self.recording;
        for row in annotations(recording) {
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

    /// The redactor, which knows the secrets of this recording.
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
    summary.context.other_side = None;
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
        learn_from(recording, last, &mut learner, progress)?;
        Ok(Self::with(recording, last, learner.finish())?)
    }

    /// Gives `recording` up to the frame `last` without what `redactor` finds or knows; the same value has the
    /// same token as where it was used before.
    pub fn with(
        recording: &'r Recording,
        last: Seq,
        redactor: Redactor,
    ) -> Result<Self, ReadError> {
        let mut redacting = Self {
            recording,
            last,
            report: redactor.report(),
            redactor,
        };
        // What stands first has the first numbers, whatever is written first.
        redacting.summary()?;
        redacting.take_report();
        Ok(redacting)
    }

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
        if self.redactor.back_to(mark) {
            self.go_over(&Selection::default(), progress)?;
        }
        self.report = self.redactor.report();
        Ok(())
    }

    /// Redacts what is selected, and gives it to nobody: what is replaced is counted.
    pub fn go_over(
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

    /// Gives a part without its secrets to `visit`; every frame has its bytes.
    fn give<E>(
        &mut self,
        part: &Part<'_>,
        visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (redactor, report) = (&mut self.redactor, &mut self.report);
        match part {
            Part::Frame(head, raw, link) => {
                let place = Place::Frame(head.seq.0);
                let readable = raw.filter(|raw| is_readable(raw));
                let raw = readable.map(|raw| redactor.frame(place, raw, report));
                let link = link.filter(|_| raw.is_some()).map(|link| {
                    // The method stands in the frame as well, where it is counted.
                    let mut counted = Report::default();
                    let mut text =
                        |text: &str| redactor.text(Place::Start, text, &mut counted).into();
                    Link {
                        method: link.method.as_deref().map(&mut text),
                        ..link.clone()
                    }
                });
                let raw = raw.unwrap_or_else(|| Cow::Owned(left_out(head, report)));
                let size = raw.len() as u64;
                let head = FrameHead { size, ..**head };
                visit(Part::Frame(&head, Some(&raw), link.as_ref()))
            }
            Part::Passed(head) => visit(Part::Passed(head)),
            Part::Event(row) => {
                let mut row = EventRow::clone(row);
                let place = Place::Event(row.event.after_seq.0);
                row.event.kind = redactor.event(place, &row.event.kind, report);
                visit(Part::Event(&row))
            }
        }
    }
}

/// Goes over `recording` up to the frame `last`, and lets `learner` learn what is secret in it. `progress` is
/// told how far it is, and may stop it.
pub fn learn_from(
    recording: &Recording,
    last: Seq,
    learner: &mut Learner,
    progress: &mut Progress<'_>,
) -> Result<(), ExportError> {
    let summary = recording.summary()?;
    learner.value(&summary.context);
    if let Some(note) = &summary.note {
        learner.text(note);
    }
    let all = Selection::default();
    let excerpt = Excerpt {
        last,
        ..Excerpt::of(recording, &all)
    };
    excerpt.walk((HELD, false), &mut |part| match part {
        Part::Frame(head, raw, _) => {
            if let Some(raw) = raw.filter(|raw| is_readable(raw)) {
                learner.frame(head.stream, raw);
            }
            Ok::<(), ExportError>(progress(head.seq)?)
        }
        Part::Event(row) => {
            learner.value(&row.event.kind);
            Ok(())
        }
        Part::Passed(_) => Ok(()),
    })?;
    for row in annotations(recording) {
        let (_, Annotation { mark, note }) = row?;
        let texts = [mark, note].into_iter().flatten();
        texts.for_each(|text| learner.text(&text));
    }
    Ok(())
}

/// Texts with tokens in place of what is secret in them; a value stands behind the name of its
/// option in `commands`.
pub fn masked<'w>(
    texts: &[String],
    commands: impl IntoIterator<Item = &'w [String]>,
) -> Vec<String> {
    static POLICY: LazyLock<Arc<Policy>> = LazyLock::new(|| {
        let policy = Policy::of_short_texts();
        Arc::new(policy.expect("the rules that come with it are sound, as their tests show"))
    });
    let mut learner = Learner::new(Arc::clone(&POLICY));
    for words in commands {
        learner.text(&words.join(" "));
    }
    let mut redactor = learner.finish();
    let mut report = redactor.report();
    let texts = texts.iter();
    let texts = texts.map(|text| redactor.text(Place::Start, text, &mut report).into_owned());
    texts.collect()
}

/// The line in place of a frame that cannot be looked through.
fn left_out(head: &FrameHead, report: &mut Report) -> Vec<u8> {
    let (seq, bytes) = (head.seq.0, head.size);
    report.left.push(Left { seq, bytes });
    format!("[mcpreel left out a line of {bytes} bytes: too long to be redacted]\n").into_bytes()
}

/// All marks and notes on frames.
pub(super) fn annotations(
    recording: &Recording,
) -> impl Iterator<Item = Result<(Seq, Annotation), ReadError>> {
    let page = |after: &Seq| recording.annotations(*after);
    all_rows(Seq(0), page, |(seq, _)| *seq)
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

    /// What only one of two recordings names is secret in the other too, and has the same token there.
    #[test]
    fn what_one_recording_names_is_replaced_alike_in_another() {
        let dir = tempfile::tempdir().unwrap();
        let reel = |name: &str, line: &str| {
            let dir = dir.path().join(name);
            std::fs::create_dir(&dir).unwrap();
            let reel = recorded(&dir, |session| {
                session.chunk(StreamId::STDERR, line.as_bytes());
                session.end();
            });
            Recording::open(&reel).unwrap()
        };
        let both = [
            reel("a", &format!("line {SECRET}\n")),
            reel("b", &format!("token=Zx81kQwLm52Rt\npassword={SECRET}\n")),
        ];
        let mut learner = Learner::new(Arc::new(Policy::new(&Settings::default()).unwrap()));
        for recording in &both {
            learn_from(recording, Seq(u64::MAX), &mut learner, &mut |_| Ok(())).unwrap();
        }
        let mut redactor = learner.finish();
        let mut given = Vec::new();
        for recording in &both {
            let mut redacting = Redacting::with(recording, Seq(u64::MAX), redactor).unwrap();
            let walked = redacting.walk(&Selection::default(), false, &mut |part| {
                if let Part::Frame(_, Some(raw), _) = part {
                    given.push(String::from_utf8_lossy(raw).trim().to_owned());
                }
                Ok::<(), ReadError>(())
            });
            walked.unwrap();
            redactor = redacting.into_redactor();
        }
        let password = given[0].strip_prefix("line ").unwrap();
        assert!(password.starts_with('‹'), "{given:?}");
        assert_eq!(given[2], format!("password={password}"), "{given:?}");
    }
}
