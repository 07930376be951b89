//! `mcpreel search`: a text in all recordings, or in some.
//!
//! ```text
//! 7f3a#1187  ←  tools/call  …"text":"quota exceeded, try again at 16:00"…
//! ```

mod context;

use super::args::Search as Args;
use super::exit::{Exit, Failure, Outcome, code};
use super::lines::stream_arrow;
use super::output::{self, Ink, Output, Progress};
use super::{folder, select};
use context::{Context, around, context};
use mcpreel_store::library::{Entry, Library, short_id};
use mcpreel_store::reader::Recording;
use mcpreel_store::search::{Found, Pace, Pattern, PatternError, Place, Search, SearchHit};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{count, cut, escape, plural, size, width};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A step of the search, nanoseconds: so often hits are shown.
const STEP_NS: u64 = 100_000_000;

/// Columns of the method.
const METHOD: usize = 24;

/// Searches.
pub fn run(args: &Args) -> Outcome {
    let pattern = if args.regex {
        Pattern::Regex
    } else {
        Pattern::Literal
    };
    let pattern = pattern(args.text.clone());
    // What is no pattern is refused before anything is read.
    Search::new(Path::new(""), &pattern, None).map_err(|error| no_pattern(&error))?;
    let library = Library::new(folder::of(&args.folder)?);
    let entries = library.list()?;
    let mut searched = Searched {
        pattern,
        json: args.json,
        clock: Clock::start(),
        out: Output::stream(),
        hits: 0,
        recordings: 0,
        exit: Exit::Fine,
    };
    for path in which(args, &library, &entries)? {
        match searched.through(&path, &library, &entries) {
            Ok(()) => searched.recordings += 1,
            Err(failure @ (Failure::Closed | Failure::Usage(_))) => return Err(failure),
            Err(failure) => {
                let (_, why) = code(Err(failure));
                let why = why.unwrap_or_default();
                output::say(&format!("not searched: {}", escape(&why)));
                searched.exit = Exit::Refused;
            }
        }
    }
    searched.out.flush()?;
    if searched.hits == 0 {
        let recordings = plural(searched.recordings, "recording");
        output::say(&format!("not found in {recordings}"));
    }
    Ok(searched.exit)
}

/// The recordings that are meant: all of them, the newest first, where none is named.
fn which(args: &Args, library: &Library, entries: &[Entry]) -> Result<Vec<PathBuf>, Failure> {
    if args.recordings.is_empty() {
        return Ok(entries.iter().map(|entry| entry.path.clone()).collect());
    }
    let named = args.recordings.iter();
    let named = named.map(|text| Ok(select::find(text, library)?.path));
    named.collect()
}

fn no_pattern(error: &PatternError) -> Failure {
    Failure::Usage(escape(&error.to_string()).into_owned())
}

struct Searched {
    pattern: Pattern,
    json: bool,
    clock: Clock,
    out: Output,
    hits: u64,
    recordings: u64,
    exit: Exit,
}

/// A frame with the text in it.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    path: &'a str,
    seq: u64,
    stream: &'static str,
    direction: Option<&'static str>,
    t_ns: u64,
    method: Option<String>,
    /// Where in the frame's bytes the first match stands; null if in its summary only.
    offset: Option<u64>,
    length: Option<u64>,
    context: String,
}

impl Searched {
    fn through(
        &mut self,
        path: &Path,
        library: &Library,
        entries: &[Entry],
    ) -> Result<(), Failure> {
        let recording = select::recording(path, library)?;
        let id = recording.summary()?.id;
        let search = Search::new(recording.file(), &self.pattern, None);
        let mut search = search.map_err(|error| no_pattern(&error))?;
        let pace = Pace {
            nanos: STEP_NS,
            clock: self.clock,
        };
        let mut progress = Progress::stderr();
        loop {
            let found = search.step(&pace)?;
            if !found.hits.is_empty() {
                progress.clear();
            }
            for hit in &found.hits {
                self.show(&recording, &id, hit, entries)?;
            }
            self.out.flush()?;
            if found.done {
                return Ok(());
            }
            progress.show(&self.said(short_id(&id, entries), &found));
        }
    }

    fn said(&self, id: &str, found: &Found) -> String {
        let done = (found.of - found.left).saturating_mul(100) / found.of.max(1);
        let bytes = size(found.bytes);
        let hits = count(self.hits);
        format!("searching {id}: {done} %, {bytes}; {hits} found")
    }

    fn show(
        &mut self,
        recording: &Recording,
        id: &str,
        hit: &SearchHit,
        entries: &[Entry],
    ) -> Result<(), Failure> {
        let Some(head) = recording.head(hit.seq)? else {
            return Ok(());
        };
        self.hits += 1;
        let method = method(recording, &head)?;
        let context = context(recording, &head, &hit.place)?;
        if self.json {
            let place = match &hit.place {
                Place::Bytes(range) => Some((range.start, range.end - range.start)),
                Place::Summary => None,
            };
            return Ok(self.out.json(&Line {
                id,
                path: &recording.path().to_string_lossy(),
                seq: hit.seq.0,
                stream: head.stream.as_str(),
                direction: head.stream.messages().map(Direction::as_str),
                t_ns: head.t_last.0,
                method,
                offset: place.map(|(offset, _)| offset),
                length: place.map(|(_, length)| length),
                context: format!("{}{}{}", context.before, context.hit, context.after),
            })?);
        }
        let at = format!("{}#{}", short_id(id, entries), hit.seq.0);
        let method = method.map_or_else(
            || match head.stream {
                StreamId::STDERR => "stderr".to_owned(),
                _ => "no message".to_owned(),
            },
            |method| escape(&method).into_owned(),
        );
        let line = self.line(&at, head.stream, &method, &context);
        Ok(self.out.line(&line)?)
    }

    fn line(&self, at: &str, stream: StreamId, method: &str, context: &Context) -> String {
        let method = mcpreel_wire::text::pad_end(&cut(method, METHOD), METHOD);
        let arrow = stream_arrow(stream);
        let at = mcpreel_wire::text::pad_end(at, 12);
        let used = width(&at) + width(arrow) + width(&method) + 6;
        let room = match self.out.columns() {
            Some(columns) => columns.saturating_sub(used),
            None => usize::MAX,
        };
        let (before, hit) = around(context, room);
        let left = room.saturating_sub(width(&before) + width(&hit));
        format!(
            "{}  {arrow}  {}  {}{}{}",
            self.out.paint(Ink::Strong, &at),
            self.out.paint(Ink::Faint, &method),
            before,
            self.out.paint(Ink::Warn, &hit),
            cut(&context.after, left)
        )
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
    let exchange = match first.record.exchange {
        Some(id) => recording.exchange(id)?,
        None => None,
    };
    Ok(exchange.map(|exchange| exchange.method.to_string()))
}
