//! What is worth a hint: where the keys are, the most useful first.

use crate::action::Action as A;
use crate::app::{App, Focus, Session, View};
use crate::panels::detail::Tab;
use crate::panels::findings::Row;

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
pub(super) const PLAYBACK: &[(A, &str)] = &[
    (A::StepBack, "earlier"),
    (A::StepForward, "later"),
    (A::TimeCursor, "now"),
];

/// What is worth a hint where the keys are now.
pub(super) fn useful(app: &App) -> &'static [(A, &'static str)] {
    match app.session.as_deref() {
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
