//! Findings for people.
//!
//! ```text
//! 7f3a weather-server: 2 errors, 1 note
//!
//! error    frame-not-json: a line is no JSON text (2)
//!      #1  byte 0: expected a value: [INFO] listening
//!      #9  byte 0: expected a value: [INFO] request
//!          fix: write logs to stderr …
//! ```

use super::checked::{Checked, Group, counts};
use crate::cli::exit::Failure;
use crate::cli::lines;
use crate::cli::output::{Ink, Output};
use crate::cli::show::finding_line;
use mcpreel_store::reader::FindingRow;
use mcpreel_wire::text::{count, escape, pad_start, plural};

/// Findings of one rule that are shown; `--json` has all.
const SHOWN: u32 = 5;

/// What was found in one recording; `is_next` if another one came before.
pub fn recording(checked: &Checked, is_next: bool, out: &mut Output) -> Result<(), Failure> {
    if is_next {
        out.line("")?;
    }
    let (id, name) = (&checked.id, escape(&checked.name));
    let title = out.paint(Ink::Strong, &format!("{id} {name}"));
    // Of one that stops in the middle not everything was looked at.
    let state = checked
        .state
        .map_or_else(String::new, |state| format!(" ({state})"));
    let allowed = match checked.allowed {
        0 => String::new(),
        allowed => format!(", {} passed over", count(allowed)),
    };
    out.line(&format!("{title}{state}: {}{allowed}", counts(checked)))?;
    for group in &checked.groups {
        out.line("")?;
        self::group(checked, group, out)?;
    }
    if !checked.overdue.is_empty() {
        out.line("")?;
        out.line(&out.paint(Ink::Strong, "right now"))?;
        for finding in &checked.overdue {
            out.line(&finding_line(finding, out))?;
        }
    }
    Ok(())
}

fn group(checked: &Checked, group: &Group, out: &mut Output) -> Result<(), Failure> {
    let rule = mcpreel_lint::rule(&group.group.rule);
    let summary = rule.map_or_else(String::new, |rule| format!(": {}", rule.summary));
    let times = match group.group.count {
        1 => String::new(),
        times => format!(" ({})", count(times)),
    };
    let severity = lines::severity(&group.group.severity, out);
    let id = out.paint(Ink::Strong, &escape(&group.group.rule));
    out.line(&format!("{severity}  {id}{summary}{times}"))?;
    let (id, severity) = (&group.group.rule, &group.group.severity);
    let found = checked
        .recording
        .findings_of_group(id, severity, None, SHOWN)?;
    for finding in &found {
        out.line(&line(finding, out))?;
    }
    let more = group.group.count.saturating_sub(found.len() as u64);
    if more > 0 {
        let more = plural(more, "more finding");
        out.line(&out.paint(
            Ink::Faint,
            &format!("         … and {more}; --json has all"),
        ))?;
    }
    if let Some(rule) = rule {
        out.line(&out.paint(Ink::Faint, &format!("         fix: {}", rule.fix)))?;
    }
    Ok(())
}

fn line(finding: &FindingRow, out: &Output) -> String {
    let place = match finding.frame {
        Some(seq) => format!("#{}", seq.0),
        None => String::new(),
    };
    let path = match &finding.path {
        Some(path) => format!("{}: ", out.paint(Ink::Strong, &escape(path))),
        None => String::new(),
    };
    let place = pad_start(&place, 7);
    format!("{place}  {path}{}", escape(&finding.detail))
}
