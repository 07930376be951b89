//! The columns of the list, and which of them there is room for.
//!
//! ```text
//!  ★⚠  1187  12:04.3 → tools/call      search_docs {…}  4.1 kB  ▆▆▆░░░   842 ms  ✗ tool-error
//!  ★⚠  1187  12:04.3 → tools/call      search_docs {…}             842 ms  ✗
//!  ★  1187 → call search_docs {…}   842 ms  ✗
//! ```
//!
//! Words of a row that has neither latency nor status may be longer; they push its size to the end:
//!
//! ```text
//!  ★   1188  12:04.3   stderr         WARN  cache miss for SN90490, asking upstream        54 B
//! ```
//!
//! In this order they give way to what a row is about: size, the word of the status (its sign
//! stays), the bar, the time, the method (shortened to its last part, then gone), the latency.

use mcpreel_wire::text::width;

pub(super) const TIME: usize = 8;
pub(super) const SIZE: usize = 7;
pub(super) const BAR: usize = 6;
pub(super) const LATENCY: usize = 7;
/// `notifications/message` is cut, `elicitation/create` is not.
const METHOD: usize = 18;
/// `elicitation/…`, as in a pane of half a screen.
const METHOD_NARROW: usize = 14;
const METHOD_SHORT: usize = 9;
const STATUS: usize = 16;

/// Columns in which it is still said what a row is about.
const WHAT: usize = 24;

/// The columns that there is room for, and how wide they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Marks, notes and selections; findings.
    pub signs: usize,
    pub seq: usize,
    pub time: usize,
    /// The method; 0 if there is no room.
    pub method: usize,
    /// Whether only the last part of the method is shown.
    pub short: bool,
    pub size: usize,
    pub bar: usize,
    pub latency: usize,
    /// The status: a sign, or a sign and a word.
    pub status: usize,
    /// What is left for what the row is about.
    pub what: usize,
}

impl Columns {
    /// Those that fit into `width` columns, with numbers of up to `digits` digits
    /// and times of `time` columns.
    pub fn fit(width: usize, digits: usize, time: usize) -> Self {
        let mut columns = Self {
            signs: 2,
            seq: digits.max(4),
            time,
            method: METHOD,
            short: false,
            size: SIZE,
            bar: BAR,
            latency: LATENCY,
            status: STATUS,
            what: 0,
        };
        let give_way: [fn(&mut Self); 9] = [
            |columns| columns.size = 0,
            |columns| columns.status = 1,
            |columns| columns.bar = 0,
            |columns| columns.method = METHOD_NARROW,
            |columns| columns.time = 0,
            |columns| (columns.method, columns.short) = (METHOD_SHORT, true),
            |columns| columns.method = 0,
            |columns| columns.latency = 0,
            |columns| columns.signs = 1,
        ];
        // Beside a detail a little less has to do; then the latency and the method are dearer.
        let wanted = [WHAT, WHAT, WHAT, 22, 14, 14, 12, 12, 8];
        for (give_way, wanted) in give_way.into_iter().zip(wanted) {
            if width >= columns.fixed() + wanted {
                break;
            }
            give_way(&mut columns);
        }
        columns.what = width.saturating_sub(columns.fixed());
        columns
    }

    pub fn whole(&self) -> usize {
        self.fixed() + self.what
    }

    /// Columns behind what a row is about.
    pub fn after_what(&self) -> usize {
        let gapped = [self.size, self.bar, self.latency, self.status];
        gapped.iter().map(|width| gap(*width)).sum()
    }

    /// Columns for words that are `wanted` wide: in a row with neither latency nor status those of
    /// both too, but for the `size` with a gap before it.
    pub fn room(&self, size: Option<&str>, is_alone: bool, wanted: usize) -> usize {
        if !is_alone || (wanted <= self.what && size.is_some()) {
            return self.what;
        }
        let size = size.map_or(0, |size| width(size) + 1);
        self.what + self.after_what().saturating_sub(size)
    }

    /// All columns but what is left, with the gaps between.
    fn fixed(&self) -> usize {
        let gapped = [self.time, self.method, self.size, self.bar, self.latency];
        let gaps: usize = gapped.iter().map(|width| gap(*width)).sum();
        // The arrow with its gap, and the gap before the status.
        self.signs + self.seq + 1 + gaps + 2 + self.status + 1
    }
}

/// A column with the gap beside it.
fn gap(width: usize) -> usize {
    if width == 0 { 0 } else { width + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fill_the_width_and_never_more() {
        for width in 12..300 {
            let columns = Columns::fit(width, 7, TIME);
            assert!(columns.fixed() + columns.what <= width.max(columns.fixed()));
            if width >= 30 {
                assert_eq!(columns.fixed() + columns.what, width, "{columns:?}");
                assert!(columns.what >= 8, "{width}: {columns:?}");
            }
        }
    }

    #[test]
    fn columns_give_way_in_their_order_and_come_back_in_it() {
        let mut before = Columns::fit(200, 4, TIME);
        assert_eq!(
            (before.size, before.status, before.bar),
            (SIZE, STATUS, BAR)
        );
        for width in (20..200).rev() {
            let columns = Columns::fit(width, 4, TIME);
            let gone = |columns: &Columns| {
                [
                    columns.size == 0,
                    columns.status == 1,
                    columns.bar == 0,
                    columns.time == 0,
                    columns.short,
                    columns.method == 0,
                    columns.latency == 0,
                ]
            };
            let (now, then) = (gone(&columns), gone(&before));
            assert!(now.is_sorted_by(|a, b| a >= b), "{width}: {columns:?}");
            assert!(now.iter().zip(then).all(|(now, then)| *now || !then));
            before = columns;
        }
    }

    #[test]
    fn words_with_nothing_behind_them_take_all_that_is_left() {
        for width in 12..300 {
            let columns = Columns::fit(width, 4, TIME);
            let end = columns.what + columns.after_what();
            assert_eq!(columns.room(None, true, 400), end, "{width}");
            assert_eq!(columns.room(Some("54 B"), false, 400), columns.what);
            assert_eq!(columns.room(Some("54 B"), true, columns.what), columns.what);
            if columns.size > 0 {
                assert_eq!(columns.room(Some("54 B"), true, 400), end - 5, "{width}");
            }
        }
    }
}
