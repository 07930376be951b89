//! A recording as a recording: a copy in one plain file, whatever it was before.

use super::target::failure;
use super::{may, usage, write};
use crate::cli::args::Export as Args;
use crate::cli::exit::Failure;
use crate::cli::output::{self, Progress};
use crate::cli::select;
use mcpreel_share::export::Selection;
use mcpreel_share::outgoing::Format;
use mcpreel_share::outgoing::file::Whole;
use mcpreel_share::outgoing::told::in_words;
use mcpreel_store::reader::Recording;
use mcpreel_wire::text::{escape, plural, size};

/// A recording is no text that could be piped on.
pub fn refuse(args: &Args) -> Result<(), Failure> {
    if args.output.is_none() {
        return Err(usage("--format recording makes a file: name it (-o FILE)"));
    }
    Ok(())
}

/// Copies what is selected of `recording` to where the arguments say.
pub fn run(recording: &Recording, args: &Args, selection: &Selection) -> Result<(), Failure> {
    let Some(path) = &args.output else {
        return refuse(args);
    };
    let summary = recording.summary()?;
    let is_live = select::is_live(recording, &summary);
    let whole = Whole::begin(path, recording.path(), may(args))?;
    let mut progress = Progress::stderr();
    progress.show(&format!("copying {}", size(summary.bytes)));
    let policy = write::policy(args)?;
    let mut tell = write::progress(recording)?;
    let what = (selection, policy.as_ref());
    let report = mcpreel_share::outgoing::copy(recording, what, whole.draft.path(), &mut tell)?;
    drop(tell);
    drop(progress);
    let copied = whole.draft.path().metadata();
    let bytes = copied.map_err(|error| failure(path, error))?.len();
    // Of the copy: a live recording may have grown since it was looked at.
    let copy = Recording::open(whole.draft.path())?.summary()?;
    whole.finish()?;
    let path = path.display().to_string();
    output::say(&format!(
        "{}: {}, {}; {}",
        escape(&path),
        plural(copy.frames, "frame"),
        size(bytes),
        in_words(report.as_ref(), Format::Recording)
    ));
    if selection.note().is_some() {
        output::say("its frames have new numbers, from #1 on");
    }
    if is_live {
        output::say("it is still recorded: what comes from now on is not in the copy");
    }
    Ok(())
}
