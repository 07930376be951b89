//! A choice of some.

use crate::action::Action;
use crate::panels::export::Pick;
use crate::panels::replay::Go;
use crate::theme::{Role, Theme};
use mcpreel_trace::frame::Seq;
use std::path::PathBuf;

#[derive(Debug)]
pub struct Menu {
    pub title: String,
    /// Sentences above the choices, escaped; each goes on below where it is long.
    pub text: Vec<(Role, String)>,
    pub entries: Vec<Entry>,
    pub at: usize,
    /// The first line on the screen, where it was scrolled to; none: the cursor is seen.
    pub top: Option<usize>,
    /// Names the answer that fills it.
    pub generation: Option<u64>,
}

#[derive(Debug)]
pub struct Entry {
    /// The letter that chooses it at once.
    pub letter: char,
    pub label: String,
    pub choice: Choice,
}

/// What happens when something is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    Nothing,
    Do(Action),
    Delete(PathBuf),
    Filter(String),
    Theme(Theme),
    Copy(CopyWhat),
    /// Something is written into a file.
    Save(CopyWhat, PathBuf),
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyWhat {
    /// The value under the cursor of the tree.
    Value,
    Path,
    Message,
    Exchange,
    Link,
    /// The exchange told in Markdown, redacted.
    Report,
}

impl Entry {
    pub fn new(letter: char, label: &str, choice: Choice) -> Self {
        Self {
            letter,
            label: label.to_owned(),
            choice,
        }
    }
}

impl Menu {
    /// A menu without a text above it.
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
