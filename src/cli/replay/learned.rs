//! Handles that were bound become rules, so that the next replay need not learn them.

use crate::cli::args::Replay as Args;
use crate::cli::output;
use mcpreel_replay::bind::Bound;
use mcpreel_replay::player::Tally;
use mcpreel_replay::rules::{bind_rule, sidecar};
use mcpreel_wire::text::escape;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Rules that were kept.
pub struct Kept {
    /// How many.
    pub count: u64,
    /// Where.
    pub path: PathBuf,
}

/// Adds them to the last file that was named, or to the one beside the recording.
pub fn keep(args: &Args, recording: &Path, tally: &Tally) -> Option<Kept> {
    let rules = tally.bound.iter().filter_map(Bound::rule);
    let mut rules: Vec<_> = rules.map(|rule| bind_rule(&rule)).collect();
    rules.sort();
    rules.dedup();
    if rules.is_empty() || args.learning.frozen_rules {
        return None;
    }
    let named = args.strictness.rules.last().cloned();
    let path = named.unwrap_or_else(|| sidecar(recording));
    match append(&path, &rules) {
        Ok(()) => Some(Kept {
            count: rules.len() as u64,
            path,
        }),
        Err(error) => {
            let path = path.display().to_string();
            let why = error.to_string();
            output::say(&format!(
                "no rules were kept in {}: {}",
                escape(&path),
                escape(&why)
            ));
            None
        }
    }
}

fn append(path: &Path, rules: &[String]) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let is_new = file.metadata()?.len() == 0;
    let gap = if is_new { "" } else { "\n" };
    let text = format!("{gap}# learned by a replay\n{}", rules.join("\n"));
    // At once: whoever reads it meanwhile finds all of it or nothing.
    file.write_all(text.as_bytes())
}
