//! `mcpreel tail`: a recording while it is made.

use super::cassette::Tape;
use super::exit::{Exit, Failure, Outcome};
use super::filter::Filter;
use super::folder::Folder;
use super::output;
use super::rows::Printer;
use super::{filter, folder, select};
use clap::Args;
use mcpreel_store::follow::{Change, INTERVAL, Read, Watch};
use mcpreel_store::library::{Entry, Library, REEL, SPOOL, Standing};
use mcpreel_store::reader::{EventRow, MessageRow, Recording, Summary};
use mcpreel_store::select::Question;
use mcpreel_trace::clock::{Moment, wall_clock_ns};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::Query;
use mcpreel_wire::http::Part;
use mcpreel_wire::text::escape;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::thread;

/// Frames have at least this many digits' room, so that the columns do not jump.
const ROOM: u64 = 99_999;

/// Polls without news between two looks at whether the recording was abandoned.
const LOOK_EVERY: u32 = 15;

/// Frames that are read at once.
const PAGE: u32 = 500;

/// An exchange that is open for longer gets a line, nanoseconds.
const LONG: u64 = 1_000_000_000;

/// Follow a recording while it is made
///
/// Prints a line when an exchange ends, one per notification, stderr line and event, and one for
/// any exchange that has been open for over a second. Ends when the recording does.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel tail                   the newest live recording, or the next one
  mcpreel tail -q '-kind:stderr -method:notifications/progress'
  mcpreel tail weather-server --json")]
pub struct Tail {
    /// A path, @, @2, an id or its first four digits or more, or a name [default: the newest live
    /// one, or the next]
    #[arg(value_name = "RECORDING")]
    recording: Option<OsString>,
    #[command(flatten)]
    folder: Folder,
    #[command(flatten)]
    filter: Filter,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

impl Tail {
    /// Follows the recording that is named, or the newest live one, or the next.
    pub fn run(&self) -> Outcome {
        let query = filter::parse(self.filter.query.as_deref())?;
        let library = Library::new(folder::of(&self.folder)?);
        let path = match &self.recording {
            Some(text) => select::find(text, &library)?.path,
            None => newest_or_next(&library)?,
        };
        // A cassette has all that there is; it is shown like a recording that has just ended.
        let tape = Tape::of(&path)?;
        tape.iter().for_each(Tape::tell);
        let path = tape.as_ref().map_or(&*path, Tape::reel);
        let entry = Entry::read(path);
        // What another version has derived is derived anew in a copy.
        let finished = entry.standing == Standing::Finished;
        let recording = finished.then(|| Recording::open(path)).transpose()?;
        let path = recording.as_ref().map_or(path, Recording::file);
        output::say(&format!("following {} {}", entry.id, escape(&entry.name)));
        follow(path, &library, query, self.json)?;
        Ok(Exit::Fine)
    }
}

fn newest_or_next(library: &Library) -> Result<PathBuf, Failure> {
    let known = begun(library.dir());
    let mut entries = library.list()?.into_iter();
    if let Some(live) = entries.find(|entry| entry.standing == Standing::Live) {
        return Ok(live.path);
    }
    let dir = output::shown(library.dir());
    output::say(&format!(
        "waiting for a recording in {dir}:  `mcpreel run -- COMMAND` makes one, \
         `mcpreel tail @` shows the newest, Ctrl-C ends this"
    ));
    loop {
        if let Some(path) = begun(library.dir()).difference(&known).next() {
            return Ok(path.clone());
        }
        thread::sleep(INTERVAL);
    }
}

/// The recordings in the folder `dir` that have a spool: every recording begins with one. The folder
/// need not exist.
pub fn begun(dir: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == SPOOL))
        .map(|path| path.with_extension(REEL))
        .collect()
}

/// Shows the recording `path`, or those of its rows that fit, until it ends.
pub fn follow(
    path: &Path,
    library: &Library,
    query: Option<Query>,
    json: bool,
) -> Result<(), Failure> {
    let mut watch = Watch::new(path);
    let mut follower = Follower {
        rows: Printer::stdout(json, ROOM),
        query,
        frame: Seq(0),
        event: 0,
        exchanges: BTreeMap::new(),
    };
    let (mut quiet, mut is_completed) = (0_u32, false);
    loop {
        match watch.poll(|recording| follower.news(recording))? {
            Change::Changed(true) => continue,
            Change::Changed(false) => quiet = 0,
            Change::Waiting | Change::Quiet => {
                // A copy of a live recording has no end. A recording that has just ended looks the
                // same for a moment, until its end is polled.
                quiet += 1;
                let is_long = quiet > LOOK_EVERY && quiet.is_multiple_of(LOOK_EVERY);
                if is_long && Entry::read(path).standing == Standing::Cut {
                    break;
                }
            }
            // The recorder has gone: the recording is completed, so that its end can be shown.
            Change::Orphaned if !is_completed && library.contains(path) => {
                is_completed = true;
                select::complete(path, library)?;
            }
            Change::Orphaned | Change::Ended => break,
        }
        if let Some(recording) = watch.recording() {
            follower.open_for_long(recording)?;
        }
        thread::sleep(INTERVAL);
    }
    Ok(follower.rows.out.flush()?)
}

/// Prints each exchange when it ends, and again if its status changes after that; everything else as it
/// comes, of what was asked for. Its memory grows only with the number of exchanges that may still change.
struct Follower {
    rows: Printer,
    query: Option<Query>,
    /// The last frame and the last event that were read.
    frame: Seq,
    event: u64,
    /// Exchanges that may still change, and whether there was a line for their being open.
    exchanges: BTreeMap<ExchangeId, (Exchange, bool)>,
}

/// A row to be printed.
enum Row {
    /// An exchange that has ended, or has been open for long, with its time and whether it is open.
    Exchange(Box<Exchange>, Moment, bool),
    /// Anything else, by its address in the rows of calls, or in those of the wire.
    Other(Lens, ItemKey),
}

impl Row {
    fn key(&self) -> (Lens, ItemKey) {
        match self {
            Self::Exchange(exchange, ..) => {
                let (seq, part) = exchange.request;
                (Lens::Exchanges, ItemKey::of_part(seq, part))
            }
            Self::Other(lens, key) => (*lens, *key),
        }
    }
}

fn is_open(exchange: &Exchange) -> bool {
    matches!(exchange.status, Status::Open | Status::Listening)
}

impl Follower {
    /// Prints the next page of what is new, and returns whether there is more.
    fn news(&mut self, recording: &Recording) -> Result<Read<bool>, Failure> {
        let held = recording.hold()?;
        let summary = recording.summary()?;
        let frames = recording.heads(self.frame, PAGE)?;
        let is_full = frames.len() == PAGE as usize;
        let last = frames.last().map_or(self.frame, |head| head.seq);
        let messages = recording.messages(self.frame, last)?;
        let mut events = recording.events(self.event)?;
        events.retain(|row| !is_full || row.event.after_seq <= last);
        let more = is_full || events.len() >= PAGE as usize;
        let ids = messages.iter().filter_map(|row| row.record.exchange);
        let mut ids: BTreeSet<_> = ids.collect();
        if summary.state.is_final() && !more {
            ids.extend(self.exchanges.keys());
        }
        let exchanges = recording.exchanges_of(&ids.into_iter().collect::<Vec<_>>())?;
        drop(held);
        let is_news = !(frames.is_empty() && events.is_empty() && exchanges.is_empty());
        let with_messages: BTreeSet<_> = messages.iter().map(|row| row.record.frame).collect();
        let lines = frames.iter();
        let lines = lines.filter(|head| !with_messages.contains(&head.seq));
        let (of_http, lines): (Vec<&FrameHead>, Vec<_>) =
            lines.partition(|head| head.carried.http > 0);
        let lines = lines.into_iter().map(|head| ItemKey::of_part(head.seq, 0));
        let alone = messages.iter().filter(|row| stands_alone(row));
        let alone = alone.map(|row| ItemKey::of_part(row.record.frame, row.record.part));
        let of_event = |row: &EventRow| {
            let after = row.event.after_seq;
            ((after, 2), ItemKey::of_event(after, row.id))
        };
        let keys = lines.chain(alone).map(|key| ((key.seq, 0), key));
        let keys = keys.chain(events.iter().map(of_event));
        let keys = keys.map(|(place, key)| (place, Row::Other(Lens::Wire, key)));
        let mut rows: Vec<_> = keys.collect();
        // Of the heads those are told that answer a request without a message.
        for head in of_http {
            let is_answer = head.carried.part == Part::ResponseHead;
            let http = is_answer.then(|| recording.http(head.carried.http));
            let http = http.transpose()?.flatten();
            if let Some(http) = http.filter(|http| !http.has_messages) {
                let key = ItemKey::of_part(http.request, 0);
                rows.push(((head.seq, 0), Row::Other(Lens::Exchanges, key)));
            }
        }
        for exchange in exchanges {
            if let Some((after, exchange)) = self.settle(exchange) {
                // What nothing on the wire ended was ended by the end of the recording.
                let frame = frames.iter().find(|head| head.seq == after);
                let t = frame.map(|head| head.t_last).or(exchange.t_response);
                let t = t.unwrap_or(Moment(summary.t_last_ns));
                rows.push(((after, 1), Row::Exchange(Box::new(exchange), t, false)));
            }
        }
        self.frame = last;
        self.event = events.last().map_or(self.event, |row| row.id);
        rows.sort_by_key(|(place, _)| *place);
        let rows = rows.into_iter().map(|(_, row)| row).collect();
        self.show(rows, recording, &summary)?;
        Ok(match (more, summary.state.is_final()) {
            (true, _) => Read::Partly(true),
            (false, true) => Read::Complete(false),
            (false, false) if is_news => Read::All(false),
            (false, false) => Read::Nothing,
        })
    }

    /// The exchange with the frame that ended it, if it has just ended.
    fn settle(&mut self, exchange: Exchange) -> Option<(Seq, Exchange)> {
        let before = self.exchanges.remove(&exchange.id);
        let is_news = match &before {
            Some((before, _)) => before.status != exchange.status,
            // What was settled before is not remembered, but its request is no news.
            None => exchange.request.0 > self.frame,
        };
        if exchange.status.may_change() {
            let told = before.is_some_and(|(_, told)| told);
            self.exchanges.insert(exchange.id, (exchange.clone(), told));
        }
        let place = exchange.response.map(|(seq, _)| seq).or(exchange.cancelled);
        (is_news && !is_open(&exchange)).then(|| (place.unwrap_or(Seq(u64::MAX)), exchange))
    }

    /// Prints exchanges that have now been open for over a second, each once.
    fn open_for_long(&mut self, recording: &Recording) -> Result<(), Failure> {
        let mut exchanges = self.exchanges.values();
        if exchanges.all(|(exchange, told)| *told || !is_open(exchange)) {
            return Ok(());
        }
        let summary = recording.summary()?;
        let now = Moment(wall_clock_ns().saturating_sub(summary.wall_ns));
        let mut long = Vec::new();
        for (exchange, told) in self.exchanges.values_mut() {
            if !*told && is_open(exchange) && now.ns_since(exchange.t_request) > LONG {
                *told = true;
                long.push(Row::Exchange(Box::new(exchange.clone()), now, true));
            }
        }
        self.show(long, recording, &summary)
    }

    /// Prints rows, as far as they fit.
    fn show(
        &mut self,
        mut rows: Vec<Row>,
        recording: &Recording,
        summary: &Summary,
    ) -> Result<(), Failure> {
        if let Some(query) = &self.query {
            let mut fitting = HashSet::new();
            for lens in [Lens::Exchanges, Lens::Wire] {
                let (query, until) = (query.clone(), None);
                let question = Question { lens, query, until };
                let context = filter::context(summary, !summary.state.is_final());
                let keys = rows.iter().map(Row::key).filter(|(of, _)| *of == lens);
                let keys: Vec<_> = keys.map(|(_, key)| key).collect();
                let keys = recording.fitting(&question, context, &keys)?;
                fitting.extend(keys.into_iter().map(|key| (lens, key)));
            }
            rows.retain(|row| fitting.contains(&row.key()));
        }
        for row in rows {
            match row {
                Row::Exchange(exchange, t, is_open) => {
                    self.rows.exchange(&exchange, Some(t), is_open)?;
                }
                Row::Other(lens, key) => {
                    for item in recording.items(lens, &[key])? {
                        self.rows.item(recording, &item)?;
                    }
                }
            }
        }
        Ok(self.rows.out.flush()?)
    }
}

/// Requests and responses show as exchanges; a response to nothing shows as itself.
fn stands_alone(row: &MessageRow) -> bool {
    match row.record.kind {
        MessageKind::Notification | MessageKind::Other => true,
        MessageKind::Request | MessageKind::Response => row.record.exchange.is_none(),
    }
}
