//! What is said of a report: for people, for scripts.

use super::NAMES;
use crate::cli::exit::{Exit, Failure, Outcome};
use crate::cli::output::{self, Output};
use mcpreel_redact::{LIMITS, Report};
use mcpreel_share::outgoing::told;
use mcpreel_wire::text::{escape, plural, size};
use serde_json::json;
use std::path::Path;

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
pub struct Said<'s> {
    pub path: &'s Path,
    pub bytes: u64,
    /// What was replaced.
    pub report: &'s Report,
    /// What a person should look at.
    pub by_eye: Vec<String>,
}

impl Said<'_> {
    /// Says what there is, what was removed, and what to look at.
    pub fn in_words(&self) -> Result<(), Failure> {
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
    pub fn as_json(&self) -> Result<(), Failure> {
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
fn removed(report: &Report, out: &mut Output) -> Result<(), Failure> {
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
pub fn kept_back(found: &[String], as_json: bool) -> Outcome {
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
