//! Moving a cursor or a page, in all panes alike.

use crate::action::Action;

/// Moves the row `at` of `rows` rows as `action` says, `page` rows to a page; `None` if it is no
/// motion.
pub fn moved(action: Action, at: usize, rows: usize, page: usize) -> Option<usize> {
    let page = page.max(1);
    let half = (page / 2).max(1);
    let last = rows.saturating_sub(1);
    let to = match action {
        Action::Down => at.saturating_add(1),
        Action::Up => at.saturating_sub(1),
        Action::HalfPageDown => at.saturating_add(half),
        Action::HalfPageUp => at.saturating_sub(half),
        Action::PageDown => at.saturating_add(page),
        Action::PageUp => at.saturating_sub(page),
        Action::Top => 0,
        Action::Bottom => last,
        _ => return None,
    };
    Some(to.min(last))
}

/// The difference after the row `at`, or the one before it; what is said where there is none.
pub fn walked(action: Action, at: usize, changes: &[usize]) -> Result<usize, &'static str> {
    let (found, end) = if action == Action::NextChange {
        let next = changes.iter().find(|change| **change > at);
        (next, "that was the last difference")
    } else {
        let before = changes.iter().rev().find(|change| **change < at);
        (before, "that was the first difference")
    };
    found.copied().ok_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_stays_within_the_rows() {
        assert_eq!(moved(Action::Down, 9, 10, 5), Some(9));
        assert_eq!(moved(Action::Up, 0, 10, 5), Some(0));
        assert_eq!(moved(Action::PageDown, 2, 10, 5), Some(7));
        assert_eq!(moved(Action::HalfPageUp, 9, 10, 5), Some(7));
        assert_eq!(moved(Action::Bottom, 0, 10, 5), Some(9));
        assert_eq!(moved(Action::Bottom, 0, 0, 0), Some(0));
        assert_eq!(moved(Action::Help, 0, 10, 5), None);
    }

    #[test]
    fn differences_are_walked_to_their_ends() {
        let changes = [2, 5];
        assert_eq!(walked(Action::NextChange, 2, &changes), Ok(5));
        assert_eq!(walked(Action::PreviousChange, 5, &changes), Ok(2));
        let end = walked(Action::NextChange, 5, &changes).unwrap_err();
        assert_eq!(end, "that was the last difference");
        let end = walked(Action::PreviousChange, 2, &changes).unwrap_err();
        assert_eq!(end, "that was the first difference");
    }
}
