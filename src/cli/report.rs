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

use super::exit::{Exit, Failure, Outcome, usage};
use super::export::{progress, tell_unfinished};
use super::folder::Folder as FolderArgs;
use super::output::{self, Output};
use super::redact::{self, Secrets, redact_scan};
use super::select;
use anyhow::Context as _;
use clap::Args;
use mcpreel_redact::{LIMITS, OPTIONAL, Policy, Redactor, Report as RedactionReport, Settings};
use mcpreel_share::export::Selection;
use mcpreel_share::export::otlp::Bodies;
use mcpreel_share::outgoing::file::{Draft, Folder, Replace};
use mcpreel_share::outgoing::{self, Format, Order, told};
use mcpreel_store::library::sanitised;
use mcpreel_store::reader::Recording;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::text::{escape, plural, size};
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{DirEntry, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zip::ZipArchive;
use zip::write::{SimpleFileOptions, ZipWriter};

const EXAMPLES: &str = "\
Examples:
  mcpreel report                     the newest recording, as a folder here
  mcpreel report 7f3a --zip          as one file, to be attached to a bug report
  mcpreel report 7f3a --home --email -o /tmp/for-ada";

/// Write all that a bug report needs, without secrets
///
/// A folder with report.md (what happened and why, to be pasted), report.html (the session, for a
/// browser), session.reel (the session, for mcpreel: to be opened, compared, replayed), and what
/// was replaced, in redaction.txt and redaction.json. All of it is looked through for leaks before
/// it appears; what was removed is told, and what to look at by eye.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{LIMITS}"))]
pub struct Report {
    /// A path, @, @2, an id or its first four digits or more, or a name
    #[arg(value_name = "RECORDING", default_value = "@")]
    recording: OsString,
    #[command(flatten)]
    folder: FolderArgs,
    /// The folder, or the file [default: mcpreel-report-NAME-ID here]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Write one ZIP file
    #[arg(long)]
    zip: bool,
    /// Replace a report that is there
    #[arg(long)]
    force: bool,
    /// Say as JSON what was written, what was removed, and what to look at by eye
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    what: Secrets,
}

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
pub fn run(args: &Report) -> Outcome {
    let policy = redact::policy(&args.what)?;
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
        return keep_back(&found, args.json);
    }
    let bytes = shown(args, folder, &path)?;
    let said = Told {
        path: &path,
        bytes,
        report: &report,
        by_eye: look_at(&redacted)?,
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
fn shown(args: &Report, folder: Folder, path: &Path) -> Result<u64, Failure> {
    let may = replaces(args, path);
    if args.zip {
        appear_packed(folder.path(), path, may)
    } else {
        appear(folder, path, may)
    }
}

/// The recording without its secrets, what was replaced, and what knows them.
fn without_secrets(
    recording: &Recording,
    policy: &Arc<Policy>,
) -> Result<(Recording, RedactionReport, Redactor), Failure> {
    let mut tell = progress(recording)?;
    let mut redacting = outgoing::learn(recording, policy, &mut tell)?;
    let (redacted, report) =
        outgoing::redacted::one_of_its_own(&mut redacting, &Selection::default(), &mut tell)?;
    let known = redacting.into_redactor().of_known_words();
    let redacted = redacted.called(Path::new(SESSION));
    Ok((redacted, report, known.map_err(anyhow::Error::from)?))
}

/// Where it appears; what is there stays, unless it is a report that may be replaced.
fn place(args: &Report, name: &str, id: &str) -> Result<PathBuf, Failure> {
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
fn replaces(args: &Report, path: &Path) -> Replace {
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
        return there.is_file() && is_packed_report(path);
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
    report: &RedactionReport,
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
    let lines = redact::report_lines(report, Some(Path::new(SESSION)));
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
        let report = redact_scan::known(&folder.join(name), &mut known)?;
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

/// From so many bytes on a file needs the larger form of entries.
const LARGE: u64 = u32::MAX as u64;

/// Packs what is in `folder` into the file `path`, which appears when it is whole, in the place of
/// what is there if that `may` be; returns its bytes. The files stand in a folder of its name.
fn appear_packed(folder: &Path, path: &Path, may: Replace) -> Result<u64, Failure> {
    let draft = Draft::beside(path).with_context(|| unwritten(path))?;
    let inside = path.file_stem().unwrap_or_default().to_string_lossy();
    let draft = pack(folder, &inside, draft).with_context(|| unwritten(path))?;
    let bytes = draft.path().metadata()?.len();
    draft.settle(path, may).with_context(|| unwritten(path))?;
    Ok(bytes)
}

/// Whether a file is such a one.
fn is_packed_report(path: &Path) -> bool {
    let archive = File::open(path).ok().map(ZipArchive::new);
    let is_ours = |name: &str| {
        NAMES
            .iter()
            .any(|ours| name.rsplit('/').next() == Some(*ours))
    };
    archive.and_then(Result::ok).is_some_and(|archive| {
        let mut names = archive.file_names();
        archive.len() == NAMES.len() && names.all(|name| name.is_ok_and(|name| is_ours(&name)))
    })
}

fn pack(folder: &Path, inside: &str, draft: Draft) -> anyhow::Result<Draft> {
    let mut zip = ZipWriter::new_stream(draft);
    for name in NAMES {
        let mut file = File::open(folder.join(name))?;
        let is_large = file.metadata()?.len() >= LARGE;
        let options = SimpleFileOptions::default()
            .unix_permissions(0o600)
            .large_file(is_large);
        zip.start_file(format!("{inside}/{name}"), options)?;
        io::copy(&mut file, &mut zip)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// Places that are named where something leaks.
const MOST_LEAKS: usize = 20;

/// What the files of a report are for.
const FILES: &str = "  \
  report.md       what happened and why, to be pasted into an issue
  report.html     the session, for a browser
  session.reel    the session, for mcpreel: open, diff, replay, mock
  redaction.txt   what was replaced where, by which rule; redaction.json likewise
";

/// What there is to say.
struct Told<'s> {
    path: &'s Path,
    bytes: u64,
    /// What was replaced.
    report: &'s RedactionReport,
    /// What a person should look at.
    by_eye: Vec<String>,
}

impl Told<'_> {
    /// Says what there is, what was removed, and what to look at.
    fn in_words(&self) -> Result<(), Failure> {
        let Self {
            path,
            bytes,
            report,
            by_eye,
        } = self;
        let mut out = Output::stdout();
        let shown = path.display().to_string();
        out.line(&format!("{}: {}", escape(&shown), size(*bytes)))?;
        out.line(FILES)?;
        removed(report, &mut out)?;
        out.line("look at by eye before you hand it on:")?;
        for line in by_eye {
            out.line(&format!("  {line}"))?;
        }
        out.line("")?;
        out.line(LIMITS)?;
        Ok(out.flush()?)
    }

    /// The same for scripts.
    fn as_json(&self) -> Result<(), Failure> {
        let mut out = Output::stdout();
        out.json(&json!({
            "path": self.path.to_string_lossy(),
            "bytes": self.bytes,
            "files": NAMES,
            "removed": self.report,
            "by_eye": self.by_eye,
            "leaks": [],
        }))?;
        Ok(out.flush()?)
    }
}

/// Says what was replaced or left out.
fn removed(report: &RedactionReport, out: &mut Output) -> Result<(), Failure> {
    let values = plural(report.values() as u64, "value");
    let places = plural(report.hits(), "place");
    out.line(&format!("removed: {values} in {places}"))?;
    for (rule, count) in &report.rules {
        out.line(&format!("  {count:>5} × {}", escape(rule)))?;
    }
    for left in &report.left {
        let (seq, bytes) = (left.seq, size(left.bytes));
        out.line(&format!("  #{seq} is left out: {bytes}"))?;
    }
    for line in told::off(report).into_iter().chain(told::unplaced(report)) {
        out.line(&format!("  {line}"))?;
    }
    Ok(())
}

/// Something that is found keeps all of it back.
fn keep_back(found: &[String], as_json: bool) -> Outcome {
    if as_json {
        let mut out = Output::stdout();
        out.json(&json!({ "path": null, "leaks": found }))?;
        out.flush()?;
    }
    output::say("nothing was written: it would have had secrets in it");
    for line in found.iter().take(MOST_LEAKS) {
        output::say(line);
    }
    if let more @ 1.. = found.len().saturating_sub(MOST_LEAKS) {
        output::say(&plural(more as u64, "more place"));
    }
    output::say("`--without RULE` passes a rule over, where what it finds is no secret");
    Ok(Exit::Found)
}

/// Tools that are named.
const MOST_TOOLS: usize = 12;

/// Rows that are read at once.
const PAGE: u32 = 1000;

/// What there is to look at in a redacted recording, a line each, escaped.
fn look_at(redacted: &Recording) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    lines.extend(tools(redacted)?);
    let stderr = stderr(redacted)?;
    if stderr > 0 {
        lines.push(format!("stderr of the server, {}", size(stderr)));
    }
    lines.push("the command line, and the names of folders and machines in it".to_owned());
    lines.extend(optional(redacted)?);
    Ok(lines)
}

/// The tools whose arguments and results are in it.
fn tools(redacted: &Recording) -> Result<Option<String>, Failure> {
    let mut called: BTreeMap<_, u64> = BTreeMap::new();
    let mut after = ExchangeId(0);
    loop {
        let page = redacted.exchanges(after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = last.id;
        for exchange in page {
            if let Some(name) = exchange.name.filter(|_| &*exchange.method == "tools/call") {
                *called.entry(name).or_default() += 1;
            }
        }
    }
    if called.is_empty() {
        return Ok(None);
    }
    let named = called.iter().take(MOST_TOOLS);
    let mut named: Vec<_> = named
        .map(|(tool, calls)| format!("{} ({calls})", escape(tool)))
        .collect();
    if called.len() > MOST_TOOLS {
        named.push(plural((called.len() - MOST_TOOLS) as u64, "more tool"));
    }
    Ok(Some(format!(
        "arguments and results of {}",
        named.join(", ")
    )))
}

fn stderr(redacted: &Recording) -> Result<u64, Failure> {
    let (mut bytes, mut after) = (0, Seq(0));
    loop {
        let page = redacted.heads(after, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(bytes);
        };
        after = last.seq;
        let lines = page.iter().filter(|head| head.stream == StreamId::STDERR);
        bytes += lines.map(|head| head.size).sum::<u64>();
    }
}

/// What rules find that hold only where they are asked for.
fn optional(redacted: &Recording) -> Result<Vec<String>, Failure> {
    let settings = Settings {
        email: true,
        home: true,
        ..Settings::default()
    };
    let policy = Policy::new(&settings).map_err(anyhow::Error::from)?;
    let report = redact::look(redacted, &Arc::new(policy))?;
    let found = report.rules.iter();
    let found = found.filter(|(rule, _)| OPTIONAL.contains(&&***rule));
    let lines = found.map(|(rule, count)| {
        let option = rule.split('-').next().unwrap_or_default();
        let places = plural(*count, "place");
        format!("{rule} in {places}: --{option} replaces that as well")
    });
    Ok(lines.collect())
}
