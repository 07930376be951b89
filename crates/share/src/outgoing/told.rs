//! Sentences about an export.

use super::{Format, Stage};
use crate::export::Written;
use mcpreel_redact::Report;
use mcpreel_wire::text::{count, escape, plural};
use std::fmt::Write as _;

impl Stage {
    /// The progress, of so many frames.
    pub fn in_words(self, of: u64) -> String {
        let (seq, done) = match self {
            Self::Looked(seq) => (seq, "looked through"),
            Self::Written(seq) => (seq, "written"),
        };
        format!("{} of {} frames {done}", count(seq.0), count(of))
    }
}

/// The redaction of a file of this format in words; without a report nothing is redacted. A file that is
/// made of a redacted recording counts the places of that: not all of them are in the file.
pub fn in_words(report: Option<&Report>, format: Format) -> String {
    let Some(report) = report else {
        return "nothing in it is redacted".to_owned();
    };
    let places = plural(report.hits(), "place");
    let of = match format {
        Format::Jsonl | Format::Recording => "",
        _ => " of the recording",
    };
    let mut text = format!("redacted in {places}{of}, look through it before you hand it on");
    if !report.left.is_empty() {
        let frames = plural(report.left.len() as u64, "frame");
        let _ = write!(
            text,
            "; {frames} too long to be looked through and left out"
        );
    }
    for line in off(report).chain(unplaced(report)) {
        let _ = write!(text, "; {line}");
    }
    text
}

/// The rules that a user has switched off.
pub fn off(report: &Report) -> impl Iterator<Item = String> {
    let rules = report.off.iter();
    rules.map(|rule| format!("{} is switched off: what it finds is left", escape(rule)))
}

/// Notes on frames that a damaged file does not have.
pub fn unplaced(report: &Report) -> Option<String> {
    let notes = plural(report.unplaced, "note");
    (report.unplaced > 0).then(|| format!("left out, on frames that are not there: {notes}"))
}

/// The numbers of what was written, and of what is left out.
pub fn written(written: &Written, format: Format) -> String {
    use Format::{Markdown, Otlp, Perfetto};
    let of_exchanges = matches!(format, Markdown | Otlp | Perfetto);
    let (noun, number) = if of_exchanges {
        ("exchange", written.exchanges)
    } else {
        ("frame", written.frames)
    };
    let mut text = plural(number, noun);
    // A report says of events what matters.
    if format != Markdown {
        let _ = write!(text, ", {}", plural(written.events, "event"));
    }
    if written.left_out > 0 {
        let _ = write!(text, ", {} left out", plural(written.left_out, noun));
    }
    text
}
