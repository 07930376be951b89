//! `mcpreel reindex`: derives everything anew from the recorded bytes.

use super::exit::{Exit, Failure, Outcome};
use super::folder::Folder;
use super::output::{self, Output, Progress};
use super::{cassette, folder, select};
use clap::Args;
use mcpreel_share::phrases::sentence;
use mcpreel_store::indexer::derive::reindex;
use mcpreel_store::library::Library;
use mcpreel_store::reader::Recording;
use mcpreel_wire::text::{count, escape, plural};
use serde_json::json;
use std::ffi::OsString;

/// Rebuild the derived data from the recorded bytes
///
/// Exchanges, findings and counts are derived; frames and events are the truth and stay untouched.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel reindex 7f3a
  mcpreel reindex *.reel")]
pub struct Reindex {
    /// Paths, @, @2, ids or their first four digits or more, or names
    #[arg(value_name = "RECORDING", required = true)]
    recordings: Vec<OsString>,
    #[command(flatten)]
    folder: Folder,
    /// One JSON object per recording and line
    #[arg(long)]
    json: bool,
}

impl Reindex {
    /// Rebuilds each; one that cannot be rebuilt does not keep the others from it.
    pub fn run(&self) -> Outcome {
        let library = Library::new(folder::of(&self.folder)?);
        let mut out = Output::stdout();
        let mut exit = Exit::Fine;
        for text in &self.recordings {
            let path = select::find(text, &library)?.path;
            let shown = output::shown(&path);
            if cassette::is_one(&path) {
                let message = format!("{shown} is a cassette: there is nothing derived in it");
                return Err(Failure::Usage(message));
            }
            select::complete(&path, &library)?;
            let mut progress = Progress::stderr();
            let rebuilt = reindex(&path, &mut |frames| {
                progress.now_and_then(|| format!("{shown}: {} frames", count(frames)));
            });
            drop(progress);
            if let Err(error) = rebuilt {
                let why = sentence(&error);
                output::say(&format!("{shown} could not be rebuilt: {}", escape(&why)));
                exit = Exit::Refused;
                continue;
            }
            let summary = Recording::open(&path)?.summary()?;
            if self.json {
                out.json(&json!({
                    "id": summary.id, "path": path.to_string_lossy(), "frames": summary.frames,
                    "exchanges": summary.exchanges, "findings": summary.findings,
                }))?;
                continue;
            }
            out.line(&format!(
                "{shown}: {}, {}, {}",
                plural(summary.frames, "frame"),
                plural(summary.exchanges, "exchange"),
                plural(summary.findings, "finding")
            ))?;
        }
        out.flush()?;
        Ok(exit)
    }
}
