//! Any command, by parts of its name.
//!
//! ```text
//!  ┌ commands ──────────────────────────────────────────────┐
//!  │ : fail▏                                                │
//!  │   next-failure      next failed exchange             e │
//!  │   previous-failure  failed exchange before           E │
//!  └────────────────────────────────────────────────────────┘
//! ```

use super::overlay::{Hit, screen, visible};
use crate::app::App;
use crate::app::palette::{Command, Palette};
use crate::theme::Role;
use crate::widget::frame;
use mcpreel_wire::text::{cut, pad_end, width};
use ratatui::Frame;
use ratatui::layout::{Margin, Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;

/// As wide as a line can be read at a glance.
const WIDTH: u16 = 84;

const NAME: usize = 18;

fn placed(area: Rect) -> Rect {
    let columns = area.width.min(WIDTH);
    let margin = u16::from(area.height > 12) * 2;
    Rect {
        x: area.x + (area.width - columns) / 2,
        y: area.y + margin,
        width: columns,
        height: area.height.saturating_sub(2 * margin).min(24),
    }
}

/// How many commands are on the screen at once: below the line that is typed, within the border.
pub fn page(app: &App) -> usize {
    usize::from(placed(screen(app)).height.saturating_sub(3))
}

/// The first of so many commands that is on the screen.
pub fn top(app: &App, palette: &Palette, commands: usize) -> usize {
    crate::widget::frame::top(palette.wheel, commands, palette.at, page(app))
}

/// What is at this cell of the screen.
pub fn hit(app: &App, palette: &Palette, (x, y): (u16, u16)) -> Hit {
    let area = placed(screen(app));
    if !area.contains((x, y).into()) {
        return Hit::Outside;
    }
    let inner = area.inner(Margin::new(1, 1));
    let row = y.checked_sub(inner.y + 1);
    let row = row.filter(|_| inner.contains((x, y).into()));
    let commands = palette.commands().len();
    let entry = row.map(|row| top(app, palette, commands) + usize::from(row));
    let entry = entry.filter(|at| *at < commands);
    entry.map_or(Hit::Inside, Hit::Entry)
}

pub fn draw(app: &App, palette: &Palette, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let area = placed(area);
    frame.render_widget(Clear, area);
    let inner = frame::draw(
        look,
        "commands",
        "Enter does it · Esc closes",
        true,
        area,
        frame,
    );
    let mut rows = inner.rows();
    let Some(first) = rows.next() else { return };
    draw_input(app, palette, first, frame);
    let commands = palette.commands();
    let skip = top(app, palette, commands.len());
    if commands.is_empty()
        && let Some(row) = rows.next()
    {
        frame.render_widget(
            Line::styled("  nothing is called so", look.style(Role::Faint)),
            row,
        );
        return;
    }
    for ((at, command), row) in commands.iter().enumerate().skip(skip).zip(rows) {
        frame.render_widget(line(app, command, usize::from(row.width)), row);
        if at == palette.at {
            frame
                .buffer_mut()
                .set_style(row, look.style(Role::Selected));
        }
    }
}

fn draw_input(app: &App, palette: &Palette, row: Rect, frame: &mut Frame<'_>) {
    let style = app.settings.look.style(Role::Prompt);
    let room = usize::from(row.width).saturating_sub(4).max(1);
    let scroll = palette.input.visual_scroll(room.saturating_sub(1));
    let text = visible(palette.input.value(), scroll, room);
    let line = Line::from(vec![Span::styled(" : ", style), Span::raw(text)]);
    frame.render_widget(line, row);
    let caret = 3 + palette.input.visual_cursor().saturating_sub(scroll);
    let x = row.x
        + u16::try_from(caret)
            .unwrap_or(0)
            .min(row.width.saturating_sub(1));
    frame.set_cursor_position(Position::new(x, row.y));
}

/// The name of a command and its help.
fn words(command: &Command) -> (String, &'static str) {
    match command {
        Command::Do(action) => (action.row().name.to_owned(), action.row().help),
        Command::Goto(seq) => (format!("#{}", seq.0), "to this frame"),
    }
}

fn line(app: &App, command: &Command, columns: usize) -> Line<'static> {
    let look = &app.settings.look;
    let (name, help) = words(command);
    let keys = match command {
        Command::Do(action) => app.settings.keymap.keys(*action),
        _ => Vec::new(),
    };
    let keys = keys.iter().take(2).map(ToString::to_string);
    let keys = keys.collect::<Vec<_>>().join(" ");
    let name = format!("  {}  ", pad_end(&name, NAME));
    let room = columns.saturating_sub(width(&name) + width(&keys) + 3);
    let help = pad_end(&cut(help, room), room);
    Line::from(vec![
        Span::styled(cut(&name, columns), look.style(Role::Strong)),
        Span::raw(help),
        Span::styled(format!("  {keys} "), look.style(Role::Key)),
    ])
}
