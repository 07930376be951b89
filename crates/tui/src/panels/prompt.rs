//! A line that is typed: its text, its edits, and the lines that were typed before.

use crate::keymap::Key;
use crossterm::event::KeyCode;
use mcpreel_wire::text::{escape, width};
use tui_input::{Input, InputRequest};

#[derive(Debug)]
pub struct Prompt {
    pub purpose: Purpose,
    pub input: Input,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The filter of the rows; drawn in its bar.
    Filter,
    Search,
    Note,
    /// A note on the selected recording.
    RecordingNote,
    /// The words that narrow the list of recordings.
    Narrow,
    /// The file that something is exported to.
    ExportFile,
}

impl Prompt {
    pub fn new(purpose: Purpose, text: &str) -> Self {
        Self {
            purpose,
            input: Input::new(text.to_owned()),
        }
    }
}

/// The edit of a key, in all prompts alike.
pub fn request(key: Key) -> Option<InputRequest> {
    Some(match (key.code, key.ctrl, key.alt) {
        (KeyCode::Char(letter), false, false) => InputRequest::InsertChar(letter),
        (KeyCode::Backspace, false, false) => InputRequest::DeletePrevChar,
        (KeyCode::Delete, _, _) => InputRequest::DeleteNextChar,
        (KeyCode::Left, false, _) | (KeyCode::Char('b'), true, _) => InputRequest::GoToPrevChar,
        (KeyCode::Right, false, _) | (KeyCode::Char('f'), true, _) => InputRequest::GoToNextChar,
        (KeyCode::Left, true, _) => InputRequest::GoToPrevWord,
        (KeyCode::Right, true, _) => InputRequest::GoToNextWord,
        (KeyCode::Home, _, _) | (KeyCode::Char('a'), true, _) => InputRequest::GoToStart,
        (KeyCode::End, _, _) | (KeyCode::Char('e'), true, _) => InputRequest::GoToEnd,
        (KeyCode::Char('w'), true, _) | (KeyCode::Backspace, _, true) => {
            InputRequest::DeletePrevWord
        }
        (KeyCode::Char('u'), true, _) => InputRequest::DeleteLine,
        (KeyCode::Char('k'), true, _) => InputRequest::DeleteTillEnd,
        _ => return None,
    })
}

/// The part of what is typed that is seen in `room` columns, and the column of the caret in it.
pub fn typed(input: &Input, room: usize) -> (String, usize) {
    let scroll = input.visual_scroll(room.saturating_sub(1));
    let mut text = input.value();
    let mut skipped = 0;
    while skipped < scroll
        && let Some(letter) = text.chars().next()
    {
        let (head, tail) = text.split_at(letter.len_utf8());
        skipped += width(head);
        text = tail;
    }
    let end = (1..=text.len()).filter(|end| text.is_char_boundary(*end));
    let end = end.take_while(|end| width(&text[..*end]) <= room).last();
    let seen = escape(&text[..end.unwrap_or(0)]).into_owned();
    (seen, input.visual_cursor().saturating_sub(scroll))
}

/// Lines that were typed before, the newest last.
#[derive(Debug, Default)]
pub struct History {
    lines: Vec<String>,
    /// The line that stands in the prompt.
    recalled: Option<usize>,
}

impl History {
    /// Lines that are kept at most.
    const KEPT: usize = 100;

    /// Remembers a line as the newest one.
    pub fn remember(&mut self, line: &str) {
        self.recalled = None;
        if line.trim().is_empty() {
            return;
        }
        self.lines.retain(|older| older != line);
        self.lines.push(line.to_owned());
        if self.lines.len() > Self::KEPT {
            self.lines.remove(0);
        }
    }

    /// Goes to an older line (`by` below 0) or a newer one; empty past the newest.
    pub fn recall(&mut self, by: isize) -> Option<String> {
        let newest = self.lines.len();
        let at = self.recalled.unwrap_or(newest).checked_add_signed(by)?;
        if at > newest || newest == 0 {
            return None;
        }
        self.recalled = (at < newest).then_some(at);
        Some(self.lines.get(at).cloned().unwrap_or_default())
    }

    pub fn is_recalling(&self) -> bool {
        self.recalled.is_some()
    }

    /// Forgets which line stands in the prompt.
    pub fn leave(&mut self) {
        self.recalled = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_lines_come_back_and_each_is_remembered_once() {
        let mut history = History::default();
        for line in ["is:failed", "is:open", "is:failed", "  "] {
            history.remember(line);
        }
        assert_eq!(history.recall(-1).as_deref(), Some("is:failed"));
        assert_eq!(history.recall(-1).as_deref(), Some("is:open"));
        assert_eq!(history.recall(-1), None);
        assert_eq!(history.recall(1).as_deref(), Some("is:failed"));
        assert_eq!(history.recall(1).as_deref(), Some(""));
        assert_eq!(history.recall(1), None);
    }
}
