//! What whoever has the recording can do, and what is to be done before it is handed on.

use super::code::fenced;
use super::picked::Picked;
use crate::phrases;
use mcpreel_store::reader::{Recording, Summary};
use std::fmt::Write as _;

/// What whoever has the recording can do with it.
pub(super) fn again(recording: &Recording, summary: &Summary, picked: &Picked, text: &mut String) {
    let name = recording.path().file_name().unwrap_or_default();
    let file = phrases::command(&[name.to_string_lossy().into_owned()]);
    let first = picked
        .exchanges
        .first()
        .map(|exchange| exchange.request.0.0);
    let mut lines = String::new();
    if let Some(seq) = first {
        let at = format!("{}#{seq}", name.to_string_lossy());
        let _ = writeln!(lines, "mcpreel show {}", phrases::command(&[at]));
    }
    let _ = write!(
        lines,
        "mcpreel why {file}\n\
         mcpreel replay {file} -- ./your-build   # the recorded client, against another server\n\
         mcpreel mock {file}                     # the recorded server, for a host\n"
    );
    let _ = write!(
        text,
        "\n## To see it again\n\nWith the recording, `mcpreel export --format recording` hands it on:\n\n{}",
        fenced("sh", &lines)
    );
    text.push_str(careful(summary));
}

/// What is to be done before this is shown to somebody else.
pub(super) fn careful(summary: &Summary) -> &'static str {
    match summary.redaction {
        Some(_) => "\nRedacted by mcpreel; read it before you post it.\n",
        None => "\nNot redacted: read it before you post it.\n",
    }
}
