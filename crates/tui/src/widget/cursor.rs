//! The cursor of a list, and how far the list is scrolled.

use super::frame;
use crate::action::Action;
use ratatui::layout::Rect;

/// A cursor that stays on its row, known by an id, when rows come, go, or change their order.
#[derive(Clone, Debug, Default)]
pub struct Rows<I> {
    pub id: I,
    /// The first row on the screen.
    pub top: usize,
}

impl<I: Clone + Default + PartialEq> Rows<I> {
    /// The place of the cursor among the rows; the first where its row is gone.
    pub fn at(&self, ids: &[I]) -> usize {
        let found = ids.iter().position(|id| *id == self.id);
        found.unwrap_or(0)
    }

    /// Puts the cursor on a row, and scrolls as little as is needed to see it.
    pub fn put(&mut self, ids: &[I], at: usize, page: usize) {
        self.id = ids.get(at).cloned().unwrap_or_default();
        self.top = frame::showing_of(ids.len(), at, self.top, page);
    }

    /// Moves the cursor as the action says; `None` if the action is no motion.
    pub fn perform(&mut self, action: Action, ids: &[I], page: usize) -> Option<()> {
        let to = moved(action, self.at(ids), ids.len(), page)?;
        self.put(ids, to, page);
        Some(())
    }

    /// Puts the cursor on the row at a cell of the screen, where `area` shows the rows. Returns
    /// whether one is there.
    pub fn click(&mut self, ids: &[I], area: Rect, (x, y): (u16, u16)) -> bool {
        let row = self.top + usize::from(y.saturating_sub(area.y));
        let is_row = area.contains((x, y).into()) && row < ids.len();
        if is_row {
            self.put(ids, row, area.height.into());
        }
        is_row
    }

    /// Scrolls without moving the cursor.
    pub fn wheel(&mut self, by: isize, rows: usize, page: usize) {
        self.top = frame::turned(self.top, by, rows, page);
    }
}

/// The most rows that can be selected at once: two are compared.
const MOST: usize = 2;

/// Selects one for a comparison, or takes it out; a third one takes the place of the first, which
/// is returned.
pub fn toggle<T: PartialEq>(selected: &mut Vec<T>, one: T) -> Option<T> {
    if let Some(at) = selected.iter().position(|known| *known == one) {
        selected.remove(at);
        return None;
    }
    let dropped = (selected.len() == MOST).then(|| selected.remove(0));
    selected.push(one);
    dropped
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stays_on_its_row_whatever_comes_above_it() {
        let mut rows = Rows::default();
        rows.put(&[1, 2, 3, 4], 2, 2);
        assert_eq!((rows.id, rows.top), (3, 1));
        assert_eq!(rows.at(&[9, 8, 1, 2, 3, 4]), 4);
        assert_eq!(rows.at(&[1, 2]), 0, "its row is gone");
        assert_eq!(rows.perform(Action::Help, &[1], 1), None);
    }

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
}
