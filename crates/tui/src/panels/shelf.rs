//! The recordings of the folder, as they were listed last.

use crate::notice::Now;
use crate::widget::frame;
use mcpreel_share::phrases;
use mcpreel_share::phrases::recording::{self, host};
use mcpreel_store::library::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Row {
    pub entry: Arc<Entry>,
    /// Messages per second lately, where somebody records.
    pub rate: Option<f64>,
}

#[derive(Debug, Default)]
pub struct Library {
    pub dir: PathBuf,
    pub listing: Listing,
    /// All recordings: live ones first, then the newest.
    pub rows: Vec<Row>,
    /// The recording under the cursor; none, until the cursor is moved, means the first.
    pub selected: Option<PathBuf>,
    /// The recordings that were selected for a comparison, two at most.
    pub chosen: Vec<PathBuf>,
    /// The first row on the screen, of those that are shown.
    pub top: usize,
    /// Only recordings with this text are shown.
    pub narrow: String,
    /// When it was listed last; none if it is to be listed as soon as possible.
    pub listed: Option<Now>,
    pub is_asked: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    #[default]
    Asked,
    Known,
    /// The folder cannot be read: one sentence, escaped.
    Unreadable(String),
}

impl Library {
    pub fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            ..Self::default()
        }
    }

    pub fn shown(&self) -> Vec<&Row> {
        let words = self.narrow.split_whitespace().map(str::to_lowercase);
        let words: Vec<_> = words.collect();
        let fits = |row: &&Row| words.is_empty() || has(&row.entry, &words);
        self.rows.iter().filter(fits).collect()
    }

    /// The row of `shown` under the cursor; the first where the chosen one is not among them.
    pub fn at(&self, shown: &[&Row]) -> usize {
        let selected = self.selected.as_deref();
        let mut shown = shown.iter();
        shown
            .position(|row| Some(&*row.entry.path) == selected)
            .unwrap_or(0)
    }

    /// The recording under the cursor.
    pub fn current(&self) -> Option<&Row> {
        let shown = self.shown();
        shown.get(self.at(&shown)).copied()
    }

    /// The first row on the screen, so that the row `at` is among the `page` rows that are on it.
    pub fn top_showing(&self, at: usize, page: usize) -> usize {
        // Rows that came above the first one are shown where there is room for all.
        frame::showing_of(self.shown().len(), at, self.top, page)
    }
}

/// Whether every one of these words, in lower case, stands somewhere in what is shown of it.
fn has(entry: &Entry, words: &[String]) -> bool {
    let mut text = vec![
        entry.id.clone(),
        entry.name.clone(),
        entry.state().to_owned(),
        entry.path.to_string_lossy().into_owned(),
    ];
    text.extend(recording::server(entry));
    text.extend(host(entry));
    text.extend(entry.end().map(phrases::end_short));
    if let Some(context) = entry.context() {
        text.push(phrases::command(&context.argv));
    }
    if let Some(summary) = entry.summary() {
        text.extend(phrases::peer(&summary.session.client));
        text.extend(summary.note.clone());
    }
    let text = text.join("\n").to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}
