//! A file that is made of what is selected: without what is secret, or raw.

use super::target::Target;
use crate::cli::args::Export as Args;
use crate::cli::exit::Failure;
use crate::cli::output::Progress;
use crate::cli::{redact, select};
use mcpreel_redact::{Policy, Report};
use mcpreel_share::export::otlp::Bodies;
use mcpreel_share::export::{Selection, Written};
use mcpreel_share::outgoing::{Error, Order, Stage, Stopped};
use mcpreel_store::reader::Recording;
use std::sync::Arc;

/// Writes the format that is asked for to `target`: what was written, and unless that is raw what
/// was replaced.
pub(super) fn write(
    recording: &Recording,
    args: &Args,
    selection: &Selection,
    target: &mut Target,
) -> Result<(Written, Option<Report>), Failure> {
    let order = Order {
        format: args.format.into(),
        bodies: bodies(args),
        selection,
        now: select::now(recording, &recording.summary()?),
        policy: policy(args)?,
    };
    let mut tell = progress(recording)?;
    let written = mcpreel_share::outgoing::write(recording, &order, target, &mut tell);
    written.map_err(|error| match error {
        Error::Write(error) => target.failure(error),
        error => error.into(),
    })
}

/// What is secret; none is raw.
pub(super) fn policy(args: &Args) -> Result<Option<Arc<Policy>>, Failure> {
    let policy = (!args.raw).then(|| redact::policy::of(&args.what));
    policy.transpose()
}

/// Says how far it is.
pub fn progress(
    recording: &Recording,
) -> Result<impl FnMut(Stage) -> Result<(), Stopped> + use<>, Failure> {
    let of = recording.summary()?.frames;
    let mut progress = Progress::stderr();
    Ok(move |stage: Stage| {
        progress.now_and_then(|| stage.in_words(of));
        Ok(())
    })
}

fn bodies(args: &Args) -> Bodies {
    if args.with_bodies {
        Bodies::With
    } else {
        Bodies::Without
    }
}
