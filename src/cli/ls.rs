//! `mcpreel ls`: the folder of recordings.

use super::exit::{Exit, Failure, Outcome};
use super::filter::Filter;
use super::folder::Folder;
use super::output::{Ink, Output, shown};
use super::table::{Cell, Fit, Table};
use super::{filter, folder, quantity, rows, select};
use clap::Args;
use mcpreel_share::phrases::{self, recording, sentence, when};
use mcpreel_store::library::{Details, Entry, Ids, Library, Standing, names};
use mcpreel_store::reader::Summary;
use mcpreel_store::recovery;
use mcpreel_store::schema::State;
use mcpreel_trace::clock::{Clock, wall_clock_ns};
use mcpreel_trace::query::Query;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{clock, count, escape, plural, size};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// The columns that give way on a narrow terminal, the first one first: a row never wraps.
const WAYS: [&str; 9] = [
    "HOST",
    "FINDINGS",
    "SIZE",
    "NOTE",
    "EXCHANGES",
    "SERVER",
    "DURATION",
    "ORIGIN",
    "FAILED",
];

const HOW_TO_BEGIN: &str = "\
have a server of a host on this machine recorded:
  mcpreel hosts
see how it looks, with nothing else installed:
  mcpreel demo";

/// Until so long after its start a list completes recordings whose recorders have gone. It is to
/// be there within 200 ms, and the last transaction takes its time as well.
const PATIENCE: Duration = Duration::from_millis(100);

/// List the recordings, live ones first, then the newest
///
/// With a filter: those with a row that matches.
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  mcpreel ls
  mcpreel ls weather-server -n 5 --since 2d
  mcpreel ls -q is:failed        recordings in which something failed
  mcpreel ls --json | jq -r 'select(.failed > 0) | .path'

How to read it:
  SIZE  space on disk; with `now` the recording still grows, and its journal is counted")]
pub struct Ls {
    /// Only recordings of this name, or of a server of this name
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    folder: Folder,
    #[command(flatten)]
    filter: Filter,
    /// Only the newest N of them
    #[arg(short = 'n', long, value_name = "N", value_parser = quantity::number)]
    limit: Option<usize>,
    /// Only recordings that began less than this ago: 2h, 3d
    #[arg(long, value_name = "AGE", value_parser = quantity::age)]
    since: Option<Duration>,
    /// One JSON object per recording and line
    #[arg(long)]
    json: bool,
}

impl Ls {
    /// All recordings of a folder.
    pub fn of(folder: Folder) -> Self {
        Self {
            folder,
            ..Self::default()
        }
    }

    pub fn run(&self) -> Outcome {
        let clock = Clock::start();
        let library = Library::new(folder::of(&self.folder)?);
        let query = filter::parse(self.filter.query.as_deref())?;
        let mut entries = library.list()?;
        drain(&mut entries, clock);
        let there = entries.len();
        let now = Duration::from_nanos(wall_clock_ns());
        let since = self.since.map(|age| now.saturating_sub(age));
        entries.retain(|entry| {
            let is_named = |wanted: &String| names(entry).any(|name| name == wanted);
            let is_young = |since| Duration::from_nanos(entry.wall_ns) >= since;
            self.name.as_ref().is_none_or(is_named) && since.is_none_or(is_young)
        });
        let mut exit = Exit::Fine;
        if let Some(query) = &query {
            let mut fitting = Vec::new();
            // A server that did not start has no row that failed.
            let asks_for_failed = Query::parse("is:failed").is_ok_and(|it| it == *query);
            for entry in entries {
                let recording = select::recording(&entry.path, &library);
                match recording.and_then(|recording| filter::any(&recording, query)) {
                    // What had to be completed first is another one now.
                    Ok(true) if entry.is_left_behind() => fitting.push(Entry::read(&entry.path)),
                    Ok(true) => fitting.push(entry),
                    Ok(false) if asks_for_failed && entry.has_failed() => fitting.push(entry),
                    Ok(false) => {}
                    Err(failure) => exit = failure.skipped("not looked through")?,
                }
            }
            entries = fitting;
        }
        entries.truncate(self.limit.unwrap_or(usize::MAX));
        entries.sort_by_key(|entry| entry.standing != Standing::Live);
        let mut out = Output::stdout();
        if self.json {
            for entry in &entries {
                out.json(&object(entry))?;
            }
        } else if !entries.is_empty() {
            write(&entries, library.dir(), &mut out)?;
        } else if there > 0 {
            let there = plural(there as u64, "recording");
            out.line(&format!("none of {there} matches"))?;
        } else {
            out.line(&format!("no recordings in {}\n", shown(library.dir())))?;
            out.line(HOW_TO_BEGIN)?;
        }
        out.flush()?;
        Ok(exit)
    }
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
fn object(entry: &Entry) -> Value {
    let wall_ns = Some(entry.wall_ns).filter(|&ns| ns > 0);
    let context = entry.context();
    let summary = entry.summary();
    let session = summary.map(|summary| &summary.session);
    let error = match &entry.details {
        Details::Unreadable(error) => Some(sentence(error)),
        _ => None,
    };
    json!({
        "id": Some(&*entry.id).filter(|id| !id.is_empty()),
        "path": entry.path.to_string_lossy(),
        "state": entry.state(),
        "name": entry.name,
        "origin": context.map(|context| &context.origin),
        "started": wall_ns.map(when::rfc3339),
        "wall_ns": wall_ns,
        "duration_ns": entry.lasted_ns(wall_clock_ns()),
        "server": session.and_then(|session| session.server.name.as_deref()),
        "server_version": session.and_then(|session| session.server.version.as_deref()),
        "client": session.and_then(|session| session.client.name.as_deref()),
        "client_version": session.and_then(|session| session.client.version.as_deref()),
        "version": session.and_then(|session| session.version()),
        "command": context.map(phrases::started_words),
        "host": context.map(|context| &*context.host.name).filter(|name| !name.is_empty()),
        "frames": summary.map(|summary| summary.frames),
        "exchanges": summary.map(|summary| summary.exchanges),
        "open": summary.map(|summary| summary.open),
        "failed": summary.map(|summary| summary.failed),
        "findings": summary.map(|summary| summary.findings),
        "gap_bytes": summary.map(|summary| summary.gap_bytes),
        "size": entry.size,
        "note": summary.and_then(|summary| summary.note.as_deref()),
        "redaction": summary.and_then(|summary| rows::redaction(summary.redaction.as_deref())),
        "error": error,
    })
}

fn write(entries: &[Entry], dir: &Path, out: &mut Output) -> Result<(), Failure> {
    let mut table = Table::new([
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
    ])
    .giving_way(&WAYS);
    let ids = Ids::of(entries);
    let mut unreadable = Vec::new();
    let mut above = "";
    for entry in entries {
        let is_below = entry.client_side() == Some(above);
        above = &entry.id;
        match &entry.details {
            Details::Unreadable(error) => unreadable.push(sentence(error)),
            _ => table.push(row(entry, is_below, &ids)),
        }
    }
    table.write(out)?;
    out.line("")?;
    let total = entries.iter().map(|entry| entry.size).sum();
    let number = plural(entries.len() as u64, "recording");
    let below = format!("{number}, {} in {}", size(total), shown(dir));
    out.inked(Ink::Faint, &below)?;
    for error in unreadable {
        let label = out.paint(Ink::Warn, "unreadable:");
        out.line(&format!("{label} {}", escape(&error)))?;
    }
    Ok(())
}

fn row(entry: &Entry, is_below: bool, ids: &Ids) -> [Cell; 14] {
    let summary = entry.summary();
    let number = |of: fn(&Summary) -> u64| summary.map(of);
    let count = |number: Option<u64>| number.map_or_else(String::new, count);
    let some = |of| count(number(of).filter(|&number| number > 0));
    let lasted = entry.lasted_ns(wall_clock_ns());
    let below = if is_below { "└ " } else { "" };
    // How a recording ended says that it is complete.
    let state = match entry.standing {
        Standing::Live => Cell::new(entry.state(), Ink::Good),
        Standing::Finished if summary.is_some_and(|s| s.state == State::Complete) => "".into(),
        _ => Cell::new(entry.state(), Ink::Warn),
    };
    let end = summary.zip(entry.end()).map(|(summary, end)| {
        let ink = match end {
            End::Exited { code: 0 } => Ink::Faint,
            End::Unknown if summary.context.url.is_some() => Ink::Faint,
            End::Unknown => Ink::Warn,
            _ => Ink::Bad,
        };
        Cell::new(phrases::end_short(end, &summary.context), ink)
    });
    let end = end.unwrap_or_else(|| "".into());
    [
        state,
        Cell::new(ids.short(&entry.id), Ink::Strong),
        when::short(entry.wall_ns).into(),
        format!("{below}{}", escape(&entry.name)).into(),
        recording::origin(entry).unwrap_or_default().into(),
        recording::server(entry).unwrap_or_default().into(),
        recording::host(entry).unwrap_or_default().into(),
        end,
        lasted.map_or_else(String::new, clock).into(),
        count(number(|summary| summary.exchanges)).into(),
        Cell::new(some(|summary| summary.failed), Ink::Bad),
        Cell::new(some(|summary| summary.findings), Ink::Warn),
        match entry.standing {
            Standing::Live => format!("{} now", size(entry.size)).into(),
            _ => size(entry.size).into(),
        },
        recording::notes(entry).join("; ").into(),
    ]
}
