//! `mcpreel redact`: a recording without its secrets, what would be replaced in one, and leaks.
//!
//! * [`policy`]: what is secret, from the configuration and the arguments;
//! * [`make`]: a redacted recording as a file;
//! * `report`: what was replaced, for people; `scan`: files of any kind.

pub mod make;
pub mod policy;
pub mod report;
pub mod scan;

use super::args::Redact as Args;
use super::exit::{Exit, Failure, Outcome};
use super::export::target::{Replace, Whole};
use super::export::{last, tell_unfinished, usage};
use super::output::{Output, Progress};
use super::select;
use crate::formats::export::Selection;
use crate::formats::redacted::Redacting;
use crate::redact::{Policy, Report};
use crate::store::reader::Recording;
use crate::text::count;
use crate::trace::frame::Seq;
use std::path::Path;
use std::sync::Arc;

/// Does what the arguments ask for.
pub fn run(args: &Args) -> Outcome {
    if args.list {
        report::rules(args.json)?;
        return Ok(Exit::Fine);
    }
    let policy = policy::of(&args.what)?;
    if !args.scan.is_empty() {
        return scan::run(&args.scan, &policy, args.json);
    }
    let (recording, selected) = select::open(&args.recording, &args.folder)?;
    if selected.seq.is_some() {
        return Err(usage(
            "#SEQ names one frame; a recording is redacted as a whole",
        ));
    }
    let report = match &args.output {
        Some(path) => write(&recording, path, args.force, policy)?,
        None => look(&recording, policy)?,
    };
    let mut out = Output::stdout();
    if args.json {
        out.json(&report)?;
    } else {
        report::write(&report, args.output.as_deref(), &mut out)?;
    }
    out.flush()?;
    Ok(Exit::Fine)
}

/// Goes over a recording to learn what is secret in it.
pub fn learn(recording: &Recording, policy: Arc<Policy>) -> Result<Redacting<'_>, Failure> {
    let of = recording.summary()?.frames;
    let mut progress = Progress::stderr();
    let mut told = |seq: Seq| {
        progress
            .now_and_then(|| format!("{} of {} frames looked through", count(seq.0), count(of)));
    };
    let last = last(recording)?;
    Ok(Redacting::learn(recording, last, policy, &mut told)?)
}

/// What would be replaced.
pub fn look(recording: &Recording, policy: Arc<Policy>) -> Result<Report, Failure> {
    let mut redacting = learn(recording, policy)?;
    make::look(&mut redacting, &Selection::default())?;
    Ok(redacting.take_report())
}

/// Makes a redacted recording.
fn write(
    recording: &Recording,
    path: &Path,
    force: bool,
    policy: Arc<Policy>,
) -> Result<Report, Failure> {
    let may = if force { Replace::Yes } else { Replace::No };
    let whole = Whole::begin(path, recording.path(), may)?;
    let mut redacting = learn(recording, policy)?;
    let (redacted, report) = make::recording(&mut redacting, &Selection::default())?;
    redacted.copy_into(whole.draft.path())?;
    drop(redacted);
    whole.finish()?;
    tell_unfinished(recording)?;
    Ok(report)
}
