//! A file that is made of what is selected: without what is secret, or raw.

use super::last;
use super::target::Target;
use crate::cli::args::{Export as Args, ExportFormat};
use crate::cli::exit::Failure;
use crate::cli::output::Progress;
use crate::cli::redact;
use crate::formats::export::otlp::{self, Bodies};
use crate::formats::export::{Selection, WriteError, Written, csv, markdown, perfetto, text};
use crate::formats::{cassette, html};
use crate::redact::Report;
use crate::store::reader::Recording;
use crate::text::count;
use crate::trace::frame::Seq;

/// Writes the format that is asked for to `target`: what was written, and unless that is raw what
/// was replaced.
pub(super) fn write(
    recording: &Recording,
    args: &Args,
    selection: &Selection,
    target: &mut Target,
) -> Result<(Written, Option<Report>), Failure> {
    if args.raw {
        return Ok((raw(recording, args, selection, target)?, None));
    }
    let mut redacting = redact::learn(recording, redact::policy::of(&args.what)?)?;
    if args.format == ExportFormat::Jsonl {
        let written = with_progress(recording, target, |target, told| {
            cassette::write_redacted(recording, &mut redacting, selection, target, told)
        })?;
        return Ok((written, Some(redacting.take_report())));
    }
    // Whatever is derived must have been derived from what was redacted.
    let (redacted, report) = redact::make::recording(&mut redacting, &Selection::default())?;
    Ok((raw(&redacted, args, selection, target)?, Some(report)))
}

fn raw(
    recording: &Recording,
    args: &Args,
    selection: &Selection,
    target: &mut Target,
) -> Result<Written, Failure> {
    let last = last(recording)?;
    with_progress(recording, target, |target, told| match args.format {
        ExportFormat::Text => text::write(recording, selection, last, target, told),
        ExportFormat::Csv => csv::write(recording, selection, last, target, told),
        ExportFormat::Markdown => markdown::write(recording, selection, last, target, told),
        ExportFormat::Html => html::write(recording, selection, last, target, told),
        ExportFormat::Otlp => {
            let bodies = bodies(args);
            otlp::write(recording, selection, last, bodies, target, told)
        }
        ExportFormat::Perfetto => perfetto::write(recording, selection, last, target, told),
        // The other one is no file that is made of parts.
        ExportFormat::Jsonl | ExportFormat::Recording => {
            cassette::write(recording, selection, last, target, told)
        }
    })
}

fn bodies(args: &Args) -> Bodies {
    if args.with_bodies {
        Bodies::With
    } else {
        Bodies::Without
    }
}

/// Writes, and says meanwhile how far that is.
fn with_progress(
    recording: &Recording,
    target: &mut Target,
    write: impl FnOnce(&mut Target, &mut dyn FnMut(Seq)) -> Result<Written, WriteError>,
) -> Result<Written, Failure> {
    let of = recording.summary()?.frames;
    let mut progress = Progress::stderr();
    let mut told = |seq: Seq| {
        progress.now_and_then(|| format!("{} of {} frames written", count(seq.0), count(of)));
    };
    write(target, &mut told).map_err(|error| match error {
        WriteError::Read(error) => error.into(),
        WriteError::Write(error) => target.failure(error),
    })
}
