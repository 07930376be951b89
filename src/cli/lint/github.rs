//! Annotations of GitHub Actions: one for what each rule has found in a recording.

use super::checked::{Checked, Told};
use crate::cli::exit::Failure;
use crate::cli::machine::github::{Annotation, Annotations, Kind};
use crate::cli::machine::safe;
use mcpreel_lint::Severity;

fn kind(severity: Severity) -> Kind {
    match severity {
        Severity::Error => Kind::Error,
        Severity::Warning => Kind::Warning,
        Severity::Note => Kind::Notice,
    }
}

/// Adds what was found in one recording.
pub fn recording(checked: &Checked, annotations: &mut Annotations) -> Result<(), Failure> {
    let file = checked.recording.path().to_string_lossy();
    checked.each_group(1, |told| {
        annotations.add(Annotation {
            kind: kind(told.severity),
            file: &file,
            title: &told.rule,
            message: &message(checked, &told),
            stands_for: told.count(),
        });
        Ok(())
    })
}

fn message(checked: &Checked, told: &Told) -> String {
    let first = told.findings.first();
    let first = first.map_or_else(String::new, |finding| checked.placed(finding));
    let more = match told.count() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    format!("{}{more}", safe(&first))
}
