//! `mcpreel export`: a recording as a file of another format.
//!
//! Each format goes over what is selected of the recording and writes to whatever it is given; the
//! rest is the same for all: what is selected, where it goes, and that a file is whole or not
//! there.

mod copy;
pub mod target;
pub mod write;

use super::args::{Export as Args, ExportFormat};
use super::exit::{Exit, Failure, Outcome};
use super::output;
use super::{filter, select};
use mcpreel_share::export::Selection;
use mcpreel_share::outgoing::file::Replace;
use mcpreel_share::outgoing::{self, Format, told};
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Lens;
use mcpreel_trace::query::Query;
use mcpreel_wire::text::plural;
use std::io::{self, IsTerminal as _};
use target::Target;

/// A page of more bytes is more than some browsers open.
const LARGE_PAGE: u64 = 200_000_000;

/// Writes what the arguments ask for.
pub fn run(args: &Args) -> Outcome {
    let query = filter::parse(args.query.as_deref())?;
    refuse(args)?;
    let (recording, selected) = select::open(&args.recording, &args.folder)?;
    if selected.seq.is_some() {
        return Err(usage("#SEQ names one frame; --from and --to name several"));
    }
    let selection = selection(&recording, args, query.as_ref())?;
    match args.format {
        ExportFormat::Recording => copy::run(&recording, args, &selection)?,
        _ => file(&recording, args, &selection)?,
    }
    tell_unfinished(&recording)?;
    Ok(Exit::Fine)
}

/// Writes a file that is made of what is selected.
fn file(recording: &Recording, args: &Args, selection: &Selection) -> Result<(), Failure> {
    let path = args.output.as_deref();
    let mut target = Target::open(path, recording.path(), may(args))?;
    let (written, report) = write::write(recording, args, selection, &mut target)?;
    let bytes = target.finish()?;
    let redacted = told::in_words(report.as_ref(), args.format.into());
    match path {
        Some(path) => {
            let said = told::said(path, args.format.into(), &written, bytes);
            output::say(&format!("{said}; {redacted}"));
        }
        None if report.is_some_and(|report| report.lacks() || !report.off.is_empty()) => {
            output::say(&redacted);
        }
        None => {}
    }
    if args.format == ExportFormat::Html && path.is_some() && bytes > LARGE_PAGE {
        output::say(
            "a browser needs several times that much memory for it; -q, --from and --to make a \
             smaller page",
        );
    }
    Ok(())
}

/// Whether a file that is there may be replaced.
fn may(args: &Args) -> Replace {
    if args.force {
        Replace::Yes
    } else {
        Replace::No
    }
}

/// What is refused before anything is read.
fn refuse(args: &Args) -> Result<(), Failure> {
    if let (Some(from), Some(to)) = (args.from, args.to)
        && from > to
    {
        return Err(usage(
            "--from comes after --to: there is nothing between them",
        ));
    }
    if args.with_bodies && args.format != ExportFormat::Otlp {
        return Err(usage(
            "--with-bodies is for --format otlp; the other formats have what was said anyway, or no \
             place for it",
        ));
    }
    if args.format == ExportFormat::Recording {
        return copy::refuse(args);
    }
    // They are escaped.
    let is_harmless = matches!(args.format, ExportFormat::Text | ExportFormat::Markdown);
    if args.output.is_none() && !is_harmless && io::stdout().is_terminal() {
        return Err(usage(
            "a terminal would obey what was said on the wire: name a file (-o FILE), or pipe it \
             on; `mcpreel show --frames` shows it escaped",
        ));
    }
    Ok(())
}

pub(super) fn usage(message: &str) -> Failure {
    Failure::Usage(message.to_owned())
}

/// What is written: rows that fit, exchanges whole, between two frames. Nothing at all is refused:
/// a file that is there already is worth more than an empty one.
fn selection(
    recording: &Recording,
    args: &Args,
    query: Option<&Query>,
) -> Result<Selection, Failure> {
    let frames = recording.summary()?.frames;
    if let Some(from) = args.from.filter(|from| *from > frames) {
        return Err(Failure::Usage(format!(
            "there is no frame #{from}: the last one is #{frames}"
        )));
    }
    let mut selection = Selection::between(args.from.map(Seq), args.to.map(Seq));
    if let (Some(query), Some(text)) = (query, &args.query) {
        selection = selection.picked(text);
        let (question, context) = filter::question(recording, Lens::Exchanges, query)?;
        outgoing::pick_rows(recording, &question, context, &mut selection)?;
    }
    if selection.is_empty() {
        let why = "nothing on record fits, so nothing was written";
        return Err(Failure::Refused(anyhow::anyhow!(why)));
    }
    Ok(selection)
}

/// A line whose end has not come is no frame, and not in the file.
pub(super) fn tell_unfinished(recording: &Recording) -> Result<(), Failure> {
    for line in recording.unfinished()? {
        output::say(&format!(
            "{} of a line on {} whose end has not come are left out",
            plural(line.bytes, "byte"),
            line.stream.as_str()
        ));
    }
    Ok(())
}

impl From<ExportFormat> for Format {
    fn from(format: ExportFormat) -> Self {
        match format {
            ExportFormat::Jsonl => Self::Jsonl,
            ExportFormat::Text => Self::Text,
            ExportFormat::Markdown => Self::Markdown,
            ExportFormat::Html => Self::Html,
            ExportFormat::Otlp => Self::Otlp,
            ExportFormat::Perfetto => Self::Perfetto,
            ExportFormat::Recording => Self::Recording,
        }
    }
}
