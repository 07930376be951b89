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
    /// What is tested.
    pub name: String,
    /// What came of it.
    pub verdict: Verdict,
    /// What is said about it, a line each.
    pub lines: Vec<String>,
}

/// What came of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is as it should be.
    Passed,
    /// It is not: what is wrong, in short.
    Failed(String),
    /// It could not be tested: why.
    Error(String),
    /// It was not tested: why.
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
        let said = lines.join("\n");
        let body = match &self.verdict {
            Verdict::Passed if lines.is_empty() => return format!("{begin}/>"),
            Verdict::Passed => format!("<system-out>{said}</system-out>"),
            Verdict::Failed(short) => {
                format!(r#"<failure message="{}">{said}</failure>"#, xml(short))
            }
            Verdict::Error(short) => format!(r#"<error message="{}">{said}</error>"#, xml(short)),
            Verdict::Skipped(short) => {
                format!(r#"<skipped message="{}">{said}</skipped>"#, xml(short))
            }
        };
        format!("{begin}>{body}</testcase>")
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

/// How much an annotation matters, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something fails.
    Error,
    /// Something is to be looked at.
    Warning,
    /// Something is worth knowing.
    Notice,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Notice];

    fn command(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        }
    }
}

/// What is said at one place.
#[derive(Clone, Copy, Debug)]
pub struct Annotation<'t> {
    /// How much it matters.
    pub kind: Kind,
    /// The file that it is about.
    pub file: &'t str,
    /// What it is, in a word.
    pub title: &'t str,
    /// What is said.
    pub message: &'t str,
    /// For how many things of its sort it stands.
    pub stands_for: u64,
}

/// The annotations of a step.
#[derive(Debug)]
pub struct Annotations {
    /// What they are about, of which there may be more: `finding`.
    noun: &'static str,
    kinds: [Row; 3],
}

/// The annotations of one kind.
#[derive(Debug, Default)]
struct Row {
    /// The first, no more than are shown, and how many things each stands for.
    lines: Vec<(String, u64)>,
    /// What all of them stand for.
    things: u64,
    /// Annotations that would not be shown.
    more: u64,
}

impl Annotations {
    /// None so far; each is about a `noun`.
    pub fn new(noun: &'static str) -> Self {
        Self {
            noun,
            kinds: Default::default(),
        }
    }

    /// One more.
    pub fn add(&mut self, annotation: Annotation<'_>) {
        let line = format!(
            "::{} file={},title={}::{}",
            annotation.kind.command(),
            property(annotation.file),
            property(annotation.title),
            data(annotation.message)
        );
        self.kinds[annotation.kind as usize].add(line, annotation.stands_for);
    }

    /// Things that nobody shows at all.
    pub fn left_out(&mut self, kind: Kind, things: u64) {
        let row = &mut self.kinds[kind as usize];
        row.things += things;
        row.more += u64::from(things > 0);
    }

    /// Writes all of it.
    pub fn write(&self, out: &mut Output) -> Result<(), Failure> {
        for kind in Kind::ALL {
            for line in self.kinds[kind as usize].lines(kind, self.noun) {
                out.line(&line)?;
            }
        }
        Ok(())
    }
}

impl Row {
    fn add(&mut self, line: String, things: u64) {
        self.things += things;
        if self.lines.len() < SHOWN {
            self.lines.push((line, things));
        } else {
            self.more += 1;
        }
    }

    fn lines(&self, kind: Kind, noun: &str) -> Vec<String> {
        let shown = if self.more > 0 { SHOWN - 1 } else { SHOWN };
        let shown = &self.lines[..shown.min(self.lines.len())];
        let told: u64 = shown.iter().map(|(_, things)| things).sum();
        let mut lines: Vec<_> = shown.iter().map(|(line, _)| line.clone()).collect();
        if self.more > 0 {
            let left_out = plural(self.things - told, &format!("more {noun}"));
            let command = kind.command();
            lines.push(format!(
                "::{command} title=mcpreel::and {left_out}, which GitHub would not show"
            ));
        }
        lines
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
        let mut row = Row::default();
        for n in 0..SHOWN {
            row.add(n.to_string(), 1);
        }
        assert_eq!(row.lines(Kind::Error, "finding").len(), SHOWN);
        row.add("one more".to_owned(), 7);
        let lines = row.lines(Kind::Error, "finding");
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
