//! Recordings used again: played to a server, served to a host, compared with each other.
//!
//! ```text
//!  a recording ─▶ player ◀─▶ a server      bind: recorded values → live values
//!  a recording ─▶ mock ◀───▶ a host        rules: what may differ
//!  two recordings, or a replay ─▶ diff ─▶ a report
//! ```
//!
//! * [`diff`]: what differs, and how much it matters;
//! * [`rules`]: what a user says about values that may differ; [`rewrite`]: paths that stand for
//!   others;
//! * [`player`]: a recorded client, played to a server again; [`bind`]: recorded values and their
//!   live ones; [`arguments`]: those of a request, to be edited;
//! * [`mock`]: a server that answers from a recording;
//! * [`minimise`]: the fewest messages of a client with which it still fails.

pub mod arguments;
pub mod bind;
pub mod diff;
mod gaps;
mod lines;
pub mod minimise;
pub mod mock;
pub mod player;
pub mod rewrite;
pub mod rules;
mod signals;

/// The unit tests write sessions with the same file as the integration tests and the benches.
#[cfg(test)]
#[path = "../../../tests/support/written.rs"]
#[expect(clippy::missing_panics_doc, reason = "only tests call it")]
pub mod written;

use mcpreel_store::library::REEL;
use mcpreel_store::reader::Recording;
use std::path::Path;

/// Items of a list that are kept; the rest is counted.
const KEPT: usize = 20;

/// A list of which the first items are kept, and all are counted.
#[derive(Clone, Debug)]
pub struct Counted<T> {
    pub kept: Vec<T>,
    pub count: u64,
}

impl<T> Default for Counted<T> {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            count: 0,
        }
    }
}

impl<T> Counted<T> {
    pub(crate) fn add(&mut self, item: impl FnOnce() -> T) {
        self.count += 1;
        if self.kept.len() < KEPT {
            self.kept.push(item());
        }
    }
}

/// Whether the file `path` is a cassette, of which a recording is made for as long as it is looked
/// at: nobody can open that by its id.
pub fn is_cassette(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_none_or(|extension| extension != REEL)
}

/// `weather.jsonl` for a cassette; `None` for a recording, which has an id. Not escaped.
pub fn cassette_name(recording: &Recording) -> Option<String> {
    let path = recording.path();
    let file = path.file_name().filter(|_| is_cassette(path))?;
    Some(file.to_string_lossy().into_owned())
}
