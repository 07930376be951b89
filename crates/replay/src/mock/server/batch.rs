//! Batches (2025-03-26): the answers to one are written together.

use std::collections::HashMap;

/// The batches that are not answered in full.
#[derive(Debug, Default)]
pub struct Batches {
    last: u64,
    open: HashMap<u64, Batch>,
}

#[derive(Debug)]
struct Batch {
    /// Requests that nothing was said about yet.
    left: usize,
    answers: Vec<Vec<u8>>,
}

impl Batches {
    pub fn open(&mut self, requests: usize) -> u64 {
        self.last += 1;
        let batch = Batch {
            left: requests,
            answers: Vec::new(),
        };
        if requests > 0 {
            self.open.insert(self.last, batch);
        }
        self.last
    }

    /// One of its requests has this answer, or none at all. Returns the line, once nothing is left.
    pub fn settle(&mut self, number: u64, answer: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let batch = self.open.get_mut(&number)?;
        batch.answers.extend(answer);
        batch.left = batch.left.saturating_sub(1);
        if batch.left > 0 {
            return None;
        }
        let batch = self.open.remove(&number)?;
        if batch.answers.is_empty() {
            return None;
        }
        let mut line = vec![b'['];
        line.extend(batch.answers.join(&b","[..]));
        line.extend(b"]\n");
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_are_written_when_nothing_is_left() {
        let mut batches = Batches::default();
        let batch = batches.open(3);
        assert_eq!(batches.settle(batch, Some(b"{}".to_vec())), None);
        assert_eq!(batches.settle(batch, None), None);
        let line = batches.settle(batch, Some(b"1".to_vec()));
        assert_eq!(line.as_deref(), Some(&b"[{},1]\n"[..]));
        assert_eq!(batches.settle(batch, None), None);
        let silent = batches.open(1);
        assert_eq!(batches.settle(silent, None), None);
        assert!(batches.open.is_empty());
    }
}
