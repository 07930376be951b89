//! A line that is being typed.

use tui_input::Input;

/// A line that is being typed.
#[derive(Debug)]
pub struct Prompt {
    /// What for: who gets the text.
    pub purpose: Purpose,
    /// The text and the caret.
    pub input: Input,
}

/// What a line is typed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The filter of the rows; drawn in its bar.
    Filter,
    /// The text to be searched for.
    Search,
    /// A note on the selected row.
    Note,
    /// A note on the selected recording.
    RecordingNote,
    /// What narrows the list of recordings.
    Narrow,
    /// The file that something is exported to.
    ExportFile,
}

impl Prompt {
    /// A prompt with this text in it.
    #[must_use]
    pub fn new(purpose: Purpose, text: &str) -> Self {
        Self {
            purpose,
            input: Input::new(text.to_owned()),
        }
    }
}
