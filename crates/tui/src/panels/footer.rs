//! The footer: chips, messages and hints.
//!
//! ```text
//!  FOLLOW ▼  2 selected        copied 412 B        / search  f filter  y copy  : commands  ? help
//! ```
//!
//! Every mode that changes what is seen is a chip. A message takes the place of the hints.

use super::detail::Tab;
use super::text::Weight;
use crate::action::{Action as A, Action};
use crate::app::{App, Focus, Session, View};
use crate::keymap::Key;
use crate::panels::findings::Row;
use crate::theme::{Glyph, Look, Role};
use crate::worker::Slot;
use mcpreel_trace::item::Lens;
use mcpreel_wire::text::{cut, escape, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

const LIBRARY: &[(A, &str)] = &[
    (A::Help, "help"),
    (A::Open, "open"),
    (A::Narrow, "narrow"),
    (A::Back, "quit"),
    (A::Diff, "diff"),
    (A::Replay, "replay"),
    (A::Export, "export"),
    (A::RecordingNote, "note"),
    (A::Delete, "delete"),
    (A::Palette, "commands"),
];

const LIST: &[(A, &str)] = &[
    (A::Help, "help"),
    (A::Filter, "filter"),
    (A::Search, "search"),
    (A::NextFailure, "next failure"),
    (A::Open, "detail"),
    (A::Palette, "commands"),
    (A::Copy, "copy"),
    (A::Replay, "replay"),
    (A::Export, "export"),
    (A::Wire, "wire"),
    (A::Back, "back"),
];

/// In a recording that was made from another one.
const MADE: &[(A, &str)] = &[
    (A::Help, "help"),
    (A::CompareParent, "compare with its recording"),
    (A::Filter, "filter"),
    (A::Search, "search"),
    (A::NextFailure, "next failure"),
    (A::Open, "detail"),
    (A::Palette, "commands"),
    (A::Back, "back"),
];

const DETAIL: &[(A, &str)] = &[
    (A::Help, "help"),
    (A::Toggle, "fold"),
    (A::Representation, "raw"),
    (A::Sides, "sides"),
    (A::Copy, "copy"),
    (A::Close, "back"),
    (A::Palette, "commands"),
];

const STORY: &[(A, &str)] = &[
    (A::Help, "help"),
    (A::Open, "go there"),
    (A::NextPane, "next tab"),
    (A::Close, "back"),
    (A::Palette, "commands"),
];

const STATE: &[(A, &str)] = &[
    (A::Help, "help"),
    (A::StatePane, "close"),
    (A::Down, "scroll"),
    (A::Palette, "commands"),
];

const TIMELINE: &[(A, &str)] = &[
    (A::Help, "help"),
    (A::ZoomIn, "zoom in"),
    (A::ZoomOut, "out"),
    (A::PanLeft, "earlier"),
    (A::PanRight, "later"),
    (A::Exchanges, "list"),
];

const STATS: &[(A, &str)] = &[
    (A::Help, "help"),
    (A::Sort, "sort"),
    (A::SortReverse, "reverse"),
    (A::Open, "filter to row"),
    (A::Exchanges, "list"),
];

const GROUP: &[(A, &str)] = &[
    (A::Help, "help"),
    (A::Toggle, "fold"),
    (A::Exchanges, "list"),
    (A::Palette, "commands"),
];

const FINDING: &[(A, &str)] = &[
    (A::Help, "help"),
    (A::Open, "go there"),
    (A::Toggle, "fold"),
    (A::Exchanges, "list"),
    (A::Palette, "commands"),
];

/// What is worth a hint while the time cursor is on.
pub(crate) const PLAYBACK: &[(A, &str)] = &[
    (A::StepBack, "earlier"),
    (A::StepForward, "later"),
    (A::TimeCursor, "now"),
];

/// What is worth a hint where the keys are now.
pub(crate) fn useful(session: Option<&Session>) -> &'static [(A, &'static str)] {
    match session {
        None => LIBRARY,
        Some(session) => match (session.focus, session.view) {
            (Focus::Detail, _) if session.playback.pane.is_some() => STATE,
            (Focus::Detail, _) if session.detail.tab == Tab::Body => DETAIL,
            (Focus::Detail, _) => STORY,
            (Focus::Main, View::Exchanges) if is_made(session) => MADE,
            (Focus::Main, View::Exchanges) => LIST,
            (Focus::Main, View::Timeline) => TIMELINE,
            (Focus::Main, View::Stats) => STATS,
            (Focus::Main, View::Findings) if is_finding(session) => FINDING,
            (Focus::Main, View::Findings) => GROUP,
        },
    }
}

/// Whether it was made from another recording.
fn is_made(session: &Session) -> bool {
    let vitals = session.vitals.as_deref();
    vitals.is_some_and(|vitals| vitals.summary.parent.is_some())
}

/// Whether the cursor of the findings is on a single one.
fn is_finding(session: &Session) -> bool {
    matches!(session.findings.current(), Some(Row::Finding(_)))
}

/// Columns of how far a replay or an export is.
const REPLAYED: usize = 60;

/// A mode that changes what is seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    pub role: Role,
    pub text: String,
    /// What a click on it does: it ends the mode.
    pub action: Option<Action>,
}

pub fn draw(app: &App, session: Option<&Session>, area: Rect, frame: &mut Frame<'_>) {
    if area.is_empty() {
        return;
    }
    let look = &app.settings.look;
    let columns = usize::from(area.width);
    let mut spans = vec![Span::raw(" ")];
    let mut used = 1;
    for chip in chips(app, session) {
        let text = format!(" {} ", chip.text);
        if used + width(&text) + 1 > columns {
            break;
        }
        used += width(&text) + 1;
        spans.push(Span::styled(text, look.style(chip.role)));
        spans.push(Span::raw(" "));
    }
    let room = columns.saturating_sub(used + 1);
    let right = match app.notices.shown(app.now) {
        Some(notice) => {
            let (glyph, role) = match notice.weight {
                Weight::Success => (Glyph::Ok, Role::Good),
                Weight::Error => (Glyph::Error, Role::Bad),
            };
            let text = cut(&format!("{} {}", look.glyph(glyph), notice.text), room);
            vec![Span::styled(text, look.style(role))]
        }
        None => hints(app, session, room),
    };
    let wide: usize = right.iter().map(|span| width(&span.content)).sum();
    spans.push(Span::raw(" ".repeat(room.saturating_sub(wide))));
    spans.extend(right);
    frame.render_widget(Line::from(spans), area);
}

/// The modes that change what is seen, in the order in which they are shown.
pub fn chips(app: &App, session: Option<&Session>) -> Vec<Chip> {
    let look = &app.settings.look;
    let mut chips = Vec::new();
    if let Some(session) = session {
        chips.extend(session_chips(look, session));
    } else if !app.library.narrow.is_empty() {
        let text = format!("ONLY {}", cut(&escape(&app.library.narrow), 20));
        chips.push(chip(Role::Chip, text, Some(Action::Close)));
    }
    if session.is_none() && !app.library.chosen.is_empty() {
        let text = format!("{} selected", app.library.chosen.len());
        chips.push(chip(Role::Chip, text, Some(Action::Unselect)));
    }
    for (slot, running) in &app.running {
        let (word, stop) = match slot {
            Slot::Replay => ("REPLAY", Action::StopReplay),
            _ => ("EXPORT", Action::StopExport),
        };
        let word = if running.is_stopping {
            "STOPPING"
        } else {
            word
        };
        let text = format!("{word} {}", cut(&running.told, REPLAYED));
        chips.push(chip(Role::ChipWarn, text, Some(stop)));
    }
    if !app.settings.mouse {
        chips.push(chip(Role::Chip, "MOUSE OFF", Some(Action::Mouse)));
    }
    chips
}

fn chip(role: Role, text: impl Into<String>, action: Option<Action>) -> Chip {
    Chip {
        role,
        text: text.into(),
        action,
    }
}

fn session_chips(look: &Look, session: &Session) -> Vec<Chip> {
    let mut chips = Vec::new();
    chips.extend(super::state::chips(look, session));
    if let Some(text) = session.search.status(look.glyph(Glyph::Dot)) {
        chips.push(chip(Role::Chip, text, Some(Action::Close)));
    }
    if session.list.follows() && session.is_live() {
        let text = format!("FOLLOW {}", look.glyph(Glyph::More));
        chips.push(chip(Role::Chip, text, Some(Action::Follow)));
    }
    if session.filter.off {
        chips.push(chip(
            Role::ChipWarn,
            "FILTER OFF",
            Some(Action::FilterToggle),
        ));
    }
    if !session.list.chosen.is_empty() {
        let text = format!("{} selected", session.list.chosen.len());
        chips.push(chip(Role::Chip, text, Some(Action::Unselect)));
    }
    if session.lens == Lens::Wire {
        chips.push(chip(Role::Chip, "WIRE", Some(Action::Wire)));
    }
    if session.zoom {
        chips.push(chip(Role::Chip, "ZOOM", Some(Action::Zoom)));
    }
    chips
}

/// As many hints as fit, the most useful first.
fn hints(app: &App, session: Option<&Session>, room: usize) -> Vec<Span<'static>> {
    let look = &app.settings.look;
    // What lies on top says itself what its keys are.
    if !app.overlays.is_empty() {
        return Vec::new();
    }
    let mut spans = Vec::new();
    let mut used = 0;
    let contexts = app.contexts(session);
    let playing = session.filter(|one| one.playback.is_on());
    let playback = playing.map_or(&[][..], |_| PLAYBACK);
    let useful = useful(session);
    // The way to the help stays first.
    let (help, rest) = useful.split_at(1);
    for (action, word) in [help, playback, rest].into_iter().flatten().copied() {
        // A key that means something else here, as Space while the time cursor is on, is no hint.
        let keymap = &app.settings.keymap;
        let does = |key: &Key| keymap.action(&contexts, *key) == Some(action);
        let Some(key) = keymap.keys(action).into_iter().find(does) else {
            continue;
        };
        let key = key.to_string();
        let wide = width(&key) + 1 + width(word) + 2;
        if used + wide > room {
            continue;
        }
        used += wide;
        spans.push(Span::styled(key, look.style(Role::Key)));
        spans.push(Span::styled(format!(" {word}  "), look.style(Role::Faint)));
    }
    spans
}
