//! The state of the viewer: what is shown, where the cursor is, what lies on top.
//!
//! ```text
//!  Viewer ─┬─ session: Option     one recording: list, filter, detail, timeline, stats, …
//!          └─ app ─┬─ library     the recordings screen, always there
//!                  ├─ overlays    what lies on top, the last one takes the keys
//!                  ├─ notices     what was said to the user
//!                  └─ settings    colours, keys, mouse
//! ```
//!
//! Plain data: changed by [`super::update`] only, read by [`super::view`]. The panels of a recording
//! are handed the app and the session side by side, so none of them asks whether a recording is open.

pub use crate::panels::session::{Focus, Session, View};
pub use crate::settings::Settings;

use super::action::Context;
use super::effect::Now;
use super::panels;
use super::worker::{Questions, Slot};
use mcpreel_store::library::Library as Folder;
use std::collections::BTreeMap;

#[derive(Debug)]
pub struct Viewer {
    pub app: App,
    /// The recording that is open.
    pub session: Option<Box<Session>>,
}

/// Everything but the open recording.
#[derive(Debug)]
pub struct App {
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    pub now: Now,
    pub settings: Settings,
    pub library: panels::library::Library,
    /// Everything that lies on top; the last one takes the keys.
    pub overlays: Vec<Overlay>,
    pub notices: crate::panels::text::Notices,
    /// Whether Ctrl-C was pressed with nothing to stop: once more quits.
    pub quit_armed: bool,
    /// Whether the divider is being dragged.
    pub dragging: bool,
    /// Place and time of the last click: a second one opens.
    pub click: Option<(ratatui::layout::Position, u64)>,
    /// The text that was copied last: `:print` shows it to terminals that take no copies.
    pub copied: Option<String>,
    pub replay: panels::replay::Replay,
    /// The export that is asked about, as long as the form is shown.
    pub export: Option<Box<panels::export::Offer>>,
    /// The replay and the export that run.
    pub running: BTreeMap<Slot, panels::running::Running>,
    pub questions: Questions,
}

#[derive(Debug)]
pub enum Overlay {
    /// A text to be read: help, messages, a string in full, what was true then.
    Text(crate::panels::text::Text),
    /// A choice of some, also a question to be answered with yes or no.
    Menu(panels::menu::Menu),
    /// A line that is being typed: filter, search, note.
    Prompt(super::panels::prompt::Prompt),
    /// Any command, by parts of its name.
    Palette(panels::palette::Palette),
    /// Two recordings, or two calls.
    Comparison(Box<panels::compare::Comparison>),
    /// The arguments of a call that are edited.
    Edit(Box<panels::replay::editor::Editor>),
}

impl Viewer {
    /// The recordings of `folder`, none open.
    pub fn new(folder: &Folder, settings: Settings, size: (u16, u16), now: Now) -> Self {
        Self {
            app: App::new(folder, settings, size, now),
            session: None,
        }
    }

    /// The app and the open recording, for whoever changes both.
    pub fn parts(&mut self) -> Option<(&mut App, &mut Session)> {
        Some((&mut self.app, self.session.as_deref_mut()?))
    }

    /// The contexts that hold for a key, the innermost first.
    pub fn contexts(&self) -> Vec<Context> {
        self.app.contexts(self.session.as_deref())
    }
}

impl App {
    fn new(folder: &Folder, settings: Settings, size: (u16, u16), now: Now) -> Self {
        Self {
            size,
            now,
            settings,
            library: panels::library::Library::new(folder.dir()),
            overlays: Vec::new(),
            notices: crate::panels::text::Notices::default(),
            quit_armed: false,
            dragging: false,
            click: None,
            copied: None,
            replay: panels::replay::Replay::default(),
            export: None,
            running: BTreeMap::new(),
            questions: Questions::default(),
        }
    }

    /// The contexts that hold for a key, the innermost first.
    pub fn contexts(&self, session: Option<&Session>) -> Vec<Context> {
        match (self.overlays.last(), session) {
            (Some(Overlay::Prompt(_) | Overlay::Palette(_) | Overlay::Edit(_)), _) => {
                vec![Context::Prompt]
            }
            (Some(Overlay::Menu(_)), _) => vec![Context::Menu, Context::Everywhere],
            (Some(Overlay::Text(_)), _) => vec![Context::Text, Context::Everywhere],
            (Some(Overlay::Comparison(_)), _) => {
                vec![Context::Diff, Context::Everywhere]
            }
            (None, None) => vec![Context::Library, Context::Everywhere],
            (None, Some(session)) => session.contexts(),
        }
    }
}
