//! `mcpreel export`: a recording as a file of another format.
//!
//! Each format goes over what is selected of the recording and writes to whatever it is given; the
//! rest is the same for all: what is selected, where it goes, and that a file is whole or not there.

use super::args::{Export as Args, ExportFormat};
use super::exit::{Exit, Failure, Outcome};
use super::output::{self, Output, Progress};
use super::temporary::Draft;
use super::{filter, select};
use crate::formats::cassette::{self, WriteError, Written};
use crate::formats::export::Selection;
use crate::query::Query;
use crate::store::reader::Recording;
use crate::text::{count, escape, plural, size};
use crate::trace::frame::Seq;
use crate::trace::item::{Lens, What};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Bytes that are written at once.
const BUFFER: usize = 256 * 1024;

/// Writes what the arguments ask for.
pub fn run(args: &Args) -> Outcome {
    let query = filter::parse(args.query.as_deref())?;
    refuse(args)?;
    let (recording, seq, ready) = select::open(&args.recording, &args.folder)?;
    if seq.is_some() {
        return Err(usage("#SEQ names one frame; --from and --to name several"));
    }
    let selection = selection(&recording, args, query.as_ref())?;
    let mut target = Target::open(args.output.as_deref(), ready.reel())?;
    let last = last(&recording)?;
    let written = write(args.format, &recording, &selection, last, &mut target)?;
    if let Some(path) = &args.output {
        let bytes = target.finish()?;
        output::say(&said(path, &written, bytes));
    } else {
        target.finish()?;
    }
    tell_unfinished(&recording)?;
    Ok(Exit::Fine)
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
    Ok(match summary.state.is_final() {
        true => Seq(u64::MAX),
        false => Seq(summary.frames),
    })
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
    filter::each(recording, Lens::Exchanges, query, |item| {
        match &item.what {
            What::Exchange(exchange) => {
                let frames = recording.frames_of_exchange(exchange.id)?;
                frames.into_iter().for_each(|seq| selection.pick_frame(seq));
            }
            What::Message { head, .. } | What::Line { head, .. } => {
                selection.pick_frame(head.seq);
            }
            What::Event(_) => {
                let id = item.key.event_id();
                let after = item.key.seq;
                id.into_iter()
                    .for_each(|id| selection.pick_event(after, id));
            }
        }
        Ok(())
    })
}

fn write(
    format: ExportFormat,
    recording: &Recording,
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
        ExportFormat::Jsonl => cassette::write(recording, selection, last, target, &mut told),
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
        text.push_str(&format!(
            ", {} are left out",
            plural(written.left_out, "frame")
        ));
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

/// Where it goes.
enum Target {
    Stdout(Box<Output>),
    /// A file that appears when it is whole.
    Whole {
        path: PathBuf,
        out: Counted<Draft>,
    },
    /// Something that is there and no file, for example a pipe: it gets what is written at once.
    Direct {
        path: PathBuf,
        out: Counted<File>,
    },
}

impl Target {
    /// Begins. `reel` is the recording that is read, which must not be replaced.
    fn open(path: Option<&Path>, reel: &Path) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self::Stdout(Box::new(Output::stdout())));
        };
        let refused = |error: io::Error| failure(path, error);
        // Through a link its target is written: it may stand elsewhere for a reason.
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let path = path.to_owned();
        match real.metadata() {
            Ok(there) if there.is_dir() => {
                let why = io::Error::from(io::ErrorKind::IsADirectory);
                Err(refused(why))
            }
            Ok(there) if !there.is_file() => {
                let file = OpenOptions::new()
                    .write(true)
                    .open(&real)
                    .map_err(refused)?;
                let out = Counted::new(file);
                Ok(Self::Direct { path, out })
            }
            Ok(there) if is_same(&there, reel) => Err(usage(
                "-o names the recording itself, which would be gone; name another file",
            )),
            _ => {
                let draft = Draft::beside(&real).map_err(refused)?;
                let out = Counted::new(draft);
                Ok(Self::Whole { path: real, out })
            }
        }
    }

    /// Everything is written; returns how many bytes that were.
    fn finish(self) -> Result<u64, Failure> {
        match self {
            Self::Stdout(mut out) => {
                out.flush()?;
                Ok(0)
            }
            Self::Whole { path, out } => {
                let bytes = out.bytes;
                let draft = out.into_inner().map_err(|error| failure(&path, error))?;
                draft
                    .replace(&path)
                    .map_err(|error| failure(&path, error))?;
                Ok(bytes)
            }
            Self::Direct { path, out } => {
                let bytes = out.bytes;
                out.into_inner().map_err(|error| failure(&path, error))?;
                Ok(bytes)
            }
        }
    }

    fn failure(&self, error: io::Error) -> Failure {
        match self {
            Self::Stdout(_) => error.into(),
            Self::Whole { path, .. } | Self::Direct { path, .. } => failure(path, error),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.bytes(bytes).map(|()| bytes.len()),
            Self::Whole { out, .. } => out.write(bytes),
            Self::Direct { out, .. } => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::Whole { out, .. } => out.flush(),
            Self::Direct { out, .. } => out.flush(),
        }
    }
}

fn is_same(there: &std::fs::Metadata, reel: &Path) -> bool {
    let identity = |file: &std::fs::Metadata| (file.dev(), file.ino());
    reel.metadata()
        .is_ok_and(|reel| identity(&reel) == identity(there))
}

/// Whoever reads a pipe and has closed it has all that it wanted.
fn failure(path: &Path, error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Failure::Closed;
    }
    let path = path.display().to_string();
    let context = format!("could not write {}", escape(&path));
    Failure::Refused(anyhow::Error::from(error).context(context))
}

/// Counts what passes.
struct Counted<W: Write> {
    out: BufWriter<W>,
    bytes: u64,
}

impl<W: Write> Counted<W> {
    fn new(out: W) -> Self {
        Self {
            out: BufWriter::with_capacity(BUFFER, out),
            bytes: 0,
        }
    }

    fn into_inner(self) -> io::Result<W> {
        self.out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
