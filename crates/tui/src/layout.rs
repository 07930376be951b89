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
use ratatui::layout::{Constraint, Direction, Layout, Rect};

/// The least size at which anything is drawn.
pub const LEAST: (u16, u16) = (20, 3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    Beside,
    Stacked,
    Single,
    /// A single pane without borders.
    Tiny,
}

/// The areas of a recording's screen; one that is not shown is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    pub arrangement: Arrangement,
    pub header: Rect,
    /// The line that says why the session went wrong.
    pub why: Rect,
    pub filter: Rect,
    pub main: Rect,
    pub detail: Rect,
    pub footer: Rect,
}

pub fn arrangement((columns, rows): (u16, u16)) -> Arrangement {
    match (columns, rows) {
        (..40, _) | (_, ..8) => Arrangement::Tiny,
        (..80, _) | (_, ..18) => Arrangement::Single,
        (..110, _) => Arrangement::Stacked,
        _ => Arrangement::Beside,
    }
}

/// The areas of the recordings screen; one that is not shown is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shelf {
    /// The folder, how many recordings it has, and how large they are.
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

pub fn library((columns, rows): (u16, u16)) -> Shelf {
    let high = |least: u16, high: u16| if rows >= least { high } else { 0 };
    let areas = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(high(6, 1)),
        Constraint::Fill(1),
        Constraint::Length(high(12, 3)),
        Constraint::Length(high(4, 1)),
    ]);
    let [header, headings, rows, about, footer] = areas.areas(Rect::new(0, 0, columns, rows));
    Shelf {
        header,
        headings,
        rows,
        about,
        footer,
    }
}

/// Whether a recording's screen of this size has a line for chips.
pub fn has_footer(size: (u16, u16)) -> bool {
    size.1 > 3
}

pub fn session(app: &App, session: &Session) -> Places {
    let arrangement = arrangement(app.size);
    let tiny = arrangement == Arrangement::Tiny;
    let line = |is_there: bool| Constraint::Length(u16::from(is_there));
    let areas = Layout::vertical([
        line(true),
        line(!tiny && super::panels::story::has(session)),
        line(!tiny || super::panels::filter::is_edited(app)),
        Constraint::Fill(1),
        line(has_footer(app.size)),
    ]);
    let area = Rect::new(0, 0, app.size.0, app.size.1);
    let [header, why, filter, panes, footer] = areas.areas(area);
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
    let (direction, whole) = match arrangement {
        Arrangement::Beside => (Direction::Horizontal, area.width),
        _ => (Direction::Vertical, area.height),
    };
    let part = u32::from(whole) * u32::from(app.settings.divider.clamp(20, 80)) / 100;
    let part = Constraint::Length(u16::try_from(part).unwrap_or(whole));
    let [main, detail] = Layout::new(direction, [part, Constraint::Fill(1)]).areas(area);
    (main, detail)
}
