//! The footer: chips, messages and hints.
//!
//! ```text
//!  FOLLOW ▼  2 selected        copied 412 B        / search  f filter  y copy  : commands  ? help
//! ```
//!
//! Every mode that changes what is seen is a chip. A message takes the place of the hints.

use super::detail::Tab;
use crate::action::Action;
use crate::app::{App, Focus, Session, View};
use crate::notice::Weight;
use crate::panels::findings::Row;
use crate::theme::{Glyph, Look, Role};
use crate::widget::spans::{self, Spans};
use crate::worker::Slot;
use mcpreel_trace::item::Lens;
use mcpreel_wire::text::{count, cut, escape, width};
use ratatui::Frame;
use ratatui::layout::Rect;

// What is worth a hint, the most useful first: names of actions, each with the word that is shown
// where that is another one.

const LIBRARY: &str = "help, open, narrow, back quit, diff, replay, export, recording-note note, \
    delete, palette commands";

const LIST: &str = "help, filter, search, next-failure next failure, open detail, \
    palette commands, copy, replay, export, wire, back";

/// In a recording that was made from another one.
const MADE: &str = "help, compare-parent compare with its recording, filter, search, \
    next-failure next failure, open detail, palette commands, back";

const DETAIL: &str = "help, next-pane story and findings, toggle fold, representation raw, sides, \
    copy, close back, palette commands";

const STORY: &str = "help, open go there, next-pane next tab, close back, palette commands";

const STATE: &str = "help, state close, down scroll, palette commands";

const TIMELINE: &str = "help, zoom-in zoom in, zoom-out out, pan-left earlier, pan-right later, \
    exchanges list";

const STATS: &str = "help, sort, sort-reverse reverse, open filter to row, exchanges list";

const GROUP: &str = "help, toggle fold, exchanges list, palette commands";

const FINDING: &str = "help, open go there, toggle fold, exchanges list, palette commands";

/// While the time cursor is on.
const PLAYBACK: &str = "step-back earlier, step-forward later, time-cursor now, state";

/// The hints for the pane that has the keys.
fn useful(session: Option<&Session>) -> &'static str {
    let Some(session) = session else {
        return LIBRARY;
    };
    let vitals = session.vitals.as_deref();
    let is_made = vitals.is_some_and(|vitals| vitals.summary.parent.is_some());
    let is_finding = matches!(session.findings.current(), Some(Row::Finding(_)));
    match (session.focus, session.view) {
        (Focus::Detail, _) if session.playback.pane.is_some() => STATE,
        (Focus::Detail, _) if session.detail.tab == Tab::Body => DETAIL,
        (Focus::Detail, _) => STORY,
        (Focus::Main, View::Exchanges) if is_made => MADE,
        (Focus::Main, View::Exchanges) => LIST,
        (Focus::Main, View::Timeline) => TIMELINE,
        (Focus::Main, View::Stats) => STATS,
        (Focus::Main, View::Findings) if is_finding => FINDING,
        (Focus::Main, View::Findings) => GROUP,
    }
}

/// The actions of such a text, and the words that are shown for them.
fn parse(hints: &'static str) -> impl Iterator<Item = (Option<Action>, &'static str)> {
    hints.split(", ").map(|hint| {
        let (name, word) = hint.split_once(' ').unwrap_or((hint, hint));
        (Action::parse(name), word)
    })
}

/// Columns of how far a replay or an export is.
const REPLAYED: usize = 60;

/// A mode that changes what is seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    pub role: Role,
    pub text: String,
    /// The action of a click: it ends the mode.
    pub action: Action,
}

pub fn draw(app: &App, session: Option<&Session>, area: Rect, frame: &mut Frame<'_>) {
    if area.is_empty() {
        return;
    }
    let look = &app.settings.look;
    let columns = usize::from(area.width);
    let blank = |columns: usize| (Role::Text, " ".repeat(columns));
    let mut line = vec![blank(1)];
    for chip in chips(app, session) {
        let text = format!(" {} ", chip.text);
        if spans::width(&line) + width(&text) + 1 > columns {
            break;
        }
        line.extend([(chip.role, text), blank(1)]);
    }
    let room = columns.saturating_sub(spans::width(&line) + 1);
    let right = match app.notices.shown(app.now) {
        Some(notice) => {
            let (glyph, role) = match notice.weight {
                Weight::Success => (Glyph::Ok, Role::Good),
                Weight::Error => (Glyph::Error, Role::Bad),
            };
            let text = format!("{} {}", look.glyph(glyph), notice.text);
            vec![(role, cut(&text, room))]
        }
        None => hints(app, session, room),
    };
    line.push(blank(room.saturating_sub(spans::width(&right))));
    line.extend(right);
    frame.render_widget(spans::line(line, *look), area);
}

/// The modes that change what is seen, in the order in which they are shown.
pub fn chips(app: &App, session: Option<&Session>) -> Vec<Chip> {
    let look = &app.settings.look;
    let mut chips = Vec::new();
    if let Some(session) = session {
        chips.extend(session_chips(look, session));
    } else {
        let library = &app.library;
        if !library.narrow.is_empty() {
            let text = format!("ONLY {}", cut(&escape(&library.narrow), 20));
            chips.push(chip(text, Action::Close));
        }
        chips.extend(selected(library.to_compare.len()));
    }
    for (slot, running) in &app.running {
        let (word, stop) = match slot {
            Slot::Replay => ("REPLAY", Action::StopReplay),
            _ => ("EXPORT", Action::StopExport),
        };
        let word = [word, "STOPPING"][usize::from(running.is_stopping)];
        let text = format!("{word} {}", cut(&running.told, REPLAYED));
        chips.push(warning(text, stop));
    }
    if !app.settings.mouse {
        chips.push(chip("MOUSE OFF", Action::Mouse));
    }
    chips
}

fn chip(text: impl Into<String>, action: Action) -> Chip {
    Chip {
        role: Role::Chip,
        text: text.into(),
        action,
    }
}

fn warning(text: impl Into<String>, action: Action) -> Chip {
    Chip {
        role: Role::ChipWarn,
        ..chip(text, action)
    }
}

fn selected(number: usize) -> Option<Chip> {
    (number > 0).then(|| chip(format!("{number} selected"), Action::Unselect))
}

fn session_chips(look: &Look, session: &Session) -> Vec<Chip> {
    let mut chips = Vec::new();
    let playback = &session.playback;
    let cursor = playback.told(look);
    chips.extend(cursor.map(|text| warning(text, Action::TimeCursor)));
    if let Some(paused) = playback.paused {
        let text = match session.last().filter(|last| *last > paused) {
            Some(last) => format!("PAUSED, {} new frames", count(last.0 - paused.0)),
            None => "PAUSED".to_owned(),
        };
        chips.push(warning(text, Action::Pause));
    }
    let search = session.search.status(look.glyph(Glyph::Dot));
    chips.extend(search.map(|text| chip(text, Action::Close)));
    if session.list.follows() && session.is_live() {
        let text = format!("FOLLOW {}", look.glyph(Glyph::More));
        chips.push(chip(text, Action::Follow));
    }
    if session.filter.off {
        chips.push(warning("FILTER OFF", Action::FilterToggle));
    }
    chips.extend(selected(session.list.to_compare.len()));
    if session.lens == Lens::Wire {
        chips.push(chip("WIRE", Action::Wire));
    }
    if session.zoom {
        chips.push(chip("ZOOM", Action::Zoom));
    }
    chips
}

/// The hints that fit, the most useful first.
fn hints(app: &App, session: Option<&Session>, room: usize) -> Spans {
    let mut hints = Spans::new();
    // What lies on top says itself what its keys are.
    if !app.overlays.is_empty() {
        return hints;
    }
    let contexts = app.contexts(session);
    let is_playing = session.is_some_and(|session| session.playback.is_on());
    let playback = parse(PLAYBACK).filter(|_| is_playing);
    let mut useful = parse(useful(session));
    // The way to the help stays first.
    let help = useful.next();
    for (action, word) in help.into_iter().chain(playback).chain(useful) {
        let keymap = &app.settings.keymap;
        // A key that means something else here, as Space while the time cursor is on, is no hint.
        let keys = action.map_or_else(Vec::new, |action| keymap.keys(action));
        let mut keys = keys.into_iter();
        let key = keys.find(|key| keymap.action(&contexts, *key) == action);
        let word = format!(" {word}  ");
        let hint = key.map(|key| [(Role::Key, key.to_string()), (Role::Faint, word)]);
        let fits = |hint: &[_; 2]| spans::width(&hints) + spans::width(hint) <= room;
        hints.extend(hint.filter(fits).into_iter().flatten());
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_about_actions_that_there_are() {
        let all = [
            LIBRARY, LIST, MADE, DETAIL, STORY, STATE, TIMELINE, STATS, GROUP, FINDING, PLAYBACK,
        ];
        for (action, word) in all.into_iter().flat_map(parse) {
            assert!(action.is_some(), "{word}");
        }
    }
}
