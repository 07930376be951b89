//! The layout: which panel stands where.
//!
//! | size | layout |
//! |---|---|
//! | 110 columns and more | list left, detail right |
//! | 80 to 109 | list above, detail below |
//! | under 80, or under 18 rows | one pane at a time |
//! | under 40x8 | the same without borders, one line of header |
//! | under 20x3 | nothing but the size that is needed |
//!
//! Pure: drawing and the mouse ask the same function.

use super::app::{App, Focus, Session, View};
use ratatui::layout::Rect;

/// The least size at which anything is drawn.
pub const LEAST: (u16, u16) = (20, 3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    Beside,
    Stacked,
    Single,
    /// One at a time, without borders.
    Tiny,
}

/// Where the parts of a recording's screen are. An area that is not shown is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    pub arrangement: Arrangement,
    pub header: Rect,
    /// What went wrong, if something did.
    pub why: Rect,
    pub filter: Rect,
    pub main: Rect,
    pub detail: Rect,
    pub footer: Rect,
}

/// How the panes are arranged at this size.
pub fn arrangement((columns, rows): (u16, u16)) -> Arrangement {
    match (columns, rows) {
        (..40, _) | (_, ..8) => Arrangement::Tiny,
        (..80, _) | (_, ..18) => Arrangement::Single,
        (..110, _) => Arrangement::Stacked,
        _ => Arrangement::Beside,
    }
}

/// Where the parts of the recordings screen are. An area that is not shown is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shelf {
    /// Which folder, how many, how large.
    pub header: Rect,
    pub headings: Rect,
    pub rows: Rect,
    /// More about the one under the cursor.
    pub about: Rect,
    pub footer: Rect,
}

impl Shelf {
    /// Recordings that are on the screen at once.
    pub fn page(&self) -> usize {
        usize::from(self.rows.height)
    }
}

/// Where the parts of the recordings screen are.
pub fn library(size: (u16, u16)) -> Shelf {
    let area = Rect::new(0, 0, size.0, size.1);
    let high = |least: u16, rows: u16| if area.height >= least { rows } else { 0 };
    let (about, footer) = (high(12, 3), high(4, 1));
    let mut rows = Rows { area, at: 0 };
    let header = rows.take(1);
    let headings = rows.take(high(6, 1));
    let left = area.height.saturating_sub(rows.at + about + footer);
    Shelf {
        header,
        headings,
        rows: rows.take(left),
        about: rows.take(about),
        footer: rows.take(footer),
    }
}

/// Whether a recording's screen of this size has a line for chips.
pub fn has_footer(size: (u16, u16)) -> bool {
    size.1 > 3
}

/// Where the parts of a recording's screen are.
pub fn session(app: &App, session: &Session) -> Places {
    let area = Rect::new(0, 0, app.size.0, app.size.1);
    let arrangement = arrangement(app.size);
    let tiny = arrangement == Arrangement::Tiny;
    let why = u16::from(!tiny && session.shows_why());
    let filter = u16::from(!tiny || app.edits_filter());
    let footer = u16::from(has_footer(app.size));
    let mut rows = Rows { area, at: 0 };
    let header = rows.take(1);
    let why = rows.take(why);
    let filter = rows.take(filter);
    let left = area.height.saturating_sub(rows.at + footer);
    let panes = rows.take(left);
    let footer = rows.take(footer);
    let (main, detail) = panes_of(app, session, arrangement, panes);
    Places {
        arrangement,
        header,
        why,
        filter,
        main,
        detail,
        footer,
    }
}

/// Whether a view and the detail are on the screen at once.
pub fn shows_both(size: (u16, u16), session: &Session) -> bool {
    let single = matches!(arrangement(size), Arrangement::Single | Arrangement::Tiny);
    // All views but the list want the whole width.
    let wide = session.view != View::Exchanges;
    !(single || session.zoom || wide)
}

fn panes_of(app: &App, session: &Session, arrangement: Arrangement, area: Rect) -> (Rect, Rect) {
    let alone = !shows_both(app.size, session);
    if alone {
        return match session.focus {
            Focus::Main => (area, Rect::default()),
            Focus::Detail => (Rect::default(), area),
        };
    }
    let part = |whole: u16| {
        let part = u32::from(whole) * u32::from(app.settings.divider.clamp(20, 80)) / 100;
        u16::try_from(part).unwrap_or(whole)
    };
    if arrangement == Arrangement::Beside {
        let width = part(area.width);
        let main = Rect { width, ..area };
        let detail = Rect {
            x: area.x + width,
            width: area.width - width,
            ..area
        };
        return (main, detail);
    }
    let height = part(area.height);
    let main = Rect { height, ..area };
    let detail = Rect {
        y: area.y + height,
        height: area.height - height,
        ..area
    };
    (main, detail)
}

struct Rows {
    area: Rect,
    at: u16,
}

impl Rows {
    fn take(&mut self, wanted: u16) -> Rect {
        let height = wanted.min(self.area.height.saturating_sub(self.at));
        let rows = Rect {
            y: self.area.y + self.at,
            height,
            ..self.area
        };
        self.at += height;
        if height == 0 { Rect::default() } else { rows }
    }
}

pub fn screen(app: &App) -> Rect {
    Rect::new(0, 0, app.size.0, app.size.1)
}

/// An area of this size in the middle, as far as there is room.
pub fn centered(area: Rect, columns: usize, rows: usize) -> Rect {
    let width = u16::try_from(columns).unwrap_or(u16::MAX).min(area.width);
    let height = u16::try_from(rows).unwrap_or(u16::MAX).min(area.height);
    Rect::new(
        area.x + (area.width - width) / 2,
        area.y + (area.height - height) / 2,
        width,
        height,
    )
}
