//! Which numbers frames and events have in a copy.
//!
//! They are the same in nearly every one. But a recording is one file that anybody can open:
//! whoever took rows out of it, or changed some, left numbers that nothing has, or that stand for
//! more. The copy counts anew, and what was selected by number is something else there.

use crate::export::Selection;
use mcpreel_trace::frame::Seq;

/// The numbers in a copy of those in what it was made of.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    frames: Shifts,
    events: Shifts,
}

impl Numbers {
    /// A frame has this number in the copy.
    pub fn frame(&mut self, was: Seq, is: u64) {
        self.frames.note(was.0, is);
    }

    /// An event has this number in the copy.
    pub fn event(&mut self, was: u64, is: u64) {
        self.events.note(was, is);
    }

    pub fn of_frame(&self, was: Seq) -> Seq {
        Seq(self.frames.of(was.0))
    }

    /// What was selected, as it is numbered in the copy.
    pub fn of(&self, selection: &Selection) -> Selection {
        if *self == Self::default() {
            return selection.clone();
        }
        selection.renumbered(&|seq| self.of_frame(seq), &|id| self.events.of(id))
    }
}

/// Offsets, each with the number from which on it is added; the numbers only grow.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shifts(Vec<(u64, i64)>);

impl Shifts {
    fn note(&mut self, was: u64, is: u64) {
        let offset = is.wrapping_sub(was).cast_signed();
        if self.0.last().map_or(0, |(_, offset)| *offset) != offset {
            self.0.push((was, offset));
        }
    }

    fn of(&self, was: u64) -> u64 {
        let after = self.0.partition_point(|(from, _)| *from <= was);
        let offset = after.checked_sub(1).map_or(0, |at| self.0[at].1);
        was.wrapping_add_signed(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_copy() {
        let mut numbers = Numbers::default();
        for seq in 1..=3 {
            numbers.frame(Seq(seq), seq);
        }
        assert_eq!(numbers, Numbers::default(), "nothing is to be remembered");
        // 4 and 5 are gone, and the event 2 has become two.
        numbers.frame(Seq(6), 4);
        numbers.frame(Seq(7), 5);
        numbers.event(2, 3);
        let of = |seq| numbers.of_frame(Seq(seq)).0;
        assert_eq!([of(1), of(3), of(6), of(7)], [1, 3, 4, 5]);
        let mut selection = Selection::between(None, Some(Seq(7))).picked("x");
        for seq in [1, 6, 64, 7] {
            selection.pick_frame(Seq(seq));
        }
        selection.pick_event(Seq(1), 2);
        let selection = numbers.of(&selection);
        let frames: Vec<_> = (0..9)
            .filter(|&seq| selection.has_frame(Seq(seq)))
            .collect();
        assert_eq!(frames, [1, 4, 5]);
        let note = selection.note().unwrap();
        assert_eq!((note.to, note.query.as_deref()), (Some(5), Some("x")));
    }
}
