//! `mcpreel report`: all that a bug report needs, without secrets, in a folder or one file.
//!
//! ```text
//!  recording ─▶ redacted ─┬─ report.md      ─┐
//!                         ├─ report.html     ├─ looked through for leaks ─▶ folder | zip
//!                         ├─ session.reel    │
//!   what was replaced ────┴─ redaction.txt  ─┘
//! ```
//!
//! It is made where nobody looks, beside its place, and appears when it is whole and nothing was
//! found in it.

mod by_eye;
mod packed;
mod said;

use super::args::Report as Args;
use super::exit::{Exit, Failure, Outcome};
use super::export::write::progress;
use super::export::{tell_unfinished, usage};
use super::redact::{self, scan};
use super::select;
use anyhow::Context as _;
use mcpreel_redact::{Policy, Redactor, Report};
use mcpreel_share::export::Selection;
use mcpreel_share::export::otlp::Bodies;
use mcpreel_share::outgoing::file::Folder;
use mcpreel_share::outgoing::file::Replace;
use mcpreel_share::outgoing::{self, Format, Order};
use mcpreel_store::library::name::sanitised;
use mcpreel_store::reader::Recording;
use mcpreel_trace::clock::Moment;
use mcpreel_wire::text::escape;
use said::Said;
use std::ffi::OsString;
use std::fs::{DirEntry, File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The session without its secrets, as it is called.
const SESSION: &str = "session.reel";

/// The files, as they are called.
const NAMES: [&str; 5] = [
    "report.md",
    "report.html",
    SESSION,
    "redaction.txt",
    "redaction.json",
];

/// Writes what the arguments ask for.
pub fn run(args: &Args) -> Outcome {
    let policy = redact::policy::of(&args.what)?;
    let (recording, selected) = select::open(&args.recording, &args.folder)?;
    if selected.seq.is_some() {
        return Err(usage("#SEQ names one frame; a report is about a session"));
    }
    select::tell_if_played(&args.recording, &recording)?;
    let now = select::now(&recording, &recording.summary()?);
    let (redacted, report, known) = without_secrets(&recording, &policy)?;
    // Who made it looks for it by the id that is known here, if that may be told.
    let summary = redacted.summary()?;
    let id = summary.context.parent.as_ref().unwrap_or(&summary.id);
    let path = place(args, &summary.name, id)?;
    let parent = path.parent().unwrap_or(Path::new("/"));
    let folder = Folder::within(parent).with_context(|| unwritten(&path))?;
    write((&redacted, now), &report, folder.path())?;
    let found = leaks(folder.path(), known, &policy)?;
    if !found.is_empty() {
        return said::kept_back(&found, args.json);
    }
    let bytes = shown(args, folder, &path)?;
    let said = Said {
        path: &path,
        bytes,
        report: &report,
        by_eye: by_eye::lines(&redacted)?,
    };
    if args.json {
        said.as_json()?;
    } else {
        said.in_words()?;
    }
    tell_unfinished(&recording)?;
    Ok(Exit::Fine)
}

/// The report that was made in `folder` appears: how long it is.
fn shown(args: &Args, folder: Folder, path: &Path) -> Result<u64, Failure> {
    let may = replaces(args, path);
    if args.zip {
        packed::appear(folder.path(), path, may)
    } else {
        appear(folder, path, may)
    }
}

/// The recording without its secrets, what was replaced, and what knows them.
fn without_secrets(
    recording: &Recording,
    policy: &Arc<Policy>,
) -> Result<(Recording, Report, Redactor), Failure> {
    let mut tell = progress(recording)?;
    let mut redacting = outgoing::learn(recording, policy, &mut tell)?;
    let (redacted, report) =
        outgoing::redacted::one_of_its_own(&mut redacting, &Selection::default(), &mut tell)?;
    let known = redacting.into_redactor().of_known_words();
    let redacted = redacted.called(Path::new(SESSION));
    Ok((redacted, report, known.map_err(anyhow::Error::from)?))
}

/// Where it appears; what is there stays, unless it is a report that may be replaced.
fn place(args: &Args, name: &str, id: &str) -> Result<PathBuf, Failure> {
    let mut usual = OsString::from("mcpreel-report-");
    usual.push(sanitised(name));
    usual.push(format!("-{}", id.get(..4).unwrap_or(id)));
    if args.zip {
        usual.push(".zip");
    }
    let path = args.output.clone().unwrap_or_else(|| usual.into());
    let path = std::path::absolute(&path).context("the path means nothing here")?;
    if path.symlink_metadata().is_ok() && replaces(args, &path) == Replace::No {
        let shown = path.display().to_string();
        let why = if args.force {
            "is no such report, and stays"
        } else {
            "is there already: --force replaces a report"
        };
        let message = format!("{} {why}; name another with -o", escape(&shown));
        return Err(Failure::Usage(message));
    }
    Ok(path)
}

/// Whether what is there may go: a report, if `--force` is said.
fn replaces(args: &Args, path: &Path) -> Replace {
    if args.force && is_report(path, args.zip) {
        Replace::Yes
    } else {
        Replace::No
    }
}

/// Whether what is there is a report as it would be written: nothing else of somebody's goes.
fn is_report(path: &Path, is_zip: bool) -> bool {
    let Ok(there) = path.symlink_metadata() else {
        return false;
    };
    if is_zip {
        return there.is_file() && packed::is_report(path);
    }
    let is_ours = |file: std::io::Result<DirEntry>| {
        let file = file
            .ok()
            .filter(|file| NAMES.iter().any(|name| file.file_name() == *name));
        file.is_some_and(|file| file.file_type().is_ok_and(|kind| kind.is_file()))
    };
    there.is_dir()
        && path.join(SESSION).is_file()
        && path.read_dir().is_ok_and(|mut files| files.all(is_ours))
}

/// Writes all files into `folder`; `now` is the time of a session that is still recorded.
fn write(
    (redacted, now): (&Recording, Option<Moment>),
    report: &Report,
    folder: &Path,
) -> Result<(), Failure> {
    let [text, page, reel, replaced, as_json] = NAMES.map(|name| folder.join(name));
    let selection = Selection::default();
    let mut tell = progress(redacted)?;
    for (path, format) in [(&text, Format::Markdown), (&page, Format::Html)] {
        let order = Order {
            format,
            bodies: Bodies::Without,
            selection: &selection,
            now,
            // It is redacted already.
            policy: None,
        };
        let mut out = BufWriter::new(made(path)?);
        outgoing::write(redacted, &order, &mut out, &mut tell)?;
        out.flush().with_context(|| unwritten(path))?;
    }
    drop(tell);
    drop(made(&reel)?);
    redacted.copy_into(&reel)?;
    let lines = redact::report::lines(report, Some(Path::new(SESSION)));
    let mut out = made(&replaced)?;
    let written = lines.iter().try_for_each(|line| writeln!(out, "{line}"));
    written.with_context(|| unwritten(&replaced))?;
    let out = made(&as_json)?;
    serde_json::to_writer(out, report).with_context(|| unwritten(&as_json))?;
    Ok(())
}

/// A file for its owner alone.
fn made(path: &Path) -> Result<File, Failure> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    Ok(file.with_context(|| unwritten(path))?)
}

fn unwritten(path: &Path) -> String {
    format!("could not write {}", escape(&path.display().to_string()))
}

/// Looks through what is to be handed on: the session by all rules, what was made of it for what is
/// known to be secret. What was replaced is told by rules and places, and has nothing else in it.
fn leaks(folder: &Path, mut known: Redactor, policy: &Arc<Policy>) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for name in &NAMES[..2] {
        let report = scan::known(&folder.join(name), &mut known)?;
        found.extend(report.places.iter().map(|leak| {
            let (place, rule) = (leak.place.to_string(), escape(&leak.rule));
            format!("{name}: {place}: {rule}")
        }));
    }
    let session = Recording::open(&folder.join(SESSION))?;
    let report = redact::look(&session, policy)?;
    found.extend(report.places.iter().map(|leak| {
        let (place, path, rule) = (
            leak.place.to_string(),
            escape(&leak.path),
            escape(&leak.rule),
        );
        format!("{SESSION}: {place}: {path}: {rule}")
    }));
    Ok(found)
}

/// The folder itself is what is handed on, in the place of what is there if that `may` be; returns
/// its bytes.
fn appear(folder: Folder, path: &Path, may: Replace) -> Result<u64, Failure> {
    let mut bytes = 0;
    for name in NAMES {
        bytes += folder.path().join(name).metadata()?.len();
    }
    folder.settle(path, may).with_context(|| unwritten(path))?;
    Ok(bytes)
}
