//! Giving away what a line holds.

use super::Entry;
use crate::formats::cassette::{Fault, FaultKind};

/// Whatever takes the entries of a line.
pub(super) struct Giving<'t, E> {
    line: u64,
    take: &'t mut dyn FnMut(Entry<'_>) -> Result<(), E>,
}

impl<'t, E> Giving<'t, E> {
    /// For the line with this number.
    pub fn of(line: u64, take: &'t mut dyn FnMut(Entry<'_>) -> Result<(), E>) -> Self {
        Self { line, take }
    }

    /// Gives an entry away.
    pub fn give(&mut self, entry: Entry<'_>) -> Result<(), E> {
        (self.take)(entry)
    }

    /// Tells what is wrong with the line.
    pub fn fault(&mut self, kind: FaultKind) -> Result<(), E> {
        let line = self.line;
        self.give(Entry::Fault(Fault { line, kind }))
    }
}
