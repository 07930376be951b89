//! A choice of some, in the middle of the screen. What is wider than it goes on below; what is
//! higher is scrolled.
//!
//! ```text
//!  ┌ why: certain, the recording shows it ────────────────────┐
//!  │  the server was ended by SIGSEGV in the middle of        │
//!  │  transfer (#12); stderr says: fatal: bad pointer         │
//!  │                                                          │
//!  │ 1  #12  the client asked: tools/call transfer {to:"b"}   │
//!  │ 2  #14  stderr: fatal: bad pointer                       │
//!  └──────────────────────── Enter goes to #12, Esc closes ───┘
//! ```

use crate::action::{Action, Context};
use crate::app::{App, Handlers, Overlay, Session, Viewer};
use crate::effect::Effects;
use crate::keymap::Key;
use crate::layout::{Hit, centered, screen};
use crate::theme::{Glyph, Look, Role};
use crate::widget::cursor::moved;
use crate::widget::frame;
use crate::worker::Slot;
use crossterm::event::KeyCode;
use mcpreel_wire::text::{plural, width, wrap};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear};
use std::fmt;

/// The widest line: longer ones are hard to read.
const WIDEST: usize = 100;

/// Columns before a line of the text.
const BEFORE_TEXT: usize = 1;

/// Columns before a label: its letter stands there.
const BEFORE_LABEL: usize = 4;

/// Columns that stay free beside the lines.
const BESIDE: usize = 2;

#[derive(Debug)]
pub struct Menu {
    pub title: String,
    /// Sentences above the choices, escaped; each goes on below where it is long.
    pub text: Vec<(Role, String)>,
    pub entries: Vec<Entry>,
    pub at: usize,
    /// The first line on the screen, where it was scrolled to; none: the cursor is seen.
    pub top: Option<usize>,
    /// The work that a form asks about, so that the form can be filled or shown anew.
    pub about: Option<Slot>,
}

/// The deed of an entry that is chosen.
pub type Take = Box<dyn FnOnce(&mut Viewer) -> Effects>;

pub struct Entry {
    /// The letter that chooses it at once.
    pub letter: char,
    pub label: String,
    /// The words for Enter, before "Esc closes".
    pub enter: String,
    pub take: Take,
}

impl Entry {
    pub fn new(
        letter: char,
        label: impl Into<String>,
        take: impl FnOnce(&mut Viewer) -> Effects + 'static,
    ) -> Self {
        Self {
            letter,
            label: label.into(),
            enter: "Enter chooses, ".to_owned(),
            take: Box::new(take),
        }
    }

    /// Does something to the open recording.
    pub fn in_session(
        letter: char,
        label: impl Into<String>,
        take: impl FnOnce(&mut App, &mut Session) -> Effects + 'static,
    ) -> Self {
        Self::new(letter, label, |viewer| {
            let parts = viewer.parts();
            parts.map_or_else(Effects::new, |(app, session)| take(app, session))
        })
    }

    /// Only closes the menu.
    pub fn nothing(letter: char, label: impl Into<String>) -> Self {
        Self {
            enter: "Enter or ".to_owned(),
            ..Self::new(letter, label, |_| vec![])
        }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.letter, self.label)
    }
}

impl Menu {
    /// A menu without a text above it.
    pub fn new(title: impl Into<String>, entries: Vec<Entry>) -> Self {
        Self {
            title: title.into(),
            text: Vec::new(),
            entries,
            at: 0,
            top: None,
            about: None,
        }
    }
}

impl Overlay for Menu {
    fn context(&self) -> Context {
        Context::Menu
    }

    fn handlers(&self) -> Handlers {
        Handlers {
            perform,
            press,
            click: |viewer, cell, _| click(viewer, cell),
            wheel: |viewer, by| wheel(&mut viewer.app, by),
            ..Handlers::NONE
        }
    }

    fn draw(&self, app: &App, _: Option<&Session>, area: Rect, frame: &mut Frame<'_>) {
        draw(app, self, area, frame);
    }
}

/// Moves among the choices, or takes one.
fn perform(viewer: &mut Viewer, action: Action) -> Option<Effects> {
    let screen = screen(&viewer.app);
    let Some(menu) = viewer.app.top_mut::<Menu>() else {
        return None;
    };
    if action == Action::Open {
        let at = menu.at;
        return Some(take(viewer, at));
    }
    // What is longer than the screen is read to its end before the cursor goes on.
    let placed = placed(menu, screen);
    let (first, last) = lines_of(&placed.rows, menu.at);
    let first = if menu.at == 0 { 0 } else { first };
    let by = match action {
        Action::Down if last >= placed.top + placed.page => 1,
        Action::Up if first < placed.top => -1,
        _ => 0,
    };
    if by != 0 {
        menu.top = Some(placed.turned(by));
        return Some(vec![]);
    }
    let rows = menu.entries.len();
    menu.at = moved(action, menu.at, rows, rows)?;
    menu.top = None;
    Some(vec![])
}

/// The letter of an entry takes the entry, unless the keymap knows the key.
fn press(viewer: &mut Viewer, key: Key) -> Option<Effects> {
    let contexts = viewer.contexts();
    let is_action = viewer.app.settings.keymap.action(&contexts, key).is_some();
    let KeyCode::Char(letter) = key.code else {
        return None;
    };
    let entries = &viewer.app.top::<Menu>()?.entries;
    let at = entries.iter().position(|entry| entry.letter == letter)?;
    (!is_action).then(|| take(viewer, at))
}

/// A click on a cell of the screen: takes the choice there, beside the menu closes it.
fn click(viewer: &mut Viewer, cell: (u16, u16)) -> Effects {
    let app = &mut viewer.app;
    let hit = app.top().map_or(Hit::Inside, |menu| hit(app, menu, cell));
    match hit {
        Hit::Entry(at) => return take(viewer, at),
        Hit::Outside => {
            app.overlays.pop();
        }
        Hit::Inside => {}
    }
    vec![]
}

/// The wheel was turned by so many rows: scrolls without moving the cursor.
fn wheel(app: &mut App, by: isize) -> Effects {
    let screen = screen(app);
    if let Some(menu) = app.top_mut::<Menu>() {
        menu.top = Some(placed(menu, screen).turned(by));
    }
    vec![]
}

fn take(viewer: &mut Viewer, at: usize) -> Effects {
    let Some(mut menu) = viewer.app.pop::<Menu>() else {
        return vec![];
    };
    if at >= menu.entries.len() {
        return vec![];
    }
    (menu.entries.swap_remove(at).take)(viewer)
}

struct Row {
    /// The entry that it belongs to; none of the text above them.
    entry: Option<usize>,
    role: Role,
    /// The letter of the entry, in its first line.
    letter: Option<char>,
    text: String,
}

struct Placed {
    area: Rect,
    rows: Vec<Row>,
    top: usize,
    page: usize,
}

impl Placed {
    /// The first row after the wheel was turned by so many.
    fn turned(&self, by: isize) -> usize {
        frame::turned(self.top, by, self.rows.len(), self.page)
    }
}

fn draw(app: &App, menu: &Menu, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let placed = placed(menu, area);
    frame.render_widget(Clear, placed.area);
    let foot = foot(menu, &placed, look);
    let inner = frame::draw(look, &menu.title, &foot, true, placed.area, frame);
    for (row, place) in placed.rows.iter().skip(placed.top).zip(inner.rows()) {
        frame.render_widget(line(row, look), place);
        if row.entry == Some(menu.at) {
            frame
                .buffer_mut()
                .set_style(place, look.style(Role::Selected));
        }
    }
}

fn line<'r>(row: &'r Row, look: &Look) -> Line<'r> {
    let text = row.text.as_str();
    let before = |columns: usize| Span::raw(" ".repeat(columns));
    let spans = match (row.entry, row.letter) {
        (None, _) => vec![
            before(BEFORE_TEXT),
            Span::styled(text, look.style(row.role)),
        ],
        (_, None) => vec![before(BEFORE_LABEL), Span::raw(text)],
        (_, Some(letter)) => {
            let letter = Span::styled(format!(" {letter} "), look.style(Role::Key));
            vec![letter, before(BEFORE_LABEL - 3), Span::raw(text)]
        }
    };
    Line::from(spans)
}

/// The line below: how much there is to scroll, what Enter does, how to leave.
fn foot(menu: &Menu, placed: &Placed, look: &Look) -> String {
    let enter = menu.entries.get(menu.at).map_or("", |entry| &entry.enter);
    let below = placed.rows.len().saturating_sub(placed.top + placed.page);
    let below = match below {
        0 => String::new(),
        below => format!(
            "{} {} ",
            plural(below as u64, "more line"),
            look.glyph(Glyph::More)
        ),
    };
    format!("{below}{enter}Esc closes")
}

/// The part of the menu at this cell of the screen.
pub fn hit(app: &App, menu: &Menu, (x, y): (u16, u16)) -> Hit {
    let placed = placed(menu, screen(app));
    if !placed.area.contains((x, y).into()) {
        return Hit::Outside;
    }
    let inner = Block::bordered().inner(placed.area);
    let row = placed.top + usize::from(y.saturating_sub(inner.y));
    let row = placed
        .rows
        .get(row)
        .filter(|_| inner.contains((x, y).into()));
    let entry = row.and_then(|row| row.entry);
    entry.map_or(Hit::Inside, Hit::Entry)
}

fn placed(menu: &Menu, area: Rect) -> Placed {
    let widths = menu
        .entries
        .iter()
        .map(|entry| width(&entry.label) + BEFORE_LABEL);
    let texts = menu.text.iter();
    let texts = texts.map(|(_, text)| width(text) + BEFORE_TEXT);
    let title = width(&menu.title) + 2;
    let widest = widths.chain(texts).chain([title]).max().unwrap_or(0);
    let columns = (widest + BESIDE).min(WIDEST);
    let columns = columns.min(usize::from(area.width.saturating_sub(2)));
    let rows = rows(menu, columns.saturating_sub(BESIDE));
    let area = centered(area, columns + 2, rows.len() + 2);
    let page = usize::from(area.height.saturating_sub(2));
    let top = menu.top.map_or_else(
        || {
            let (first, last) = lines_of(&rows, menu.at);
            frame::showing_of(rows.len(), last, 0, page).min(first)
        },
        |top| frame::turned(top, 0, rows.len(), page),
    );
    Placed {
        area,
        rows,
        top,
        page,
    }
}

/// The lines of a menu, none with more than `columns` columns.
fn rows(menu: &Menu, columns: usize) -> Vec<Row> {
    let of_text = |role, text: String| Row {
        entry: None,
        role,
        letter: None,
        text,
    };
    let texts = menu.text.iter().flat_map(|(role, text)| {
        let lines = wrap(text, columns.saturating_sub(BEFORE_TEXT));
        lines.into_iter().map(|line| of_text(*role, line))
    });
    let mut rows: Vec<_> = texts.collect();
    if !rows.is_empty() {
        rows.push(of_text(Role::Text, String::new()));
    }
    for (at, entry) in menu.entries.iter().enumerate() {
        let lines = wrap(&entry.label, columns.saturating_sub(BEFORE_LABEL));
        rows.extend(lines.into_iter().enumerate().map(|(nth, text)| Row {
            entry: Some(at),
            role: Role::Text,
            letter: (nth == 0).then_some(entry.letter),
            text,
        }));
    }
    rows
}

/// The first and the last line of an entry.
fn lines_of(rows: &[Row], entry: usize) -> (usize, usize) {
    let is_of = |row: &Row| row.entry == Some(entry);
    let first = rows.iter().position(is_of).unwrap_or(0);
    let last = rows.iter().rposition(is_of).unwrap_or(0);
    (first, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn menu(text: &str, labels: &[&str]) -> Menu {
        let entry = |(at, label): (usize, &&str)| {
            Entry::nothing(char::from(b'a' + u8::try_from(at).unwrap()), *label)
        };
        Menu {
            text: vec![(Role::Text, text.to_owned())],
            ..Menu::new("t", labels.iter().enumerate().map(entry).collect())
        }
    }

    fn text(rows: &[Row]) -> Vec<String> {
        let row = |row: &Row| format!("{:?} {}", row.letter, row.text);
        rows.iter().map(row).collect()
    }

    #[test]
    fn whatever_is_wider_than_the_menu_goes_on_below() {
        let menu = menu("a long text above", &["a long label", "short"]);
        assert_eq!(
            text(&rows(&menu, 12)),
            [
                "None a long text",
                "None above",
                "None ",
                "Some('a') a long",
                "None label",
                "Some('b') short"
            ]
        );
    }

    #[test]
    fn the_cursor_is_seen_with_as_much_above_it_as_there_is_room_for() {
        let mut menu = menu("one two three four five six", &["a", "b", "c"]);
        let area = Rect::new(0, 0, 10, 8);
        let top = |menu: &Menu| placed(menu, area).top;
        let all = placed(&menu, area).rows.len();
        assert_eq!((all, placed(&menu, area).page), (10, 6));
        assert_eq!(
            top(&menu),
            2,
            "the first entry is the last line that is shown"
        );
        menu.at = 2;
        assert_eq!(top(&menu), 4);
        menu.top = Some(0);
        assert_eq!(top(&menu), 0, "wherever it was scrolled to");
        menu.top = Some(9);
        assert_eq!(top(&menu), 4, "no line stays empty");
    }
}
