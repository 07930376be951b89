//! Reports for machines, whatever they are about: what `lint` and comparisons write alike. Test
//! reports in the XML of `JUnit`, and annotations of GitHub Actions.
//!
//! GitHub shows ten annotations of each kind per step and drops the rest without a word. So no more
//! are written, and the last of them says what was left out.

use super::exit::Failure;
use super::output::Output;
use mcpreel_wire::text::{cut, escape, plural};

/// Columns of a text in a report for machines. What a recording says may come from a stranger, and
/// who takes such reports refuses, or cuts, what is longer.
const TEXT: usize = 1000;

/// A text for a report: on one line, with nothing hidden in it, and of bounded length.
pub fn safe(text: &str) -> String {
    cut(&escape(text), TEXT)
}

/// A test.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub verdict: Verdict,
    /// Details, a line each.
    pub lines: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// A short reason.
    Failed(String),
    /// Why it could not be tested.
    Error(String),
    /// Why it was not tested.
    Skipped(String),
}

/// The beginning of the report of a command.
pub fn begin_junit(command: &str, out: &mut Output) -> Result<(), Failure> {
    out.line(r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    Ok(out.line(&format!(r#"<testsuites name="{}">"#, xml(command)))?)
}

/// The end of it.
pub fn end_junit(out: &mut Output) -> Result<(), Failure> {
    Ok(out.line("</testsuites>")?)
}

/// A suite of tests.
pub fn suite(name: &str, cases: &[Case], out: &mut Output) -> Result<(), Failure> {
    let count = |what: fn(&Verdict) -> bool| cases.iter().filter(|one| what(&one.verdict)).count();
    let name = xml(name);
    out.line(&format!(
        r#"  <testsuite name="{name}" tests="{}" failures="{}" errors="{}" skipped="{}">"#,
        cases.len(),
        count(|verdict| matches!(verdict, Verdict::Failed(_))),
        count(|verdict| matches!(verdict, Verdict::Error(_))),
        count(|verdict| matches!(verdict, Verdict::Skipped(_))),
    ))?;
    for case in cases {
        out.line(&case.xml(&name))?;
    }
    Ok(out.line("  </testsuite>")?)
}

impl Case {
    fn xml(&self, suite: &str) -> String {
        let begin = format!(
            r#"    <testcase classname="{suite}" name="{}""#,
            xml(&self.name)
        );
        let lines: Vec<_> = self.lines.iter().map(|line| xml(line)).collect();
        let (tag, short) = match &self.verdict {
            Verdict::Passed if lines.is_empty() => return format!("{begin}/>"),
            Verdict::Passed => ("system-out", None),
            Verdict::Failed(short) => ("failure", Some(short)),
            Verdict::Error(short) => ("error", Some(short)),
            Verdict::Skipped(short) => ("skipped", Some(short)),
        };
        let message = short.map(|short| format!(r#" message="{}""#, xml(short)));
        let (message, said) = (message.unwrap_or_default(), lines.join("\n"));
        format!("{begin}><{tag}{message}>{said}</{tag}></testcase>")
    }
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

/// Annotations of one kind that GitHub shows.
const SHOWN: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Error,
    Warning,
    Notice,
}

#[derive(Clone, Copy, Debug)]
pub struct Annotation<'t> {
    pub kind: Kind,
    pub file: &'t str,
    pub title: &'t str,
    pub message: &'t str,
    /// For how many things of its sort it stands.
    pub stands_for: u64,
}

/// The annotations of a step.
#[derive(Debug)]
pub struct Annotations {
    /// The noun for what is counted: `finding`.
    noun: &'static str,
    /// Each line, and for how many things it stands.
    lines: Vec<(Kind, String, u64)>,
    /// Things without an annotation.
    left_out: Vec<(Kind, u64)>,
}

impl Annotations {
    pub fn new(noun: &'static str) -> Self {
        Self {
            noun,
            lines: Vec::new(),
            left_out: Vec::new(),
        }
    }

    pub fn add(&mut self, annotation: Annotation<'_>) {
        let (file, title) = (property(annotation.file), property(annotation.title));
        let line = format!("file={file},title={title}::{}", data(annotation.message));
        let (kind, things) = (annotation.kind, annotation.stands_for);
        self.lines.push((kind, line, things));
    }

    /// Counts things that have no annotation.
    pub fn left_out(&mut self, kind: Kind, things: u64) {
        self.left_out.push((kind, things));
    }

    pub fn write(&self, out: &mut Output) -> Result<(), Failure> {
        for line in self.commands() {
            out.line(&line)?;
        }
        Ok(())
    }

    fn commands(&self) -> Vec<String> {
        let mut commands = Vec::new();
        let kinds = [Kind::Error, Kind::Warning, Kind::Notice];
        for (kind, command) in kinds.into_iter().zip(["error", "warning", "notice"]) {
            let lines = self.lines.iter().filter(|(of, ..)| *of == kind);
            let lines: Vec<_> = lines.collect();
            let left_out = self.left_out.iter().filter(|(of, _)| *of == kind);
            let mut left_out: u64 = left_out.map(|(_, things)| things).sum();
            let is_whole = left_out == 0 && lines.len() <= SHOWN;
            let shown = if is_whole { SHOWN } else { SHOWN - 1 };
            let lines_shown = lines.iter().take(shown);
            commands.extend(lines_shown.map(|(_, line, _)| format!("::{command} {line}")));
            left_out += lines
                .iter()
                .skip(shown)
                .map(|(.., things)| things)
                .sum::<u64>();
            if left_out > 0 {
                let left_out = plural(left_out, &format!("more {}", self.noun));
                commands.push(format!(
                    "::{command} title=mcpreel::and {left_out}, which GitHub would not show"
                ));
            }
        }
        commands
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::text::escape;

    #[test]
    fn nothing_in_a_text_ends_the_command() {
        assert_eq!(data("50 %\n::error::x\r"), "50 %25%0A::error::x%0D");
        assert_eq!(
            property("a:b,c\u{1b}"),
            format!("a%3Ab%2Cc{}", escape("\u{1b}"))
        );
    }

    #[test]
    fn what_would_not_be_shown_is_counted() {
        let mut annotations = Annotations::new("finding");
        let add = |annotations: &mut Annotations, stands_for| {
            annotations.add(Annotation {
                kind: Kind::Error,
                file: "f",
                title: "t",
                message: "m",
                stands_for,
            });
            annotations.commands()
        };
        for _ in 1..SHOWN {
            add(&mut annotations, 1);
        }
        let all = add(&mut annotations, 1);
        assert_eq!((all.len(), &*all[9]), (SHOWN, "::error file=f,title=t::m"));
        let lines = add(&mut annotations, 7);
        assert_eq!(lines.len(), SHOWN);
        assert!(lines[9].contains("and 8 more findings"), "{lines:?}");
    }

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            xml("<a b=\"c\">&\u{1b}\u{202e}\n"),
            "&lt;a b=&quot;c&quot;&gt;&amp;\\x1b\\u{202e}\\n"
        );
        assert!(!xml("\u{ffff}").contains('\u{ffff}'));
    }
}
