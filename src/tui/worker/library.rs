//! The recordings of the folder, on a thread of its own.

use crate::store::library::Library;
use crate::trace::clock::Clock;

/// A question.
#[derive(Debug)]
pub enum Ask {
    /// What is in the folder.
    List,
}

/// An answer.
#[derive(Debug)]
pub struct Answer;

/// Answers questions about the folder.
#[derive(Debug)]
pub struct Librarian {
    library: Library,
    clock: Clock,
}

impl Librarian {
    /// Answers about this folder.
    #[must_use]
    pub fn new(library: Library, clock: Clock) -> Self {
        Self { library, clock }
    }

    /// Answers a question.
    pub fn answer(&mut self, _ask: Ask, _tell: &mut dyn FnMut(super::Answer)) {
        let _ = (&self.library, self.clock);
    }
}
