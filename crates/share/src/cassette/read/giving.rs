//! Giving away what a line holds.

use super::Entry;
use crate::cassette::{Fault, FaultKind};

/// Whatever takes the entries of a line.
pub(super) struct Giving<'t, E> {
    line: u64,
    take: &'t mut dyn FnMut(Entry<'_>) -> Result<(), E>,
}

impl<'t, E> Giving<'t, E> {
    pub fn of(line: u64, take: &'t mut dyn FnMut(Entry<'_>) -> Result<(), E>) -> Self {
        Self { line, take }
    }

    pub fn give(&mut self, entry: Entry<'_>) -> Result<(), E> {
        (self.take)(entry)
    }

    /// Tells what is wrong with the line.
    pub fn fault(&mut self, kind: FaultKind) -> Result<(), E> {
        let line = self.line;
        self.give(Entry::Fault(Fault { line, kind }))
    }
}
