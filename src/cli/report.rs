//! `mcpreel report`: all that a bug report needs, without secrets, in a folder or one file.
//!
//! ```text
//!  recording ─▶ redacted ─┬─ report.md      ─┐
//!                         ├─ report.html     ├─ looked through for leaks ─▶ folder | zip
//!                         ├─ session.reel    │
//!   what was replaced ────┴─ redaction.txt  ─┘        of a bridge each side, in a folder of its own
//! ```
//!
//! It is made where nobody looks, beside its place, and appears when it is whole and nothing was
//! found in it.

use super::exit::{Exit, Failure, Outcome};
use super::export::{progress, tell_unfinished};
use super::output::{self, Output, shown};
use super::redact::{self, Secrets, redact_scan};
use super::select::{self, RecordingArgs};
use super::{filter, folder};
use anyhow::Context as _;
use clap::Args;
use mcpreel_redact::{LIMITS, Learner, Policy, Redactor, Report as RedactionReport};
use mcpreel_share::export::Selection;
use mcpreel_share::export::otlp::Bodies;
use mcpreel_share::outgoing::file::{Draft, Folder, Replace};
use mcpreel_share::outgoing::{self, Format, Order, Stage, recording_copy};
use mcpreel_share::redacting::{Redacting, learn_from};
use mcpreel_store::library::{Library, sanitised};
use mcpreel_store::reader::Recording;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::query::Query;
use mcpreel_wire::text::{escape, plural, size};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zip::ZipArchive;
use zip::write::{SimpleFileOptions, ZipWriter};

const EXAMPLES: &str = "\
Examples:
  mcpreel report                     the newest recording, as a folder here
  mcpreel report 7f3a --zip          as one file, to be attached to a bug report
  mcpreel report 7f3a --home --email -o /tmp/for-ada";

/// Collect all that a bug report needs, without secrets
///
/// A folder with report.md (what happened and why, to be pasted), report.html (the session, for a
/// browser), session.reel (the session, for mcpreel: to be opened, compared, replayed), and what
/// was replaced, in redaction.txt and redaction.json; of `run --url` the same of what went over the
/// network, in network/. All of it is looked through for leaks before
/// it appears. The command lists what was removed, and what to read before you share it.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{LIMITS}"))]
pub struct Report {
    #[command(flatten)]
    which: RecordingArgs,
    /// The folder, or the file [default: mcpreel-report-NAME-ID here]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Write one ZIP file
    #[arg(long)]
    zip: bool,
    /// Replace an existing report
    #[arg(long)]
    force: bool,
    /// One JSON object: what was written, what was removed, what to review
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    what: Secrets,
}

/// The session without its secrets.
const SESSION: &str = "session.reel";

const NAMES: [&str; 5] = [
    "report.md",
    "report.html",
    SESSION,
    "redaction.txt",
    "redaction.json",
];

/// The purpose of each file.
const FILES: &str = "  \
  report.md       what happened and why, to be pasted into an issue
  report.html     the session, for a browser
  session.reel    the session, for mcpreel: open, diff, replay, mock
  redaction.txt   what was replaced where, by which rule; redaction.json likewise
";

/// Places that are named where something leaks.
const MOST_LEAKS: usize = 20;

/// Tools that are named.
const MOST_TOOLS: usize = 12;

/// The folder of what went over the network, in the report on what passed between host and mcpreel.
const NETWORK: &str = "network";

/// What is reported on, and where in the report.
struct Side {
    folder: &'static str,
    recording: Recording,
    /// The time of a session that is still recorded.
    now: Option<Moment>,
}

impl Side {
    fn new(folder: &'static str, recording: Recording) -> Result<Self, Failure> {
        let now = select::now(&recording, &recording.summary()?);
        Ok(Self {
            folder,
            recording,
            now,
        })
    }
}

/// Writes what the arguments ask for.
pub fn run(args: &Report) -> Outcome {
    let policy = redact::policy(&args.what)?;
    let recording = select::whole(&args.which.recording, &args.which.folder)?;
    let network = network_side(&recording, args)?;
    let mut sides = vec![Side::new("", recording)?];
    if let Some(network) = network {
        sides.push(Side::new(NETWORK, network)?);
    }
    let (made, mut known) = without_secrets(&sides, &policy)?;
    // Who made the report looks for it by the original's id, unless that is redacted.
    let summary = made[0].0.summary()?;
    let id = summary.context.parent.as_ref().unwrap_or(&summary.id);
    let (path, may) = place(args, &summary.name, id)?;
    let unwritten = || format!("could not write {}", shown(&path));
    let parent = path.parent().unwrap_or(Path::new("/"));
    let folder = Folder::within(parent).with_context(unwritten)?;
    let mut found = Vec::new();
    for (side, (redacted, report)) in sides.iter().zip(&made) {
        let folder = folder.path().join(side.folder);
        std::fs::create_dir_all(&folder).with_context(unwritten)?;
        write((redacted, side.now), report, &folder)?;
        let leaks = leaks(&folder, &mut known, &policy)?.into_iter();
        found.extend(leaks.map(|leak| Path::new(side.folder).join(leak).display().to_string()));
    }
    if !found.is_empty() {
        return keep_back(&found, args.json);
    }
    let of_side = |side: &Side| NAMES.map(|name| Path::new(side.folder).join(name));
    let names: Vec<_> = sides.iter().flat_map(of_side).collect();
    let bytes = if args.zip {
        let inside = path.file_stem().unwrap_or_default();
        let draft = Draft::beside(&path).with_context(unwritten)?;
        let draft = pack(folder.path(), &names, Path::new(inside), draft);
        let draft = draft.with_context(unwritten)?;
        let bytes = draft.path().metadata()?.len();
        draft.settle(&path, may).with_context(unwritten)?;
        bytes
    } else {
        let files = names.iter().map(|name| folder.path().join(name).metadata());
        let bytes = files.map(|file| Ok(file?.len())).sum::<io::Result<u64>>()?;
        folder.settle(&path, may).with_context(unwritten)?;
        bytes
    };
    let by_eye = by_eye(made.iter().map(|(redacted, _)| redacted))?;
    let warning = redact::warning(made.iter().map(|(redacted, report)| (redacted, report)))?;
    let mut out = Output::stdout();
    if args.json {
        let by_eye: Vec<_> = by_eye.iter().chain([&warning]).collect();
        out.json(&json!({
            "path": path.to_string_lossy(),
            "bytes": bytes,
            "files": names,
            "removed": made[0].1,
            "removed_network": made.get(1).map(|(_, report)| report),
            "by_eye": by_eye,
            "leaks": [],
        }))?;
    } else {
        let mut lines = vec![format!("{}: {}\n{FILES}", shown(&path), size(bytes))];
        for (side, (_, report)) in sides.iter().zip(&made) {
            lines.extend(removed(side, report));
        }
        lines.push(format!("{warning}:"));
        lines.extend(by_eye.iter().map(|line| format!("  {line}")));
        out.line(&lines.join("\n"))?;
    }
    out.flush()?;
    for side in &sides {
        tell_unfinished(&side.recording)?;
    }
    Ok(Exit::Fine)
}

/// The network side of a bridge whose host's side this is, if it lies in the folder.
fn network_side(recording: &Recording, args: &Report) -> Result<Option<Recording>, Failure> {
    let summary = recording.summary()?;
    let context = &summary.context;
    let other = context.bridged_url().and(context.other_side.as_deref());
    let Some(other) = other else {
        return Ok(None);
    };
    let library = Library::new(folder::of(&args.which.folder)?);
    let lacks = "the report lacks what went over the network";
    let named = escape(other);
    let Some(path) = library.with_id(other) else {
        let dir = shown(library.dir());
        output::say(&format!("{lacks}: recording {named} is not in {dir}"));
        return Ok(None);
    };
    let read = select::recording(&path, &library);
    match read.and_then(|it| Ok((it.summary()?, it))) {
        // A stranger's file may name any recording.
        Ok((it, network)) if it.context.other_side.as_ref() == Some(&summary.id) => {
            Ok(Some(network))
        }
        Ok(_) => {
            output::say(&format!(
                "{lacks}: recording {named} does not name this one"
            ));
            Ok(None)
        }
        Err(failure) => failure.skipped(lacks).map(|_| None),
    }
}

/// What was taken out of a side, a line each.
fn removed(side: &Side, report: &RedactionReport) -> Vec<String> {
    let values = plural(report.values() as u64, "value");
    let places = plural(report.hits(), "place");
    let what = match side.folder {
        "" => "removed".to_owned(),
        folder => format!("{folder}/ has the same of what went over the network; removed"),
    };
    let mut lines = vec![match report.hits() {
        0 => format!("{what}: nothing"),
        _ => format!("{what}: {values} in {places}"),
    }];
    let rules = report.rules.iter();
    lines.extend(rules.map(|(rule, count)| format!("  {count:>5} × {}", escape(rule))));
    let undone = outgoing::undone(report);
    lines.extend(undone.iter().map(|line| format!("  {line}")));
    lines
}

/// A recording without its secrets, and what was replaced.
type Made = (Recording, RedactionReport);

/// The recordings without their secrets, in which the same value has the same token, and a redactor that knows the
/// secrets of all.
fn without_secrets(sides: &[Side], policy: &Arc<Policy>) -> Result<(Vec<Made>, Redactor), Failure> {
    let mut learner = Learner::new(Arc::clone(policy));
    for Side { recording, .. } in sides {
        let mut tell = progress(recording)?;
        let mut tell = |seq| tell(Stage::Looked(seq));
        learn_from(
            recording,
            outgoing::last(recording)?,
            &mut learner,
            &mut tell,
        )?;
    }
    let (mut redactor, mut made) = (learner.finish(), Vec::new());
    for Side { recording, now, .. } in sides {
        let mut tell = progress(recording)?;
        let mut redacting = Redacting::with(recording, outgoing::last(recording)?, redactor)?;
        let what = (&Selection::default(), *now);
        let (redacted, report) =
            recording_copy::redacted_with_own_id(&mut redacting, what, &mut tell)?;
        redactor = redacting.into_redactor();
        made.push((redacted.called(Path::new(SESSION)), report));
    }
    let known = redactor.of_known_words();
    Ok((made, known.map_err(anyhow::Error::from)?))
}

/// The path of the report, and whether it replaces what is there: only `--force` does, and only
/// another report.
fn place(args: &Report, name: &str, id: &str) -> Result<(PathBuf, Replace), Failure> {
    let ending = if args.zip { ".zip" } else { "" };
    let id = id.get(..4).unwrap_or(id);
    let usual = format!("mcpreel-report-{}-{id}{ending}", sanitised(name));
    let path = args.output.clone().unwrap_or_else(|| usual.into());
    let path = std::path::absolute(&path).context("the path cannot be resolved")?;
    let why = match args.force {
        _ if path.symlink_metadata().is_err() => return Ok((path, Replace::No)),
        true if is_report(&path, args.zip) => return Ok((path, Replace::Yes)),
        true => "is not such a report and was not replaced",
        false => "exists already: --force replaces a report",
    };
    let message = format!("{} {why}; name another with -o", shown(&path));
    Err(Failure::Usage(message))
}

/// Whether what stands at `path` is a report and nothing else.
fn is_report(path: &Path, is_zip: bool) -> bool {
    if is_zip {
        let archive = File::open(path).ok().map(ZipArchive::new);
        return archive.and_then(Result::ok).is_some_and(|archive| {
            let is_ours = |name: &str| NAMES.iter().any(|known| name.ends_with(known));
            let mut names = archive.file_names();
            archive.len() % NAMES.len() == 0
                && !archive.is_empty()
                && names.all(|name| name.is_ok_and(|name| is_ours(&name)))
        });
    }
    let network = path.join(NETWORK);
    let has_network = network.symlink_metadata().is_ok();
    is_side(path, NAMES.len() + usize::from(has_network))
        && (!has_network || is_side(&network, NAMES.len()))
}

/// Whether `path` is a folder of so many entries, among them all files of a side.
fn is_side(path: &Path, count: usize) -> bool {
    let has_all = NAMES.iter().all(|name| path.join(name).is_file());
    has_all && path.read_dir().map_or(0, Iterator::count) == count && !path.is_symlink()
}

/// Writes all files into `folder`; `now` is the time of a session that is still recorded.
fn write(
    (redacted, now): (&Recording, Option<Moment>),
    report: &RedactionReport,
    folder: &Path,
) -> Result<(), Failure> {
    let [text, page, reel, replaced, as_json] = NAMES.map(|name| folder.join(name));
    let mut tell = progress(redacted)?;
    let formats = [Format::Markdown, Format::Html, Format::Recording];
    for (path, format) in [text, page, reel].iter().zip(formats) {
        let order = Order {
            format,
            bodies: Bodies::Without,
            selection: &Selection::default(),
            // It is redacted already, and the recording says when it was copied.
            now: now.filter(|_| format != Format::Recording),
            policy: None,
        };
        outgoing::save(redacted, &order, path, Replace::No, &mut tell)?;
    }
    let lines = redact::report_lines(report, Some(Path::new(SESSION)));
    let lines = format!("{}\n{LIMITS}\n", lines.join("\n")).into_bytes();
    for (path, content) in [(&replaced, lines), (&as_json, serde_json::to_vec(report)?)] {
        let mut draft = Draft::beside(path)?;
        draft.write_all(&content)?;
        draft.settle(path, Replace::No)?;
    }
    Ok(())
}

/// Looks through the files of a report: the session by all rules, the texts made of it for values
/// that are known to be secret.
fn leaks(
    folder: &Path,
    known: &mut Redactor,
    policy: &Arc<Policy>,
) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for name in &NAMES[..2] {
        let file = File::open(folder.join(name))?;
        let (report, _) = redact_scan::leaks(&file, known)?;
        let places = report.places.iter();
        found.extend(places.map(|leak| format!("{name}: {}: {}", leak.place, escape(&leak.rule))));
    }
    let session = Recording::open(&folder.join(SESSION))?;
    for leak in &redact::look(&session, policy)?.places {
        let (path, rule) = (escape(&leak.path), escape(&leak.rule));
        found.push(format!("{SESSION}: {}: {path}: {rule}", leak.place));
    }
    Ok(found)
}

/// Packs these files of `folder` into `draft`, in a folder called `inside`.
fn pack(folder: &Path, names: &[PathBuf], inside: &Path, draft: Draft) -> anyhow::Result<Draft> {
    let mut zip = ZipWriter::new_stream(draft);
    for name in names {
        let mut file = File::open(folder.join(name))?;
        let options = SimpleFileOptions::default()
            .unix_permissions(0o600)
            .large_file(file.metadata()?.len() >= u64::from(u32::MAX));
        zip.start_file_from_path(inside.join(name), options)?;
        io::copy(&mut file, &mut zip)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// A leak keeps the whole report back.
fn keep_back(found: &[String], as_json: bool) -> Outcome {
    if as_json {
        let mut out = Output::stdout();
        out.json(&json!({ "path": null, "leaks": found }))?;
        out.flush()?;
    }
    output::say("nothing was written, because the report still has secrets in it");
    let leaks = found.iter().cloned();
    for line in output::some(leaks, found.len() as u64, MOST_LEAKS) {
        output::say(&line);
    }
    output::say("if a value is not a secret, `--without RULE` disables the rule that found it");
    Ok(Exit::Found)
}

/// The places of redacted recordings that a person should look at, an escaped line each.
fn by_eye<'r>(sides: impl Iterator<Item = &'r Recording>) -> Result<Vec<String>, Failure> {
    let (mut lines, mut tools, mut has_stderr) = (Vec::new(), BTreeSet::new(), false);
    let stderr = Query::parse("kind:stderr").unwrap_or_default();
    for redacted in sides {
        redacted.each_exchange(|exchange| {
            let is_call = &*exchange.method == "tools/call";
            tools.extend(exchange.name.filter(|_| is_call));
        })?;
        has_stderr |= filter::any(redacted, &stderr)?;
    }
    if !tools.is_empty() {
        let names = tools.iter().map(|tool| escape(tool).into_owned());
        let names = output::some(names, tools.len() as u64, MOST_TOOLS).join(", ");
        lines.push(format!("arguments and results of {names}"));
    }
    if has_stderr {
        lines.push("stderr of the server".to_owned());
    }
    lines.push("the command line, and the names of folders and machines in it".to_owned());
    Ok(lines)
}
