//! How far a run is, in words.

use crate::replay::client::Waits;
use crate::replay::client::target::Progress;
use crate::text::{count, escape, plural};

/// How far it is, on one line.
pub fn in_words(progress: &Progress<'_>) -> String {
    let done = count(progress.tally.sent);
    let waits = match &progress.waits {
        Waits::Nothing | Waits::Gap => String::new(),
        Waits::Answer(seq, method) => {
            format!(", waits for the answer to {} (#{})", escape(method), seq.0)
        }
        Waits::Answers(open) => format!(", waits for {}", plural(*open as u64, "answer")),
        Waits::Question(seq, method) => {
            format!(
                ", waits for the server to ask {} (#{})",
                escape(method),
                seq.0
            )
        }
        Waits::Notice(seq, method) => format!(", waits for {} (#{})", escape(method), seq.0),
        Waits::Room => ", the server does not read".to_owned(),
        Waits::End => ", waits for the server to end".to_owned(),
    };
    format!("{done} of {} sent{waits}", count(progress.requests))
}
