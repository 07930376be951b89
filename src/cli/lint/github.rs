//! Annotations of GitHub Actions: a workflow command per finding.

use super::{Checked, sentence};
use crate::cli::exit::Failure;
use crate::cli::output::Output;
use crate::lint::Severity;
use crate::text::escape;

/// What was found in one recording.
pub fn recording(checked: &Checked, out: &mut Output) -> Result<(), Failure> {
    let file = checked.recording.path().to_string_lossy().into_owned();
    let file = property(&file);
    checked.each(|finding, _| {
        let command = match Severity::parse(&finding.severity) {
            Some(Severity::Error) => "error",
            Some(Severity::Warning) => "warning",
            Some(Severity::Note) | None => "notice",
        };
        let title = property(&finding.rule);
        let message = data(&format!(
            "{}: {}",
            checked.place(finding),
            sentence(finding)
        ));
        Ok(out.line(&format!("::{command} file={file},title={title}::{message}"))?)
    })
}

/// The text of a message: nothing in it may end the command or begin another one.
fn data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D");
    escape(&text.replace('\n', "%0A")).into_owned()
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_the_command() {
        assert_eq!(data("50 %\n::error::x\r"), "50 %25%0A::error::x%0D");
        assert_eq!(
            property("a:b,c\u{1b}"),
            format!("a%3Ab%2Cc{}", escape("\u{1b}"))
        );
    }
}
