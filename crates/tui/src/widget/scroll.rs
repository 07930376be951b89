//! Which rows of a list are on the screen: scrolled as little as is needed to see the cursor, or
//! as far as the wheel has turned.

/// The first row of a screen of `page` rows that was `top`, scrolled as little as is needed for
/// the row `at` to be on it.
pub fn showing(at: usize, top: usize, page: usize) -> usize {
    top.clamp((at + 1).saturating_sub(page.max(1)), at)
}

/// The same for a list of `rows` rows, none of the screen left empty that a row could fill.
pub fn showing_of(rows: usize, at: usize, top: usize, page: usize) -> usize {
    showing(at, top.min(rows.saturating_sub(page.max(1))), page)
}

/// The first row of a screen of `page` rows of a short list: where the wheel has left it, or so
/// that the row `at` is on the screen.
pub fn top(wheel: Option<usize>, rows: usize, at: usize, page: usize) -> usize {
    match wheel {
        Some(top) => turned(top, 0, rows, page),
        None => showing_of(rows, at, 0, page),
    }
}

/// The first row after the wheel was turned by so many rows, down if `by` is positive: the last of
/// `rows` rows stays at the bottom of the screen at most.
pub fn turned(top: usize, by: isize, rows: usize, page: usize) -> usize {
    top.saturating_add_signed(by).min(rows.saturating_sub(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_on_the_screen_moves_nothing_and_any_other_just_comes_in() {
        let tops = [0, 2, 3, 5, 9].map(|at| showing(at, 3, 3));
        assert_eq!(tops, [0, 2, 3, 3, 7]);
        assert_eq!(showing(4, 0, 0), 4, "a screen has one row at least");
        assert_eq!(showing_of(5, 4, 4, 3), 2, "all that there is room for");
    }

    #[test]
    fn the_wheel_moves_the_rows_and_not_the_cursor_and_ends_with_the_last() {
        assert_eq!(turned(0, 3, 10, 4), 3);
        assert_eq!(turned(5, 3, 10, 4), 6);
        assert_eq!(turned(2, -3, 10, 4), 0);
        assert_eq!(turned(0, 3, 2, 4), 0);
        assert_eq!(top(None, 10, 8, 4), 5);
        assert_eq!(top(Some(1), 10, 8, 4), 1);
        assert_eq!(top(Some(9), 10, 8, 4), 6, "fewer rows fit now");
    }
}
