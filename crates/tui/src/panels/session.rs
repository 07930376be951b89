//! The open recording: opened, followed, closed; its view and its pane.

use super::menu::{Entry, Menu};
use super::text::{Notice, Text, Weight};
use super::{findings, list, state, stats, timeline};
use crate::action::{Action, Context};
use crate::app::{App, Overlay, Viewer};
use crate::effect::{Effect, Effects, Now};
use crate::layout;
use crate::theme::{Role, Theme};
use crate::worker::{Opening, Vitals};
use mcpreel_lint::cause::Cause;
use mcpreel_store::library::Standing;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Lens;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

#[derive(Debug, Default)]
pub struct Session {
    pub path: PathBuf,
    pub opening: Opening,
    /// The facts that the header shows; none until the recording is open.
    pub vitals: Option<Box<Vitals>>,
    /// The view in the left or only pane.
    pub view: View,
    pub lens: Lens,
    pub focus: Focus,
    /// Whether the pane with the keys has the whole screen.
    pub zoom: bool,
    /// The list of exchanges or frames.
    pub list: super::list::List,
    pub filter: super::filter::Filter,
    pub detail: super::detail::Detail,
    pub timeline: timeline::Timeline,
    pub stats: stats::Stats,
    pub findings: findings::Findings,
    pub search: super::search::Search,
    pub playback: state::Playback,
    /// Why it went wrong, as it was asked last.
    pub causes: Vec<Cause>,
    /// The frame whose note is being typed: the cursor may move on meanwhile.
    pub noting: Option<Seq>,
}

/// The view, lens and zoom of a recording: kept for the next recording and for the next time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Arrangement {
    /// The view in the left or only pane.
    pub view: View,
    /// Whether a row of the list is a frame.
    pub wire: bool,
    /// Whether the pane with the keys has the whole screen.
    pub zoom: bool,
    /// The kind of times in the list.
    pub time: super::list::TimeColumn,
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
            ..Self::default()
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

// What can be done everywhere.

/// Does what is possible wherever the keys are.
pub fn perform_everywhere(viewer: &mut Viewer, action: Action) -> Option<Effects> {
    let app = &mut viewer.app;
    let effects = match action {
        Action::Palette => super::palette::open(viewer, ""),
        Action::Goto => super::palette::open(viewer, "#"),
        Action::Print => super::copy::print(app, viewer.session.as_deref()),
        Action::Help => super::help::open(viewer),
        Action::Cancel => cancel(app),
        Action::Quit => vec![Effect::Quit],
        Action::Back => back(viewer),
        Action::Close => {
            app.notices.dismiss(app.now);
            vec![]
        }
        Action::Suspend => vec![Effect::Suspend],
        Action::Repaint => vec![Effect::Repaint],
        Action::Mouse => {
            app.settings.mouse = !app.settings.mouse;
            let word = if app.settings.mouse {
                "on"
            } else {
                "off: the terminal selects text"
            };
            app.notices.success(format!("mouse {word}"), app.now);
            vec![Effect::Mouse(app.settings.mouse), Effect::Remember]
        }
        Action::Theme => {
            app.overlays.push(Overlay::Menu(themes(app)));
            vec![]
        }
        Action::Messages => {
            app.overlays.push(Overlay::Text(messages(app)));
            vec![]
        }
        _ => return None,
    };
    Some(effects)
}

/// Back to the recordings; there it quits.
fn back(viewer: &mut Viewer) -> Effects {
    if viewer.session.is_some() {
        return close(viewer);
    }
    vec![Effect::Quit]
}

/// With nothing to stop, once more quits.
fn cancel(app: &mut App) -> Effects {
    if app.quit_armed {
        return vec![Effect::Quit];
    }
    app.quit_armed = true;
    app.notices.success("Ctrl-C again quits", app.now);
    vec![]
}

fn themes(app: &App) -> Menu {
    let entries = Theme::ALL.into_iter().map(|theme| {
        let letter = theme.as_str().chars().next().unwrap_or(' ');
        Entry::new(letter, theme.as_str(), move |viewer| {
            viewer.app.settings.look.theme = theme;
            vec![Effect::Remember]
        })
    });
    let mut themes = Theme::ALL.into_iter();
    let at = themes.position(|theme| theme == app.settings.look.theme);
    Menu {
        at: at.unwrap_or(0),
        ..Menu::new("colours", entries.collect())
    }
}

fn messages(app: &App) -> Text {
    let start = app.now.wall_ns.saturating_sub(app.now.ui_ns);
    let line = |notice: &Notice| {
        let role = match notice.weight {
            Weight::Success => Role::Text,
            Weight::Error => Role::Bad,
        };
        let since = mcpreel_wire::text::since(notice.at.wall_ns.saturating_sub(start));
        vec![
            (Role::Faint, format!("{since:>10}  ")),
            (role, notice.text.clone()),
        ]
    };
    let lines: Vec<_> = app.notices.all().map(line).collect();
    if lines.is_empty() {
        return Text::plain("messages", ["nothing was said yet".to_owned()]);
    }
    Text {
        top: 0,
        title: "messages, since the viewer started".to_owned(),
        lines,
    }
}

// One recording as a whole: opened, followed, closed; which view and pane.

/// The step of the divider, percent.
const STEP: u16 = 5;

/// Opens the recording `path`, with the cursor on the frame `seq`.
pub fn open(viewer: &mut Viewer, path: &Path, seq: Option<Seq>) -> Effects {
    let app = &mut viewer.app;
    let mut session = Session::new(path);
    session.arrange(app.settings.arrangement);
    if seq.is_some() {
        // A frame was asked for, and it is a row of the list.
        session.view = View::Exchanges;
    }
    session.list.go_to = seq;
    let session = viewer.session.insert(Box::new(session));
    let mut effects = vec![app.questions.open(Some(path.to_owned()))];
    effects.extend(list::begin(app, session));
    effects
}

pub fn close(viewer: &mut Viewer) -> Effects {
    viewer.session = None;
    vec![viewer.app.questions.open(None)]
}

/// Changes the view, the pane or the lens.
pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    match action {
        Action::Exchanges => show(session, View::Exchanges),
        Action::Timeline => show(session, View::Timeline),
        Action::Stats => show(session, View::Stats),
        Action::Findings => show(session, View::Findings),
        Action::NextPane | Action::PreviousPane => {
            session.focus = match session.focus {
                Focus::Main => Focus::Detail,
                Focus::Detail => Focus::Main,
            };
        }
        Action::Zoom => session.zoom = !session.zoom,
        Action::Wire => {
            session.lens = match session.lens {
                Lens::Exchanges => Lens::Wire,
                Lens::Wire => Lens::Exchanges,
            };
            session.view = View::Exchanges;
            let mut effects = list::begin(app, session);
            effects.extend(remember(app, session));
            return Some(effects);
        }
        Action::ListSmaller => return Some(divide(app, session, false)),
        Action::ListLarger => return Some(divide(app, session, true)),
        Action::Follow => list::follow(app, session),
        Action::Unselect => session.list.chosen.clear(),
        Action::Close if session.focus == Focus::Detail => session.focus = Focus::Main,
        Action::Close if session.view != View::Exchanges => show(session, View::Exchanges),
        _ => return None,
    }
    Some(remember(app, session))
}

/// Keeps how the recording stands on the screen, if that was chosen anew.
pub fn remember(app: &mut App, session: &mut Session) -> Effects {
    let arrangement = session.arrangement();
    if app.settings.arrangement == arrangement {
        return vec![];
    }
    app.settings.arrangement = arrangement;
    vec![Effect::Remember]
}

/// Moves the divider between list and detail a step.
fn divide(app: &mut App, session: &mut Session, larger: bool) -> Effects {
    if !layout::shows_both(app.size, session) {
        let text = "list and detail are not on the screen together";
        app.notices.error(text, app.now);
        return vec![];
    }
    let at = app.settings.divider;
    let to = if larger { at + STEP } else { at - STEP };
    app.settings.divider = to.clamp(20, 80);
    vec![Effect::Remember]
}

fn show(session: &mut Session, view: View) {
    session.view = view;
    session.focus = Focus::Main;
}

/// The recording is open, has grown, or has ended.
pub fn grown(app: &mut App, session: &mut Session, vitals: Box<Vitals>) -> Effects {
    let was_live = session.is_live();
    let is_anew = vitals.is_anew;
    session.vitals = Some(vitals);
    session.opening = Opening::Open;
    if was_live && !session.is_live() {
        told_end(app, session);
    }
    // Rows that were not there when their frames were looked at are nowhere else found.
    if is_anew {
        list::begin(app, session)
    } else {
        vec![]
    }
}

fn told_end(app: &mut App, session: &Session) {
    let vitals = session.vitals.as_deref();
    let killed = vitals.is_some_and(|vitals| vitals.standing != Standing::Finished);
    let text = if killed {
        "the recorder has gone"
    } else {
        "the session has ended"
    };
    app.notices.success(text, app.now);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Settings;
    use crate::effect::Now;
    use mcpreel_store::library::Library;

    #[test]
    fn the_next_recording_stands_as_the_last_one_and_a_frame_shows_in_the_list() {
        let folder = Library::new("/nonexistent");
        let mut viewer = Viewer::new(&folder, Settings::default(), (100, 30), Now::default());
        let path = Path::new("/nonexistent/x.reel");
        open(&mut viewer, path, None);
        for action in [
            Action::Wire,
            Action::Zoom,
            Action::TimeColumn,
            Action::Stats,
        ] {
            let effects = crate::update::perform(&mut viewer, action);
            let kept = effects
                .iter()
                .any(|effect| matches!(effect, Effect::Remember));
            assert!(kept, "{action:?}");
        }
        let chosen = viewer.session.as_deref().map(Session::arrangement);
        open(&mut viewer, path, None);
        assert_eq!(viewer.session.as_deref().map(Session::arrangement), chosen);
        assert_eq!(Some(viewer.app.settings.remember().arrangement), chosen);
        open(&mut viewer, path, Some(Seq(7)));
        let view = viewer.session.as_deref().map(|session| session.view);
        assert_eq!(view, Some(View::Exchanges));
    }
}
