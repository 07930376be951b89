//! What lies on top: a menu, which is a choice of some in the middle of the screen, and a text. What
//! is wider than either goes on below; what is higher is scrolled.
//!
//! ```text
//!  ┌ why: certain, the recording shows it ────────────────────┐
//!  │  the server was ended by SIGSEGV in the middle of        │
//!  │  transfer (#12); stderr says: fatal: bad pointer         │
//!  │                                                          │
//!  │ 1  #12  the client asked: tools/call transfer {to:"b"}   │
//!  │ 2  #14  stderr: fatal: bad pointer                       │
//!  └──────────────────────────── Enter chooses, Esc closes ───┘
//! ```

use super::prompt::{request, typed};
use crate::action::{Action, Context};
use crate::app::{App, Handlers, Overlay, Session, Viewer};
use crate::effect::Effects;
use crate::keymap::Key;
use crate::layout::{self, centered, screen};
use crate::theme::Role;
use crate::widget::cursor::moved;
use crate::widget::frame;
use crate::widget::pager::{self, Text};
use crate::widget::spans::{self, Spans};
use crossterm::event::KeyCode;
use mcpreel_wire::text::{pad_end, width};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::widgets::{Block, Clear};
use tui_input::Input;

/// The widest line: longer ones are hard to read.
const WIDEST: usize = 100;

/// Rows of a menu with a line that is typed, however many entries fit.
const SEARCHED: usize = 22;

/// Columns before a label: its letter stands there.
const BEFORE_LABEL: usize = 4;

#[derive(Default)]
pub struct Menu {
    pub title: String,
    /// Sentences above the choices, escaped.
    pub text: Vec<(Role, String)>,
    pub entries: Vec<Entry>,
    pub at: usize,
    /// The first line on the screen, where it was scrolled to; none: the cursor is seen.
    pub top: Option<usize>,
    /// Whether the menu waits for an answer that fills it.
    pub waits: bool,
    /// The line that is typed, if the entries are those that fit a line.
    pub search: Option<Search>,
}

/// Makes the entries that fit a line.
type Fill = Box<dyn Fn(&App, &str) -> Vec<Entry>>;

pub struct Search {
    input: Input,
    fill: Fill,
}

pub struct Entry {
    /// The letter that chooses the entry at once; a blank where there is none.
    pub letter: char,
    pub label: String,
    pub take: Box<dyn FnOnce(&mut Viewer) -> Effects>,
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
            take: Box::new(take),
        }
    }

    /// Does something to the open recording.
    pub fn in_session(
        letter: char,
        label: impl Into<String>,
        take: impl FnOnce(&mut App, &mut Session) -> Effects + 'static,
    ) -> Self {
        Self::new(letter, label, |viewer| viewer.in_session(take))
    }

    /// Only closes the menu.
    pub fn nothing(letter: char, label: impl Into<String>) -> Self {
        Self::new(letter, label, |_| vec![])
    }
}

impl Menu {
    pub fn new(title: impl Into<String>, entries: Vec<Entry>) -> Self {
        Self {
            title: title.into(),
            entries,
            ..Self::default()
        }
    }

    /// A menu whose entries are those that fit a line that is typed.
    pub fn searched(app: &App, fill: Fill) -> Self {
        let mut menu = Self::new("", fill(app, ""));
        let input = Input::default();
        menu.search = Some(Search { input, fill });
        menu
    }
}

impl Overlay for Menu {
    fn context(&self) -> Context {
        match self.search {
            Some(_) => Context::Prompt,
            None => Context::Menu,
        }
    }

    fn handlers(&self) -> Handlers {
        Handlers {
            perform,
            press: match self.search {
                Some(_) => |viewer, key| search(viewer, key),
                None => press,
            },
            click: |viewer, cell, _| click(viewer, cell.into()),
            ..Handlers::NONE
        }
    }

    /// Scrolls without moving the cursor.
    fn wheel(&mut self, by: isize, size: (u16, u16)) {
        self.top = Some(placed(self, screen(size)).turned(by));
    }

    fn draw(&self, app: &App, _: Option<&Session>, area: Rect, frame: &mut Frame<'_>) {
        let look = &app.settings.look;
        let placed = placed(self, area);
        let area = placed.area;
        frame.render_widget(Clear, area);
        let below = placed.rows.len().saturating_sub(placed.top + placed.page);
        let foot = pager::foot(look, below, "Enter chooses, Esc closes");
        let mut title = self.title.clone();
        if let Some(search) = &self.search {
            let room = usize::from(area.width).saturating_sub(8).max(1);
            let (text, caret) = typed(&search.input, room);
            title = format!(": {text}");
            let x = area.x + 4 + u16::try_from(caret).unwrap_or(0);
            frame.set_cursor_position(Position::new(x.min(area.right() - 1), area.y));
        }
        let inner = frame::draw(look, &title, &foot, true, area, frame);
        let rows = placed.rows.into_iter().skip(placed.top);
        for ((entry, row), place) in rows.zip(inner.rows()) {
            frame.render_widget(spans::line(row, *look), place);
            if entry == Some(self.at) {
                let style = look.style(Role::Selected);
                frame.buffer_mut().set_style(place, style);
            }
        }
    }
}

/// Moves among the choices, or takes one.
fn perform(viewer: &mut Viewer, action: Action) -> Option<Effects> {
    let screen = screen(viewer.app.size);
    let menu = viewer.app.top_mut::<Menu>()?;
    if action == Action::Open {
        let at = menu.at;
        return take(viewer, at);
    }
    // What is longer than the screen is read to its end before the cursor goes on.
    let placed = placed(menu, screen);
    let (first, last) = placed.lines_of(menu.at);
    let first = if menu.at == 0 { 0 } else { first };
    menu.top = match action {
        Action::Down if last >= placed.top + placed.page => Some(placed.turned(1)),
        Action::Up if first < placed.top => Some(placed.turned(-1)),
        _ => {
            let rows = menu.entries.len();
            menu.at = moved(action, menu.at, rows, rows)?;
            None
        }
    };
    Some(vec![])
}

/// The letter of an entry takes the entry, unless the keymap knows the key.
fn press(viewer: &mut Viewer, key: Key) -> Option<Effects> {
    let contexts = viewer.contexts();
    if viewer.app.settings.keymap.action(&contexts, key).is_some() {
        return None;
    }
    let entries = &viewer.app.top::<Menu>()?.entries;
    let is_it = |entry: &Entry| key.code == KeyCode::Char(entry.letter);
    let at = entries.iter().position(is_it)?;
    take(viewer, at)
}

/// A key while a line is typed.
fn search(viewer: &mut Viewer, key: Key) -> Option<Effects> {
    match (key.code, key.ctrl) {
        (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => viewer.app.overlays.pop().map(|_| vec![]),
        (KeyCode::Enter, _) => perform(viewer, Action::Open),
        (KeyCode::Down | KeyCode::Tab, _) => perform(viewer, Action::Down),
        (KeyCode::Up | KeyCode::BackTab, _) => perform(viewer, Action::Up),
        _ => {
            let mut menu = viewer.app.pop::<Menu>()?;
            let search = menu.search.as_mut()?;
            if let Some(request) = request(key) {
                search.input.handle(request);
                menu.entries = (search.fill)(&viewer.app, search.input.value());
                (menu.at, menu.top) = (0, None);
            }
            viewer.app.push(menu);
            Some(vec![])
        }
    }
}

/// A click takes the choice at this cell; one beside the menu closes it.
fn click(viewer: &mut Viewer, at: Position) -> Option<Effects> {
    let screen = screen(viewer.app.size);
    let placed = placed(viewer.app.top::<Menu>()?, screen);
    if !placed.area.contains(at) {
        viewer.app.overlays.pop();
        return None;
    }
    let inner = Block::bordered().inner(placed.area);
    let down = inner.contains(at).then(|| usize::from(at.y - inner.y))?;
    let (entry, _) = placed.rows.get(placed.top + down)?;
    take(viewer, (*entry)?)
}

fn take(viewer: &mut Viewer, at: usize) -> Option<Effects> {
    let entries = viewer.app.pop::<Menu>()?.entries;
    Some((entries.into_iter().nth(at)?.take)(viewer))
}

/// The area and the lines of a menu; each line of an entry has its number.
struct Placed {
    area: Rect,
    rows: Vec<(Option<usize>, Spans)>,
    top: usize,
    page: usize,
}

impl Placed {
    /// The first row after the wheel was turned by so many.
    fn turned(&self, by: isize) -> usize {
        frame::turned(self.top, by, self.rows.len(), self.page)
    }

    /// The first and the last line of an entry.
    fn lines_of(&self, entry: usize) -> (usize, usize) {
        let is_of = |(of, _): &(Option<usize>, Spans)| *of == Some(entry);
        let first = self.rows.iter().position(is_of).unwrap_or(0);
        let last = self.rows.iter().rposition(is_of).unwrap_or(0);
        (first, last)
    }
}

/// On screens of fewer rows no line is left empty, so that more of the list stays in sight.
const ROOMY: u16 = 30;

fn placed(menu: &Menu, screen: Rect) -> Placed {
    let labels = menu.entries.iter();
    let labels = labels.map(|entry| width(&entry.label) + BEFORE_LABEL);
    let texts = menu.text.iter().map(|(_, text)| width(text) + 1);
    let title = width(&menu.title) + 2;
    let widest = labels.chain(texts).chain([title]).max().unwrap_or(0) + 2;
    let is_searched = menu.search.is_some();
    let wanted = if is_searched { WIDEST } else { widest };
    let columns = wanted.min(WIDEST);
    let columns = columns.min(usize::from(screen.width.saturating_sub(2)));
    let mut rows = rows(menu, columns.saturating_sub(2));
    if screen.height < ROOMY {
        rows.retain(|(_, row)| !row.is_empty());
    }
    let high = if is_searched { SEARCHED } else { rows.len() };
    let mut area = centered(screen, columns + 2, high + 2);
    // Where list and detail are above each other the list stays in sight, and with it the row that
    // the menu is about.
    if !is_searched && !layout::is_wide(screen.width) {
        area.y = screen.bottom() - area.height;
    }
    let page = usize::from(area.height.saturating_sub(2));
    let mut placed = Placed {
        area,
        rows,
        top: menu.top.unwrap_or(0),
        page,
    };
    placed.top = placed.turned(0);
    if menu.top.is_none() {
        let (first, last) = placed.lines_of(menu.at);
        placed.top = frame::showing_of(placed.rows.len(), last, 0, page).min(first);
    }
    placed
}

/// The lines of a menu, none with more than `columns` columns.
fn rows(menu: &Menu, columns: usize) -> Vec<(Option<usize>, Spans)> {
    // What follows a gap near the beginning is a column: its next lines begin below it.
    let of = |entry: Option<usize>, role: Role, before: String, text: &str| {
        let near = text.floor_char_boundary(columns / 2);
        let gap = text[..near].rfind("  ");
        let column = gap.map_or(0, |gap| text.len() - text[gap..].trim_start().len());
        let (head, text) = text.split_at(column);
        let line = vec![
            (Role::Key, before),
            (role, head.to_owned()),
            (role, text.to_owned()),
        ];
        let lines = pager::wrapped(&line, columns).into_iter();
        lines.map(move |line| (entry, line))
    };
    let texts = menu.text.iter();
    let texts = texts.flat_map(|(role, text)| of(None, *role, " ".to_owned(), text));
    let mut rows: Vec<_> = texts.collect();
    if !rows.is_empty() {
        rows.push((None, Spans::new()));
    }
    for (at, entry) in menu.entries.iter().enumerate() {
        let letter = pad_end(&format!(" {}", entry.letter), BEFORE_LABEL);
        rows.extend(of(Some(at), Role::Text, letter, &entry.label));
    }
    rows
}

// Texts that lie on top: help, messages, a string in full.

impl Overlay for Text {
    fn context(&self) -> Context {
        Context::Text
    }

    fn handlers(&self) -> Handlers {
        Handlers {
            perform: |viewer, action| {
                let size = viewer.app.size;
                let text = viewer.app.top_mut::<Self>()?;
                match action {
                    Action::Filter => return find(&mut viewer.app),
                    Action::NextPane | Action::PreviousPane => text.turn_page()?,
                    _ => text.scroll(action, area_of(text, size))?,
                }
                Some(vec![])
            },
            // A click beside the text closes it.
            click: |viewer, cell, _| {
                let area = area_of(viewer.app.top::<Self>()?, viewer.app.size);
                if !area.contains(cell.into()) {
                    viewer.app.overlays.pop();
                }
                None
            },
            ..Handlers::NONE
        }
    }

    fn wheel(&mut self, by: isize, size: (u16, u16)) {
        self.turn(by, area_of(self, size));
    }

    fn draw(&self, app: &App, _: Option<&Session>, whole: Rect, frame: &mut Frame<'_>) {
        let area = area_of(self, app.size).intersection(whole);
        let mut keys = KEYS.to_owned();
        if let Some(next) = &self.next {
            keys = format!("Tab {}, {keys}", next.title);
        }
        self.draw(&app.settings.look, &keys, true, area, frame);
    }
}

/// Offers the lines of the text on top that have what is typed; one that is chosen is scrolled to, one of
/// the index is done.
fn find(app: &mut App) -> Option<Effects> {
    let text = app.top::<Text>()?;
    let index = text.index.clone();
    let mut lines = sentences(text, app.size, false);
    if let Some(next) = &text.next {
        lines.extend(sentences(next, app.size, true));
    }
    let fill = move |_: &App, typed: &str| {
        let typed = typed.trim().to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&typed);
        let indexed = index.iter().filter(|(text, _)| has(text));
        let indexed = indexed.map(|&(ref text, action)| {
            Entry::new(' ', text.trim(), move |viewer| {
                viewer.app.pop::<Text>();
                viewer.app.chosen = Some(action);
                vec![]
            })
        });
        let found = lines.iter().filter(|(.., text)| has(text));
        let found = found.map(|&(at, is_next, ref text)| {
            Entry::new(' ', text.trim(), move |viewer| {
                if let Some(text) = viewer.app.top_mut::<Text>() {
                    if is_next {
                        text.turn_page();
                    }
                    text.top = at;
                }
                vec![]
            })
        });
        indexed.chain(found).collect()
    };
    let menu = Menu::searched(app, Box::new(fill));
    Some(app.push(menu))
}

/// A line that can be found: the row in which it begins, whether that is on the other page, the text.
type Sentence = (usize, bool, String);

fn sentences(text: &Text, size: (u16, u16), is_next: bool) -> Vec<Sentence> {
    let columns = area_of(text, size).width.saturating_sub(2);
    let mut row = 0;
    let lines = text.lines.iter().filter(|_| text.index.is_empty());
    let lines = lines.map(|line| {
        let at = row;
        row += pager::wrapped(line, columns.into()).len();
        let text = line.iter().map(|(_, text)| text.as_str()).collect();
        (at, is_next, text)
    });
    lines
        .filter(|(.., text): &Sentence| !text.is_empty())
        .collect()
}

/// The keys of a text, in its frame.
const KEYS: &str = "/ finds, Esc closes";

fn area_of(text: &Text, size: (u16, u16)) -> Rect {
    let columns = text.extent(size.0).0.max(KEYS.len() + 4);
    let inner = area_of_content(size, (columns, 0)).width.saturating_sub(2);
    area_of_content(size, (columns, text.extent(inner).1))
}

/// Of what lies beneath a text so many columns and rows are seen, or none: fewer could not be read.
const BESIDE: (u16, u16) = (12, 4);

/// The frame of a text with so many columns and rows: in the middle of the screen, or all of it.
pub fn area_of_content(size: (u16, u16), (columns, rows): (usize, usize)) -> Rect {
    let area = centered(screen(size), columns + 2, rows + 2);
    let along = |at, wide, whole: u16, beside| {
        if whole - wide < beside {
            (0, whole)
        } else {
            (at, wide)
        }
    };
    let (x, width) = along(area.x, area.width, size.0, BESIDE.0);
    let (y, height) = along(area.y, area.height, size.1, BESIDE.1);
    Rect::new(x, y, width, height)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_is_seen_with_as_much_above_it_as_there_is_room_for() {
        let entry = |label: &str| Entry::nothing('a', label);
        let mut menu = Menu {
            text: vec![(Role::Text, "one two three four five six".to_owned())],
            ..Menu::new("t", ["a", "b", "c"].map(entry).into())
        };
        let area = Rect::new(0, 0, 10, 8);
        let top = |menu: &Menu| placed(menu, area).top;
        assert_eq!((placed(&menu, area).rows.len(), top(&menu)), (9, 1));
        menu.at = 2;
        assert_eq!(top(&menu), 3);
        menu.top = Some(0);
        assert_eq!(top(&menu), 0, "wherever it was scrolled to");
        menu.top = Some(9);
        assert_eq!(top(&menu), 3, "no line stays empty");
    }
}
