//! `mcpreel reindex`: derives everything anew from the recorded bytes.

use super::args::Reindex;
use super::exit::{Exit, Failure, Outcome};
use super::output::{self, Output, Progress};
use super::{cassette, folder, select};
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::Library;
use mcpreel_store::reader::Recording;
use mcpreel_store::reindex::{self, ReindexError};
use mcpreel_wire::text::{count, escape, plural};
use nix::unistd::{AccessFlags, access};
use std::path::Path;

/// Rebuilds each; one that cannot be rebuilt does not keep the others from it.
pub fn run(args: &Reindex) -> Outcome {
    let library = Library::new(folder::of(&args.folder)?);
    let mut out = Output::stdout();
    let mut refused = false;
    for text in &args.recordings {
        let path = select::find(text, &library)?.path;
        let shown = path.to_string_lossy();
        let shown = escape(&shown);
        if cassette::is_one(&path) {
            let message = format!("{shown} is a cassette: there is nothing derived in it");
            return Err(Failure::Usage(message));
        }
        select::complete(&path, &library)?;
        let mut progress = Progress::stderr();
        let rebuilt = reindex::reindex(&path, &mut |frames| {
            progress.show(&format!("{shown}: {} frames", count(frames)));
        });
        drop(progress);
        if let Err(error) = rebuilt {
            output::say(&format!(
                "{shown} could not be rebuilt: {}",
                why(&path, &error)
            ));
            refused = true;
            continue;
        }
        let summary = Recording::open(&path)?.summary()?;
        out.line(&format!(
            "{shown}: {}, {}, {}",
            plural(summary.frames, "frame"),
            plural(summary.exchanges, "exchange"),
            plural(summary.findings, "finding")
        ))?;
    }
    out.flush()?;
    Ok(if refused { Exit::Refused } else { Exit::Fine })
}

fn why(path: &Path, error: &ReindexError) -> String {
    if access(path, AccessFlags::R_OK).is_ok() && access(path, AccessFlags::W_OK).is_err() {
        return "it may not be written".to_owned();
    }
    escape(&sentence(error)).into_owned()
}
