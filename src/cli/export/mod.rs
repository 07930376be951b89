//! `mcpreel export`: a recording as a file of another format.
//!
//! Each format goes over what is selected of the recording and writes to whatever it is given; the
//! rest is the same for all: what is selected, where it goes, and that a file is whole or not there.

mod copy;
pub mod target;
mod write;

use super::args::{Export as Args, ExportFormat};
use super::exit::{Exit, Failure, Outcome};
use super::output;
use super::{filter, select};
use crate::formats::export::{Selection, Written};
use crate::query::Query;
use crate::redact::Report;
use crate::store::reader::Recording;
use crate::text::{escape, plural, size};
use crate::trace::frame::Seq;
use crate::trace::item::{Lens, What};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use target::{Replace, Target};

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
    match args.format {
        ExportFormat::Recording => copy::run(&recording, args)?,
        _ => file(&recording, args, query.as_ref())?,
    }
    tell_unfinished(&recording)?;
    Ok(Exit::Fine)
}

/// Writes a file that is made of what is selected.
fn file(recording: &Recording, args: &Args, query: Option<&Query>) -> Result<(), Failure> {
    let selection = selection(recording, args, query)?;
    let path = args.output.as_deref();
    let mut target = Target::open(path, recording.path(), may(args))?;
    let (written, report) = write::write(recording, args, &selection, &mut target)?;
    let bytes = target.finish()?;
    let redacted = in_words(report.as_ref());
    match path {
        Some(path) => {
            let said = said(path, args.format, &written, bytes);
            output::say(&format!("{said}; {redacted}"));
        }
        None if report.is_some_and(|report| !report.left.is_empty()) => output::say(&redacted),
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

/// The last frame that is written: of a recording that grows, the last one that is there now.
pub(super) fn last(recording: &Recording) -> Result<Seq, Failure> {
    let summary = recording.summary()?;
    let is_final = summary.state.is_final();
    Ok(Seq(if is_final { u64::MAX } else { summary.frames }))
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
        pick(recording, query, &mut selection)?;
    }
    if selection.is_empty() {
        let why = "nothing on record fits, so nothing was written";
        return Err(Failure::Refused(anyhow::anyhow!(why)));
    }
    Ok(selection)
}

/// Picks the rows that fit.
fn pick(recording: &Recording, query: &Query, selection: &mut Selection) -> Result<(), Failure> {
    // The rounds of a chain are picked together: each of them again would be their square.
    let mut chains = BTreeSet::new();
    filter::each(recording, Lens::Exchanges, query, |item| {
        match &item.what {
            What::Exchange(exchange) if exchange.chain.is_some_and(|id| !chains.insert(id)) => {}
            What::Exchange(exchange) => {
                for seq in recording.frames_of_exchange(exchange.id)? {
                    selection.pick_frame(seq);
                }
            }
            What::Message { head, .. } | What::Line { head, .. } => {
                selection.pick_frame(head.seq);
            }
            What::Event(_) => {
                if let Some(id) = item.key.event_id() {
                    selection.pick_event(item.key.seq, id);
                }
            }
        }
        Ok(())
    })
}

/// What became of secrets; without a report nothing.
fn in_words(report: Option<&Report>) -> String {
    let Some(report) = report else {
        return "nothing in it is redacted".to_owned();
    };
    let places = plural(report.hits(), "place");
    let mut text = format!("redacted in {places}, look through it before you hand it on");
    if !report.left.is_empty() {
        let frames = plural(report.left.len() as u64, "frame");
        let _ = write!(
            text,
            "; {frames} too long to be looked through and left out"
        );
    }
    text
}

/// What was written, for people.
fn said(path: &Path, format: ExportFormat, written: &Written, bytes: u64) -> String {
    use ExportFormat::{Csv, Markdown, Otlp, Perfetto};
    let path = path.display().to_string();
    let of_exchanges = matches!(format, Csv | Markdown | Otlp | Perfetto);
    let (noun, number) = if of_exchanges {
        ("exchange", written.exchanges)
    } else {
        ("frame", written.frames)
    };
    let mut text = format!("{}: {}, ", escape(&path), plural(number, noun));
    // Statistics have no place for events, and a report says of them what matters.
    if !matches!(format, Csv | Markdown) {
        let _ = write!(text, "{}, ", plural(written.events, "event"));
    }
    text.push_str(&size(bytes));
    if written.left_out > 0 {
        let _ = write!(text, ", {} are left out", plural(written.left_out, noun));
    }
    text
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
