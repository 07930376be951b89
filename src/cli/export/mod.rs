//! `mcpreel export`: a recording as a file of another format.
//!
//! Each format goes over what is selected of the recording and writes to whatever it is given; the
//! rest is the same for all: what is selected, where it goes, and that a file is whole or not there.

mod copy;
mod target;

use super::args::{Export as Args, ExportFormat};
use super::exit::{Exit, Failure, Outcome};
use super::output::{self, Progress};
use super::{filter, select};
use crate::formats::cassette::{self, WriteError, Written};
use crate::formats::export::Selection;
use crate::formats::html;
use crate::query::Query;
use crate::store::reader::Recording;
use crate::text::{count, escape, plural, size};
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
        ExportFormat::Jsonl | ExportFormat::Html => selected_of(&recording, args, query.as_ref())?,
        ExportFormat::Recording => copy::run(&recording, args)?,
    }
    tell_unfinished(&recording)?;
    Ok(Exit::Fine)
}

/// Writes what is selected.
fn selected_of(recording: &Recording, args: &Args, query: Option<&Query>) -> Result<(), Failure> {
    let selection = selection(recording, args, query)?;
    let path = args.output.as_deref();
    let mut target = Target::open(path, recording.path(), may(args))?;
    let last = last(recording)?;
    let written = write(recording, args.format, &selection, last, &mut target)?;
    let bytes = target.finish()?;
    if let Some(path) = path {
        output::say(&said(path, &written, bytes));
        if args.format == ExportFormat::Html && bytes > LARGE_PAGE {
            output::say(
                "a browser needs several times that much memory for it; -q, --from and --to make \
                 a smaller page",
            );
        }
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
    if !args.raw {
        return Err(usage(
            "nothing is redacted yet: --raw writes everything as it was said, with whatever \
             secrets stand in it; look through the file before you hand it on",
        ));
    }
    if let (Some(from), Some(to)) = (args.from, args.to)
        && from > to
    {
        return Err(usage(
            "--from comes after --to: there is nothing between them",
        ));
    }
    if args.format == ExportFormat::Recording {
        return copy::refuse(args);
    }
    if args.output.is_none() && io::stdout().is_terminal() {
        return Err(usage(
            "a terminal would obey what was said on the wire: name a file (-o FILE), or pipe it \
             on; `mcpreel show --frames` shows it escaped",
        ));
    }
    Ok(())
}

fn usage(message: &str) -> Failure {
    Failure::Usage(message.to_owned())
}

/// The last frame that is written: of a recording that grows, the last one that is there now.
fn last(recording: &Recording) -> Result<Seq, Failure> {
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

fn write(
    recording: &Recording,
    format: ExportFormat,
    selection: &Selection,
    last: Seq,
    target: &mut Target,
) -> Result<Written, Failure> {
    let of = recording.summary()?.frames;
    let mut progress = Progress::stderr();
    let mut told = |seq: Seq| {
        progress.now_and_then(|| format!("{} of {} frames written", count(seq.0), count(of)));
    };
    let written = match format {
        ExportFormat::Html => html::write(recording, selection, last, target, &mut told),
        _ => cassette::write(recording, selection, last, target, &mut told),
    };
    written.map_err(|error| match error {
        WriteError::Read(error) => error.into(),
        WriteError::Write(error) => target.failure(error),
    })
}

/// What was written, for people.
fn said(path: &Path, written: &Written, bytes: u64) -> String {
    let path = path.display().to_string();
    let mut text = format!(
        "{}: {}, {}, {}; nothing in it is redacted",
        escape(&path),
        plural(written.frames, "frame"),
        plural(written.events, "event"),
        size(bytes)
    );
    if written.left_out > 0 {
        let _ = write!(text, ", {} are left out", plural(written.left_out, "frame"));
    }
    text
}

/// A line whose end has not come is no frame, and not in the file.
fn tell_unfinished(recording: &Recording) -> Result<(), Failure> {
    for line in recording.unfinished()? {
        output::say(&format!(
            "{} of a line on {} whose end has not come are left out",
            plural(line.bytes, "byte"),
            line.stream.as_str()
        ));
    }
    Ok(())
}
