//! `mcpreel prune`: deletes old recordings, and only when told to.

use super::args::Prune;
use super::exit::{Exit, Outcome};
use super::folder;
use super::output::{self, Output};
use super::table::{Cell, Fit, Table};
use mcpreel_share::phrases::when;
use mcpreel_store::library::retention::{self, Reason};
use mcpreel_store::library::{Entry, Library, Policy};
use mcpreel_trace::clock::wall_clock_ns;
use mcpreel_wire::text::{escape, plural, size};
use std::path::Path;

/// Deletes what the policy lets go, or says what that would be.
pub fn run(args: &Prune) -> Outcome {
    let library = Library::new(folder::of(&args.folder)?);
    let entries = library.list()?;
    let policy = Policy {
        older_than: args.policy.older_than,
        keep: args.policy.keep,
        max_size: args.policy.max_size,
    };
    let kept = retention::candidates(&entries);
    let mut out = Output::stdout();
    let mut table = table();
    let (mut files, mut bytes, mut refused) = (0, 0, false);
    for pruned in retention::prune(&kept, &policy, wall_clock_ns()) {
        let Some(entry) = entries.iter().find(|entry| entry.path == pruned.path) else {
            continue;
        };
        match may_go(&pruned.path, args.dry_run) {
            Some(true) => {}
            Some(false) => continue,
            None => {
                refused = true;
                continue;
            }
        }
        files += 1;
        bytes += pruned.size;
        table.push(row(entry, pruned.size, pruned.reason));
    }
    table.write(&mut out)?;
    let would = if args.dry_run { "would be " } else { "" };
    let (files, bytes) = (plural(files, "recording"), size(bytes));
    out.line(&format!("{files} ({bytes}) {would}deleted"))?;
    let alone = entries.len() - kept.len();
    if alone > 0 {
        let files = plural(alone as u64, "file");
        let verb = if alone == 1 { "was" } else { "were" };
        out.line(&format!("{files} that cannot be read {verb} left alone"))?;
    }
    out.flush()?;
    Ok(if refused { Exit::Refused } else { Exit::Fine })
}

/// Deletes a recording, unless it is only asked what would be: whether it has gone. `None` where it
/// could not be deleted, which is said.
fn may_go(path: &Path, dry_run: bool) -> Option<bool> {
    if dry_run {
        return Some(true);
    }
    // One that has come alive since the folder was read stays.
    let deleted = retention::delete(path);
    if let Err(error) = &deleted {
        let path = path.to_string_lossy();
        output::say(&format!("could not delete {}: {error}", escape(&path)));
    }
    deleted.ok()
}

fn table() -> Table<5> {
    Table::new([
        ("ID", Fit::Left),
        ("STARTED", Fit::Left),
        ("NAME", Fit::Cut),
        ("SIZE", Fit::Right),
        ("WHY", Fit::Left),
    ])
}

fn row(entry: &Entry, bytes: u64, reason: Reason) -> [Cell; 5] {
    let why = match reason {
        Reason::TooOld => "too old",
        Reason::TooMany => "enough newer ones",
        Reason::TooLarge => "over the size",
    };
    [
        entry.id.as_str().into(),
        when::short(entry.wall_ns).into(),
        escape(&entry.name).into_owned().into(),
        size(bytes).into(),
        why.into(),
    ]
}
