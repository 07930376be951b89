//! A comparison: of two recordings, call beside call, or of two calls, value beside value.
//!
//! ```text
//!  ┌ 7f3a weather-server 1.2 | c04d weather-server 1.3, replay ───────────────────────────────┐
//!  │ 2 of 3  ✗ 1 breaking  ~ 2 changed  29 the same                                           │
//!  │            what the server offers                                                        │
//!  │ ✗ breaking tool search: input narrowed: `limit`: is required now                         │
//!  │            call by call                                                                  │
//!  │              … 12 the same                                                               │
//!  │ ✗ breaking #23 tools/call search  ok 842 ms         │ #25  tool-error 12 ms              │
//!  ├─ tools/call search  ✗ breaking: result.isError ──────────────────────────────────────────┤
//!  │ ✗ breaking result.isError  was false  is true                                            │
//!  └──────────── ▼ 12 more rows · Enter opens both · e E walk · Space unfolds · Esc closes ───┘
//! ```
//!
//! Under 100 columns the two sides of a value stand one below the other.

mod compare_calls;
mod draw;
mod recordings;

pub use draw::{Drawing, draw};
pub use recordings::{Only, Replayed};

use crate::action::{Action, Context};
use crate::app::{App, Handlers, Overlay, Session, Viewer};
use crate::effect::Effects;
use crate::panels::list;
use crate::panels::shelf::file_name;
use crate::theme::Look;
use crate::widget::cursor::{moved, walked};
use crate::widget::frame;
use crate::widget::spans::Spans;
use crate::worker::{Answer, Ask, Place, Slot, Which};
use compare_calls::Call;
use draw::{Places, hit};
use mcpreel_replay::diff::{Bound, Class};
use mcpreel_store::library::Entry;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_wire::text::escape;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug)]
pub struct Comparison {
    stage: Stage,
    /// Whether equal parts are shown too.
    unfolded: bool,
    pub at: usize,
    /// The first row on the screen.
    pub top: usize,
    /// The call on the left that is opened as soon as it is compared: it was replayed alone.
    opens: Option<Seq>,
}

#[derive(Debug)]
enum Stage {
    /// How far it is.
    Comparing(String),
    Compared(Box<dyn Content>),
}

/// What was compared: rows, some of which differ.
pub trait Content: Debug + Send {
    /// Both sides in one line.
    fn title(&self) -> String;

    /// What stands above the rows of each side.
    fn heads(&self, _look: &Look) -> Option<[String; 2]> {
        None
    }

    /// Shows equal parts, or folds them.
    fn fold(&mut self, unfolded: bool);

    fn rows(&self) -> usize;

    /// The rows that differ: all but noise, unless there is nothing else.
    fn changes(&self) -> &[usize];

    /// How much it matters what a row says.
    fn class(&self, row: usize) -> Option<Class>;

    /// How many differences of a class there are.
    fn count(&self, class: Class) -> u64;

    /// Why nothing was compared although that was wanted, escaped.
    fn not_made(&self) -> Option<&str> {
        None
    }

    /// What is worth a word beside the counts.
    fn remarks(&self, look: &Look) -> Spans;

    /// Lines of a row at most.
    fn lines_at_most(&self, beside: bool) -> usize;

    fn lines(&self, row: usize, drawing: &Drawing<'_>) -> Vec<Line<'static>>;

    /// A row in full: its name, and at most so many lines.
    fn below(
        &self,
        row: usize,
        drawing: &Drawing<'_>,
        most: usize,
    ) -> Option<(Spans, Vec<Line<'static>>)>;

    /// The recording of each side, and the frame of the row in it.
    fn places(&self, row: usize) -> [Option<(PathBuf, Option<Seq>)>; 2];

    /// The calls on both sides that a row is about.
    fn opens(&self, _row: usize) -> Opens {
        Opens::Fold
    }

    /// The row of the call that is this one on the left, if both sides have it.
    fn row_of(&self, _seq: Seq) -> Option<usize> {
        None
    }
}

/// What Enter does on a row.
pub enum Opens {
    /// Equal parts are shown or folded.
    Fold,
    Calls(Box<[Call; 2]>, Arc<Bound>),
    /// Only one side has it.
    Only(&'static str),
    Nothing,
}

impl Comparison {
    fn new(opens: Option<Seq>) -> Self {
        Self {
            stage: Stage::Comparing("comparing".to_owned()),
            unfolded: false,
            at: 0,
            top: 0,
            opens,
        }
    }

    /// The comparison, if it is there.
    pub fn content(&self) -> Option<&dyn Content> {
        match &self.stage {
            Stage::Comparing(_) => None,
            Stage::Compared(content) => Some(&**content),
        }
    }

    fn rows(&self) -> usize {
        self.content().map_or(0, Content::rows)
    }

    /// Rows that are on a screen of this size at least.
    pub fn page(&self, size: (u16, u16)) -> usize {
        let places = Places::of(size, self.content());
        let most = self
            .content()
            .map_or(1, |one| one.lines_at_most(places.beside));
        (usize::from(places.body.height) / most).max(1)
    }

    /// Puts the cursor on a row, and scrolls as little as is needed.
    fn put(&mut self, to: usize, size: (u16, u16)) {
        self.at = to.min(self.rows().saturating_sub(1));
        self.top = frame::showing(self.at, self.top, self.page(size));
    }

    /// Shows equal parts or folds them; the cursor stays on its difference, or on the one before.
    fn unfold(&mut self, size: (u16, u16)) {
        self.unfolded = !self.unfolded;
        let Stage::Compared(content) = &mut self.stage else {
            return;
        };
        let passed = content
            .changes()
            .partition_point(|change| *change <= self.at);
        content.fold(self.unfolded);
        let change = passed
            .checked_sub(1)
            .and_then(|nth| content.changes().get(nth));
        let to = change.copied().unwrap_or(0);
        self.put(to, size);
    }

    /// The row of the call that is this one on the left; equal parts are unfolded where those
    /// hide it.
    fn row_of(&mut self, seq: Seq) -> Option<usize> {
        let Stage::Compared(content) = &mut self.stage else {
            return None;
        };
        content.row_of(seq).or_else(|| {
            content.fold(true);
            self.unfolded = true;
            content.row_of(seq)
        })
    }
}

/// The comparison that lies on top.
fn on_top(app: &mut App) -> Option<&mut Comparison> {
    app.top_mut()
}

impl Overlay for Comparison {
    fn context(&self) -> Context {
        Context::Diff
    }

    fn handlers(&self) -> Handlers {
        Handlers {
            perform,
            click,
            wheel: |viewer, by| wheel(&mut viewer.app, by),
            ..Handlers::NONE
        }
    }

    fn draw(&self, app: &App, _: Option<&Session>, area: Rect, frame: &mut Frame<'_>) {
        draw(app, self, area, frame);
    }
}

fn perform(viewer: &mut Viewer, action: Action) -> Option<Effects> {
    let app = &mut viewer.app;
    let size = app.size;
    let comparison = on_top(app)?;
    let Some(content) = comparison.content() else {
        // Nobody waits any more for a comparison that is left before it is there.
        let is_left = matches!(action, Action::Cancel | Action::Close | Action::Back);
        return is_left.then(|| {
            app.overlays.pop();
            vec![Ask::Stop(Slot::Beside).into()]
        });
    };
    match action {
        Action::NextChange | Action::PreviousChange => {
            match walked(action, comparison.at, content.changes()) {
                Ok(to) => comparison.put(to, size),
                Err(end) => app.notices.success(end, app.now),
            }
        }
        Action::Unfold => comparison.unfold(size),
        Action::Open => return Some(open(app)),
        Action::OpenLeft => return Some(go_to_side(viewer, 0)),
        Action::OpenRight => return Some(go_to_side(viewer, 1)),
        _ => {
            let to = moved(action, comparison.at, content.rows(), comparison.page(size))?;
            comparison.put(to, size);
        }
    }
    Some(vec![])
}

/// Opens the two calls under the cursor beside each other.
fn open(app: &mut App) -> Effects {
    let size = app.size;
    let Some(comparison) = on_top(app) else {
        return vec![];
    };
    let opens = comparison.content().map(|one| one.opens(comparison.at));
    match opens {
        Some(Opens::Calls(both, bound)) => {
            let [left, right] = *both;
            return ask_calls(app, Some(left), right, bound);
        }
        Some(Opens::Only(which)) => {
            let text = format!("only the {which} recording has it, with nothing to compare");
            app.notices.error(text, app.now);
        }
        Some(Opens::Fold) => comparison.unfold(size),
        Some(Opens::Nothing) | None => {}
    }
    vec![]
}

/// To what is under the cursor, in the recording of one side.
fn go_to_side(viewer: &mut Viewer, side: usize) -> Effects {
    let app = &mut viewer.app;
    let comparison = on_top(app);
    let place = comparison.and_then(|one| one.content()?.places(one.at)[side].take());
    let Some((path, seq)) = place else {
        return vec![];
    };
    app.overlays.clear();
    let open = viewer.session.as_deref_mut();
    match (open.filter(|open| open.path == path), seq) {
        (Some(session), Some(seq)) => list::goto(session, seq),
        (Some(_), None) => vec![],
        (None, seq) => super::session::open(viewer, &path, seq),
    }
}

/// A click puts the cursor on a row, a second one opens it.
fn click(viewer: &mut Viewer, cell: (u16, u16), double: bool) -> Effects {
    let app = &mut viewer.app;
    let look = app.settings.look;
    let size = app.size;
    let Some(comparison) = on_top(app) else {
        return vec![];
    };
    let Some(row) = hit(&look, size, comparison, cell) else {
        return vec![];
    };
    comparison.at = row;
    if double { open(app) } else { vec![] }
}

/// The wheel scrolls without moving the cursor.
fn wheel(app: &mut App, by: isize) -> Effects {
    let size = app.size;
    if let Some(comparison) = on_top(app) {
        let (rows, page) = (comparison.rows(), comparison.page(size));
        comparison.top = frame::turned(comparison.top, by, rows, page);
    }
    vec![]
}

/// Compares recordings of the folder.
pub fn perform_in_library(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::Select => select(app),
        Action::Unselect => app.library.chosen.clear(),
        Action::Close if !app.library.chosen.is_empty() => app.library.chosen.clear(),
        Action::CompareParent => {
            let path = app.library.current()?.entry.path.clone();
            return Some(begin(app, Which::Parent(path.clone()), path, None));
        }
        Action::Diff => match sides(app) {
            Ok((left, right)) => return Some(begin(app, left, right, None)),
            Err(why) => app.notices.error(why, app.now),
        },
        _ => return None,
    }
    Some(vec![])
}

/// Selects the recording for a comparison, or takes it out; a third one takes the place of the
/// first.
fn select(app: &mut App) {
    let Some(path) = app.library.current().map(|row| row.entry.path.clone()) else {
        return;
    };
    if let Some(dropped) = crate::widget::cursor::toggle(&mut app.library.chosen, path) {
        let rows = &app.library.rows;
        let entry = rows.iter().find(|row| row.entry.path == dropped);
        let shown = match entry.map(|row| &*row.entry.id) {
            Some(id) if !id.is_empty() => escape(id.get(..4).unwrap_or(id)).into_owned(),
            _ => file_name(&dropped),
        };
        let text = format!("{shown} is not selected any more: two at most");
        app.notices.success(text, app.now);
    }
}

/// The two recordings that are selected, the older one on the left; or the selected one and the one
/// under the cursor; or that and what it comes from, or the one of the same name before.
fn sides(app: &App) -> Result<(Which, PathBuf), &'static str> {
    let library = &app.library;
    let rows = || library.rows.iter().map(|row| &*row.entry);
    let chosen = rows().filter(|entry| library.chosen.contains(&entry.path));
    let mut chosen: Vec<&Entry> = chosen.collect();
    chosen.sort_by_key(|entry| entry.wall_ns);
    let current = library.current().map(|row| &*row.entry);
    let current = current.ok_or("there is no recording to be compared")?;
    let both = |left: &Entry, right: &Entry| {
        let left = Which::File(left.path.clone());
        Ok((left, right.path.clone()))
    };
    match chosen.as_slice() {
        [older, newer, ..] => both(older, newer),
        [one] if one.path != current.path => both(one, current),
        [_] => Err("go to the recording that this one is to be compared with, or select it too"),
        [] => {
            let summary = current.summary();
            if summary.is_some_and(|summary| summary.parent.is_some()) {
                let path = current.path.clone();
                return Ok((Which::Parent(path.clone()), path));
            }
            let before =
                |entry: &&Entry| entry.name == current.name && entry.wall_ns < current.wall_ns;
            let before = rows().filter(before).max_by_key(|entry| entry.wall_ns);
            let none = "Space selects the two recordings that are to be compared";
            both(before.ok_or(none)?, current)
        }
    }
}

/// Compares calls of the recording that is open, or that with the one it was made from.
pub fn perform_in_session(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let path = session.path.clone();
    match action {
        Action::CompareParent => {
            return Some(begin(app, Which::Parent(path.clone()), path, None));
        }
        Action::Diff => {}
        _ => return None,
    }
    let call = |lens| {
        let which = Which::File(path.clone());
        move |key| Call { which, lens, key }
    };
    let (left, right) = match session.list.chosen.as_slice() {
        [a, b, ..] => {
            let lens = session.lens;
            (Some(call(lens)(*a.min(b))), Some(call(lens)(*a.max(b))))
        }
        [one] => (None, Some(call(session.lens)(*one))),
        [] => {
            // What a mock had that comes nearest, beside the request that it had nothing for.
            let near = super::selection::shown(session).and_then(|shown| shown.near.as_ref());
            let near = near.map(|near| Call {
                which: Which::Id(near.recording.clone(), path.clone()),
                lens: Lens::Exchanges,
                key: ItemKey::of_part(near.seq, 0),
            });
            let selected = super::selection::selected(session);
            (near, selected.map(call(super::selection::lens(session))))
        }
    };
    let Some(right) = right else {
        app.notices
            .error("nothing is selected to be compared", app.now);
        return Some(vec![]);
    };
    Some(ask_calls(app, left, right, Arc::default()))
}

/// Compares two calls, between whose recordings these values are bound. Without a left one, the
/// right one is compared with the call of the same method and name before.
fn ask_calls(app: &mut App, left: Option<Call>, right: Call, bound: Arc<Bound>) -> Effects {
    leave_unfinished(app);
    app.push(Comparison::new(None));
    let work = move |place: &Place<'_>| {
        compare_calls::compare(place, left.as_ref(), &right, &bound).map(compared)
    };
    vec![app.questions.send(Slot::Beside, failed, work)]
}

/// Begins a comparison of two recordings; of a replay and its original as far as that was
/// replayed. Where somebody types, it lies below that.
pub fn begin(app: &mut App, left: Which, right: PathBuf, replayed: Option<Replayed>) -> Effects {
    leave_unfinished(app);
    let opens = replayed.as_ref().and_then(|replayed| replayed.shows);
    app.overlays.insert(0, Box::new(Comparison::new(opens)));
    let work = move |place: &Place<'_>| {
        recordings::compare(place, &left, &right, replayed.as_ref()).map(compared)
    };
    vec![app.questions.send(Slot::Beside, failed, work)]
}

/// Tells how far a comparison is.
fn progress(place: &Place<'_>, far: String) {
    place.tell(|viewer| {
        if let Some(at) = unfinished(&viewer.app)
            && let Some(comparison) = viewer.app.overlays[at].cast_mut::<Comparison>()
        {
            comparison.stage = Stage::Comparing(far);
        }
    });
}

/// Two are compared; nothing if the comparison was stopped.
fn compared(content: Option<Box<dyn Content>>) -> Answer {
    Answer::new(|viewer| {
        let app = &mut viewer.app;
        let (size, count) = (app.size, app.overlays.len());
        let (Some(at), Some(content)) = (unfinished(app), content) else {
            return vec![];
        };
        let Some(comparison) = app.overlays[at].cast_mut::<Comparison>() else {
            return vec![];
        };
        // Titles say nothing.
        let first = content.changes().first().copied().unwrap_or(1);
        comparison.stage = Stage::Compared(content);
        comparison.put(first, size);
        // A call that was replayed alone is shown side by side at once, unless somebody does
        // something else.
        let opens = comparison.opens.take();
        let row = opens.and_then(|seq| comparison.row_of(seq));
        let Some(row) = row else { return vec![] };
        comparison.put(row, size);
        if at + 1 == count { open(app) } else { vec![] }
    })
}

fn failed(viewer: &mut Viewer, why: String) -> Effects {
    let app = &mut viewer.app;
    // Whoever has left it does not wait for it any more.
    if unfinished(app).is_some() {
        leave_unfinished(app);
        app.notices.error(why, app.now);
    }
    vec![]
}

/// The comparison that is being made; at most one is.
fn unfinished(app: &App) -> Option<usize> {
    let mut comparisons = app.overlays.iter().map(|one| one.cast::<Comparison>());
    comparisons.position(|one| one.is_some_and(|one| one.content().is_none()))
}

fn leave_unfinished(app: &mut App) {
    if let Some(at) = unfinished(app) {
        app.overlays.remove(at);
    }
}

/// The beginning of a recording's id, escaped.
fn short(id: &str) -> String {
    escape(id.get(..4).unwrap_or(id)).into_owned()
}
