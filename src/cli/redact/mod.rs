//! `mcpreel redact`: a recording without its secrets, what would be replaced in one, and leaks.
//!
//! * [`policy`]: what is secret, from the configuration and the arguments;
//! * `report`: what was replaced, for people; `scan`: files of any kind;
//!   `packed`: those that it cannot look into.

mod packed;
pub mod policy;
pub mod report;
pub mod scan;

use super::args::Redact as Args;
use super::exit::{Exit, Failure, Outcome};
use super::export::write::progress;
use super::export::{tell_unfinished, usage};
use super::output::Output;
use super::select;
use mcpreel_redact::{Policy, Redactor, Report};
use mcpreel_share::export::Selection;
use mcpreel_share::outgoing::file::{Replace, Whole};
use mcpreel_share::outgoing::{self, redacted};
use mcpreel_store::reader::Recording;
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
        Some(path) => write(&recording, path, args.force, &policy)?,
        None => look(&recording, &policy)?,
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

/// What would be replaced.
pub fn look(recording: &Recording, policy: &Arc<Policy>) -> Result<Report, Failure> {
    Ok(looked(recording, policy)?.0)
}

/// The same, and what knows the secrets.
fn looked(recording: &Recording, policy: &Arc<Policy>) -> Result<(Report, Redactor), Failure> {
    let mut tell = progress(recording)?;
    let mut redacting = outgoing::learn(recording, policy, &mut tell)?;
    redacted::look(&mut redacting, &Selection::default(), &mut tell)?;
    Ok((redacting.take_report(), redacting.into_redactor()))
}

/// Makes a redacted recording.
fn write(
    recording: &Recording,
    path: &Path,
    force: bool,
    policy: &Arc<Policy>,
) -> Result<Report, Failure> {
    let may = if force { Replace::Yes } else { Replace::No };
    let whole = Whole::begin(path, recording.path(), may)?;
    let mut tell = progress(recording)?;
    let all = Selection::default();
    let what = (&all, Some(policy));
    let report = outgoing::copy(recording, what, whole.draft.path(), &mut tell)?;
    drop(tell);
    whole.finish()?;
    tell_unfinished(recording)?;
    Ok(report.unwrap_or_default())
}
