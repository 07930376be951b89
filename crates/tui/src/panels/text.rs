//! Texts that lie on top, and messages to the user.

use super::selection::moved;
use crate::action::Action;
use crate::app::{App, Overlay};
use crate::effect::{Effects, Now};
use crate::theme::Role;
use mcpreel_wire::text::{width, wrap};
use std::collections::VecDeque;

// A text that is read.

/// A narrower column is harder to read than none.
const MIN_COLUMN: usize = 16;

/// A text that lies over everything and can be scrolled.
#[derive(Debug)]
pub struct Text {
    pub title: String,
    pub lines: Vec<Line>,
    pub top: usize,
}

/// A line of it: pieces, each in the style of its role.
pub type Line = Vec<(Role, String)>;

impl Text {
    /// The lines, none wider than `columns`: longer ones go on below, under the last piece.
    pub fn wrapped(&self, columns: usize) -> Vec<Line> {
        self.lines
            .iter()
            .flat_map(|line| wrapped(line, columns))
            .collect()
    }

    pub fn plain(title: impl Into<String>, lines: impl IntoIterator<Item = String>) -> Self {
        let line = |line| vec![(Role::Text, line)];
        Self {
            title: title.into(),
            lines: lines.into_iter().map(line).collect(),
            top: 0,
        }
    }
}

/// A line, none wider than `columns`: what is longer goes on below, under the last piece.
pub fn wrapped(line: &Line, columns: usize) -> Vec<Line> {
    let wide: usize = line.iter().map(|(_, text)| width(text)).sum();
    let Some(((role, last), before)) = line.split_last().filter(|_| wide > columns) else {
        return vec![line.clone()];
    };
    let used: usize = before.iter().map(|(_, text)| width(text)).sum();
    // Where the pieces before leave no room, everything is one text.
    if used + MIN_COLUMN > columns {
        let whole: String = line.iter().map(|(_, text)| text.as_str()).collect();
        let lines = wrap(&whole, columns).into_iter();
        return lines.map(|line| vec![(*role, line)]).collect();
    }
    let mut lines = wrap(last, columns - used).into_iter();
    let mut first = before.to_vec();
    first.push((*role, lines.next().unwrap_or_default()));
    let below = lines.map(|line| vec![(*role, format!("{}{line}", " ".repeat(used)))]);
    [first].into_iter().chain(below).collect()
}

const SUCCESS_NS: u64 = 4_000_000_000;

/// Messages that are kept; older ones go.
const KEPT: usize = 500;

#[derive(Debug, Default)]
pub struct Notices {
    all: VecDeque<Notice>,
    dismissed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub weight: Weight,
    pub text: String,
    pub at: Now,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Success,
    /// Something went wrong; it stays until it is replaced or dismissed.
    Error,
}

impl Notices {
    pub fn success(&mut self, text: impl Into<String>, at: Now) {
        self.say(Weight::Success, text.into(), at);
    }

    pub fn error(&mut self, text: impl Into<String>, at: Now) {
        self.say(Weight::Error, text.into(), at);
    }

    pub fn shown(&self, now: Now) -> Option<&Notice> {
        let last = self.all.back().filter(|_| !self.dismissed)?;
        let age = now.ui_ns.saturating_sub(last.at.ui_ns);
        (last.weight == Weight::Error || age < SUCCESS_NS).then_some(last)
    }

    /// Whether a message will fade, so that the screen has to be drawn again.
    pub fn fades(&self, now: Now) -> bool {
        let shown = self.shown(now);
        shown.is_some_and(|notice| notice.weight == Weight::Success)
    }

    /// Takes the message off the screen. Whether there was one.
    pub fn dismiss(&mut self, now: Now) -> bool {
        let shown = self.shown(now).is_some();
        self.dismissed = true;
        shown
    }

    /// All messages that are told, the oldest first.
    pub fn all(&self) -> impl Iterator<Item = &Notice> {
        self.all.iter()
    }

    fn say(&mut self, weight: Weight, text: String, at: Now) {
        if self.all.len() == KEPT {
            self.all.pop_front();
        }
        self.dismissed = false;
        self.all.push_back(Notice { weight, text, at });
    }
}

pub fn click(app: &mut App, cell: (u16, u16)) -> Effects {
    if !crate::view::is_on_text(app, cell) {
        app.overlays.pop();
    }
    vec![]
}

/// The wheel was turned by so many rows.
pub fn wheel(app: &mut App, by: isize) -> Effects {
    let (columns, page) = crate::view::text_room(app);
    if let Some(Overlay::Text(text)) = app.overlays.last_mut() {
        let rows = text.wrapped(columns).len();
        text.top = crate::widget::frame::turned(text.top, by, rows, page);
    }
    vec![]
}

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let (columns, page) = crate::view::text_room(app);
    let Some(Overlay::Text(text)) = app.overlays.last_mut() else {
        return None;
    };
    let tops = text.wrapped(columns).len().saturating_sub(page) + 1;
    text.top = moved(action, text.top, tops, page)?;
    Some(vec![])
}
