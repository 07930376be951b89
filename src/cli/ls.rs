//! `mcpreel ls`: the folder of recordings.

use super::args::Ls;
use super::exit::{Exit, Failure, Outcome};
use super::output::{self, Ink, Output};
use super::table::{Cell, Fit, Table, Way};
use super::{exit, filter, folder, json};
use mcpreel_share::phrases::{self, recording, sentence, when};
use mcpreel_store::library::{Details, Entry, Library, Standing, short_id};
use mcpreel_store::reader::Recording;
use mcpreel_store::recovery;
use mcpreel_store::schema::State;
use mcpreel_trace::clock::{Clock, wall_clock_ns};
use mcpreel_trace::query::Query;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{clock, count, escape, plural, size};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// What gives way on a narrow terminal: a row never wraps.
const WAYS: [Way; 10] = [
    Way::Out("HOST"),
    Way::Short("STARTED"),
    Way::Out("FINDINGS"),
    Way::Out("SIZE"),
    Way::Out("NOTE"),
    Way::Out("EXCHANGES"),
    Way::Out("SERVER"),
    Way::Out("DURATION"),
    Way::Out("ORIGIN"),
    Way::Out("FAILED"),
];

/// What may be asked about the word.
const PENDING: &str =
    "pending: the session is over; whoever opens the recording next indexes the rest of it";

/// Until so long after its start a list completes recordings whose recorders have gone. It is to
/// be there within 200 ms, and the last transaction takes its time as well.
const PATIENCE: Duration = Duration::from_millis(100);

/// Lists it.
pub fn run(args: &Ls) -> Outcome {
    let clock = Clock::start();
    let library = Library::new(folder::of(&args.folder)?);
    let query = filter::parse(args.query.as_deref())?;
    let mut entries = library.list()?;
    drain(&mut entries, clock);
    let there = entries.len();
    let exit = match &query {
        Some(query) => keep_fitting(&mut entries, query),
        None => Exit::Fine,
    };
    entries.sort_by_key(|entry| entry.standing != Standing::Live);
    let mut out = Output::stdout();
    if args.json {
        for entry in &entries {
            out.json(&Line::from(entry))?;
        }
    } else if entries.is_empty() && there > 0 {
        let there = plural(there as u64, "recording");
        out.line(&format!("none of {there} has such a row"))?;
    } else if entries.is_empty() {
        empty(library.dir(), &mut out)?;
    } else {
        write(&entries, library.dir(), &mut out)?;
    }
    out.flush()?;
    Ok(exit)
}

/// Keeps the recordings with a row that fits. One that cannot be looked through is named.
fn keep_fitting(entries: &mut Vec<Entry>, query: &Query) -> Exit {
    let mut exit = Exit::Fine;
    entries.retain(|entry| {
        let found = Recording::open(&entry.path)
            .map_err(Failure::from)
            .and_then(|recording| filter::any(&recording, query));
        found.unwrap_or_else(|failure| {
            let (_, why) = exit::code(Err(failure));
            let why = why.unwrap_or_default();
            output::say(&format!("not looked through: {}", escape(&why)));
            exit = Exit::Refused;
            false
        })
    });
    exit
}

/// Completes what can be completed while somebody waits for the list.
fn drain(entries: &mut [Entry], clock: Clock) {
    for entry in entries.iter_mut().filter(|entry| entry.is_left_behind()) {
        let spent = Duration::from_nanos(clock.now().0);
        let Some(left) = PATIENCE.checked_sub(spent).filter(|left| !left.is_zero()) else {
            return;
        };
        // What cannot be completed stays as it is, and is listed so.
        if recovery::drain_for(&entry.path, clock, left).is_ok() {
            *entry = Entry::read(&entry.path);
        }
    }
}

/// A recording as a JSON object; what cannot be read has nothing but its path and the error.
#[derive(Default, Serialize)]
struct Line<'a> {
    id: Option<&'a str>,
    path: String,
    state: &'static str,
    name: Option<&'a str>,
    origin: Option<&'a str>,
    started: Option<String>,
    wall_ns: Option<u64>,
    duration_ns: Option<u64>,
    server: Option<&'a str>,
    server_version: Option<&'a str>,
    client: Option<&'a str>,
    client_version: Option<&'a str>,
    version: Option<&'a str>,
    command: Option<&'a [String]>,
    host: Option<&'a str>,
    frames: Option<u64>,
    exchanges: Option<u64>,
    open: Option<u64>,
    failed: Option<u64>,
    findings: Option<u64>,
    gap_bytes: Option<u64>,
    size: u64,
    note: Option<&'a str>,
    redaction: Option<serde_json::Value>,
    error: Option<String>,
}

impl<'a> From<&'a Entry> for Line<'a> {
    fn from(entry: &'a Entry) -> Self {
        let wall_ns = Some(entry.wall_ns).filter(|&ns| ns > 0);
        let mut line = Self {
            id: Some(&*entry.id).filter(|id| !id.is_empty()),
            path: entry.path.to_string_lossy().into_owned(),
            state: entry.state(),
            started: wall_ns.map(when::rfc3339),
            wall_ns,
            duration_ns: entry.lasted_ns(wall_clock_ns()),
            name: Some(&entry.name),
            size: entry.size,
            ..Self::default()
        };
        if let Details::Unreadable(error) = &entry.details {
            line.error = Some(sentence(error));
        }
        if let Some(context) = entry.context() {
            line.origin = Some(&context.origin);
            line.command = Some(&context.argv);
            line.host = Some(&*context.host.name).filter(|name| !name.is_empty());
        }
        if let Some(summary) = entry.summary() {
            let session = &summary.session;
            line.server = session.server.name.as_deref();
            line.server_version = session.server.version.as_deref();
            line.client = session.client.name.as_deref();
            line.client_version = session.client.version.as_deref();
            line.version = session.version();
            line.frames = Some(summary.frames);
            line.exchanges = Some(summary.exchanges);
            line.open = Some(summary.open);
            line.failed = Some(summary.failed);
            line.findings = Some(summary.findings);
            line.gap_bytes = Some(summary.gap_bytes);
            line.note = summary.note.as_deref();
            line.redaction = json::redaction(summary.redaction.as_deref());
        }
        line
    }
}

fn empty(dir: &Path, out: &mut Output) -> Result<(), Failure> {
    let dir = dir.to_string_lossy();
    out.line(&format!("no recordings in {}", escape(&dir)))?;
    out.line("")?;
    out.line(
        "record a server, by putting this in front of its command in a host's configuration:",
    )?;
    out.line(&format!(
        "  {}",
        out.paint(Ink::Strong, "mcpreel run -- COMMAND")
    ))?;
    out.line("see how it looks, with nothing else installed:")?;
    out.line(&format!("  {}", out.paint(Ink::Strong, "mcpreel demo")))?;
    Ok(())
}

fn table() -> Table<14> {
    let table = Table::new([
        ("STATE", Fit::Left),
        ("ID", Fit::Left),
        ("STARTED", Fit::Left),
        ("NAME", Fit::Cut),
        ("ORIGIN", Fit::Left),
        ("SERVER", Fit::Cut),
        ("HOST", Fit::Cut),
        ("END", Fit::Left),
        ("DURATION", Fit::Right),
        ("EXCHANGES", Fit::Right),
        ("FAILED", Fit::Right),
        ("FINDINGS", Fit::Right),
        ("SIZE", Fit::Right),
        ("NOTE", Fit::Cut),
    ]);
    table.giving_way(&WAYS)
}

fn write(entries: &[Entry], dir: &Path, out: &mut Output) -> Result<(), Failure> {
    let mut table = table();
    let readable = entries
        .iter()
        .filter(|entry| entry.standing != Standing::Unreadable);
    for entry in readable {
        table.push(row(entry, entries));
    }
    table.write(out)?;
    out.line("")?;
    let total = entries.iter().map(|entry| entry.size).sum();
    let number = plural(entries.len() as u64, "recording");
    let dir = dir.to_string_lossy();
    let below = format!("{number}, {} in {}", size(total), escape(&dir));
    out.line(&out.paint(Ink::Faint, &below))?;
    if entries
        .iter()
        .any(|entry| entry.standing == Standing::Pending)
    {
        out.line(&out.paint(Ink::Faint, PENDING))?;
    }
    for entry in entries {
        if let Details::Unreadable(error) = &entry.details {
            let unreadable = out.paint(Ink::Warn, "unreadable:");
            out.line(&format!("{unreadable} {}", escape(&sentence(error))))?;
        }
    }
    Ok(())
}

fn row(entry: &Entry, entries: &[Entry]) -> [Cell; 14] {
    let summary = entry.summary();
    let number = |number: Option<u64>| number.map_or_else(String::new, count);
    let failing = |number: Option<u64>| number.filter(|&n| n > 0).map_or_else(String::new, count);
    // How a recording ended says that it is complete.
    let state = match entry.standing {
        Standing::Live => Cell::new(entry.state(), Ink::Good),
        Standing::Finished if summary.is_some_and(|s| s.state == State::Complete) => "".into(),
        _ => Cell::new(entry.state(), Ink::Warn),
    };
    [
        state,
        Cell::new(short_id(&entry.id, entries), Ink::Strong),
        Cell::from(when::short(entry.wall_ns)).or(when::time(entry.wall_ns)),
        escape(&entry.name).into_owned().into(),
        recording::origin(entry).unwrap_or_default().into(),
        recording::server(entry).unwrap_or_default().into(),
        recording::host(entry).unwrap_or_default().into(),
        end(entry),
        entry
            .lasted_ns(wall_clock_ns())
            .map_or_else(String::new, clock)
            .into(),
        number(summary.map(|summary| summary.exchanges)).into(),
        Cell::new(failing(summary.map(|summary| summary.failed)), Ink::Bad),
        Cell::new(failing(summary.map(|summary| summary.findings)), Ink::Warn),
        size(entry.size).into(),
        recording::notes(entry).join("; ").into(),
    ]
}

/// How a finished session ended: whatever was no success is coloured.
fn end(entry: &Entry) -> Cell {
    let Some(end) = entry.end() else {
        return "".into();
    };
    let ink = match end {
        End::Exited { code: 0 } => Ink::Faint,
        End::Unknown => Ink::Warn,
        _ => Ink::Bad,
    };
    Cell::new(phrases::end_short(end), ink)
}
