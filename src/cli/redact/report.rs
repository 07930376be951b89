//! What was replaced, for people.

use crate::cli::exit::Failure;
use crate::cli::output::Output;
use mcpreel_redact::{LIMITS, OPTIONAL, Replaced, Report, SPECIAL};
use mcpreel_share::outgoing::told;
use mcpreel_wire::text::{escape, plural, size};
use serde::Serialize;
use std::path::Path;

/// Places that are told; --json has more.
const MOST: usize = 200;

/// Writes the report.
pub fn write(report: &Report, path: Option<&Path>, out: &mut Output) -> Result<(), Failure> {
    let lines = lines(report, path);
    Ok(lines.iter().try_for_each(|line| out.line(line))?)
}

/// The report, of what stands in `path` now, or would.
pub fn lines(report: &Report, path: Option<&Path>) -> Vec<String> {
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
    let mut lines = vec![format!("{head}{values} {done} in {places}, by {rules}")];
    lines.extend(report.places.iter().take(MOST).map(|replaced| {
        let path = match where_in(replaced) {
            path if path.is_empty() => path,
            path => format!("  {path}"),
        };
        let place = format!("{:<18}", replaced.place.to_string());
        let (token, rule) = (replaced.token.to_string(), escape(&replaced.rule));
        format!("  {place} {token:<12} {rule}{path}")
    }));
    let told = report.places.len().min(MOST) as u64;
    if report.hits() > told {
        lines.push(format!(
            "  and {}",
            plural(report.hits() - told, "more place")
        ));
    }
    lines.extend(beside(report));
    lines.push(LIMITS.to_owned());
    lines
}

/// Where in a message something stands, and by which name in a text; escaped.
fn where_in(replaced: &Replaced) -> String {
    let (path, key) = (escape(&replaced.path), escape(&replaced.key));
    match (path.is_empty(), key.is_empty()) {
        (_, true) => path.into_owned(),
        (true, false) => key.into_owned(),
        (false, false) => format!("{path} ({key})"),
    }
}

/// What was not done.
fn beside(report: &Report) -> Vec<String> {
    let left = report.left.iter().map(|left| {
        format!(
            "#{} is left out: {} are too long to be looked through",
            left.seq,
            size(left.bytes)
        )
    });
    let mut lines: Vec<_> = told::off(report).into_iter().chain(left).collect();
    lines.extend(told::unplaced(report));
    if report.short > 0 {
        let values = plural(report.short, "value");
        lines.push(format!("too short to be looked for elsewhere: {values}"));
    }
    if report.beyond > 0 {
        let values = plural(report.beyond, "value");
        lines.push(format!(
            "too many or too long to be looked for elsewhere: {values}"
        ));
    }
    lines
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
    let shapes = mcpreel_redact::rules().map(|rule| (rule.id, rule.about));
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
