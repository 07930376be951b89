//! A test report in the XML of `JUnit`: a suite per recording, a case per rule.

use super::Checked;
use crate::cli::args::Level;
use crate::cli::exit::Failure;
use crate::cli::output::Output;
use crate::lint::{Rule, catalogue};
use crate::text::plural;
use std::collections::BTreeSet;

/// Findings that a case shows; a report is read by people.
const SHOWN: u32 = 20;

/// The beginning of the report.
pub fn begin(out: &mut Output) -> Result<(), Failure> {
    out.line(r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    Ok(out.line(r#"<testsuites name="mcpreel lint">"#)?)
}

/// The end of it.
pub fn end(out: &mut Output) -> Result<(), Failure> {
    Ok(out.line("</testsuites>")?)
}

/// The suite of one recording.
pub fn recording(checked: &Checked, fail_on: Level, out: &mut Output) -> Result<(), Failure> {
    let failing = checked
        .groups
        .iter()
        .filter(|group| fail_on.fails(group.severity));
    let failed: BTreeSet<_> = failing.map(|group| &group.group.rule).collect();
    let is_looked_at = |rule: &&&Rule| !checked.skip.contains(rule.id);
    let rules = || catalogue().iter().filter(is_looked_at);
    let suite = xml(&format!("{} {}", checked.id, checked.name));
    out.line(&format!(
        r#"  <testsuite name="{suite}" tests="{}" failures="{}" errors="0">"#,
        rules().count(),
        failed.len(),
    ))?;
    for rule in rules() {
        let case = format!(r#"    <testcase classname="{suite}" name="{}""#, rule.id);
        let is_failed = failed.iter().any(|failed| &***failed == rule.id);
        let found = found(checked, rule.id)?;
        if found.is_empty() {
            out.line(&format!("{case}/>"))?;
            continue;
        }
        let said = xml(&found);
        let body = if is_failed {
            let summary = xml(rule.summary);
            format!(r#"<failure message="{summary}">{said}</failure>"#)
        } else {
            format!("<system-out>{said}</system-out>")
        };
        out.line(&format!("{case}>{body}</testcase>"))?;
    }
    Ok(out.line("  </testsuite>")?)
}

/// What a rule has found, a line each.
fn found(checked: &Checked, rule: &str) -> Result<String, Failure> {
    let mut lines = Vec::new();
    for group in checked
        .groups
        .iter()
        .filter(|group| &*group.group.rule == rule)
    {
        let (id, severity) = (&group.group.rule, &group.group.severity);
        let found = checked
            .recording
            .findings_of_group(id, severity, None, SHOWN)?;
        for finding in &found {
            let path = finding
                .path
                .as_deref()
                .map_or_else(String::new, |path| format!("{path}: "));
            lines.push(format!(
                "{severity} {}: {path}{}",
                checked.place(finding),
                finding.detail
            ));
        }
        let more = group.group.count.saturating_sub(found.len() as u64);
        if more > 0 {
            lines.push(format!("and {}", plural(more, "more finding")));
        }
    }
    Ok(lines.join("\n"))
}

/// Text inside XML: without what XML 1.0 does not allow (section 2.2), the rest escaped.
fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(char),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            _ if char.is_control() => safe.extend(char.escape_default()),
            _ => safe.push(char),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            xml("<a b=\"c\">&\u{1b}\u{ffff}"),
            "&lt;a b=&quot;c&quot;&gt;&amp;\\u{1b}\u{fffd}"
        );
    }
}
