//! `mcpreel export`: a recording as a file of another format.
//!
//! Each format goes over what is selected of the recording and writes to whatever it is given; the
//! rest is the same for all: what is selected, where it goes, and that a file is whole or not
//! there.

use super::exit::{Exit, Failure, Outcome, unwritten, usage};
use super::filter;
use super::output::{self, Output, Progress};
use super::redact::{self, Secrets};
use super::select::{self, RecordingArgs};
use clap::Args;
use mcpreel_share::export::Selection;
use mcpreel_share::export::otlp::Bodies;
use mcpreel_share::outgoing::file::{Replace, is_special};
use mcpreel_share::outgoing::{self, Format, Order, Saved, Stage, Stopped};
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Lens;
use mcpreel_trace::query::Query;
use mcpreel_wire::text::plural;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  mcpreel export -o session.jsonl                the newest recording, all of it
  mcpreel export 7f3a -q 'is:failed' -o failed.jsonl
  mcpreel export 7f3a --from 100 --to 180 | jq -c 'select(.k == \"req\") | .raw'
  mcpreel export -o report.md                    a bug report: what happened, why, a diagram
  mcpreel export --format perfetto -o t.json     a trace for ui.perfetto.dev
  mcpreel export --format otlp -q 'is:slow' -o spans.jsonl
  mcpreel export -o session.html                 a page for a browser
  mcpreel export --raw -o copy.reel              a copy, also while it is recorded

docs/cassette.md describes a cassette (jsonl).";

/// Export a recording as a file to share
///
/// --format jsonl writes a cassette; without --format the name of the file decides, and jsonl is
/// the rest. With a filter, the rows of the viewer that fit,
/// an exchange with all that belongs to it: progress, cancel, what the server asked meanwhile,
/// other rounds. --format html writes the same as a page for a browser: one file that loads and
/// sends nothing, with list, waterfall, filter, trees and findings. The other formats are for
/// reading (markdown, html) and for other people's programs (otlp, perfetto); with a filter they have
/// the same rows. --format recording copies a recording, also while it is being made, or
/// makes one of a cassette. The file appears when it is whole, readable by you alone.
///
/// What is secret is replaced on the way, as `mcpreel redact` does; --raw writes everything as it
/// was on the wire.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Export {
    #[command(flatten)]
    which: RecordingArgs,
    /// Output format [default: by the file's ending, else jsonl]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Do not redact: secrets stay in the file
    #[arg(long, conflicts_with_all = ["email", "home", "without"])]
    raw: bool,
    /// In a trace (--format otlp), arguments, results and texts too
    #[arg(long)]
    with_bodies: bool,
    #[command(flatten)]
    what: Secrets,
    /// The file [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Only what matches a filter, whole exchanges: is:failed, tool:search, ...
    #[arg(
        short = 'q',
        long = "query",
        value_name = "FILTER",
        allow_hyphen_values = true
    )]
    query: Option<String>,
    /// Only from this frame on
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    from: Option<u64>,
    /// Only up to this frame
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    to: Option<u64>,
}

/// Writes what the arguments ask for.
pub fn run(args: &Export) -> Outcome {
    let query = filter::parse(args.query.as_deref())?;
    let format = args
        .format
        .map_or_else(|| by_name(args.output.as_deref()), Ok)?;
    refuse(args, format)?;
    let recording = args.which.open()?;
    let selection = selection(&recording, args, query.as_ref())?;
    let now = select::now(&recording, &recording.summary()?);
    let policy = (!args.raw)
        .then(|| redact::policy(&args.what))
        .transpose()?;
    let order = Order {
        format,
        bodies: if args.with_bodies {
            Bodies::With
        } else {
            Bodies::Without
        },
        selection: &selection,
        now,
        policy,
    };
    let special = |path: &&Path| path.metadata().is_ok_and(|there| is_special(&there));
    match args.output.as_deref() {
        None => stream(&recording, &order, Output::stream())?,
        // A pipe, for example, gets what is written at once.
        Some(path) if special(&path) => {
            let file = OpenOptions::new().write(true).open(path);
            let file = file.map_err(|error| unwritten(path, error))?;
            stream(&recording, &order, BufWriter::new(file))?;
        }
        Some(path) => {
            let saved = save(&recording, &order, path, args.force)?;
            tell_saved(&saved, &order);
        }
    }
    tell_unfinished(&recording)?;
    Ok(Exit::Fine)
}

/// The format that the name of a file asks for; a name that two formats may have asks for `--format`.
fn by_name(path: Option<&Path>) -> Result<Format, Failure> {
    let ending = path.and_then(Path::extension).unwrap_or_default();
    let ending = ending.to_ascii_lowercase();
    Ok(match &*ending.to_string_lossy() {
        "html" | "htm" => Format::Html,
        "md" | "markdown" => Format::Markdown,
        "txt" => {
            return Err(usage(
                "there is no export as text: --format jsonl has each frame whole, one per line, and \
                 `mcpreel show --frames` prints what each says",
            ));
        }
        "reel" => Format::Recording,
        "har" => Format::Har,
        "json" => {
            return Err(usage(
                "name the format: both --format otlp and --format perfetto make JSON",
            ));
        }
        _ => Format::Jsonl,
    })
}

/// Refuses arguments that do not go together, before anything is read.
fn refuse(args: &Export, format: Format) -> Result<(), Failure> {
    use Format::{Markdown, Otlp, Recording};
    if args.from.zip(args.to).is_some_and(|(from, to)| from > to) {
        return Err(usage(
            "--from comes after --to: there is nothing between them",
        ));
    }
    if args.with_bodies && format != Otlp {
        return Err(usage("--with-bodies is for --format otlp"));
    }
    match format {
        _ if args.output.is_some() => Ok(()),
        Recording => Err(usage("--format recording makes a file: name it (-o FILE)")),
        // It escapes what was said.
        Markdown => Ok(()),
        _ if io::stdout().is_terminal() => Err(usage(
            "raw data is not written to a terminal: use -o FILE or a pipe, or \
             `mcpreel show --frames`, which escapes it",
        )),
        _ => Ok(()),
    }
}

/// The rows that fit, exchanges whole, between two frames. An empty selection is refused: a file
/// that is there already is worth more than an empty one.
fn selection(
    recording: &Recording,
    args: &Export,
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
        let why = "no row matches, so nothing was written";
        return Err(Failure::Refused(anyhow::anyhow!(why)));
    }
    Ok(selection)
}

/// Writes to something that is no file; only losses are reported.
fn stream(recording: &Recording, order: &Order<'_>, mut out: impl Write) -> Result<(), Failure> {
    let (_, report) = outgoing::write(recording, order, &mut out, &mut progress(recording)?)?;
    out.flush()?;
    if report
        .as_ref()
        .is_some_and(|report| report.lacks() || !report.off.is_empty())
    {
        output::say(&outgoing::redaction_in_words(report.as_ref(), order.format));
    }
    Ok(())
}

/// Writes a file that appears when it is whole.
pub fn save(
    recording: &Recording,
    order: &Order<'_>,
    path: &Path,
    force: bool,
) -> Result<Saved, Failure> {
    let may = if force { Replace::Yes } else { Replace::No };
    let tell = &mut progress(recording)?;
    Ok(outgoing::save(recording, order, path, may, tell)?)
}

fn tell_saved(saved: &Saved, order: &Order<'_>) {
    output::say(&saved.text);
    if order.format == Format::Recording && order.selection.note().is_some() {
        output::say("its frames have new numbers, from #1 on");
    }
    if order.format == Format::Recording && order.now.is_some() {
        output::say("it is still being recorded: later messages are not in the copy");
    }
}

/// Shows how far the work is.
pub fn progress(
    recording: &Recording,
) -> Result<impl FnMut(Stage) -> Result<(), Stopped> + use<>, Failure> {
    let of = recording.summary()?.frames;
    let mut progress = Progress::stderr();
    Ok(move |stage: Stage| {
        progress.now_and_then(|| stage.in_words(of));
        Ok(())
    })
}

/// A line whose end has not come is no frame, and not in the file.
pub fn tell_unfinished(recording: &Recording) -> Result<(), Failure> {
    for line in recording.unfinished()? {
        output::say(&format!(
            "{} of an unfinished line on {} are left out",
            plural(line.bytes, "byte"),
            line.stream.as_str()
        ));
    }
    Ok(())
}
