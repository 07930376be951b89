//! Test reports in the XML of `JUnit`.

use super::safe;
use crate::cli::exit::Failure;
use crate::cli::output::Output;

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
pub fn begin(command: &str, out: &mut Output) -> Result<(), Failure> {
    out.line(r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    Ok(out.line(&format!(r#"<testsuites name="{}">"#, xml(command)))?)
}

/// The end of it.
pub fn end(out: &mut Output) -> Result<(), Failure> {
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
