//! A text that is read.

/// A text that lies over everything and can be scrolled.
#[derive(Debug)]
pub struct Text {
    /// What it is.
    pub title: String,
    /// Its lines, escaped.
    pub lines: Vec<Line>,
    /// The first line on the screen.
    pub top: usize,
}

/// A line of it: pieces, each in the style of its role.
pub type Line = Vec<(crate::tui::theme::Role, String)>;

impl Text {
    /// A text of plain lines.
    #[must_use]
    pub fn plain(title: impl Into<String>, lines: impl IntoIterator<Item = String>) -> Self {
        let line = |line| vec![(crate::tui::theme::Role::Text, line)];
        Self {
            title: title.into(),
            lines: lines.into_iter().map(line).collect(),
            top: 0,
        }
    }
}
