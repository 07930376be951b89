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
//! The state of each panel is defined by the panel, in a file that does not know the app. The
//! functions of the panels are handed the app and the session side by side, so none of them asks
//! whether a recording is open.

pub use crate::settings::{Settings, View};

use crate::action::{Action, Context};
use crate::effect::{Effects, Questions};
use crate::keymap::Key;
use crate::notice::{Notices, Now, Weight};
use crate::panels::detail::shown::Detail;
use crate::panels::filter::typed::{Before, Filter};
use crate::panels::findings::groups::Findings;
use crate::panels::list::viewport::List;
use crate::panels::search::hits::{Search, Term};
use crate::panels::server::offered::Server;
use crate::panels::shelf;
use crate::panels::stats::figures::Stats;
use crate::panels::timeline::timeline_data::Timeline;
use crate::widget::pager::Text;
use crate::worker::job::Slot;
use crate::worker::vitals::{Opening, Vitals};
use mcpreel_lint::cause::Cause;
use mcpreel_store::library::{Library as Folder, Standing};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub struct Viewer {
    pub app: App,
    /// The recording that is open.
    pub session: Option<Box<Session>>,
}

/// Everything but the open recording.
#[derive(Default)]
pub struct App {
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    pub now: Now,
    pub settings: Settings,
    pub library: shelf::Shelf,
    /// Everything that lies on top; the last one takes the keys.
    pub overlays: Vec<Box<dyn Overlay>>,
    pub notices: Notices,
    /// Whether Ctrl-C was pressed with nothing to stop: once more quits.
    pub quit_armed: bool,
    /// Place and time of the last click: a second one opens.
    pub click: Option<(Position, u64)>,
    /// The text that was copied last: `:print` shows it to terminals that take no copies.
    pub copied: Option<String>,
    /// Lines that were typed before, by the label of their prompt; the newest last.
    pub typed: BTreeMap<&'static str, Vec<String>>,
    /// The action that was chosen in the palette, until it is done.
    pub chosen: Option<Action>,
    /// The replay and the export that run.
    pub running: BTreeMap<Slot, Running>,
    /// The format of the last export: its place among the formats.
    pub export_format: usize,
    pub questions: Questions,
}

/// A replay or an export that runs.
#[derive(Debug)]
pub struct Running {
    /// The progress, in words.
    pub told: String,
    pub is_stopping: bool,
}

/// A panel that lies on top of the others: a text, a menu, a line that is typed, a comparison.
pub trait Overlay: Any {
    /// The keys that hold.
    fn context(&self) -> Context;

    fn handlers(&self) -> Handlers;

    fn draw(&self, app: &App, session: Option<&Session>, area: Rect, frame: &mut Frame<'_>);

    /// The wheel was turned by so many rows, down if that is positive, on a screen of this size.
    fn wheel(&mut self, _by: isize, _size: (u16, u16)) {}

    /// Whether the line that is typed is the filter.
    fn is_filter(&self) -> bool {
        false
    }
}

/// The functions of an overlay for keys and clicks. Each finds its overlay with [`App::top`].
#[derive(Clone, Copy)]
pub struct Handlers {
    pub perform: fn(&mut Viewer, Action) -> Option<Effects>,
    /// Takes a key before the keymap is asked.
    pub press: fn(&mut Viewer, Key) -> Option<Effects>,
    pub paste: fn(&mut Viewer, &str) -> Option<Effects>,
    /// A click on a cell of the screen, and whether it was the second one there.
    pub click: fn(&mut Viewer, (u16, u16), bool) -> Option<Effects>,
}

impl Handlers {
    pub const NONE: Self = Self {
        perform: |_, _| None,
        press: |_, _| None,
        paste: |_, _| None,
        click: |_, _, _| None,
    };
}

#[derive(Debug, Default)]
pub struct Session {
    pub path: PathBuf,
    pub opening: Opening,
    /// The facts that the header shows; none until the recording is open.
    pub vitals: Option<Box<Vitals>>,
    /// The view in the left or only pane.
    pub view: View,
    /// The place from which something was opened: Esc goes back there.
    pub back: Option<Back>,
    pub lens: Lens,
    pub focus: Focus,
    /// Whether the pane with the keys has the whole screen.
    pub zoom: bool,
    /// The list of exchanges or frames.
    pub list: List,
    pub filter: Filter,
    pub detail: Detail,
    pub timeline: Timeline,
    pub stats: Stats,
    pub findings: Findings,
    pub server: Server,
    pub search: Search,
    pub playback: Playback,
    /// Whether the line that says why has something to say about what went wrong.
    pub has_past: bool,
    /// Why it went wrong, as it was asked last.
    pub causes: Vec<Cause>,
}

/// A view, its filter, and the call whose detail had the keys.
pub type Back = (View, Before, Option<(Lens, ItemKey)>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Focus {
    #[default]
    Main,
    Detail,
}

/// The time cursor and the pause: the list ends at the frame of either one.
#[derive(Debug, Default)]
pub struct Playback {
    pub cursor: Option<Seq>,
    /// When the frame under the cursor was complete, as soon as that is known.
    pub t: Option<Moment>,
    pub paused: Option<Seq>,
    /// The state panel, while it is open.
    pub pane: Option<StatePane>,
}

#[derive(Debug)]
pub struct StatePane {
    pub text: Text,
    /// When the state was asked for last, nanoseconds since the viewer started.
    pub asked_ns: u64,
}

impl Playback {
    /// The last frame whose rows are shown; none shows all.
    pub fn until(&self) -> Option<Seq> {
        self.cursor.or(self.paused)
    }

    pub fn is_on(&self) -> bool {
        self.cursor.is_some()
    }
}

impl Viewer {
    /// The recordings of `folder`, none open.
    pub fn new(folder: &Folder, settings: Settings, size: (u16, u16), now: Now) -> Self {
        let app = App {
            size,
            now,
            settings,
            library: shelf::Shelf::new(folder.dir()),
            ..App::default()
        };
        let session = None;
        Self { app, session }
    }

    /// The app and the open recording, for whoever changes both.
    pub fn parts(&mut self) -> Option<(&mut App, &mut Session)> {
        Some((&mut self.app, self.session.as_deref_mut()?))
    }

    /// Does something to the open recording, if one is open.
    pub fn in_session(&mut self, act: impl FnOnce(&mut App, &mut Session) -> Effects) -> Effects {
        let parts = self.parts();
        parts.map_or_else(Effects::new, |(app, session)| act(app, session))
    }

    /// The contexts that hold for a key, the innermost first.
    pub fn contexts(&self) -> Vec<Context> {
        self.app.contexts(self.session.as_deref())
    }
}

impl App {
    /// The contexts that hold for a key, the innermost first.
    pub fn contexts(&self, session: Option<&Session>) -> Vec<Context> {
        match (self.overlays.last().map(|top| top.context()), session) {
            (Some(Context::Prompt), _) => vec![Context::Prompt],
            (Some(context), _) => vec![context, Context::Everywhere],
            (None, None) => vec![Context::Library, Context::Everywhere],
            (None, Some(session)) => session.contexts(),
        }
    }

    /// Says that something was done. Like all that only changes the app it has no effects.
    pub fn say(&mut self, text: impl Into<String>) -> Effects {
        self.notices.push(Weight::Success, text.into(), self.now);
        vec![]
    }

    /// Says why something is not done.
    pub fn refuse(&mut self, why: impl Into<String>) -> Effects {
        self.notices.push(Weight::Error, why.into(), self.now);
        vec![]
    }

    /// Puts a panel on top.
    pub fn push(&mut self, overlay: impl Overlay) -> Effects {
        self.overlays.push(Box::new(overlay));
        vec![]
    }

    /// The panel on top, if it is of this kind.
    pub fn top<T: Overlay>(&self) -> Option<&T> {
        self.overlays.last()?.cast()
    }

    /// The panel on top, if it is of this kind.
    pub fn top_mut<T: Overlay>(&mut self) -> Option<&mut T> {
        self.overlays.last_mut()?.cast_mut()
    }

    /// Takes the panel from the top, if it is of this kind.
    pub fn pop<T: Overlay>(&mut self) -> Option<T> {
        self.top::<T>()?;
        let top: Box<dyn Any> = self.overlays.pop()?;
        top.downcast().ok().map(|top| *top)
    }

    /// Whether the filter is being typed.
    pub fn edits_filter(&self) -> bool {
        self.overlays.last().is_some_and(|top| top.is_filter())
    }
}

impl dyn Overlay {
    pub fn cast<T: Overlay>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    pub fn cast_mut<T: Overlay>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }
}

impl Session {
    /// The recording `path`, about to be opened.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            ..Self::default()
        }
    }

    /// The last frame on record, if there is one.
    pub fn last(&self) -> Option<Seq> {
        let frames = self.vitals.as_deref()?.summary.frames;
        (frames > 0).then_some(Seq(frames))
    }

    /// The counts of the recording, which are others when it has grown or ended; none while it is
    /// not open or another view is on the screen.
    pub fn counts(&self, view: View) -> Option<[u64; 5]> {
        let vitals = self.vitals.as_deref().filter(|_| self.view == view)?;
        let (summary, live) = (&vitals.summary, u64::from(self.is_live()));
        let (messages, findings) = (summary.messages, summary.findings);
        Some([summary.frames, messages, summary.exchanges, findings, live])
    }

    /// Whether somebody still records.
    pub fn is_live(&self) -> bool {
        let vitals = self.vitals.as_deref();
        vitals.is_some_and(|vitals| vitals.standing == Standing::Live)
    }

    /// Whether the line above the panes that says why is there. The line stays while a recording is
    /// live: what comes and goes would move everything below it.
    pub fn shows_why(&self) -> bool {
        // What is known at the end says nothing about the moment of the time cursor.
        let is_known = self.vitals.is_some() && !self.playback.is_on();
        is_known && (self.is_live() || self.has_past)
    }

    /// Now, on the clock of the recording: for what counts up. At the end of a finished one.
    pub fn now(&self, now: Now) -> Moment {
        let Some(vitals) = self.vitals.as_deref() else {
            return Moment(0);
        };
        let last = vitals.summary.t_last_ns;
        if !self.is_live() {
            return Moment(last);
        }
        Moment(now.wall_ns.saturating_sub(vitals.summary.wall_ns).max(last))
    }

    /// What is marked in texts: what is searched for, failing that the words of the filter.
    pub fn sought(&self) -> &[Term] {
        let term = self.search.term.as_ref();
        term.map_or(self.filter.words(), std::slice::from_ref)
    }

    /// The contexts that hold for a key, the innermost first.
    pub fn contexts(&self) -> Vec<Context> {
        let view = match (self.focus, self.view) {
            // The state stands in place of the detail.
            (Focus::Detail, _) if self.playback.pane.is_some() => None,
            (Focus::Detail, _) => Some(Context::Detail),
            (Focus::Main, View::Exchanges) => Some(Context::List),
            (Focus::Main, View::Timeline) => Some(Context::Timeline),
            (Focus::Main, View::Stats) => Some(Context::Stats),
            (Focus::Main, View::Findings) => Some(Context::Findings),
            (Focus::Main, View::Server) => Some(Context::Server),
        };
        let playback = self.playback.is_on().then_some(Context::Playback);
        let rest = [Context::Session, Context::Everywhere];
        playback.into_iter().chain(view).chain(rest).collect()
    }
}
