//! A recording on its way out, as a file: what commands and the viewer do alike.
//!
//! ```text
//!  recording ──▶ learn what is secret ──▶ a redacted recording ──▶ a format ──▶ Draft ──▶ the file
//!           └──────────────────── raw ─────────────────────────────▲
//! ```
//!
//! * [`save`]: an export as a file; [`write`](fn@write): any format but that of a recording;
//!   `copy`: a recording; [`pick_rows`]: the rows that fit a filter;
//! * [`recording_copy`]: a recording without its secrets, or a part of one, as another recording;
//! * [`mod@file`]: files that are whole or not there, and of which nothing is left behind.
//!
//! Progress is reported to a callback, which may stop the work.

pub mod file;
pub mod recording_copy;

use crate::export::otlp::Bodies;
use crate::export::{Excerpt, Export, Selection, Written, har, markdown, otlp, perfetto};
pub use crate::export::{ExportError, Stopped};
use crate::redacting::Redacting;
use crate::{cassette, html};
use file::{Replace, Whole, WholeError};
use mcpreel_redact::{Policy, Report};
use mcpreel_store::annotate;
use mcpreel_store::library::are_neighbours;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::select::{Context, Question, each};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::What;
use mcpreel_wire::text::{count, escape, plural, size};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// The size of the buffer before a file, bytes.
const BUFFER: usize = 256 * 1024;

/// The formats of an export; commands take them by these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A cassette: JSON Lines, a line per frame or event; mcpreel reads it like a recording
    Jsonl,
    /// A bug report: what happened and why, with a diagram and the messages that matter
    Markdown,
    /// A trace for OpenTelemetry, in OTLP/JSON: a span per request
    Otlp,
    /// A trace for Perfetto or Chrome: exchanges, notifications, stderr and events over time
    Perfetto,
    /// The HTTP of a server with a URL, as browsers and proxies keep it: HAR 1.2
    Har,
    /// A page for a browser: one file with all that it needs, which loads and sends nothing
    Html,
    /// One recording file: a copy or a part, also of a recording that is being made or of a cassette
    Recording,
}

/// An order for an export.
#[derive(Clone, Debug)]
pub struct Order<'s> {
    pub format: Format,
    /// Whether a trace has what was said.
    pub bodies: Bodies,
    pub selection: &'s Selection,
    /// The time of a session that is still recorded: what is open then is waited for.
    pub now: Option<Moment>,
    /// The rules for secrets; none writes a raw export.
    pub policy: Option<Arc<Policy>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Frames up to this one were looked through for secrets.
    Looked(Seq),
    /// Frames up to this one were written.
    Written(Seq),
}

/// Is told how far it is; what it returns may stop it.
pub type Tell<'t> = dyn FnMut(Stage) -> Result<(), Stopped> + 't;

/// The last frame that is written: of a recording that grows, the last one that is there now.
pub fn last(recording: &Recording) -> Result<Seq, ReadError> {
    let summary = recording.summary()?;
    let is_final = summary.state.is_final();
    Ok(Seq(if is_final { u64::MAX } else { summary.frames }))
}

/// An export that was written to a file.
#[derive(Debug)]
pub struct Saved {
    /// A sentence for people: the contents of the file, and what became of secrets.
    pub text: String,
    pub bytes: u64,
    /// The report of replacements; none if the file is raw.
    pub report: Option<Report>,
}

/// Writes what is ordered as the file `path`, which appears when it is whole; in place of another
/// file only if `may` allows it.
pub fn save(
    recording: &Recording,
    order: &Order<'_>,
    path: &Path,
    may: Replace,
    tell: &mut Tell<'_>,
) -> Result<Saved, ExportError> {
    let unwritten = |error| WholeError::Write(path.to_owned(), error);
    let mut whole = Whole::begin(path, recording.path(), may)?;
    let (mut text, report) = if order.format == Format::Recording {
        let report = copy(recording, order, whole.draft.path(), tell)?;
        if !are_neighbours(recording.path(), path) {
            annotate::set_from_elsewhere(whole.draft.path())?;
        }
        let frames = Recording::open(whole.draft.path())?.summary()?.frames;
        (plural(frames, "frame"), report)
    } else {
        let mut out = BufWriter::with_capacity(BUFFER, &mut whole.draft);
        let written = write(recording, order, &mut out, tell);
        let (written, report) = written.map_err(|error| match error {
            ExportError::Write(error) => unwritten(error).into(),
            error => error,
        })?;
        out.flush().map_err(unwritten)?;
        (in_numbers(&written, order.format), report)
    };
    let bytes = whole.draft.path().metadata().map_err(unwritten)?.len();
    // Whoever stopped it meanwhile does not want the file.
    tell(Stage::Written(Seq(u64::MAX)))?;
    whole.finish()?;
    let shown = path.display().to_string();
    let redacted = redaction_in_words(report.as_ref(), order.format);
    text = format!("{}: {text}, {}; {redacted}", escape(&shown), size(bytes));
    Ok(Saved {
        text,
        bytes,
        report,
    })
}

/// Writes what is ordered to `out`: what was written, and unless that is raw what was replaced.
pub fn write(
    recording: &Recording,
    order: &Order<'_>,
    out: &mut impl Write,
    tell: &mut Tell<'_>,
) -> Result<(Written, Option<Report>), ExportError> {
    let Some(policy) = &order.policy else {
        return Ok((raw(recording, order, out, tell)?, None));
    };
    let mut redacting = learn(recording, policy, tell)?;
    if order.format == Format::Jsonl {
        redacting.number(order.selection, &mut |seq| tell(Stage::Looked(seq)))?;
        let selection = &redacting.selected(order.selection);
        let progress = &mut |seq| tell(Stage::Written(seq));
        let what = (selection, order.now);
        let written = cassette::write_redacted(recording, &mut redacting, what, out, progress)?;
        return Ok((written, Some(redacting.take_report())));
    }
    // Whatever is derived must have been derived from what was redacted.
    let (redacted, report) = recording_copy::redacted(&mut redacting, &Selection::default(), tell)?;
    let order = Order {
        selection: &redacting.selected(order.selection),
        ..order.clone()
    };
    Ok((raw(&redacted, &order, out, tell)?, Some(report)))
}

/// Copies what is selected of a recording into the empty file `into`: what was replaced, unless that
/// is raw.
fn copy(
    recording: &Recording,
    order: &Order<'_>,
    into: &Path,
    tell: &mut Tell<'_>,
) -> Result<Option<Report>, ExportError> {
    let (selection, now) = (order.selection, order.now);
    let Some(policy) = &order.policy else {
        if selection.note().is_none() && now.is_none() {
            recording.copy_into(into)?;
        } else {
            recording_copy::trimmed(recording, (selection, now), tell)?.copy_into(into)?;
        }
        return Ok(None);
    };
    let mut redacting = learn(recording, policy, tell)?;
    redacting.number(selection, &mut |seq| tell(Stage::Looked(seq)))?;
    let selection = &redacting.selected(selection);
    let (redacted, report) =
        recording_copy::redacted_with_own_id(&mut redacting, (selection, now), tell)?;
    redacted.copy_into(into)?;
    Ok(Some(report))
}

/// Selects the rows that fit `question`, exchanges as a whole.
pub fn pick_rows(
    recording: &Recording,
    question: &Question,
    context: Context,
    selection: &mut Selection,
) -> Result<(), ReadError> {
    // The rounds of a chain are picked together: to pick each of them again would be quadratic.
    let mut chains = BTreeSet::new();
    each(recording, question, context, &mut |item| {
        match &item.what {
            What::Exchange(exchange) if exchange.chain.is_some_and(|id| !chains.insert(id)) => {}
            What::Exchange(exchange) => {
                for seq in recording.frames_of_exchange(exchange.id)? {
                    selection.pick_frame(seq);
                }
            }
            What::Message { head, .. } | What::Line { head, .. } => selection.pick_frame(head.seq),
            What::Http(http) => {
                for head in recording.carried(http.id, u32::MAX)? {
                    selection.pick_frame(head.seq);
                }
            }
            What::Event(_) => {
                if let Some(id) = item.key.event_id() {
                    selection.pick_event(item.key.seq, id);
                }
            }
        }
        Ok::<(), ReadError>(())
    })
}

/// Goes over a recording to learn what is secret in it.
pub fn learn<'r>(
    recording: &'r Recording,
    policy: &Arc<Policy>,
    tell: &mut Tell<'_>,
) -> Result<Redacting<'r>, ExportError> {
    let last = last(recording)?;
    let policy = Arc::clone(policy);
    Redacting::learn(recording, last, policy, &mut |seq| tell(Stage::Looked(seq)))
}

fn raw(
    recording: &Recording,
    order: &Order<'_>,
    out: &mut impl Write,
    tell: &mut Tell<'_>,
) -> Result<Written, ExportError> {
    let last = last(recording)?;
    let excerpt = Excerpt {
        last,
        // It may have ended meanwhile.
        now: order.now.filter(|_| last < Seq(u64::MAX)),
        ..Excerpt::of(recording, order.selection)
    };
    let export = Export {
        excerpt,
        out,
        progress: &mut |seq| tell(Stage::Written(seq)),
    };
    match order.format {
        Format::Markdown => markdown::write(export),
        Format::Html => html::write(export),
        Format::Otlp => otlp::write(export, order.bodies),
        Format::Perfetto => perfetto::write(export),
        Format::Har => har::write(export),
        // A recording is copied by its caller, not written from rows.
        Format::Jsonl | Format::Recording => cassette::write(export),
    }
}

impl Stage {
    /// The progress, of so many frames.
    pub fn in_words(self, of: u64) -> String {
        let (seq, done) = match self {
            Self::Looked(seq) => (seq, "looked through"),
            Self::Written(seq) => (seq, "written"),
        };
        format!("{} of {} frames {done}", count(seq.0), count(of))
    }
}

/// The redaction of a file of this format in words; without a report nothing is redacted. A file that is
/// made of a redacted recording counts the places of that: not all of them are in the file.
pub fn redaction_in_words(report: Option<&Report>, format: Format) -> String {
    let Some(report) = report else {
        return "nothing in it is redacted".to_owned();
    };
    let places = plural(report.hits(), "place");
    let of = match format {
        Format::Jsonl | Format::Recording => "",
        _ => " of the recording",
    };
    let mut text = format!("redacted in {places}{of}, review it before you share it");
    for line in undone(report) {
        let _ = write!(text, "; {line}");
    }
    text
}

/// What a redaction left undone, or left out.
pub fn undone(report: &Report) -> Vec<String> {
    let off = report.off.iter();
    let off = off.map(|rule| format!("{} is switched off: what it finds is left", escape(rule)));
    let left = report.left.len() as u64;
    let counts = [
        (left, "frame", "too long to be looked through and left out"),
        (report.unplaced, "note", "on no frame left out"),
        (
            report.short,
            "value",
            "too short to be replaced where neither a name nor a shape marks a secret",
        ),
        (
            report.beyond,
            "value",
            "too many or too long to be looked for elsewhere",
        ),
    ];
    let counts = counts.into_iter().filter(|(number, ..)| *number > 0);
    let counts = counts.map(|(number, noun, what)| format!("{} {what}", plural(number, noun)));
    off.chain(counts).collect()
}

/// The numbers of what was written, and of what is left out.
fn in_numbers(written: &Written, format: Format) -> String {
    use Format::{Har, Markdown, Otlp, Perfetto};
    let of_exchanges = matches!(format, Har | Markdown | Otlp | Perfetto);
    let (noun, number) = if of_exchanges {
        ("exchange", written.exchanges)
    } else {
        ("frame", written.frames)
    };
    let mut text = plural(number, noun);
    // A report says of events what matters.
    if !matches!(format, Markdown | Har) {
        let _ = write!(text, ", {}", plural(written.events, "event"));
    }
    if written.left_out > 0 {
        let _ = write!(text, ", {} left out", plural(written.left_out, noun));
    }
    text
}

#[cfg(test)]
mod outgoing_tests;
