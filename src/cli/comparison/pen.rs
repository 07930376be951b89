//! Lines for people: pieces in colours, cut to the terminal's width as a whole.

use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use mcpreel_wire::text::{cut, width};

/// Writes lines.
pub struct Pen<'o> {
    out: &'o mut Output,
}

impl<'o> Pen<'o> {
    pub fn new(out: &'o mut Output) -> Self {
        Self { out }
    }

    /// A line of pieces. What does not fit is cut off.
    pub fn row(&mut self, indent: &str, pieces: &[(Ink, &str)]) -> Result<(), Failure> {
        let mut room = self.out.columns().unwrap_or(usize::MAX);
        room = room.saturating_sub(indent.len());
        let mut line = indent.to_owned();
        for (ink, text) in pieces {
            if room == 0 {
                break;
            }
            let text = cut(text, room);
            room = room.saturating_sub(width(&text));
            line.push_str(&self.out.paint(*ink, &text));
        }
        Ok(self.out.line(&line)?)
    }

    /// Whether a line need not be cut.
    pub fn fits(&self, indent: &str, text: &str) -> bool {
        let room = self.out.columns().unwrap_or(usize::MAX);
        indent.len() + width(text) <= room
    }

    /// What is to be pasted: it is never cut.
    pub fn whole(&mut self, indent: &str, ink: Ink, text: &str) -> Result<(), Failure> {
        let text = self.out.paint(ink, text);
        Ok(self.out.line(&format!("{indent}{text}"))?)
    }

    /// The title of a part, with an empty line before it.
    pub fn title(&mut self, title: &str, besides: &str) -> Result<(), Failure> {
        let gap = if besides.is_empty() { "" } else { "  " };
        self.out.line("")?;
        self.row(
            "",
            &[
                (Ink::Strong, title),
                (Ink::Plain, gap),
                (Ink::Faint, besides),
            ],
        )
    }
}
