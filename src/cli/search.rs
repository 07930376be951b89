//! `mcpreel search`: a text in all recordings, or in some.
//!
//! ```text
//! 7f3a#1187  ←  tools/call  …"text":"quota exceeded, try again at 16:00"…
//! ```

use super::exit::{Exit, Failure, Outcome};
use super::folder::Folder;
use super::output::{self, Ink, Output, Progress};
use super::rows::stream_arrow;
use super::{folder, select};
use clap::Args;
use mcpreel_store::library::{Entry, Library, short_id};
use mcpreel_store::reader::Recording;
use mcpreel_store::search::{Found, Pace, Pattern, PatternError, Place, Search as Scan, SearchHit};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{count, cut, escape, escape_bytes, pad_end, plural, size, width};
use serde_json::json;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use unicode_segmentation::UnicodeSegmentation as _;

/// A step of the search, nanoseconds: so often hits are shown.
const STEP_NS: u64 = 100_000_000;

/// Bytes of context that are shown before a match, and of the match and what follows.
const BEFORE: u64 = 30;
const AFTER: u64 = 120;

/// Columns of the method.
const METHOD: usize = 24;

/// Find a text in recordings
///
/// Looks in every byte on record and in the summaries, the newest recording and frame first.
/// Without a capital letter in TEXT case is ignored; text is also found where JSON has escaped it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel search 'quota exceeded'
  mcpreel search --regex 'E[0-9]{4}' weather-server
  mcpreel search timeout --json | jq -r '\"\\(.id)#\\(.seq)\"'")]
pub struct Search {
    /// What is looked for
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
        let pattern = if self.regex {
            Pattern::Regex
        } else {
            Pattern::Literal
        };
        let pattern = pattern(self.text.clone());
        // What is no pattern is refused before anything is read.
        Scan::new(Path::new(""), &pattern, None).map_err(|error| no_pattern(&error))?;
        let library = Library::new(folder::of(&self.folder)?);
        let entries = library.list()?;
        let mut searched = Searched {
            pattern,
            json: self.json,
            clock: Clock::start(),
            out: Output::stream(),
            hits: 0,
        };
        let (mut recordings, mut exit) = (0, Exit::Fine);
        for path in self.paths(&library, &entries)? {
            match searched.through(&path, &library, &entries) {
                Ok(()) => recordings += 1,
                Err(failure) => exit = failure.passed_over("not searched")?,
            }
        }
        searched.out.flush()?;
        if searched.hits == 0 {
            let recordings = plural(recordings, "recording");
            output::say(&format!("not found in {recordings}"));
        }
        Ok(exit)
    }

    /// The recordings that are meant: all of them, the newest first, where none is named.
    fn paths(&self, library: &Library, entries: &[Entry]) -> Result<Vec<PathBuf>, Failure> {
        if self.recordings.is_empty() {
            return Ok(entries.iter().map(|entry| entry.path.clone()).collect());
        }
        let named = self.recordings.iter();
        let named = named.map(|text| Ok(select::find(text, library)?.path));
        named.collect()
    }
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
        let search = Scan::new(recording.file(), &self.pattern, None);
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
            let bytes = place.unzip();
            // `offset`: where the first match stands; null if it is in the summary only.
            return Ok(self.out.json(&json!({
                "id": id,
                "path": recording.path().to_string_lossy(),
                "seq": hit.seq.0,
                "stream": head.stream.as_str(),
                "direction": head.stream.messages().map(Direction::as_str),
                "t_ns": head.t_last.0,
                "method": method,
                "offset": bytes.0,
                "length": bytes.1,
                "context": format!("{}{}{}", context.before, context.hit, context.after),
            }))?);
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
        let method = pad_end(&cut(method, METHOD), METHOD);
        let arrow = stream_arrow(stream);
        let at = pad_end(at, 12);
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

/// What stands around a match, escaped.
struct Context {
    before: String,
    hit: String,
    after: String,
}

/// What stands before a match and the match in `room` columns: the match is worth more.
fn around(context: &Context, room: usize) -> (String, String) {
    let hit = cut(&context.hit, room);
    let left = room - width(&hit);
    if width(&context.before) <= left {
        return (context.before.clone(), hit);
    }
    let from = context.before.grapheme_indices(true);
    let mut rests = from.map(|(at, _)| &context.before[at..]);
    let rest = rests.find(|rest| width(rest) < left).unwrap_or_default();
    let ellipsis = if left > 0 { "…" } else { "" };
    (format!("{ellipsis}{rest}"), hit)
}

/// What stands around what was found in a frame.
fn context(recording: &Recording, head: &FrameHead, place: &Place) -> Result<Context, Failure> {
    let Place::Bytes(range) = place else {
        let messages = recording.messages_of_frame(head.seq)?;
        let summaries = messages.iter().map(|row| escape(&row.record.summary));
        return Ok(Context {
            before: String::new(),
            hit: summaries.collect::<Vec<_>>().join(" · "),
            after: String::new(),
        });
    };
    let mut from = range.start.saturating_sub(BEFORE);
    // Blanks at the beginning of a line say where in a table it belongs.
    if from <= BEFORE && recording.piece(head.seq, 0..from)?.trim_ascii().is_empty() {
        from = 0;
    }
    let to = range.end.min(range.start + AFTER);
    let until = (range.start + AFTER)
        .max(range.end)
        .min(head.size)
        .min(to + AFTER);
    let piece = |range: Range<u64>| recording.piece(head.seq, range);
    let (before, hit, after) = (
        piece(from..range.start)?,
        piece(range.start..to)?,
        piece(to..until)?,
    );
    let ellipsis = |is_cut: bool| if is_cut { "…" } else { "" };
    let before = escape_bytes(whole_start(&before)).into_owned();
    let rest = escape_bytes(whole_end(&after).trim_ascii_end()).into_owned();
    Ok(Context {
        before: format!("{}{before}", ellipsis(from > 0)),
        hit: format!("{}{}", escape_bytes(&hit), ellipsis(to < range.end)),
        after: format!("{rest}{}", ellipsis(until < head.size)),
    })
}

/// Without the rest of a character whose beginning was cut off.
fn whole_start(bytes: &[u8]) -> &[u8] {
    let rest = bytes
        .iter()
        .take(3)
        .take_while(|byte| **byte & 0xC0 == 0x80);
    &bytes[rest.count()..]
}

/// Without the beginning of a character whose rest was cut off.
fn whole_end(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_is_seen_however_little_room_there_is() {
        let context = Context {
            before: format!("{}transport '", " ".repeat(32)),
            hit: "stdio".to_owned(),
            after: "'".to_owned(),
        };
        for room in 0..60 {
            let (before, hit) = around(&context, room);
            assert!(width(&before) + width(&hit) <= room, "{room}: {before:?}");
            assert!(room < 5 || hit == "stdio", "{room}: {hit:?}");
            assert_eq!(before == context.before, room >= 48, "{room}");
        }
        assert_eq!(around(&context, 12).0, "…port '");
        assert_eq!(around(&context, usize::MAX).0, context.before);
    }
}
