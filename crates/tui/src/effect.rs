//! Messages, which come in, and effects, which an update wants done.

use super::keymap::Key;
use super::worker::{Answer, Ask};
use crossterm::event::MouseEvent;
use std::path::PathBuf;

#[derive(Debug)]
pub enum Msg {
    Key(Key),
    Mouse(MouseEvent),
    Paste(String),
    /// The terminal has this many columns and rows.
    Resize(u16, u16),
    Tick(Now),
    /// The viewer is to end: the terminal has gone, or this signal says so.
    Leave(Option<i32>),
    Answer(Answer),
}

/// The time, as it is given to the state: nothing below reads a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Nanoseconds since the viewer started.
    pub ui_ns: u64,
    /// Wall clock, nanoseconds since the Unix epoch.
    pub wall_ns: u64,
}

/// Something that an update wants done.
#[derive(Debug)]
pub enum Effect {
    /// A question for the worker; it takes the place of an unanswered one of its kind.
    Ask(Ask),
    /// Put this into the clipboard of the terminal.
    Copy(String),
    Save {
        path: PathBuf,
        text: String,
    },
    /// Show this on the normal screen until a key is pressed.
    Print(String),
    /// Ask the terminal for mouse events, or stop.
    Mouse(bool),
    /// Keep the layout, theme and mouse for the next time.
    Remember,
    Suspend,
    Repaint,
    Quit,
}

pub type Effects = Vec<Effect>;

impl From<Ask> for Effect {
    fn from(ask: Ask) -> Self {
        Self::Ask(ask)
    }
}
