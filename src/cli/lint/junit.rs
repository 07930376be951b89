//! A test report in the XML of `JUnit`: a suite per recording, a case per rule.

use super::checked::Checked;
use super::safe;
use crate::cli::args::Level;
use crate::cli::exit::Failure;
use crate::cli::output::Output;
use crate::lint::catalogue;
use crate::text::plural;
use std::collections::BTreeMap;

/// Findings that a case shows; a report is read by people.
const SHOWN: u32 = 20;

/// What a rule has found.
#[derive(Debug, Default)]
struct Case {
    is_failed: bool,
    /// A line each.
    lines: Vec<String>,
}

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
    let mut cases = cases(checked, fail_on)?;
    let failed = cases.values().filter(|case| case.is_failed).count();
    let known = catalogue().iter().map(|rule| rule.id);
    let known: Vec<_> = known.filter(|id| !checked.skip.contains(*id)).collect();
    // What another version of mcpreel has found and we do not know has a case as well.
    let others: Vec<_> = cases.keys().cloned().collect();
    let others: Vec<_> = others.iter().map(|rule| &**rule).collect();
    let others = others.iter().filter(|rule| !known.contains(rule));
    let rules: Vec<_> = known.iter().chain(others).copied().collect();
    let suite = xml(&format!("{} {}", checked.id, checked.name));
    out.line(&format!(
        r#"  <testsuite name="{suite}" tests="{}" failures="{failed}" errors="0">"#,
        rules.len(),
    ))?;
    for rule in rules {
        let case = cases.remove(rule).unwrap_or_default();
        out.line(&testcase(&suite, rule, &case))?;
    }
    Ok(out.line("  </testsuite>")?)
}

/// What was found, by rule.
fn cases(checked: &Checked, fail_on: Level) -> Result<BTreeMap<Box<str>, Case>, Failure> {
    let mut cases: BTreeMap<Box<str>, Case> = BTreeMap::new();
    checked.each_group(SHOWN, |told| {
        let case = cases.entry(told.rule.clone()).or_default();
        case.is_failed |= fail_on.fails(told.severity);
        let severity = told.severity.as_str();
        for finding in &told.findings {
            let path = finding.path.as_deref();
            let path = path.map_or_else(String::new, |path| format!("{path}: "));
            let place = checked.place(finding);
            case.lines
                .push(format!("{severity} {place}: {path}{}", finding.detail));
        }
        if told.more > 0 {
            let more = plural(told.more, "more finding");
            case.lines.push(format!("and {more}"));
        }
        Ok(())
    })?;
    Ok(cases)
}

fn testcase(suite: &str, rule: &str, case: &Case) -> String {
    let begin = format!(r#"    <testcase classname="{suite}" name="{}""#, xml(rule));
    if case.lines.is_empty() {
        return format!("{begin}/>");
    }
    let lines: Vec<_> = case.lines.iter().map(|line| xml(line)).collect();
    let said = lines.join("\n");
    let summary = crate::lint::rule(rule).map_or("", |rule| rule.summary);
    let body = if case.is_failed {
        format!(r#"<failure message="{}">{said}</failure>"#, xml(summary))
    } else {
        format!("<system-out>{said}</system-out>")
    };
    format!("{begin}>{body}</testcase>")
}

/// A text on one line inside XML: without what XML 1.0 does not allow (section 2.2), the rest
/// escaped.
fn xml(text: &str) -> String {
    let mut inside = String::with_capacity(text.len());
    for char in safe(text).chars() {
        match char {
            '&' => inside.push_str("&amp;"),
            '<' => inside.push_str("&lt;"),
            '>' => inside.push_str("&gt;"),
            '"' => inside.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => inside.push('\u{fffd}'),
            _ => inside.push(char),
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            xml("<a b=\"c\">&\u{1b}\u{202e}\n"),
            "&lt;a b=&quot;c&quot;&gt;&amp;\\x1b\\u{202e}\\n"
        );
        assert!(!xml("\u{ffff}").contains('\u{ffff}'));
    }
}
