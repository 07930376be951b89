//! A line that is being typed.

use tui_input::Input;

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
    /// What narrows the list of recordings.
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
