//! The footer: hints, and the modes that change what is seen as chips. Messages stand above it.
//!
//! ```text
//!  └─ ✓ copied 412 B ──────────────────────────────────────────────────────── 12 of 37 ─┘
//!  ? help  q back  Enter open  f filter  / search  : commands       FOLLOW ▼  2 selected
//! ```

use crate::action::{Action, Context};
use crate::app::{App, Focus, Session};
use crate::layout::{self, has_footer};
use crate::notice::Weight;
use crate::panels::detail::shown::Tab;
use crate::panels::menu::Menu;
use crate::theme::{Glyph, Look, Role};
use crate::widget::spans;
use crate::worker::Slot;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Lens;
use mcpreel_wire::text::{count, cut, escape, pad_end, width};
use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Margin, Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::Clear;

/// What is worth a hint wherever its key means it, in the order in which it stands: names of
/// actions, each with the word that is shown where that is another one.
const HINTS: &str = "help, back, open, close, step-back earlier, step-forward later, \
    time-cursor now, next-pane other pane, toggle fold, representation raw, zoom-in zoom in, \
    zoom-out zoom out, pan-left earlier, pan-right later, sort, \
    filter, delete, why, failures, search, next-failure next failure, \
    compare-parent compare with its recording, copy, diff, replay, export, wire, \
    note, zoom, palette commands";

/// Whether an action does something here.
fn is_useful(app: &App, action: Action, session: Option<&Session>) -> bool {
    let contexts = app.contexts(session);
    let is_made = |session: &Session| {
        let vitals = session.vitals.as_deref();
        vitals.is_some_and(|vitals| vitals.summary.parent.is_some())
    };
    let is_playing = session.is_some_and(|session| session.playback.is_on());
    match action {
        Action::Help | Action::Back | Action::Palette => true,
        _ if session.is_none() && app.library.rows.is_empty() => false,
        Action::Close => !contexts.contains(&Context::List) && session.is_some(),
        // Enter does the same there.
        Action::Why => session.is_some(),
        Action::CompareParent => session.is_some_and(is_made),
        Action::TimeCursor => is_playing,
        Action::NextPane => !contexts.contains(&Context::Server),
        _ => true,
    }
}

/// The actions of the hints, and the words that are shown for them.
fn parse() -> impl Iterator<Item = (Option<Action>, &'static str)> {
    HINTS.split(", ").map(|hint| {
        let (name, word) = hint.split_once(' ').unwrap_or((hint, hint));
        (Action::parse(name), word)
    })
}

/// Columns of how far a replay or an export is.
const REPLAYED: usize = 60;

/// What a click does something to: a mode that changes what is seen, a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    pub role: Role,
    pub text: String,
    /// The action of a click: it ends the mode.
    pub action: Action,
}

pub fn draw(app: &App, session: Option<&Session>, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let chips = placed(app, session, area);
    let room = room(&chips, area);
    let mut line = vec![(Role::Text, " ".to_owned())];
    if app.edits_filter() {
        let keys = "Tab completes  Up Down choose  Enter keeps the filter  Esc undoes";
        line.push((Role::Faint, cut(keys, room)));
    }
    let hints = hints(app, session, room).into_iter();
    line.extend(hints.flat_map(|(_, hint)| hint));
    frame.render_widget(spans::line(line, *look), area);
    draw_chips(look, chips, frame);
}

/// The columns that chips leave to the hints.
fn room(chips: &[(Chip, Rect)], area: Rect) -> usize {
    let end = chips.first().map_or(area.right(), |(_, place)| place.x);
    usize::from(end.saturating_sub(area.x + 2))
}

/// The action of the hint under the pointer.
pub fn hint_at(app: &App, session: Option<&Session>, area: Rect, at: Position) -> Option<Action> {
    let room = room(&placed(app, session, area), area);
    let mut right = usize::from(area.x) + 1;
    let mut hints = hints(app, session, room).into_iter();
    let is_it = |(_, hint): &(Action, [_; 2])| {
        right += spans::width(hint);
        usize::from(at.x) < right
    };
    let hint = hints.find(is_it).filter(|_| area.contains(at));
    hint.map(|(action, _)| action)
}

pub fn draw_chips(look: &Look, chips: Vec<(Chip, Rect)>, frame: &mut Frame<'_>) {
    for (chip, place) in chips {
        frame.render_widget(Line::styled(chip.text, look.style(chip.role)), place);
    }
}

/// Draws the message above the last row of the screen.
pub fn draw_notice(app: &App, session: Option<&Session>, screen: Rect, frame: &mut Frame<'_>) {
    let notice = app.notices.shown(app.now);
    let Some(notice) = notice.filter(|_| has_footer(app.size)) else {
        return;
    };
    let look = &app.settings.look;
    let (glyph, role) = match notice.weight {
        Weight::Success => (Glyph::Ok, Role::Good),
        Weight::Error => (Glyph::Failed, Role::Bad),
    };
    let room = screen.width.saturating_sub(2);
    let text = format!(" {} {} ", look.glyph(glyph), notice.text);
    let mut text = cut(&text, room.into());
    let (mut x, mut y) = (screen.x + 1, screen.bottom().saturating_sub(2));
    // On a menu it stands on the frame; on the border of the pane that has the keys, where it fits;
    // in the list of recordings on the rule, where there is one, and else on a whole row.
    let pane = session.map(|session| match layout::session(app, session) {
        places if session.focus == Focus::Main => places.main,
        places => places.detail,
    });
    let fits = |pane: &Rect| width(&text) + 2 <= usize::from(pane.width);
    if let Some(pane) = pane.filter(|pane| app.overlays.is_empty() && fits(pane)) {
        (x, y) = (pane.x + 1, pane.bottom() - 1);
    } else if app.top::<Menu>().is_some() {
        y += 1;
    } else if session.is_none() && app.overlays.is_empty() {
        let about = layout::library(app.size).about;
        if about.is_empty() {
            text = pad_end(&text, room.into());
        } else {
            y = about.y;
        }
    }
    let place = Rect {
        x,
        y,
        width: u16::try_from(width(&text)).unwrap_or(room),
        height: 1,
    };
    frame.render_widget(Clear, place);
    frame.render_widget(Line::styled(text, look.style(role)), place);
}

/// The chips of the footer, and where they are: at the right.
pub fn placed(app: &App, session: Option<&Session>, area: Rect) -> Vec<(Chip, Rect)> {
    let area = area.inner(Margin::new(1, 0));
    place(chips(app, session), Flex::End, 1, area)
}

/// Chips beside each other, and where they are.
pub fn place(chips: Vec<Chip>, flex: Flex, gap: u16, area: Rect) -> Vec<(Chip, Rect)> {
    let wide = |chip: &Chip| Constraint::Length(u16::try_from(width(&chip.text)).unwrap_or(0));
    let row = Layout::horizontal(chips.iter().map(wide)).flex(flex);
    let places = row.spacing(gap).split(area);
    chips.into_iter().zip(places.iter().copied()).collect()
}

/// The modes that change what is seen, in the order in which they are shown.
fn chips(app: &App, session: Option<&Session>) -> Vec<Chip> {
    let mut chips = Vec::new();
    if let Some(session) = session {
        chips.extend(session_chips(app, session));
    } else {
        let library = &app.library;
        if !library.narrow.is_empty() {
            let text = format!("ONLY {}", cut(&escape(&library.narrow), 20));
            chips.push(chip(Role::Chip, text, Action::Close));
        }
        chips.extend(selected(library.marked.len()));
    }
    for (slot, running) in &app.running {
        let word = match slot {
            Slot::Replay => "REPLAY",
            _ => "EXPORT",
        };
        let word = [word, "STOPPING"][usize::from(running.is_stopping)];
        let text = format!("{word} {}", cut(&running.told, REPLAYED));
        chips.push(chip(Role::ChipWarn, text, Action::Cancel));
    }
    if !app.settings.mouse {
        chips.push(chip(Role::Chip, "MOUSE OFF", Action::Mouse));
    }
    chips
}

fn chip(role: Role, text: impl AsRef<str>, action: Action) -> Chip {
    let text = format!(" {} ", text.as_ref());
    Chip { role, text, action }
}

fn selected(number: usize) -> Option<Chip> {
    let text = format!("{number} selected");
    (number > 0).then(|| chip(Role::Chip, text, Action::Unselect))
}

fn session_chips(app: &App, session: &Session) -> impl Iterator<Item = Chip> {
    let look = &app.settings.look;
    let playback = &session.playback;
    let paused = playback.paused.map(|paused| {
        let last = session.last().filter(|last| *last > paused);
        let text = |last: Seq| format!("PAUSED, {} new frames", count(last.0 - paused.0));
        last.map_or_else(|| "PAUSED".to_owned(), text)
    });
    let follows = session.list.follows() && session.is_live();
    let follows = follows.then(|| format!("FOLLOW {}", look.glyph(Glyph::More)));
    let if_on = |is_on: bool, text: &str| is_on.then(|| text.to_owned());
    // The chip says how to leave.
    let keyed = |is_on: bool, text: &str, action| {
        let keys = app.settings.keymap.keys(action);
        let key = keys
            .first()
            .map_or_else(String::new, |key| format!(" {key}"));
        is_on.then(|| format!("{text}{key}"))
    };
    let is_wire = session.lens == Lens::Wire;
    let before = [
        (Role::ChipWarn, playback.told(look), Action::TimeCursor),
        (Role::ChipWarn, paused, Action::Pause),
        (
            Role::Chip,
            session.search.status(look.glyph(Glyph::Dot)),
            Action::Close,
        ),
        (Role::Chip, follows, Action::Bottom),
        (
            Role::ChipWarn,
            if_on(session.filter.off, "FILTER OFF"),
            Action::FilterToggle,
        ),
        (
            Role::Chip,
            keyed(is_wire, "WIRE", Action::Wire),
            Action::Wire,
        ),
        (
            Role::Chip,
            keyed(session.zoom, "ZOOM", Action::Zoom),
            Action::Zoom,
        ),
    ];
    let on = |(role, text, action): (_, Option<String>, _)| Some(chip(role, text?, action));
    let selected = selected(session.list.to_compare.len());
    before.into_iter().filter_map(on).chain(selected)
}

/// The actions whose hints fit, the most useful first, each with key and word.
fn hints(app: &App, session: Option<&Session>, room: usize) -> Vec<(Action, [(Role, String); 2])> {
    let (mut hints, mut used) = (Vec::new(), 0);
    // What lies on top says itself what its keys are.
    if !app.overlays.is_empty() {
        return hints;
    }
    let contexts = app.contexts(session);
    let useful = parse().filter_map(|(action, word)| Some((action?, word)));
    for (action, word) in useful.filter(|(action, _)| is_useful(app, *action, session)) {
        let keymap = &app.settings.keymap;
        let is_value = action == Action::Open
            && contexts.first() == Some(&Context::Detail)
            && session.is_some_and(|session| session.detail.tab() == Tab::Body);
        let word = if is_value { "in full" } else { word };
        // A key that means something else here, as Space while the time cursor is on, is no hint.
        let mut keys = keymap.keys(action).into_iter();
        let key = keys.find(|key| keymap.action(&contexts, *key) == Some(action));
        let word = format!(" {word}  ");
        let hint = key.map(|key| [(Role::Key, key.to_string()), (Role::Faint, word)]);
        let fits = |hint: &[_; 2]| used + spans::width(hint) <= room;
        if let Some(hint) = hint.filter(fits) {
            used += spans::width(&hint);
            hints.push((action, hint));
        }
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_about_actions_that_there_are() {
        for (action, word) in parse() {
            assert!(action.is_some(), "{word}");
        }
    }
}
