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

use super::overlay::{Hit, centered, screen};
use crate::app::App;
use crate::app::menu::{Choice, Menu};
use crate::theme::{Glyph, Look, Role};
use crate::widget::frame;
use mcpreel_wire::text::{plural, width, wrap};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear};

/// The widest line: longer ones are hard to read.
const WIDEST: usize = 100;

const BEFORE_TEXT: usize = 1;

/// Columns before a label: its letter stands there.
const BEFORE_LABEL: usize = 4;

/// Columns that stay free beside the lines.
const BESIDE: usize = 2;

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

pub fn draw(app: &App, menu: &Menu, area: Rect, frame: &mut Frame<'_>) {
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

/// What there is below, what Enter does, and how to leave.
fn foot(menu: &Menu, placed: &Placed, look: &Look) -> String {
    let enter = match menu.entries.get(menu.at).map(|entry| &entry.choice) {
        None => "",
        Some(Choice::Frame(seq)) => &format!("Enter goes to #{}, ", seq.0),
        Some(Choice::Cause(_)) => "Enter tells more of it, ",
        Some(Choice::Nothing) => "Enter or ",
        Some(_) => "Enter chooses, ",
    };
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

/// What of the menu is at this cell of the screen.
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

/// What of a menu is on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    pub top: usize,
    pub page: usize,
    pub lines: usize,
    /// Whether something of the entry under the cursor, or of what stands above the first one, is
    /// above the first line that is shown.
    pub goes_on_above: bool,
    /// Whether something of the entry under the cursor is below the last line that is shown.
    pub goes_on_below: bool,
}

/// What of the menu is on the screen.
pub fn shown(app: &App, menu: &Menu) -> Shown {
    let placed = placed(menu, screen(app));
    let (first, last) = lines_of(&placed.rows, menu.at);
    let first = if menu.at == 0 { 0 } else { first };
    Shown {
        top: placed.top,
        page: placed.page,
        lines: placed.rows.len(),
        goes_on_above: first < placed.top,
        goes_on_below: last >= placed.top + placed.page,
    }
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
            crate::widget::frame::showing_of(rows.len(), last, 0, page).min(first)
        },
        |top| crate::widget::frame::turned(top, 0, rows.len(), page),
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
    use crate::app::menu::Entry;

    fn menu(text: &str, labels: &[&str]) -> Menu {
        let entry = |(at, label): (usize, &&str)| Entry {
            letter: char::from(b'a' + u8::try_from(at).unwrap()),
            label: (*label).to_owned(),
            choice: Choice::Nothing,
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
