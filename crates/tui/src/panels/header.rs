//! The header: who speaks, whether the session is alive, what is known of it.
//!
//! ```text
//!  ● REC 7f3a weather-server 1.4 ⇄ claude-code 2.1   ready   2025-11-25   00:12:31   1 204 exchanges  3 open  2 failed  ‼ 2 ! 5 findings
//! ```
//!
//! What does not fit goes, the least important first; never what failed or waits.

use crate::action::Action;
use crate::app::{App, Session, View};
use crate::panels::footer::{self, Chip};
use crate::panels::shelf;
use crate::theme::{self, Glyph, Look, Role};
use crate::widget::spans;
use crate::worker::{Opening, Vitals};
use mcpreel_share::phrases::{self, recording};
use mcpreel_store::library::Standing;
use mcpreel_trace::session::{End, Phase, Session as Facts};
use mcpreel_wire::text::{clock, count, escape, plural, size, width};
use ratatui::Frame;
use ratatui::layout::{Flex, Position, Rect};

const GAP: usize = 3;

/// A part of the line, with its rank: the highest goes first where there is no room, 0 never.
type Part = (u8, Role, String);

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let columns = usize::from(area.width).saturating_sub(2);
    let parts = shown(app, session, columns);
    let mut line = vec![(Role::Text, " ".to_owned())];
    for (at, (_, role, text)) in parts.into_iter().enumerate() {
        if at > 0 {
            line.push((Role::Text, " ".repeat(GAP)));
        }
        line.push((role, text));
    }
    let line = spans::cut(line, columns + 1);
    frame.render_widget(spans::line(line, app.settings.look), area);
}

fn shown(app: &App, session: &Session, columns: usize) -> Vec<Part> {
    match session.vitals.as_deref() {
        Some(vitals) if session.playback.is_on() => fit(parts_then(app, session, vitals), columns),
        Some(vitals) => fit(parts(app, session, vitals), columns),
        None => vec![opening(session)],
    }
}

/// What a click in the header does: what failed is a filter, findings have a view.
pub fn action_at(app: &App, session: &Session, area: Rect, at: Position) -> Option<Action> {
    let vitals = session.vitals.as_deref().filter(|_| area.contains(at))?;
    let mut end = 1;
    let parts = shown(app, session, usize::from(area.width).saturating_sub(2));
    let part = parts.into_iter().find(|(.., text)| {
        let start = end;
        end += width(text) + GAP;
        (start..end - GAP).contains(&usize::from(at.x - area.x))
    });
    let failed = (failed(vitals), Action::Failures);
    let findings = (findings(&app.settings.look, vitals), Action::Findings);
    let mut numbers = [failed, findings].into_iter();
    numbers.find_map(|(number, action)| (part.is_some() && number == part).then_some(action))
}

fn opening(session: &Session) -> Part {
    let name = session.path.file_stem().unwrap_or_default();
    let name = name.to_string_lossy();
    let name = escape(&name);
    let text = match &session.opening {
        Opening::Unreadable(_) => format!("{name}: cannot be read"),
        _ => format!("opening {name}"),
    };
    (0, Role::Header, text)
}

/// `1 Calls  2 Timeline  3 Stats  4 Findings  5 Server`: the actions, the view that each shows, its
/// name.
const TABS: [(Action, View, &str); 5] = [
    (Action::Exchanges, View::Exchanges, "Calls"),
    (Action::Timeline, View::Timeline, "Timeline"),
    (Action::Stats, View::Stats, "Stats"),
    (Action::Findings, View::Findings, "Findings"),
    (Action::Server, View::Server, "Server"),
];

/// The views with their keys, and where they are.
pub fn tabs(app: &App, session: &Session, area: Rect) -> Vec<(Chip, Rect)> {
    let tab = |(action, view, name)| {
        let key = app.settings.keymap.keys(action).first().copied();
        let key = key.map_or_else(String::new, |key| format!(" {key}"));
        let is_open = session.view == view;
        Chip {
            role: if is_open { Role::Tab } else { Role::Faint },
            text: format!("{key} {name} "),
            action,
        }
    };
    let room = usize::from(area.width);
    let mut tabs: Vec<_> = TABS.map(tab).into();
    while tabs.iter().map(|tab| width(&tab.text)).sum::<usize>() > room {
        // The one that is open stays.
        let last = tabs.iter().rposition(|tab| tab.role == Role::Faint);
        tabs.remove(last.unwrap_or(0));
    }
    footer::place(tabs, Flex::Start, 0, area)
}

/// Leaves out what there is no room for.
fn fit(mut parts: Vec<Part>, columns: usize) -> Vec<Part> {
    let used = |parts: &[Part]| {
        let text: usize = parts.iter().map(|(.., text)| width(text)).sum();
        text + GAP * parts.len().saturating_sub(1)
    };
    while used(&parts) > columns {
        let last = parts.iter().enumerate().max_by_key(|(_, (rank, ..))| *rank);
        match last {
            Some((at, (1.., ..))) => parts.remove(at),
            _ => break,
        };
    }
    parts
}

fn parts(app: &App, session: &Session, vitals: &Vitals) -> Vec<Part> {
    let look = &app.settings.look;
    let summary = &vitals.summary;
    let facts = &summary.session;
    let mut parts = vec![liveness(look, vitals)];
    parts.extend(client(look, vitals));
    let (role, phase) = match facts.phase.end() {
        // A server behind a URL lives on.
        Some(End::Unknown) if summary.context.url.is_some() => (Role::Text, "ended".to_owned()),
        _ => phase(&facts.phase),
    };
    parts.push((1, role, phase));
    parts.extend(version(look, facts).map(|version| (6, Role::Text, version)));
    parts.push((3, Role::Text, clock(session.now(app.now).0)));
    parts.push((4, Role::Text, plural(summary.exchanges, "exchange")));
    if summary.open > 0 {
        parts.push((1, Role::Open, format!("{} open", count(summary.open))));
    }
    parts.extend(failed(vitals));
    parts.extend(findings(look, vitals));
    let other = summary.context.other_side.as_deref();
    let other = other.map(|other| format!("other side {}", escape(other)));
    parts.extend(other.map(|other| (7, Role::Faint, other)));
    parts
}

fn failed(vitals: &Vitals) -> Option<Part> {
    let failed = Some(vitals.summary.failed).filter(|failed| *failed > 0)?;
    Some((0, Role::Bad, format!("{} failed", count(failed))))
}

/// The client; where there are several conversations, their number, as rows have theirs before them.
fn client(look: &Look, vitals: &Vitals) -> Option<Part> {
    let client = match vitals.conversations {
        0 | 1 => phrases::peer(&vitals.summary.session.client)?,
        several => plural(several, "conversation"),
    };
    let client = format!("{} {client}", look.glyph(Glyph::Both));
    Some((5, Role::Text, client))
}

/// `‼ 2 ! 5 findings`, in the colour of the worst; notes where there is nothing worse.
fn findings(look: &Look, vitals: &Vitals) -> Option<Part> {
    let found = vitals.severities;
    let notes = found.notes * u64::from(found.errors + found.warnings == 0);
    let counts = [
        ("error", found.errors),
        ("warning", found.warnings),
        ("note", notes),
    ];
    let counts: Vec<_> = counts
        .into_iter()
        .filter(|(_, number)| *number > 0)
        .collect();
    let (_, role) = theme::severity(counts.first()?.0);
    let signed = counts.iter().map(|(severity, number)| {
        let (glyph, _) = theme::severity(severity);
        format!("{} {}", look.glyph(glyph), count(*number))
    });
    let signed = signed.collect::<Vec<_>>().join(" ");
    let total: u64 = counts.iter().map(|(_, number)| number).sum();
    let word = if total == 1 { "finding" } else { "findings" };
    Some((2, role, format!("{signed} {word}")))
}

/// `« AT #1187 12:04.318   7f3a weather-server 1.4`: what is known at the end says nothing about
/// what was true then.
fn parts_then(app: &App, session: &Session, vitals: &Vitals) -> Vec<Part> {
    let look = &app.settings.look;
    let at = session.playback.told(look).unwrap_or_default();
    let summary = &vitals.summary;
    let server = recording::title_of(summary);
    let name = format!("{} {server}", summary.id.get(..4).unwrap_or_default());
    let mut parts = vec![(0, Role::Warn, at), (1, Role::Header, name)];
    parts.extend(client(look, vitals));
    parts
}

/// `● REC 7f3a weather-server 1.4`, with what is missing in it.
fn liveness(look: &Look, vitals: &Vitals) -> Part {
    let summary = &vitals.summary;
    let (word, role) = match vitals.standing {
        Standing::Live => ("REC ", Role::Good),
        Standing::Cut => ("CUT COPY ", Role::Warn),
        Standing::Pending | Standing::Interrupted => ("INCOMPLETE ", Role::Warn),
        Standing::Finished | Standing::Unreadable => ("", Role::Header),
    };
    let (glyph, _) = shelf::sign(vitals.standing, Some(summary));
    let recovered = summary.state == mcpreel_store::schema::State::Recovered;
    let word = if recovered { "RECOVERED " } else { word };
    let (gap, role) = match summary.gap_bytes {
        0 => (String::new(), role),
        bytes => (format!(" (gap: {})", size(bytes)), Role::Warn),
    };
    let id = summary.id.get(..4).unwrap_or_default();
    let (glyph, server) = (look.glyph(glyph), recording::title_of(summary));
    (0, role, format!("{glyph} {word}{id}{gap} {server}"))
}

fn phase(phase: &Phase) -> (Role, String) {
    match phase.end() {
        None if *phase == Phase::Ready => (Role::Good, phase.as_str().to_owned()),
        None => (Role::Warn, phase.as_str().to_owned()),
        Some(End::Exited { code: 0 }) => (Role::Text, "ended, exit 0".to_owned()),
        Some(End::Exited { code }) => (Role::Bad, format!("ended, exit {code}")),
        Some(End::Killed { signal }) => (Role::Bad, format!("ended by {}", escape(signal))),
        Some(End::NotStarted { .. }) => (Role::Bad, "not started".to_owned()),
        Some(End::Unknown) => (Role::Warn, "ended, unknown how".to_owned()),
    }
}

/// `2025-11-25`, or `2025-11-25 → 2024-11-05` where something else was agreed than asked.
fn version(look: &Look, facts: &Facts) -> Option<String> {
    let (asked, agreed) = (&facts.version_asked, &facts.version_agreed);
    let version = match (asked, agreed) {
        (Some(asked), Some(agreed)) if asked != agreed => {
            let arrow = look.glyph(Glyph::ToServer);
            format!("{} {arrow} {}", escape(asked), escape(agreed))
        }
        (Some(asked), None) => format!("{} asked", escape(asked)),
        (_, Some(agreed)) => escape(agreed).into_owned(),
        (None, None) => return None,
    };
    Some(version)
}
