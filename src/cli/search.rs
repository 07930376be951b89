//! `mcpreel search`: a text in all recordings, or in some.
//!
//! ```text
//! 7f3a  weather-server, today 15:17
//!   #1187  ←  tools/call  …"text":"quota exceeded, try again at 16:00"…
//! 1 hit in 1 recording
//! ```

use super::exit::{Exit, Failure, Outcome, usage};
use super::folder::Folder;
use super::output::{self, Ink, Output, Progress};
use super::rows::stream_arrow;
use super::{folder, select};
use clap::Args;
use mcpreel_share::phrases::when;
use mcpreel_share::redacting::masked;
use mcpreel_store::library::{Entry, Library, short_id};
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_store::text_search::{Finder, Pattern, Search as Scan};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{count, cut, escape, escape_bytes, pad_end, plural, size, width};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

/// A step of the search, nanoseconds: the progress is shown between two of them.
const STEP_NS: u64 = 100_000_000;

/// Bytes of context that are shown before a match, and of the match and what follows.
const BEFORE: u64 = 30;
const AFTER: u64 = 120;

/// Columns of the method.
const METHOD: usize = 24;

/// Find a text in recordings
///
/// Looks in every byte on record and in the command lines of servers, in the newest recording first,
/// in the network sides of bridges last.
/// Without a capital letter in TEXT case is ignored; text is also found where JSON has escaped it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel search 'quota exceeded'
  mcpreel search --regex 'E[0-9]{4}' weather-server
  mcpreel search timeout --json | jq -r '\"\\(.id)#\\(.seq)\"'

Exit code: 0 found, 1 not found, 2 wrong arguments, 3 a recording that cannot be read.")]
pub struct Search {
    /// The text to find
    #[arg(value_name = "TEXT")]
    text: String,
    /// Paths, @, @2, ids or their first four digits or more, or names [default: all recordings]
    #[arg(value_name = "RECORDING")]
    recordings: Vec<OsString>,
    #[command(flatten)]
    folder: Folder,
    /// TEXT is a regular expression over the bytes as they were on the wire
    #[arg(long)]
    regex: bool,
    /// One JSON object per frame and line
    #[arg(long)]
    json: bool,
}

impl Search {
    pub fn run(&self) -> Outcome {
        let text = self.text.clone();
        let pattern = if self.regex {
            Pattern::Regex(text)
        } else {
            Pattern::Literal(text)
        };
        // A wrong pattern is refused before anything is read.
        let finder = Finder::new(&pattern).map_err(|error| usage(&escape(&error.to_string())));
        let finder = finder?;
        let library = Library::new(folder::existing(&self.folder)?);
        let entries = library.list()?;
        let paths: Vec<PathBuf> = if self.recordings.is_empty() {
            // What the network side of a bridge has, its host's side has without the heads of HTTP.
            let is_network_side = |entry: &&Entry| entry.client_side().is_some();
            let (last, first): (Vec<_>, Vec<_>) = entries.iter().partition(is_network_side);
            let all = first.into_iter().chain(last);
            all.map(|entry| entry.path.clone()).collect()
        } else {
            let named = self.recordings.iter();
            let named = named.map(|text| Ok(select::find(text, &library)?.path));
            named.collect::<Result<_, Failure>>()?
        };
        let mut printer = Printer {
            json: self.json,
            out: Output::stream(),
            heading: None,
            hits: 0,
        };
        let (mut found_in, mut recordings, mut exit) = (0, 0, Exit::Fine);
        for path in paths {
            let before = printer.hits;
            let searched = select::recording(&path, &library).and_then(|recording| {
                let summary = recording.summary()?;
                let short = short_id(&summary.id, &entries);
                printer.begin(&summary, short);
                printer.command(&recording, &summary, &finder)?;
                printer.frames(&recording, short, &summary.id, &pattern)
            });
            found_in += u64::from(printer.hits > before);
            match searched {
                Ok(()) => recordings += 1,
                Err(failure) => exit = failure.skipped("not searched")?,
            }
        }
        if printer.hits == 0 {
            let recordings = plural(recordings, "recording");
            output::say(&format!("not found in {recordings}"));
        } else if !self.json {
            let (hits, found_in) = (plural(printer.hits, "hit"), plural(found_in, "recording"));
            let total = format!("{hits} in {found_in}");
            printer.out.inked(Ink::Faint, &total)?;
        }
        printer.out.flush()?;
        Ok(match exit {
            Exit::Fine if printer.hits == 0 => Exit::Process(ExitCode::from(1)),
            exit => exit,
        })
    }
}

/// Prints hits as they are found, and counts them.
struct Printer {
    json: bool,
    out: Output,
    /// The line above the hits of a recording, until the first of them comes.
    heading: Option<String>,
    hits: u64,
}

impl Printer {
    /// Goes on with another recording: `7f3a  weather-server, today 15:17`.
    fn begin(&mut self, summary: &Summary, short: &str) {
        let (name, at) = (escape(&summary.name), when::short(summary.wall_ns));
        let short = self.out.paint(Ink::Strong, short);
        self.heading = Some(format!("{short}  {name}, {at}"));
    }

    /// Looks in the command of the server.
    fn command(
        &mut self,
        recording: &Recording,
        summary: &Summary,
        finder: &Finder,
    ) -> Result<(), Failure> {
        let command = summary.context.argv.join(" ");
        if finder.places(command.as_bytes(), 1).is_empty() {
            return Ok(());
        }
        let command = masked(&summary.context.argv, [&*summary.context.argv]).join(" ");
        let place = json!({
            "id": summary.id,
            "path": recording.path().to_string_lossy(),
            "seq": null,
            "stream": "command",
            "context": command,
        });
        let command = escape(&command).into_owned();
        let context = [String::new(), command, String::new()];
        self.print(&place, ["", "•", "command line"], context)
    }

    /// Looks in all frames, from the last to the first.
    fn frames(
        &mut self,
        recording: &Recording,
        short: &str,
        id: &str,
        pattern: &Pattern,
    ) -> Result<(), Failure> {
        let mut search = Scan::new(recording.file(), pattern)?;
        let (mut progress, clock) = (Progress::stderr(), Clock::start());
        loop {
            let found = search.step(clock.deadline(STEP_NS))?;
            if !found.hits.is_empty() {
                progress.clear();
            }
            for hit in &found.hits {
                if let Some(head) = recording.head(hit.seq)? {
                    self.frame(recording, id, &head, &hit.place)?;
                }
            }
            self.out.flush()?;
            if found.done {
                return Ok(());
            }
            let done = (found.of - found.left).saturating_mul(100) / found.of.max(1);
            let (bytes, hits) = (size(found.bytes), count(self.hits));
            progress.now_and_then(|| format!("searching {short}: {done} %, {bytes}; {hits} found"));
        }
    }

    fn frame(
        &mut self,
        recording: &Recording,
        id: &str,
        head: &FrameHead,
        place: &Range<u64>,
    ) -> Result<(), Failure> {
        let method = method(recording, head)?;
        let context = context(recording, head, place)?;
        let found_at = json!({
            "id": id,
            "path": recording.path().to_string_lossy(),
            "seq": head.seq.0,
            "stream": head.stream.as_str(),
            "direction": head.stream.messages().map(Direction::as_str),
            "t_ns": head.t_last.0,
            "method": method,
            "offset": place.start,
            "length": place.end - place.start,
            "context": context.concat(),
        });
        let method = match &method {
            Some(method) => escape(method),
            None if head.stream == StreamId::STDERR => "stderr".into(),
            None => "no message".into(),
        };
        let at = format!("#{}", head.seq.0);
        let place = [&at, stream_arrow(head.stream), &method];
        self.print(&found_at, place, context)
    }

    /// Prints a hit: `json`, or its place, arrow and method, and what was found with what is around it.
    fn print(
        &mut self,
        json: &Value,
        [at, arrow, method]: [&str; 3],
        [before, found, after]: [String; 3],
    ) -> Result<(), Failure> {
        self.hits += 1;
        let out = &mut self.out;
        if self.json {
            return Ok(out.json(json)?);
        }
        if let Some(heading) = self.heading.take() {
            out.line(&heading)?;
        }
        let method = out.paint(Ink::Faint, &pad_end(&cut(method, METHOD), METHOD));
        let at = format!("  {}", pad_end(at, 7));
        let used = width(&at) + METHOD + 7;
        let room = out.columns().map(|columns| columns.saturating_sub(used));
        let room = room.unwrap_or(usize::MAX);
        // The match is worth more than what stands around it.
        let found = cut(&found, room);
        let is_room = width(&before) + width(&found) <= room;
        let before = if is_room { &*before } else { "" };
        let after = cut(&after, room - width(&found) - width(before));
        let (at, found) = (out.paint(Ink::Strong, &at), out.paint(Ink::Warn, &found));
        Ok(out.line(&format!("{at}  {arrow}  {method}  {before}{found}{after}"))?)
    }
}

/// The method of the frame's first message; of a response that of its request.
fn method(recording: &Recording, head: &FrameHead) -> Result<Option<String>, Failure> {
    let messages = recording.messages_of_frame(head.seq)?;
    let Some(first) = messages.first() else {
        return Ok(None);
    };
    if let Some(method) = &first.record.method {
        return Ok(Some(method.to_string()));
    }
    let id = first.record.exchange;
    let exchange = id.map(|id| recording.exchange(id)).transpose()?.flatten();
    Ok(exchange.map(|exchange| exchange.method.to_string()))
}

/// What stands before a match, the match, and what stands behind it, escaped.
fn context(
    recording: &Recording,
    head: &FrameHead,
    range: &Range<u64>,
) -> Result<[String; 3], Failure> {
    let from = range.start.saturating_sub(BEFORE);
    let to = range.end.min(range.start + AFTER);
    let until = head.size.min(range.start + AFTER).max(to);
    let piece = |range| Ok::<_, Failure>(recording.piece(head.seq, range)?);
    let (before, found) = (piece(from..range.start)?, piece(range.start..to)?);
    let after = piece(to..until)?;
    let ellipsis = |is_cut: bool| if is_cut { "…" } else { "" };
    // Of a character that was cut in two the rest is left out, and the end of the frame.
    let [before, after] = [before, after].map(|bytes| {
        let text = String::from_utf8_lossy(&bytes);
        escape(text.trim_matches('\u{fffd}')).into_owned()
    });
    let after = after.trim_end_matches("\\n").trim_end_matches("\\r");
    Ok([
        format!("{}{before}", ellipsis(from > 0)),
        escape_bytes(&found).into_owned(),
        format!("{after}{}", ellipsis(until < head.size)),
    ])
}
