//! Annotations of GitHub Actions: a workflow command for what each rule has found.
//!
//! GitHub shows ten annotations of each kind per step and drops the rest without a word. So no more
//! are written, the last of them says what was left out, and a rule has one per recording.

use super::checked::{Checked, Told};
use super::safe;
use crate::cli::exit::Failure;
use crate::cli::output::Output;
use crate::lint::Severity;
use crate::text::plural;

/// Annotations of one kind that GitHub shows.
const SHOWN: usize = 10;

/// What was found so far, by kind.
#[derive(Debug, Default)]
pub struct Github {
    kinds: [Kind; 3],
}

/// The annotations of one kind.
#[derive(Debug, Default)]
struct Kind {
    /// The first, no more than are shown, and how many findings each stands for.
    lines: Vec<(String, u64)>,
    /// Findings of all of them.
    findings: u64,
    /// Annotations that would not be shown.
    more: u64,
}

const COMMANDS: [&str; 3] = ["error", "warning", "notice"];

fn kind(severity: Severity) -> usize {
    match severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Note => 2,
    }
}

impl Github {
    /// What was found in one recording.
    pub fn recording(&mut self, checked: &Checked) -> Result<(), Failure> {
        let file = property(&checked.recording.path().to_string_lossy());
        checked.each_group(1, |told| {
            let kind = kind(told.severity);
            let line = line(COMMANDS[kind], &file, checked, &told);
            self.kinds[kind].add(line, told.count());
            Ok(())
        })
    }

    /// Writes all of it.
    pub fn end(&self, out: &mut Output) -> Result<(), Failure> {
        for (kind, command) in self.kinds.iter().zip(COMMANDS) {
            kind.write(command, out)?;
        }
        Ok(())
    }
}

impl Kind {
    fn add(&mut self, line: String, findings: u64) {
        self.findings += findings;
        if self.lines.len() < SHOWN {
            self.lines.push((line, findings));
        } else {
            self.more += 1;
        }
    }

    fn write(&self, command: &str, out: &mut Output) -> Result<(), Failure> {
        let shown = if self.more > 0 { SHOWN - 1 } else { SHOWN };
        let mut left_out = self.findings;
        for (line, findings) in self.lines.iter().take(shown) {
            out.line(line)?;
            left_out -= findings;
        }
        if self.more > 0 {
            let left_out = plural(left_out, "more finding");
            out.line(&format!(
                "::{command} title=mcpreel::and {left_out}, which GitHub would not show"
            ))?;
        }
        Ok(())
    }
}

fn line(command: &str, file: &str, checked: &Checked, told: &Told) -> String {
    let title = property(&told.rule);
    let first = told.findings.first();
    let first = first.map_or_else(String::new, |finding| checked.placed(finding));
    let more = match told.count() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let message = data(&format!("{}{more}", safe(&first)));
    format!("::{command} file={file},title={title}::{message}")
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
    use crate::text::escape;

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
        let mut kind = Kind::default();
        for n in 0..SHOWN {
            kind.add(n.to_string(), 1);
        }
        assert_eq!((kind.lines.len(), kind.more), (SHOWN, 0));
        kind.add("one more".to_owned(), 7);
        assert_eq!((kind.lines.len(), kind.more), (SHOWN, 1));
        assert_eq!(kind.findings, 17);
    }
}
