//! Any command, by parts of its name.
//!
//! ```text
//!  ┌ commands ──────────────────────────────────────────────┐
//!  │ : fail▏                                                │
//!  │   next-failure      next failed exchange             e │
//!  │   previous-failure  failed exchange before           E │
//!  └────────────────────────────────────────────────────────┘
//! ```

use super::prompt::{request, typed};
use crate::action::{Action, Context, Row, TABLE};
use crate::app::{App, Handlers, Overlay, Session, Viewer};
use crate::effect::Effects;
use crate::keymap::Key;
use crate::layout::{Hit, screen};
use crate::panels::list;
use crate::theme::Role;
use crate::widget::frame;
use crossterm::event::KeyCode;
use frizbee::{Config, Matcher};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{cut, escape, pad_end, width};
use ratatui::Frame;
use ratatui::layout::{Margin, Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;
use tui_input::Input;

/// The widest line that can be read at a glance.
const WIDTH: u16 = 84;

/// Columns of a command's name.
const NAME: usize = 18;

/// Actions without a key that need a recording.
const NEEDS_RECORDING: [Action; 3] = [Action::Goto, Action::Follow, Action::Unselect];

#[derive(Debug, Default)]
pub struct Palette {
    pub input: Input,
    pub at: usize,
    /// The first row on the screen, where the wheel has left it; none: the cursor is seen.
    pub wheel: Option<usize>,
    /// The contexts that held when the palette was opened.
    pub contexts: Vec<Context>,
}

/// A line of the palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Do(Action),
    Goto(Seq),
}

impl Palette {
    /// The commands that fit what is typed, the best first.
    pub fn commands(&self) -> Vec<Command> {
        let typed = self.input.value().trim().trim_start_matches(':');
        if let Ok(seq) = typed.trim_start_matches('#').parse() {
            return vec![Command::Goto(Seq(seq))];
        }
        let rows: Vec<&Row> = TABLE.iter().filter(|row| self.is_possible(row)).collect();
        if let Some(exact) = rows.iter().find(|row| row.name == typed) {
            return vec![Command::Do(exact.action)];
        }
        let texts: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {}", row.name, row.help))
            .collect();
        let rows = fitting(typed, &texts).into_iter().map(|at| rows[at]);
        rows.map(|row| Command::Do(row.action)).collect()
    }

    /// Whether it can be done where the keys were.
    fn is_possible(&self, row: &Row) -> bool {
        if NEEDS_RECORDING.contains(&row.action) && !self.contexts.contains(&Context::Session) {
            return false;
        }
        let mut contexts = row.keys.iter().map(|(context, _)| context);
        row.keys.is_empty() || contexts.any(|context| self.contexts.contains(context))
    }
}

/// The texts that fit what is typed, the best first; all where nothing is typed.
fn fitting(typed: &str, texts: &[String]) -> Vec<usize> {
    if typed.is_empty() {
        return (0..texts.len()).collect();
    }
    let mut matcher = Matcher::new(typed, &Config::default());
    let found = matcher.match_list(texts);
    let found = found.iter().map(|found| found.index as usize);
    found.filter(|at| *at < texts.len()).collect()
}

/// Opens the palette with this text in its prompt.
pub fn open(viewer: &mut Viewer, text: &str) -> Effects {
    let contexts = viewer.contexts();
    viewer.app.push(Palette {
        input: text.into(),
        contexts,
        ..Palette::default()
    });
    vec![]
}

impl Overlay for Palette {
    fn context(&self) -> Context {
        Context::Prompt
    }

    fn handlers(&self) -> Handlers {
        Handlers {
            press: |viewer, key| Some(press(viewer, key)),
            click: |viewer, cell, _| click(viewer, cell),
            wheel: |viewer, by| wheel(&mut viewer.app, by),
            ..Handlers::NONE
        }
    }

    fn draw(&self, app: &App, _: Option<&Session>, area: Rect, frame: &mut Frame<'_>) {
        draw(app, self, area, frame);
    }
}

fn press(viewer: &mut Viewer, key: Key) -> Effects {
    let app = &mut viewer.app;
    let Some(palette) = app.top_mut::<Palette>() else {
        return vec![];
    };
    palette.wheel = None;
    match (key.code, key.ctrl) {
        (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => {
            app.overlays.pop();
        }
        (KeyCode::Enter, _) => {
            let at = palette.at;
            return run(viewer, at);
        }
        (KeyCode::Down | KeyCode::Tab, _) | (KeyCode::Char('n'), true) => {
            let last = palette.commands().len().saturating_sub(1);
            palette.at = (palette.at + 1).min(last);
        }
        (KeyCode::Up | KeyCode::BackTab, _) | (KeyCode::Char('p'), true) => {
            palette.at = palette.at.saturating_sub(1);
        }
        (KeyCode::Backspace, _) if palette.input.value().is_empty() => {
            app.overlays.pop();
        }
        _ => {
            if let Some(request) = request(key) {
                palette.input.handle(request);
                palette.at = 0;
            }
        }
    }
    vec![]
}

/// A click on a cell of the screen: does what stands there, beside the palette closes it.
fn click(viewer: &mut Viewer, cell: (u16, u16)) -> Effects {
    let app = &mut viewer.app;
    let hit = app
        .top()
        .map_or(Hit::Inside, |palette| hit(app, palette, cell));
    match hit {
        Hit::Entry(at) => return run(viewer, at),
        Hit::Outside => {
            app.overlays.pop();
        }
        Hit::Inside => {}
    }
    vec![]
}

/// The wheel was turned by so many rows: scrolls without moving the cursor.
fn wheel(app: &mut App, by: isize) -> Effects {
    let Some(palette) = app.top::<Palette>() else {
        return vec![];
    };
    let commands = palette.commands().len();
    let top = top(app, palette, commands);
    let page = page(app);
    if let Some(palette) = app.top_mut::<Palette>() {
        palette.wheel = Some(frame::turned(top, by, commands, page));
    }
    vec![]
}

fn run(viewer: &mut Viewer, at: usize) -> Effects {
    let Some(palette) = viewer.app.pop::<Palette>() else {
        return vec![];
    };
    let remark = match palette.commands().into_iter().nth(at) {
        Some(Command::Do(action)) => {
            viewer.app.chosen = Some(action);
            return vec![];
        }
        Some(Command::Goto(seq)) => match viewer.session.as_deref_mut() {
            Some(session) => return list::goto(session, seq),
            None => "frames are in recordings: Enter opens one".to_owned(),
        },
        None => {
            let typed = escape(palette.input.value());
            format!("no command is called {typed}; : shows them all")
        }
    };
    viewer.app.notices.error(remark, viewer.app.now);
    vec![]
}

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

/// The number of commands on the screen: below the line that is typed, within the border.
fn page(app: &App) -> usize {
    usize::from(placed(screen(app)).height.saturating_sub(3))
}

/// The first of so many commands that is on the screen.
fn top(app: &App, palette: &Palette, commands: usize) -> usize {
    frame::top(palette.wheel, commands, palette.at, page(app))
}

/// The part of the palette at this cell of the screen.
fn hit(app: &App, palette: &Palette, (x, y): (u16, u16)) -> Hit {
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

fn draw(app: &App, palette: &Palette, area: Rect, frame: &mut Frame<'_>) {
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
    let columns = usize::from(row.width);
    let (text, caret) = typed(&palette.input, columns.saturating_sub(4).max(1));
    let line = Line::from(vec![Span::styled(" : ", style), Span::raw(text)]);
    frame.render_widget(line, row);
    let caret = (3 + caret).min(columns.saturating_sub(1));
    let x = row.x + u16::try_from(caret).unwrap_or(0);
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
        Command::Goto(_) => Vec::new(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<Command> {
        let palette = Palette {
            input: Input::new(text.to_owned()),
            at: 0,
            wheel: None,
            contexts: vec![Context::List, Context::Session, Context::Everywhere],
        };
        palette.commands()
    }

    #[test]
    fn parts_of_a_name_find_the_command() {
        assert_eq!(
            found("nxtfail").first(),
            Some(&Command::Do(Action::NextFailure))
        );
        assert_eq!(found("stats"), [Command::Do(Action::Stats)]);
    }

    #[test]
    fn numbers_are_frames() {
        assert_eq!(found("#1187"), [Command::Goto(Seq(1187))]);
    }

    #[test]
    fn only_what_can_be_done_here_is_offered() {
        let all = found("");
        assert!(all.contains(&Command::Do(Action::Filter)));
        assert!(all.contains(&Command::Do(Action::Quit)));
        assert!(!all.contains(&Command::Do(Action::ZoomIn)));
        assert_eq!(found("replay"), [Command::Do(Action::Replay)]);
    }
}
