//! A comparison: of two recordings, call beside call, or of two calls, value beside value.
//!
//! ```text
//!  ┌ 7f3a weather-server 1.2 | c04d weather-server 1.3, replay ───────────────────────────────┐
//!  │ 2 of 3  ✗ 1 breaking  ~ 2 changed  29 the same                                           │
//!  │            what the server offers                                                        │
//!  │ ✗ breaking tool search: input narrowed: `limit`: is required now                         │
//!  │            call by call                                                                  │
//!  │              … 12 the same                                                               │
//!  │ ✗ breaking tools/call search   #23 ok 842 ms │ tools/call search    #25 tool-error 12 ms │
//!  │ tools/call search  ✗ breaking ───────────────────────────────────────────────────────────│
//!  │ ✗ breaking result.isError: was false, is true                                            │
//!  └──────────── ▼ 12 more rows · Enter opens both · Esc closes · e E walk · Space unfolds ───┘
//! ```
//!
//! Under 100 columns a line tells what was and what is: `q: "rust" → "rust async"`.

mod compare_draw;
mod two_calls;
mod two_recordings;

pub use compare_draw::{Compared, draw};
pub use two_recordings::{Only, Replayed};

use crate::action::{Action, Context};
use crate::app::{App, Handlers, Overlay, Session, Viewer};
use crate::effect::Effects;
use crate::layout::screen;
use crate::panels::{list, selection};
use crate::widget::cursor::moved;
use crate::widget::frame;
use crate::worker::{Answer, Ask, Failure, Place, Slot, Which};
use mcpreel_replay::diff::Bound;
use mcpreel_store::library::Entry;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_wire::text::escape;
use ratatui::Frame;
use ratatui::layout::Rect;
use std::path::PathBuf;
use std::sync::Arc;
use two_calls::Call;

#[derive(Debug, Default)]
pub struct Comparison {
    /// The comparison, once the worker has it.
    pub content: Option<Box<Compared>>,
    /// How far the comparison is.
    far: String,
    /// Whether equal rows are shown too.
    unfolded: bool,
    /// The line under the cursor.
    pub at: usize,
    /// The first line on the screen.
    pub top: usize,
    /// The call on the left that is opened as soon as the recordings are compared: it was replayed
    /// alone.
    opens: Option<Seq>,
}

impl Comparison {
    fn lines(&self) -> usize {
        let compared = self.content.as_ref();
        compared.map_or(0, |compared| compared.lines.len())
    }

    /// Lines that are on a screen of this size.
    pub fn page(&self, size: (u16, u16)) -> usize {
        usize::from(compare_draw::areas(screen(size))[1].height)
    }

    /// Puts the cursor on a line, and scrolls as little as is needed.
    fn put(&mut self, to: usize, size: (u16, u16)) {
        self.at = to.min(self.lines().saturating_sub(1));
        self.top = frame::showing(self.at, self.top, self.page(size));
    }

    /// Shows equal rows or folds them; the cursor stays on its row.
    fn unfold(&mut self, unfolded: bool, size: (u16, u16)) {
        let Some(compared) = &mut self.content else {
            return;
        };
        let row = compared.lines.get(self.at).map_or(0, |line| line.start);
        self.unfolded = unfolded;
        compared.fold(unfolded);
        let line = compared.line_of(row);
        self.put(line, size);
    }

    /// The calls under the cursor, if both sides have one and may be opened.
    fn pair(&self) -> Option<([Call; 2], Arc<Bound>)> {
        let compared = self.content.as_ref()?;
        let bound = compared.bound.clone()?;
        let call = |side: usize| {
            Some(Call {
                which: Which::File(compared.paths[side].clone()),
                lens: Lens::Exchanges,
                key: compared.row(self.at)?.calls[side]?,
            })
        };
        Some(([call(0)?, call(1)?], bound))
    }
}

impl Overlay for Comparison {
    fn context(&self) -> Context {
        Context::Diff
    }

    fn handlers(&self) -> Handlers {
        Handlers {
            perform,
            click,
            ..Handlers::NONE
        }
    }

    /// Scrolls without moving the cursor.
    fn wheel(&mut self, by: isize, size: (u16, u16)) {
        self.top = frame::turned(self.top, by, self.lines(), self.page(size));
    }

    fn draw(&self, app: &App, _: Option<&Session>, area: Rect, frame: &mut Frame<'_>) {
        draw(app, self, area, frame);
    }
}

fn perform(viewer: &mut Viewer, action: Action) -> Option<Effects> {
    let app = &mut viewer.app;
    let size = app.size;
    let comparison = app.top_mut::<Comparison>()?;
    let Some(compared) = &comparison.content else {
        // Nobody waits any more for a comparison that is left before it is there.
        let is_left = matches!(action, Action::Cancel | Action::Close | Action::Back);
        return is_left.then(|| {
            app.overlays.pop();
            vec![Ask::Stop(Slot::Preview).into()]
        });
    };
    let mut changes = compared.changes.iter().copied();
    let change = match action {
        Action::NextChange => changes.find(|change| *change > comparison.at),
        Action::PreviousChange => changes.rfind(|change| *change < comparison.at),
        Action::Unfold => {
            comparison.unfold(!comparison.unfolded, size);
            return Some(vec![]);
        }
        Action::Open => return open(app),
        Action::OpenLeft => return go_to_side(viewer, 0),
        Action::OpenRight => return go_to_side(viewer, 1),
        _ => {
            let lines = compared.lines.len();
            Some(moved(action, comparison.at, lines, comparison.page(size))?)
        }
    };
    match change {
        Some(to) => comparison.put(to, size),
        None => return Some(app.say("no more differences in that direction")),
    }
    Some(vec![])
}

/// Opens the two calls under the cursor beside each other, or what is said of a row; elsewhere shows or
/// folds equal rows.
fn open(app: &mut App) -> Option<Effects> {
    let size = app.size;
    let comparison = app.top_mut::<Comparison>()?;
    if let Some(([left, right], bound)) = comparison.pair() {
        return Some(ask_calls(app, Some(left), right, bound));
    }
    let row = comparison.content.as_ref()?.row(comparison.at);
    if let Some(row) = row.filter(|row| !row.below.is_empty()) {
        let text = compare_draw::in_full(row);
        return Some(app.push(text));
    }
    comparison.unfold(!comparison.unfolded, size);
    Some(vec![])
}

/// Goes to the call under the cursor, in the recording of one side.
fn go_to_side(viewer: &mut Viewer, side: usize) -> Option<Effects> {
    let app = &mut viewer.app;
    let one = app.top::<Comparison>()?;
    let compared = one.content.as_ref()?;
    let key = compared.row(one.at).and_then(|row| row.calls[side]);
    let (path, seq) = (compared.paths[side].clone(), key.map(|key| key.seq));
    app.overlays.clear();
    let open = viewer.session.as_deref_mut();
    Some(match (open.filter(|open| open.path == path), seq) {
        (Some(session), Some(seq)) => list::goto(session, seq),
        (Some(_), None) => vec![],
        (None, seq) => super::session::open(viewer, &path, seq),
    })
}

/// A click puts the cursor on a line, a second one opens it.
fn click(viewer: &mut Viewer, (x, y): (u16, u16), double: bool) -> Option<Effects> {
    let app = &mut viewer.app;
    let [_, body, _] = compare_draw::areas(screen(app.size));
    let look = app.settings.look;
    let comparison = app.top_mut::<Comparison>()?;
    if !body.contains((x, y).into()) {
        return None;
    }
    let compared = comparison.content.as_ref()?;
    let lines = compare_draw::lines(&look, comparison, compared, body);
    let (line, _) = *lines.get(usize::from(y - body.y))?;
    comparison.at = line;
    if double { open(app) } else { None }
}

/// Compares recordings of the folder.
pub fn perform_in_library(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::Select => {
            let path = app.library.current()?.path.clone();
            let marked = &mut app.library.marked;
            match marked.iter().position(|known| *known == path) {
                Some(at) => drop(marked.remove(at)),
                None => marked.push(path),
            }
        }
        Action::Unselect => app.library.marked.clear(),
        Action::Close if !app.library.marked.is_empty() => app.library.marked.clear(),
        Action::CompareParent => {
            let path = app.library.current()?.path.clone();
            return Some(begin(app, Which::Parent(path.clone()), path, None));
        }
        Action::Diff => match sides(app) {
            Ok((left, right)) => return Some(begin(app, left, right, None)),
            Err(why) => return Some(app.refuse(why)),
        },
        _ => return None,
    }
    Some(vec![])
}

/// The two recordings that are selected, or the selected one and the one under the cursor, the older
/// one on the left; or the one under the cursor and what it was made from.
fn sides(app: &App) -> Result<(Which, PathBuf), &'static str> {
    let library = &app.library;
    let current = library.current();
    let current = current.ok_or("there is no recording to compare")?;
    let is_selected = |entry: &Entry| library.marked.contains(&entry.path);
    let is_made = current
        .summary()
        .is_some_and(|summary| summary.parent.is_some());
    if library.marked.is_empty() && is_made {
        return Ok((Which::Parent(current.path.clone()), current.path.clone()));
    }
    let entries = library.rows.iter().map(|row| &*row.entry);
    let mut both: Vec<_> = entries.filter(|entry| is_selected(entry)).collect();
    if both.len() == 1 && !is_selected(current) {
        both.push(current);
    }
    both.sort_by_key(|entry| entry.wall_ns);
    match both.as_slice() {
        [older, newer] => Ok((Which::File(older.path.clone()), newer.path.clone())),
        [] | [_] => Err("Space selects the two recordings to compare"),
        _ => Err("two recordings are compared, and more are selected: Space takes one out"),
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
    let (lens, file) = (session.lens, Which::File(path.clone()));
    let call = |which: &Which, lens, key| {
        let which = which.clone();
        Call { which, lens, key }
    };
    let (left, right) = match session.list.to_compare.as_slice() {
        [a, b, ..] => (Some(call(&file, lens, *a.min(b))), Some((lens, *a.max(b)))),
        [one] => (None, Some((lens, *one))),
        [] => {
            // What a mock had that comes nearest, beside the request that it had nothing for.
            let near = selection::shown(session).and_then(|shown| shown.near.as_ref());
            let near = near.map(|near| {
                let which = Which::Id(near.recording.clone(), path);
                call(&which, Lens::Exchanges, ItemKey::of_part(near.seq, 0))
            });
            let selected = selection::selected(session);
            (near, selected.map(|key| (selection::lens(session), key)))
        }
    };
    let Some((lens, key)) = right else {
        return Some(app.refuse("nothing is selected to compare"));
    };
    let right = call(&file, lens, key);
    Some(ask_calls(app, left, right, Arc::default()))
}

/// Compares two calls, between whose recordings these values are bound.
fn ask_calls(app: &mut App, left: Option<Call>, right: Call, bound: Arc<Bound>) -> Effects {
    let at = usize::MAX;
    ask(app, at, None, move |place: &Place<'_>| {
        two_calls::compare(place, left.as_ref(), &right, &bound).map(answer)
    })
}

/// Begins a comparison of two recordings; of a replay and its original as far as that was
/// replayed. Where somebody types, the comparison lies below that.
pub fn begin(app: &mut App, left: Which, right: PathBuf, replayed: Option<Replayed>) -> Effects {
    let opens = replayed.as_ref().and_then(|replayed| replayed.shows);
    ask(app, 0, opens, move |place: &Place<'_>| {
        two_recordings::compare(place, &left, &right, replayed.as_ref()).map(answer)
    })
}

/// Lays a comparison over the others at a place, and asks for its content.
fn ask(
    app: &mut App,
    at: usize,
    opens: Option<Seq>,
    work: impl FnOnce(&Place<'_>) -> Result<Answer, Failure> + Send + 'static,
) -> Effects {
    leave_unfinished(app);
    let at = at.min(app.overlays.len());
    let comparison = Comparison {
        far: "comparing".to_owned(),
        opens,
        ..Comparison::default()
    };
    app.overlays.insert(at, Box::new(comparison));
    vec![app.questions.send(Slot::Preview, failed, work)]
}

/// Tells how far a comparison is.
fn progress(place: &Place<'_>, far: String) {
    place.tell(|viewer| {
        if let Some((_, comparison)) = unfinished(&mut viewer.app) {
            comparison.far = far;
        }
    });
}

/// Two are compared; `None` if the comparison was stopped.
fn answer(compared: Option<Compared>) -> Answer {
    Answer::new(|viewer| {
        let app = &mut viewer.app;
        let (size, count) = (app.size, app.overlays.len());
        let (Some((at, comparison)), Some(compared)) = (unfinished(app), compared) else {
            return vec![];
        };
        let compared = comparison.content.insert(Box::new(compared));
        compared.fold(false);
        let opens = comparison.opens;
        let first = compared.changes.first().copied();
        let is_it =
            |row: &compare_draw::Row| row.calls[0].is_some_and(|key| Some(key.seq) == opens);
        let Some(row) = compared.rows.iter().position(is_it) else {
            // The title says nothing.
            comparison.put(first.unwrap_or(1), size);
            return vec![];
        };
        // The call that was replayed is shown side by side at once, unless somebody does
        // something else.
        comparison.unfold(true, size);
        comparison.put(row, size);
        let is_opened = at + 1 == count && comparison.pair().is_some();
        let opened = if is_opened { open(app) } else { None };
        opened.unwrap_or_default()
    })
}

fn failed(viewer: &mut Viewer, why: String) -> Effects {
    let app = &mut viewer.app;
    // Whoever has left it does not wait for it any more.
    if leave_unfinished(app) {
        app.refuse(why);
    }
    vec![]
}

/// The comparison that is being made, and its place; at most one is.
fn unfinished(app: &mut App) -> Option<(usize, &mut Comparison)> {
    let mut overlays = app.overlays.iter_mut().enumerate();
    overlays.find_map(|(at, overlay)| {
        let one = overlay.cast_mut::<Comparison>()?;
        one.content.is_none().then_some((at, one))
    })
}

/// Returns whether there was one.
fn leave_unfinished(app: &mut App) -> bool {
    let at = unfinished(app).map(|(at, _)| at);
    at.map(|at| app.overlays.remove(at)).is_some()
}

/// The beginning of a recording's id, escaped.
fn short(id: &str) -> String {
    escape(id.get(..4).unwrap_or(id)).into_owned()
}
