//! What was replaced, for people.

use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use crate::redact::{self, LIMITS, OPTIONAL, Report, SPECIAL};
use crate::text::{escape, plural, size};
use serde::Serialize;
use std::path::Path;

/// Places that are told; --json has more.
const MOST: usize = 200;

/// Writes the report.
pub fn write(report: &Report, path: Option<&Path>, out: &mut Output) -> Result<(), Failure> {
    let places = plural(report.hits(), "place");
    let values = plural(report.values() as u64, "value");
    let (rules, done) = (
        plural(report.rules.len() as u64, "rule"),
        match path {
            Some(_) => "replaced",
            None => "to be replaced",
        },
    );
    let head = match path {
        Some(path) => format!("{}: ", escape(&path.display().to_string())),
        None => String::new(),
    };
    out.line(&format!("{head}{values} {done} in {places}, by {rules}"))?;
    for replaced in report.places.iter().take(MOST) {
        let path = if replaced.path.is_empty() {
            String::new()
        } else {
            format!("  {}", escape(&replaced.path))
        };
        let place = format!("{:<18}", replaced.place.to_string());
        let rule = out.paint(Ink::Faint, &escape(&replaced.rule));
        out.line(&format!(
            "  {place} {:<12} {rule}{path}",
            replaced.token.to_string()
        ))?;
    }
    let told = report.places.len().min(MOST) as u64;
    if report.hits() > told {
        out.line(&format!(
            "  and {}",
            plural(report.hits() - told, "more place")
        ))?;
    }
    beside(report, out)?;
    Ok(out.line(LIMITS)?)
}

/// What was not done.
fn beside(report: &Report, out: &mut Output) -> Result<(), Failure> {
    for left in &report.left {
        out.line(&format!(
            "#{} is left out: {} are too long to be looked through",
            left.seq,
            size(left.bytes)
        ))?;
    }
    if report.short > 0 {
        let values = plural(report.short, "value");
        out.line(&format!("too short to be looked for elsewhere: {values}"))?;
    }
    if report.beyond > 0 {
        let values = plural(report.beyond, "value");
        out.line(&format!(
            "too many or too long to be looked for elsewhere: {values}"
        ))?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Line {
    id: &'static str,
    about: &'static str,
    optional: bool,
}

/// Writes which rules there are.
pub fn rules(json: bool) -> Result<(), Failure> {
    let mut out = Output::stdout();
    let shapes = redact::rules().map(|rule| (rule.id, rule.about));
    for line in SPECIAL.iter().copied().chain(shapes) {
        let (id, about) = line;
        let optional = OPTIONAL.contains(&id);
        if json {
            out.json(&Line {
                id,
                about,
                optional,
            })?;
        } else {
            let only = if optional {
                " (only where it is asked for)"
            } else {
                ""
            };
            out.line(&format!("{id:<20} {about}{only}"))?;
        }
    }
    Ok(out.flush()?)
}
