//! The keys of a line that is typed, and what is done with the line.
//!
//! ```text
//!  search ▸ quota▏                                                Enter searches · Esc leaves
//! ```

use super::filter::filter_draw;
use super::prompt::{Prompt, Purpose, request, typed};
use super::{export, filter, library, notes, search};
use crate::action::Context;
use crate::app::{App, Handlers, Overlay, Session, Viewer};
use crate::effect::Effects;
use crate::keymap::Key;
use crate::theme::{Glyph, Role};
use crossterm::event::KeyCode;
use mcpreel_wire::text::width;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;
use tui_input::InputRequest;

impl Overlay for Prompt {
    fn context(&self) -> Context {
        Context::Prompt
    }

    fn handlers(&self) -> Handlers {
        let handlers = Handlers {
            press: |viewer, key| Some(press(viewer, key)),
            paste,
            ..Handlers::NONE
        };
        match self.purpose {
            Purpose::Filter => Handlers {
                click: |viewer, cell, _| {
                    let parts = viewer.parts();
                    parts.map_or_else(Effects::new, |(app, session)| {
                        filter::click(app, session, cell)
                    })
                },
                wheel: |viewer, by| {
                    let parts = viewer.parts();
                    parts.map_or_else(Effects::new, |(app, session)| {
                        filter::wheel(app, session, by)
                    })
                },
                ..handlers
            },
            _ => handlers,
        }
    }

    fn draw(&self, app: &App, session: Option<&Session>, area: Rect, frame: &mut Frame<'_>) {
        match session.filter(|_| self.is_filter()) {
            Some(session) => filter_draw::draw_popup(app, session, self, area, frame),
            None => draw_prompt(app, self, area, frame),
        }
    }

    fn is_filter(&self) -> bool {
        self.purpose == Purpose::Filter
    }
}

fn press(viewer: &mut Viewer, key: Key) -> Effects {
    let Some(prompt) = viewer.app.top_mut::<Prompt>() else {
        return vec![];
    };
    if let Some(request) = request(key) {
        let before = prompt.input.value().len();
        prompt.input.handle(request);
        let is_same = is_motion(request) && prompt.input.value().len() == before;
        return if is_same { vec![] } else { changed(viewer) };
    }
    match key.code {
        KeyCode::Esc => left(viewer),
        KeyCode::Char('c') if key.ctrl => left(viewer),
        KeyCode::Enter => done(viewer),
        code => other(viewer, code, key.ctrl),
    }
}

fn is_motion(request: InputRequest) -> bool {
    use InputRequest as R;
    matches!(
        request,
        R::GoToPrevChar
            | R::GoToNextChar
            | R::GoToPrevWord
            | R::GoToNextWord
            | R::GoToStart
            | R::GoToEnd
    )
}

/// The purpose of the line that is typed.
fn purpose(app: &App) -> Option<Purpose> {
    app.top::<Prompt>().map(|prompt| prompt.purpose)
}

/// Text that was pasted, as one line.
fn paste(viewer: &mut Viewer, text: &str) -> Effects {
    let Some(prompt) = viewer.app.top_mut::<Prompt>() else {
        return vec![];
    };
    for letter in text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
    {
        prompt.input.handle(InputRequest::InsertChar(letter));
    }
    changed(viewer)
}

fn changed(viewer: &mut Viewer) -> Effects {
    let Viewer { app, session } = viewer;
    match (purpose(app), session.as_deref_mut()) {
        (Some(Purpose::Filter), Some(session)) => filter::changed(app, session),
        (Some(Purpose::Narrow), _) => library::narrowed(app),
        _ => vec![],
    }
}

/// The line is done: its text goes to whom it was typed for.
fn done(viewer: &mut Viewer) -> Effects {
    let Viewer { app, session } = viewer;
    let Some(prompt) = app.pop::<Prompt>() else {
        return vec![];
    };
    let text = prompt.input.value();
    match (prompt.purpose, session.as_deref_mut()) {
        (Purpose::Filter, Some(session)) => filter::done(app, session, text),
        (Purpose::Search, Some(session)) => search::done(app, session, text),
        (Purpose::Note, Some(session)) => notes::note(session, text),
        (Purpose::RecordingNote, _) => library::note(app, text),
        (Purpose::Narrow, _) => library::narrow(app, text),
        (Purpose::ExportFile, _) => export::named(app, text),
        (_, None) => vec![],
    }
}

/// The line was left without being done.
fn left(viewer: &mut Viewer) -> Effects {
    let Viewer { app, session } = viewer;
    let Some(prompt) = app.pop::<Prompt>() else {
        return vec![];
    };
    match (prompt.purpose, session.as_deref_mut()) {
        (Purpose::Filter, Some(session)) => filter::left(app, session),
        (Purpose::Search, Some(session)) => {
            search::left(session);
            vec![]
        }
        (Purpose::Narrow, _) => library::narrow(app, ""),
        _ => vec![],
    }
}

/// An older line, or a newer one; the next candidate, where there are some; another way of reading
/// the line.
fn other(viewer: &mut Viewer, code: KeyCode, ctrl: bool) -> Effects {
    let Viewer { app, session } = viewer;
    let by = if code == KeyCode::Up { -1 } else { 1 };
    match (purpose(app), code, session.as_deref_mut()) {
        (Some(Purpose::Filter), KeyCode::Up | KeyCode::Down, Some(session)) => {
            filter::step(app, session, by)
        }
        (Some(Purpose::Filter), KeyCode::Tab, Some(session)) => {
            filter::take_candidate(app, session)
        }
        (Some(Purpose::Search), KeyCode::Up | KeyCode::Down, Some(session)) => {
            search::step(app, session, by)
        }
        (Some(Purpose::Search), KeyCode::Char('r'), _) if ctrl => search::switch(app),
        _ => vec![],
    }
}

/// The last row of the screen, while a line is typed.
fn draw_prompt(app: &App, prompt: &Prompt, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let row = Rect {
        y: area.bottom().saturating_sub(1),
        height: 1,
        ..area
    };
    frame.render_widget(Clear, row);
    let (label, hint) = words(prompt.purpose);
    let label = format!(" {label} {} ", look.glyph(Glyph::Prompt));
    let used = width(&label);
    let columns = usize::from(row.width);
    let hint_room = columns.saturating_sub(used + 20);
    let hint = if width(hint) <= hint_room { hint } else { "" };
    let room = columns.saturating_sub(used + width(hint) + 1).max(1);
    let (text, caret) = typed(&prompt.input, room);
    let gap = columns.saturating_sub(used + width(&text) + width(hint));
    let line = Line::from(vec![
        Span::styled(label, look.style(Role::Prompt)),
        Span::raw(text),
        Span::raw(" ".repeat(gap)),
        Span::styled(hint, look.style(Role::Faint)),
    ]);
    frame.render_widget(line, row);
    let caret = (used + caret).min(columns.saturating_sub(1));
    let x = row.x + u16::try_from(caret).unwrap_or(0);
    frame.set_cursor_position(Position::new(x, row.y));
}

fn words(purpose: Purpose) -> (&'static str, &'static str) {
    match purpose {
        Purpose::Filter => ("filter", ""),
        Purpose::Search => (
            "search",
            "Enter searches, Ctrl-R regular expression, Esc leaves",
        ),
        Purpose::Note => ("note", "Enter keeps it, empty removes it, Esc leaves"),
        Purpose::RecordingNote => ("note on the recording", "Enter keeps it, empty removes it"),
        Purpose::ExportFile => ("file", "Enter keeps it, empty proposes one, Esc leaves"),
        Purpose::Narrow => ("show only", "Enter keeps it, Esc shows all"),
    }
}
