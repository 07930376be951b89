//! One recording on the screen.

use crate::action::Context;
use crate::effect::Now;
use crate::panels::{findings, state, stats, timeline};
use crate::worker::open::Vitals;
use mcpreel_lint::cause::Cause;
use mcpreel_store::library::Standing;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Lens;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Session {
    pub path: PathBuf,
    pub opening: Opening,
    /// How it stands; none until it is open.
    pub vitals: Option<Box<Vitals>>,
    /// What the left or only pane shows.
    pub view: View,
    pub lens: Lens,
    pub focus: Focus,
    /// Whether the pane with the keys has the whole screen.
    pub zoom: bool,
    /// The list of exchanges or frames.
    pub list: crate::panels::list::List,
    pub filter: crate::panels::filter::Filter,
    pub detail: crate::panels::detail::Detail,
    pub timeline: timeline::Timeline,
    pub stats: stats::Stats,
    pub findings: findings::Findings,
    pub search: crate::panels::search::Search,
    pub playback: state::Playback,
    /// Why it went wrong, as it was asked last.
    pub causes: Vec<Cause>,
    /// The frame whose note is being typed: the cursor may move on meanwhile.
    pub noting: Option<Seq>,
    /// What the reader says is about another recording until it has begun this one.
    pub awaits: Option<u64>,
}

/// How a recording stands on the screen: kept for the next one and for the next time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Arrangement {
    /// What the left or only pane shows.
    pub view: View,
    /// Whether a row of the list is a frame.
    pub wire: bool,
    /// Whether the pane with the keys has the whole screen.
    pub zoom: bool,
    /// What the column of times shows.
    pub time: crate::panels::list::TimeColumn,
}

/// How far opening a recording has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Opening {
    #[default]
    Asked,
    /// There is only a recorder that starts.
    Waiting,
    /// Its spool is drained first: bytes done, of so many.
    Draining(u64, u64),
    /// What is derived is derived anew.
    Deriving,
    Open,
    /// It cannot be read: one sentence with the way out.
    Unreadable(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// Exchanges or frames, one per row.
    #[default]
    Exchanges,
    Timeline,
    Stats,
    Findings,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Focus {
    #[default]
    Main,
    Detail,
}

impl Session {
    /// The recording `path`, about to be opened.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            opening: Opening::Asked,
            vitals: None,
            view: View::default(),
            lens: Lens::default(),
            focus: Focus::default(),
            zoom: false,
            list: crate::panels::list::List::default(),
            filter: crate::panels::filter::Filter::default(),
            detail: crate::panels::detail::Detail::default(),
            timeline: timeline::Timeline::default(),
            stats: stats::Stats::default(),
            findings: findings::Findings::default(),
            search: crate::panels::search::Search::default(),
            playback: state::Playback::default(),
            causes: Vec::new(),
            noting: None,
            awaits: None,
        }
    }

    pub fn arrangement(&self) -> Arrangement {
        Arrangement {
            view: self.view,
            wire: self.lens == Lens::Wire,
            zoom: self.zoom,
            time: self.list.time,
        }
    }

    pub fn arrange(&mut self, as_before: Arrangement) {
        self.view = as_before.view;
        self.lens = if as_before.wire {
            Lens::Wire
        } else {
            Lens::Exchanges
        };
        self.zoom = as_before.zoom;
        self.list.time = as_before.time;
    }

    /// The last frame that is shown: the time cursor, or where the picture was frozen; none where
    /// everything is.
    pub fn until(&self) -> Option<Seq> {
        self.playback.until()
    }

    /// Whether somebody still records.
    pub fn is_live(&self) -> bool {
        let vitals = self.vitals.as_deref();
        vitals.is_some_and(|vitals| vitals.standing == Standing::Live)
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

    /// The contexts that hold for a key, the innermost first.
    pub fn contexts(&self) -> Vec<Context> {
        let view = match (self.focus, self.view) {
            (Focus::Detail, _) => Context::Detail,
            (Focus::Main, View::Exchanges) => Context::List,
            (Focus::Main, View::Timeline) => Context::Timeline,
            (Focus::Main, View::Stats) => Context::Stats,
            (Focus::Main, View::Findings) => Context::Findings,
        };
        let playback = self.playback.is_on().then_some(Context::Playback);
        let rest = [view, Context::Session, Context::Everywhere];
        playback.into_iter().chain(rest).collect()
    }
}
