//! The same rows in time.

use crate::worker::timeline::{Picture, Window};
use mcpreel_trace::item::ItemKey;
use mcpreel_trace::query::Query;

#[derive(Debug, Default)]
pub struct Timeline {
    pub asked: Option<Asked>,
    pub picture: Option<Box<Picture>>,
    pub shown: Option<Asked>,
    /// The range on the screen; none: everything, as it grows.
    pub window: Option<Window>,
    /// The row with the cursor; none: the last one.
    pub cursor: Option<ItemKey>,
    /// On which row of the screen the cursor is.
    pub offset: usize,
    /// The first row on the screen, where the wheel has left it; none: the cursor is seen.
    pub wheel: Option<ItemKey>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub generation: u64,
    /// When, nanoseconds since the viewer started.
    pub at_ns: u64,
    pub frames: u64,
    /// What for: if this differs, the picture is another one.
    pub about: About,
    pub anchor: Option<ItemKey>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct About {
    pub query: Query,
    pub window: Option<Window>,
    /// Columns and rows on the screen.
    pub size: (usize, usize),
}

impl Timeline {
    /// Around which row the picture is: where it was scrolled to, or where the cursor is.
    pub fn anchor(&self) -> Option<ItemKey> {
        self.wheel.or(self.cursor)
    }

    /// Whether the cursor is among the rows of the picture: the wheel may have left it far behind.
    pub fn has_cursor(&self) -> bool {
        let (Some(picture), Some(key)) = (self.picture.as_deref(), self.cursor) else {
            return true;
        };
        let is_before = picture.rows.first().is_some_and(|bar| key < bar.key);
        let is_after = picture.rows.last().is_some_and(|bar| bar.key < key);
        !(is_before && picture.more.0 || is_after && picture.more.1)
    }

    /// Where the cursor is among the rows of the picture.
    pub fn cursor_row(&self) -> usize {
        let rows = self
            .picture
            .as_deref()
            .map_or(&[][..], |picture| &picture.rows);
        let last = rows.len().saturating_sub(1);
        match self.cursor {
            None => last,
            Some(key) => rows.partition_point(|bar| bar.key < key).min(last),
        }
    }

    /// The first row on a screen of `page` rows.
    pub fn top(&self, page: usize) -> usize {
        let rows = self
            .picture
            .as_deref()
            .map_or(&[][..], |picture| &picture.rows);
        let offset = self.offset.min(page.saturating_sub(1));
        let top = match self.wheel {
            Some(key) => rows.partition_point(|bar| bar.key < key),
            None => self.cursor_row().saturating_sub(offset),
        };
        top.min(rows.len().saturating_sub(page))
    }
}
