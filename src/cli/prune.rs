//! `mcpreel prune`: deletes old recordings, and only when told to.

use super::exit::{Exit, Outcome};
use super::folder::Folder;
use super::output::{self, Output};
use super::table::{Fit, Table};
use super::{folder, quantity};
use clap::Args;
use mcpreel_share::phrases::when;
use mcpreel_store::library::retention::{self, Reason};
use mcpreel_store::library::{Entry, Library, Policy, Standing};
use mcpreel_trace::clock::wall_clock_ns;
use mcpreel_wire::text::{escape, plural, size};
use serde_json::json;
use std::io;
use std::time::Duration;

/// Delete old recordings
///
/// Nothing is ever deleted by itself; live recordings, those with a note and those without a
/// date are always kept. Each option names recordings to delete; at least one is needed. On a
/// terminal they are only deleted after a yes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel prune --older-than 30d --dry-run
  mcpreel prune --keep 100 --max-size 2GB")]
pub struct Prune {
    #[command(flatten)]
    folder: Folder,
    #[command(flatten)]
    what: What,
    /// Only say what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Delete without asking
    #[arg(long)]
    yes: bool,
    /// One JSON object per recording and line
    #[arg(long)]
    json: bool,
}

/// The options that name recordings to delete.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct What {
    /// Recordings that are older, for example 30d, 12h, 2w
    #[arg(long, value_name = "AGE", value_parser = quantity::age)]
    older_than: Option<Duration>,
    /// All but the newest N
    #[arg(long, value_name = "N", value_parser = quantity::number)]
    keep: Option<usize>,
    /// The oldest, until the rest is no larger, for example 2GB
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    max_size: Option<u64>,
}

impl Prune {
    /// Deletes what the options name, or says what that would be.
    pub fn run(&self) -> Outcome {
        let library = Library::new(folder::existing(&self.folder)?);
        let entries = library.list()?;
        let policy = Policy {
            older_than: self.what.older_than,
            keep: self.what.keep,
            max_size: self.what.max_size,
        };
        let doomed = retention::prune(&entries, &policy, wall_clock_ns());
        if !self.dry_run && !self.yes && !is_wanted(&doomed)? {
            return Ok(Exit::Fine);
        }
        let mut out = Output::stdout();
        let mut table = Table::new([
            ("ID", Fit::Left),
            ("STARTED", Fit::Left),
            ("NAME", Fit::Cut),
            ("SIZE", Fit::Right),
            ("WHY", Fit::Left),
        ]);
        let (mut files, mut bytes, mut exit) = (0, 0, Exit::Fine);
        for (entry, reason) in doomed {
            // A recording may have come alive since the folder was read.
            let deleted = self.dry_run
                || retention::delete(&entry.path).unwrap_or_else(|error| {
                    let path = output::shown(&entry.path);
                    output::say(&format!("could not delete {path}: {error}"));
                    exit = Exit::Refused;
                    false
                });
            if !deleted {
                continue;
            }
            files += 1;
            bytes += entry.size;
            let why = match reason {
                Reason::TooOld => "too old",
                Reason::TooMany => "enough newer ones",
                Reason::TooLarge => "over the size",
            };
            if self.json {
                out.json(&json!({
                    "id": entry.id, "path": entry.path.to_string_lossy(), "name": entry.name,
                    "wall_ns": entry.wall_ns, "size": entry.size, "why": why,
                    "deleted": !self.dry_run,
                }))?;
                continue;
            }
            table.push([
                entry.id.as_str().into(),
                when::short(entry.wall_ns).into(),
                escape(&entry.name).into_owned().into(),
                size(entry.size).into(),
                why.into(),
            ]);
        }
        if self.json {
            out.flush()?;
            return Ok(exit);
        }
        table.write(&mut out)?;
        let would = if self.dry_run { "would be " } else { "" };
        let (files, bytes) = (plural(files, "recording"), size(bytes));
        out.line(&format!("{files} ({bytes}) {would}deleted"))?;
        for live in entries.iter().filter(|it| it.standing == Standing::Live) {
            let (id, name) = (escape(&live.id), escape(&live.name));
            out.line(&format!("{id} {name} is being recorded and was kept"))?;
        }
        let alone = entries.iter().filter(|entry| !entry.is_readable()).count();
        if alone > 0 {
            let files = plural(alone as u64, "file");
            let verb = if alone == 1 { "was" } else { "were" };
            out.line(&format!("{files} that cannot be read {verb} left alone"))?;
        }
        out.flush()?;
        Ok(exit)
    }
}

/// Whether these are to be deleted: a person is asked, a script has said so.
fn is_wanted(doomed: &[(&Entry, Reason)]) -> io::Result<bool> {
    if doomed.is_empty() || !output::is_attended() {
        return Ok(true);
    }
    let bytes = doomed.iter().map(|(entry, _)| entry.size).sum();
    let (files, bytes) = (plural(doomed.len() as u64, "recording"), size(bytes));
    let answer = output::ask(&format!("delete {files} ({bytes})? [y/N] "))?;
    Ok(["y", "yes"].contains(&answer.as_str()))
}
