//! Some of the frames of a recording.

use mcpreel_trace::frame::Seq;
use std::iter;

/// Words of which each says something of 64 frames. Frames have numbers without gaps, but for a
/// damaged file, where one with a larger number always counts as one of them.
const MOST_WORDS: usize = 1 << 24;

#[derive(Debug, Default)]
pub(super) struct FrameSet(Vec<u64>);

impl FrameSet {
    pub fn is_far(seq: Seq) -> bool {
        Self::place(seq).0 >= MOST_WORDS
    }

    fn place(seq: Seq) -> (usize, u64) {
        let word = usize::try_from(seq.0 / 64).unwrap_or(usize::MAX);
        (word, 1 << (seq.0 % 64))
    }

    pub fn set(&mut self, seq: Seq) {
        let (word, bit) = Self::place(seq);
        if word >= self.0.len() {
            self.0.resize(MOST_WORDS.min(word.saturating_add(1)), 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    pub fn has(&self, seq: Seq) -> bool {
        let (word, bit) = Self::place(seq);
        word >= MOST_WORDS || self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The next one, of those that have a bit.
    pub fn after(&self, seq: Seq) -> Option<Seq> {
        let next = Seq(seq.0.checked_add(1)?);
        let (word, bit) = Self::place(next);
        let first = self.0.get(word)? & !(bit - 1);
        let words = self.0.iter().copied().enumerate().skip(word + 1);
        let mut words = iter::once((word, first)).chain(words);
        let (word, bits) = words.find(|(_, bits)| *bits != 0)?;
        Some(Seq(word as u64 * 64 + u64::from(bits.trailing_zeros())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_found_one_after_the_other() {
        let mut frames = FrameSet::default();
        let seqs = [1, 63, 64, 65, 127, 128, 1000];
        for seq in seqs {
            frames.set(Seq(seq));
        }
        let found = iter::successors(frames.after(Seq(0)), |seq| frames.after(*seq));
        assert_eq!(found.map(|seq| seq.0).collect::<Vec<_>>(), seqs);
        assert!(seqs.iter().all(|seq| frames.has(Seq(*seq))) && !frames.has(Seq(2)));
        assert_eq!(frames.after(Seq(u64::MAX)), None);
    }
}
