//! Bars: how many of each, side by side or one above the other.

use crate::theme::{Glyph, Look};

/// Eighths of a cell, from nothing to full.
const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

const STEPS: [&str; 9] = [" ", ".", ".", ":", ":", "+", "+", "#", "#"];

/// One character per number: how high it is against the highest. What is not nothing is seen.
pub fn density(look: &Look, numbers: &[u64]) -> String {
    let most = numbers.iter().copied().max().unwrap_or(0).max(1);
    let signs = if look.ascii { STEPS } else { EIGHTHS };
    let sign = |number: &u64| {
        let eighths = u128::from(*number) * 8 / u128::from(most);
        let least = usize::from(*number > 0);
        signs[usize::try_from(eighths).unwrap_or(8).clamp(least, 8)]
    };
    numbers.iter().map(sign).collect()
}

/// A bar of at most `columns` characters for `number` of `most`. What is not nothing is seen.
pub fn bar(look: &Look, number: u64, most: u64, columns: usize) -> String {
    let wide = u128::from(number) * columns as u128 / u128::from(most.max(1));
    let least = usize::from(number > 0 && columns > 0);
    let wide = usize::try_from(wide)
        .unwrap_or(columns)
        .clamp(least, columns.max(least));
    look.glyph(Glyph::Bar).repeat(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_is_not_nothing() {
        let look = Look::default();
        assert_eq!(density(&look, &[0, 1, 500, 1000]), " ▁▄█");
        assert_eq!(density(&look, &[]), "");
        assert_eq!(bar(&look, 1, 1_000_000, 10), "█");
        assert_eq!(bar(&look, 0, 10, 10), "");
        assert_eq!(bar(&look, u64::MAX, u64::MAX, 3), "███");
        let ascii = Look {
            ascii: true,
            ..Look::default()
        };
        assert!(density(&ascii, &[0, 1, 5, 9]).is_ascii());
    }
}
