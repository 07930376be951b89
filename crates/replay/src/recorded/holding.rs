//! Recordings that are held while some exchanges of them are read: to ask for each row whether its
//! file has changed takes as long as to read it, and while nobody lets go of a live recording its
//! log grows.

use mcpreel_store::reader::{Held, ReadError, Recording};

/// Exchanges or messages that are read together, in some milliseconds.
const TOGETHER: usize = 32;

/// Bytes that are, in as long: what is longer is compared when nothing is held any more.
const BYTES_TOGETHER: u64 = 256 * 1024;

pub(super) struct Holding<'h, 'r> {
    recordings: &'h [&'r Recording],
    held: Vec<Held<'r>>,
    count: usize,
    bytes: u64,
}

impl<'h, 'r> Holding<'h, 'r> {
    pub(super) fn of(recordings: &'h [&'r Recording]) -> Self {
        Self {
            recordings,
            held: Vec::new(),
            count: 0,
            bytes: 0,
        }
    }

    pub(super) fn next(&mut self) -> Result<(), ReadError> {
        if self.count == TOGETHER {
            // A writer that waits gets in between.
            self.release();
        }
        if self.held.is_empty() {
            let held = self.recordings.iter().map(|recording| recording.hold());
            self.held = held.collect::<Result<_, _>>()?;
        }
        self.count += 1;
        Ok(())
    }

    /// So many bytes of it were read, and are to be worked on.
    pub(super) fn read(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > BYTES_TOGETHER {
            self.release();
        }
    }

    fn release(&mut self) {
        self.held.clear();
        (self.count, self.bytes) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::{Session, recorded};

    #[test]
    fn what_is_held_is_let_go_of_after_some_exchanges_and_before_long_ones_are_worked_on() {
        let dir = tempfile::tempdir().unwrap();
        let recording = Recording::open(&recorded(dir.path(), Session::end)).unwrap();
        let recordings = [&recording];
        let mut holding = Holding::of(&recordings);
        for count in 1..=TOGETHER {
            holding.next().unwrap();
            holding.read(BYTES_TOGETHER / TOGETHER as u64);
            assert_eq!((holding.held.len(), holding.count), (1, count));
        }
        holding.next().unwrap();
        assert_eq!((holding.held.len(), holding.count), (1, 1));
        holding.read(BYTES_TOGETHER);
        assert_eq!(holding.held.len(), 1);
        holding.read(1);
        assert_eq!((holding.held.len(), holding.count), (0, 0));
    }
}
