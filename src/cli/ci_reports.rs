//! What `lint` and comparisons write alike for machines: test reports in the XML of `JUnit`, and
//! annotations of GitHub Actions.
//!
//! GitHub shows ten annotations of each kind per step and drops the rest without a word. So no more
//! are written, and the last of them says what was left out.

use super::exit::Failure;
use super::output::Output;
use mcpreel_wire::text::{cut, escape, plural};
use std::io::{self, Write};

/// Columns of a text in a report for machines. What a recording says may come from a stranger, and
/// who takes such reports refuses, or cuts, what is longer.
const TEXT: usize = 1000;

/// A text for a report: on one line, with nothing hidden in it, and of bounded length.
pub fn safe(text: &str) -> String {
    cut(&escape(text), TEXT)
}

/// A test.
pub struct Case {
    pub name: String,
    pub verdict: Verdict,
    /// Details, a line each.
    pub lines: Vec<String>,
}

pub enum Verdict {
    Passed,
    /// A short reason.
    Failed(String),
    /// Why the test could not be made.
    Error(String),
    /// Why the test was not made.
    Skipped(String),
}

/// Writes the test report of a command: suites by name, each with its tests.
pub fn junit(
    command: &str,
    suites: &[(String, Vec<Case>)],
    out: &mut Output,
) -> Result<(), Failure> {
    out.line(r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    out.line(&format!(r#"<testsuites name="{}">"#, xml(command)))?;
    for (name, cases) in suites {
        let name = xml(name);
        let cases: Vec<_> = cases.iter().map(|case| case.xml(&name)).collect();
        let of = |tag| cases.iter().filter(|(known, _)| *known == tag).count();
        let (failures, errors, skipped) = (of("failure"), of("error"), of("skipped"));
        out.line(&format!(
            r#"  <testsuite name="{name}" tests="{}" failures="{failures}" errors="{errors}" skipped="{skipped}">"#,
            cases.len(),
        ))?;
        cases.iter().try_for_each(|(_, line)| out.line(line))?;
        out.line("  </testsuite>")?;
    }
    Ok(out.line("</testsuites>")?)
}

impl Case {
    /// The tag of the verdict, and the element.
    fn xml(&self, suite: &str) -> (&'static str, String) {
        let name = xml(&self.name);
        let begin = format!(r#"    <testcase classname="{suite}" name="{name}""#);
        let (tag, short) = match &self.verdict {
            Verdict::Passed if self.lines.is_empty() => return ("", format!("{begin}/>")),
            Verdict::Passed => ("system-out", None),
            Verdict::Failed(short) => ("failure", Some(short)),
            Verdict::Error(short) => ("error", Some(short)),
            Verdict::Skipped(short) => ("skipped", Some(short)),
        };
        let message = short.map(|short| format!(r#" message="{}""#, xml(short)));
        let message = message.unwrap_or_default();
        let lines: Vec<_> = self.lines.iter().map(|line| xml(line)).collect();
        let lines = lines.join("\n");
        let element = format!("{begin}><{tag}{message}>{lines}</{tag}></testcase>");
        (tag, element)
    }
}

/// A text on one line inside XML: without what XML 1.0 does not allow (section 2.2), the rest
/// escaped.
fn xml(text: &str) -> String {
    safe(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// Annotations of one kind that GitHub shows.
const SHOWN: usize = 10;

/// An annotation of GitHub Actions.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// `error`, `warning` or `notice`.
    pub kind: &'static str,
    pub file: String,
    pub title: String,
    pub message: String,
    /// How many findings or differences the annotation stands for.
    pub stands_for: u64,
}

/// Writes the workflow commands that make annotations. `left_out` further ones are only counted in
/// the last line, by their `noun`.
pub fn github(
    noun: &str,
    annotations: &[Annotation],
    left_out: u64,
    out: &mut impl Write,
) -> io::Result<()> {
    for kind in ["error", "warning", "notice"] {
        let mut more = if kind == "notice" { left_out } else { 0 };
        let of_kind = annotations.iter().filter(|one| one.kind == kind);
        let is_whole = more == 0 && of_kind.clone().count() <= SHOWN;
        let most = if is_whole { SHOWN } else { SHOWN - 1 };
        for (at, one) in of_kind.enumerate() {
            if at >= most {
                more += one.stands_for;
                continue;
            }
            let (file, title) = (property(&one.file), property(&one.title));
            let message = data(&one.message);
            writeln!(out, "::{kind} file={file},title={title}::{message}")?;
        }
        if more > 0 {
            let more = plural(more, &format!("more {noun}"));
            writeln!(
                out,
                "::{kind} title=mcpreel::and {more}, which GitHub would not show"
            )?;
        }
    }
    Ok(())
}

/// The text of a message: nothing in it may end the command or begin another one.
fn data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D");
    safe(&text.replace('\n', "%0A"))
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
