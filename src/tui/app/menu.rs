//! A choice of some.

use crate::trace::frame::Seq;
use crate::tui::action::Action;
use crate::tui::app::export::Pick;
use crate::tui::app::replay::Go;
use crate::tui::theme::{Role, Theme};
use std::path::PathBuf;

/// A choice of some.
#[derive(Debug)]
pub struct Menu {
    /// What is chosen.
    pub title: String,
    /// Sentences above the choices, escaped; each goes on below where it is long.
    pub text: Vec<(Role, String)>,
    /// The choices.
    pub entries: Vec<Entry>,
    /// The one under the cursor.
    pub at: usize,
    /// The first line on the screen, where it was scrolled to; none: the cursor is seen.
    pub top: Option<usize>,
    /// Names the answer that fills it.
    pub generation: Option<u64>,
}

/// One of them.
#[derive(Debug)]
pub struct Entry {
    /// The letter that chooses it at once.
    pub letter: char,
    /// What it says, escaped.
    pub label: String,
    /// What happens.
    pub choice: Choice,
}

/// What happens when something is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Nothing.
    Nothing,
    /// An action.
    Do(Action),
    /// A recording is deleted.
    Delete(PathBuf),
    /// The filter becomes this text.
    Filter(String),
    /// Other colours.
    Theme(Theme),
    /// Something is copied.
    Copy(CopyWhat),
    /// Something is written into a file.
    Save(CopyWhat, PathBuf),
    /// A jump.
    Jump(JumpTo),
    /// The row in which this frame is.
    Frame(Seq),
    /// The account of the cause with this number.
    Cause(usize),
    /// Something about the replay that is asked about.
    Replay(Go),
    /// Something about the export that is asked about.
    Export(Pick),
    /// The tree of the detail is folded to this level; none unfolds all.
    FoldTo(Option<usize>),
}

/// What can be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyWhat {
    /// The value under the cursor of the tree.
    Value,
    /// Its path.
    Path,
    /// The message as on the wire.
    Message,
    /// Request and response.
    Exchange,
    /// `7f3a#1187`
    Link,
    /// The exchange told in Markdown, redacted.
    Report,
}

/// Where one can jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the next row that the word names")]
pub enum JumpTo {
    Open,
    Slow,
    Failure,
    Finding,
    Mark,
    Related,
    SameCall,
}

impl Menu {
    /// A menu without a text above it.
    #[must_use]
    pub fn new(title: impl Into<String>, entries: Vec<Entry>) -> Self {
        Self {
            title: title.into(),
            text: Vec::new(),
            entries,
            at: 0,
            top: None,
            generation: None,
        }
    }
}
