//! How far a replay is, in words.

use super::Progress;
use crate::player::Waits;
use mcpreel_wire::text::{count, escape, plural};

impl Progress<'_> {
    pub fn in_words(&self) -> String {
        let done = count(self.tally.sent);
        let waits = match &self.waits {
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
        format!("{done} of {} sent{waits}", count(self.requests))
    }
}
