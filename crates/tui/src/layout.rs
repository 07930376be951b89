//! The layout: which panel stands where.
//!
//! | size | layout |
//! |---|---|
//! | 110 columns and more | list left, detail right; from 120 on also timeline and findings |
//! | 80 to 109 | list above, detail below |
//! | under 80, or under 18 rows | one pane at a time |
//! | under 40x8 | the same without borders, one line of header |
//! | under 20x3 | nothing but the size that is needed |
//!
//! Pure: drawing and the mouse ask the same function.

use super::app::{App, Focus, Session, View};
use super::panels::why;
use ratatui::layout::Constraint::{Fill, Length};
use ratatui::layout::{Layout, Margin, Rect};

/// The least size at which anything is drawn.
pub const LEAST: (u16, u16) = (20, 3);

/// From so many columns on list and detail stand beside each other.
const BESIDE: u16 = 110;

/// From so many columns on the timeline and the findings leave room for the detail.
const WIDE: u16 = 120;

/// On fewer rows than these there is one pane at a time.
const LOW: u16 = 18;

/// Columns of the names of the views; without the last one where there is little room.
const TABS: [u16; 2] = [42, 52];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Panes {
    Beside,
    Stacked,
    Single,
    /// One at a time, without borders.
    Tiny,
}

/// Where the parts of a recording's screen are. An area that is not shown is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    pub header: Rect,
    /// The line or two that say why the session went wrong.
    pub why: Rect,
    /// The views, left of the filter; without room for both the filter has the line while it is
    /// typed.
    pub tabs: Rect,
    pub filter: Rect,
    pub main: Rect,
    pub detail: Rect,
    pub footer: Rect,
}

/// Whether list and detail stand beside each other in so many columns.
pub fn is_wide(columns: u16) -> bool {
    columns >= BESIDE
}

/// How the panes are arranged at this size.
fn panes((columns, rows): (u16, u16)) -> Panes {
    match (columns, rows) {
        (..40, _) | (_, ..8) => Panes::Tiny,
        (..80, _) | (_, ..LOW) => Panes::Single,
        (..BESIDE, _) => Panes::Stacked,
        _ => Panes::Beside,
    }
}

/// Whether the panes have borders at this size.
pub fn has_borders(size: (u16, u16)) -> bool {
    panes(size) != Panes::Tiny
}

/// Where the parts of the recordings screen are. An area that is not shown is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryPlaces {
    /// Which folder, how many, how large.
    pub header: Rect,
    pub headings: Rect,
    pub rows: Rect,
    /// More about the one under the cursor.
    pub about: Rect,
    pub footer: Rect,
}

impl LibraryPlaces {
    /// Recordings that are on the screen at once.
    pub fn page(&self) -> usize {
        usize::from(self.rows.height)
    }
}

/// Where the parts of the recordings screen are.
pub fn library(size: (u16, u16)) -> LibraryPlaces {
    let high = |least: u16, rows: u16| Length(if size.1 >= least { rows } else { 0 });
    let about = match size.1 {
        ..12 => 0,
        12..20 => 3,
        _ => 4,
    };
    let heights = [Length(1), high(6, 1), Fill(1), Length(about), high(4, 1)];
    let [header, headings, rows, about, footer] = Layout::vertical(heights).areas(screen(size));
    LibraryPlaces {
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

/// Where the parts of a recording's screen are.
pub fn session(app: &App, session: &Session) -> Places {
    let tiny = !has_borders(app.size);
    let line = |is_there| Length(u16::from(is_there));
    // On a low screen a row in full needs the line, and says why itself.
    let is_alone = session.focus == Focus::Detail && !shows_both(app.size, session);
    let is_low = tiny || is_alone && app.size.1 < LOW;
    // A live session may have something to say at any moment.
    let why = match why::lines(app, session).len() {
        _ if is_low || !session.shows_why() => 0,
        lines => u16::try_from(lines.max(1)).unwrap_or(1),
    };
    let filter = line(!tiny || app.edits_filter());
    let heights = [
        line(true),
        Length(why),
        filter,
        Fill(1),
        line(has_footer(app.size)),
    ];
    let parts = Layout::vertical(heights).areas(screen(app.size));
    let [header, why, line, panes, footer] = parts;
    let columns = if app.edits_filter() { 140 } else { 60 };
    let tabs = match app.size.0 {
        wide if wide < columns => 0,
        ..80 => TABS[0],
        _ => TABS[1],
    };
    let [tabs, filter] = Layout::horizontal([Length(tabs), Fill(1)]).areas(line);
    let (main, detail) = panes_of(app, session, panes);
    Places {
        header,
        why,
        tabs,
        filter,
        main,
        detail,
        footer,
    }
}

/// Whether a view and the detail are on the screen at once.
pub fn shows_both(size: (u16, u16), session: &Session) -> bool {
    let single = matches!(panes(size), Panes::Single | Panes::Tiny);
    let wide = match session.view {
        View::Exchanges => 0,
        View::Stats | View::Server => u16::MAX,
        View::Timeline | View::Findings => WIDE,
    };
    !(single || session.zoom) && size.0 >= wide
}

fn panes_of(app: &App, session: &Session, area: Rect) -> (Rect, Rect) {
    let alone = !shows_both(app.size, session);
    if alone {
        return match session.focus {
            Focus::Main => (area, Rect::default()),
            Focus::Detail => (Rect::default(), area),
        };
    }
    let percent = match (panes(app.size), session.focus) {
        // Who reads on in the detail needs less of the list.
        (Panes::Stacked, Focus::Detail) => app.settings.divider.clamp(20, 40),
        _ => app.settings.divider.clamp(20, 80),
    };
    let part = |whole: u16| {
        let part = u32::from(whole) * u32::from(percent) / 100;
        Length(u16::try_from(part).unwrap_or(whole))
    };
    let [main, detail] = if panes(app.size) == Panes::Beside {
        Layout::horizontal([part(area.width), Fill(1)]).areas(area)
    } else {
        Layout::vertical([part(area.height), Fill(1)]).areas(area)
    };
    (main, detail)
}

/// Where the parts of a view with figures above, rows, and more about the row under the cursor are.
/// A part that is not shown is empty.
pub struct Sheet {
    pub above: Rect,
    pub rows: Rect,
    /// Beside the rows, or below where there is less room.
    pub aside: Rect,
}

/// Where the parts of a view are within its pane.
pub fn sheet(pane: Rect) -> Sheet {
    let inner = pane.inner(Margin::new(1, 1));
    let above = Length(u16::from(inner.height >= 6));
    let [above, rest] = Layout::vertical([above, Fill(1)]).areas(inner);
    let [rows, aside] = if rest.width >= 108 {
        let parts = [Fill(3), Fill(2)];
        Layout::horizontal(parts).spacing(2).areas(rest)
    } else if rest.height >= 12 {
        let parts = [Fill(1), Fill(1)];
        Layout::vertical(parts).spacing(1).areas(rest)
    } else {
        [rest, Rect::default()]
    };
    Sheet { above, rows, aside }
}

impl Sheet {
    /// The same for so many rows: what they leave below them is for what stands there.
    pub fn with_rows(mut self, rows: usize) -> Self {
        let needed = u16::try_from(rows).unwrap_or(u16::MAX).max(1);
        let spare = self.rows.height.saturating_sub(needed);
        if self.aside.y > self.rows.y && spare > 0 {
            self.rows.height -= spare;
            self.aside.y -= spare;
            self.aside.height += spare;
        }
        self
    }
}

pub fn screen(size: (u16, u16)) -> Rect {
    Rect::new(0, 0, size.0, size.1)
}

/// An area of this size in the middle, as far as there is room.
pub fn centered(area: Rect, columns: usize, rows: usize) -> Rect {
    let side = |wanted: usize, whole: u16| u16::try_from(wanted).unwrap_or(u16::MAX).min(whole);
    let (width, height) = (side(columns, area.width), side(rows, area.height));
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}
