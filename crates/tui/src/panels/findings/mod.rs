//! Findings by rule, and beside or below them what the rule means.
//!
//! ```text
//!  ✗ 1 error   ⚠ 2 warnings   • 0 notes
//!  ▾ ✗ error    frame-not-json        1  #14  │ error  frame-not-json
//!      #14  starts with "hello"               │ a line on stdout that is no JSON
//!  ▸ ⚠ warning  request-id-reused     2  #9   │
//!                                             │ why    the host cannot read on …
//!                                             │ ▼ 7 more lines: i reads on
//! ```

pub mod counting;
pub mod explain;

use super::text::Line as TextLine;
use crate::action::Action;
use crate::app::{App, Focus, Session, View};
use crate::effect::Effects;
use crate::layout;
use crate::panels::detail;
use crate::panels::filter::{self, all_of, conditions};
use crate::theme::{self, Glyph, Look, Role};
use crate::widget::cursor::moved;
use crate::widget::{frame, spans};
use crate::worker::job::Slot;
use counting::{Counting, Found, id_of};
pub use counting::{Findings, GroupId, Row};
use mcpreel_store::story::FindingGroup;
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Value};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::text::{count, cut, escape, pad_end, pad_start, plural, width};
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::text::{Line, Span};

/// Findings of one group that are read at most. Nobody reads on, and the list can be filtered.
const MOST: u32 = 5_000;

/// From so many columns on the explanation stands beside the list.
const BESIDE: u16 = 100;

/// Columns of the rule's name at most; the rest of a longer one is cut.
const RULE: usize = 32;

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let page = page(app, session);
    let state = &mut session.findings;
    match action {
        Action::Open => return Some(open(app, session)),
        Action::Explain => explain(app, session),
        Action::Toggle => state.toggle(),
        Action::Expand => state.fold(false),
        Action::Collapse => state.fold(true),
        action => {
            let places = state.places();
            let at = moved(action, state.at(), places.len(), page)?;
            state.cursor.put(&places, at, page);
        }
    }
    Some(vec![])
}

/// On a group unfolds it, on a finding goes to its frame, on what was left out reads more.
fn open(app: &mut App, session: &mut Session) -> Effects {
    let state = &mut session.findings;
    let id = match state.current() {
        Some(Row::More(group, _)) => {
            let group = id_of(group);
            return more(app, session, &group);
        }
        Some(Row::Group(..)) | None => {
            state.toggle();
            return vec![];
        }
        Some(Row::Finding(finding)) => finding.id,
    };
    let Some(seq) = state.frame() else {
        let text = "this finding is about no single frame";
        app.notices.error(text, app.now);
        return vec![];
    };
    detail::keys::jump(session, seq, id)
}

/// Shows what the rule of the row under the cursor means.
fn explain(app: &mut App, session: &mut Session) {
    if let Some(row) = session.findings.current() {
        let lines = explained(&row, explain::revision(session));
        app.push(explain::explanation(lines));
    }
}

/// Reads more of a group, or where that is too much filters the list to it.
fn more(app: &mut App, session: &mut Session, group: &GroupId) -> Effects {
    let wanted = session.findings.unfolded.get_mut(group);
    if let Some(wanted) = wanted.filter(|wanted| **wanted < MOST) {
        *wanted = wanted.saturating_mul(4).min(MOST);
        return vec![];
    }
    session.view = View::Exchanges;
    let mut all = conditions(session.filter.in_force());
    all.push(Expr::Compare {
        subject: Subject::Field(Field::Finding),
        op: Op::Equal,
        value: Value::Text {
            text: group.0.clone(),
            quoted: false,
        },
    });
    filter::set(app, session, &all_of(all).to_string())
}

/// Something was counted.
fn found(_: &mut App, session: &mut Session, found: Found) -> Effects {
    let state = &mut session.findings;
    state.groups = Some(found.groups);
    state.rows.extend(found.rows);
    state.percent = found.percent;
    vec![]
}

/// Asks for what the screen lacks.
pub fn wanted(app: &mut App, session: &mut Session) -> Effects {
    if session.view != View::Findings || session.vitals.is_none() {
        return vec![];
    }
    let state = &mut session.findings;
    let asked = (session.filter.in_force().clone(), state.unfolded.clone());
    if state.asked.as_ref() == Some(&asked) {
        return vec![];
    }
    if state
        .asked
        .as_ref()
        .is_some_and(|(query, _)| *query != asked.0)
    {
        state.groups = None;
        state.rows.clear();
    }
    let known = state.groups.is_some() && state.percent == 100;
    let job = Counting::new(asked.0.clone(), &state.unfolded, known);
    state.asked = Some(asked);
    vec![app.questions.ask(Slot::Findings, job, found)]
}

/// A click selects a row.
pub fn click(app: &mut App, session: &mut Session, cell: (u16, u16)) -> Effects {
    let (row, page) = (hit(app, session, cell), page(app, session));
    if let Some(row) = row {
        let places = session.findings.places();
        session.findings.cursor.put(&places, row, page);
    }
    vec![]
}

pub fn wheel(app: &mut App, session: &mut Session, by: isize) -> Effects {
    let page = page(app, session);
    let rows = session.findings.all().len();
    session.findings.cursor.wheel(by, rows, page);
    vec![]
}

/// Where the parts of the panel are; empty where there is no room for one.
struct Parts {
    counts: Rect,
    list: Rect,
    aside: Rect,
}

fn parts(inner: Rect) -> Parts {
    let lines = u16::from(inner.height >= 6);
    let counts = Rect {
        height: lines,
        ..inner
    };
    let mut list = Rect {
        y: inner.y + lines,
        height: inner.height - lines,
        ..inner
    };
    let mut aside = Rect::default();
    if list.width >= BESIDE {
        list.width = list.width * 3 / 5;
        aside = Rect {
            x: list.right() + 2,
            width: (inner.width - list.width).saturating_sub(2),
            ..list
        };
    } else if list.height >= 8 {
        let height = (list.height * 2 / 5).max(4);
        list.height -= height;
        aside = Rect {
            y: list.bottom(),
            height,
            ..list
        };
    }
    Parts {
        counts,
        list,
        aside,
    }
}

fn placed(app: &App, session: &Session) -> Option<Parts> {
    let main = layout::session(app, session).main;
    (session.view == View::Findings).then(|| parts(main.inner(Margin::new(1, 1))))
}

/// How many rows the list shows at once.
fn page(app: &App, session: &Session) -> usize {
    placed(app, session).map_or(1, |parts| usize::from(parts.list.height))
}

/// The row at this cell of the screen, counted from the first of all.
pub fn hit(app: &App, session: &Session, (x, y): (u16, u16)) -> Option<usize> {
    let parts = placed(app, session)?;
    let inside = parts.list.contains((x, y).into());
    let row = session.findings.cursor.top + usize::from(y.saturating_sub(parts.list.y));
    (inside && row < session.findings.all().len()).then_some(row)
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let focus = session.focus == Focus::Main;
    let state = &session.findings;
    let parts = parts(area.inner(Margin::new(1, 1)));
    let rows = state.all();
    let foot = foot(look, state, rows.len(), usize::from(parts.list.height));
    frame::draw(look, &title(session), &foot, focus, area, frame);
    if state.groups.is_none() {
        return;
    }
    frame.render_widget(counts(look, state), parts.counts);
    if rows.is_empty() && state.percent == 100 {
        let (text, role) = if session.filter.is_on() {
            (
                "no finding is about a row that fits the filter",
                Role::Faint,
            )
        } else {
            ("nothing was found", Role::Good)
        };
        return frame.render_widget(Line::styled(text, look.style(role)), parts.list);
    }
    let cursor = state.at();
    let columns = usize::from(parts.list.width);
    for (at, area) in (state.cursor.top..rows.len()).zip(parts.list.rows()) {
        frame.render_widget(line(look, &rows[at], columns), area);
        if at == cursor {
            let role = if focus {
                Role::Selected
            } else {
                Role::SelectedElsewhere
            };
            spans::draw(look.style(role), area, frame);
        }
    }
    if let Some(row) = rows.get(cursor) {
        let lines = explained(row, explain::revision(session));
        let size = (
            usize::from(parts.aside.width),
            usize::from(parts.aside.height),
        );
        let lines = explain::wrapped(&lines, size, &explain::hint(app), look);
        for (line, row) in lines.into_iter().zip(parts.aside.rows()) {
            frame.render_widget(spans::line(line, *look), row);
        }
    }
}

/// `Findings (3 of 12: what fits the filter)`
fn title(session: &Session) -> String {
    let state = &session.findings;
    let all = session.vitals.as_deref();
    let all = all.map(|vitals| count(vitals.summary.findings));
    let fitting: u64 = state.groups.iter().flatten().map(|group| group.count).sum();
    match (session.filter.is_on(), all) {
        (false, _) => "Findings".to_owned(),
        (true, Some(all)) if state.percent == 100 => {
            format!(
                "Findings ({} of {all}: what fits the filter)",
                count(fitting)
            )
        }
        (true, _) => "Findings (what fits the filter)".to_owned(),
    }
}

/// How far it has counted, and where the cursor is among rows that go on below.
fn foot(look: &Look, state: &Findings, rows: usize, page: usize) -> String {
    let mut parts = Vec::new();
    if state.cursor.top + page < rows {
        let (at, of) = (count(state.at() as u64 + 1), count(rows as u64));
        parts.push(format!("{at} of {of} {}", look.glyph(Glyph::More)));
    }
    match state.groups {
        None => parts.push("counting".to_owned()),
        Some(_) if state.percent < 100 => {
            parts.push(format!("counting {} %: so far", state.percent));
        }
        Some(_) => {}
    }
    parts.join(&format!(" {} ", look.glyph(Glyph::Dot)))
}

fn counts(look: &Look, state: &Findings) -> Line<'static> {
    let one = |severity: &str| {
        let number = state.count(severity);
        let (glyph, role) = theme::severity(severity);
        let role = if number == 0 { Role::Faint } else { role };
        let text = format!("{} {}   ", look.glyph(glyph), plural(number, severity));
        Span::styled(text, look.style(role))
    };
    Line::from_iter(["error", "warning", "note"].map(one))
}

fn line(look: &Look, row: &Row<'_>, columns: usize) -> Line<'static> {
    match row {
        Row::Group(group, unfolded) => group_line(look, group, *unfolded, columns),
        Row::Finding(finding) => {
            let seq = finding
                .frame
                .map_or_else(String::new, |seq| format!("#{}", seq.0));
            let text = format!("    {}  {}", pad_end(&seq, 7), escape(&finding.detail));
            let place = finding.path.as_deref().map(escape);
            let place = place.map_or_else(String::new, |place| format!("  {place}"));
            let line = vec![(Role::Text, text), (Role::Faint, place)];
            spans::line(spans::cut(line, columns), *look)
        }
        Row::More(group, left) => {
            let does = match group.count - *left {
                0 => "    reading".to_owned(),
                read if read >= u64::from(MOST) => {
                    format!("    {} more; Enter filters the list to them", count(*left))
                }
                _ => format!("    {} more; Enter reads on", count(*left)),
            };
            Line::styled(cut(&does, columns), look.style(Role::Faint))
        }
    }
}

fn group_line(look: &Look, group: &FindingGroup, unfolded: bool, columns: usize) -> Line<'static> {
    let fold = look.glyph(if unfolded {
        Glyph::Unfolded
    } else {
        Glyph::Folded
    });
    let (glyph, role) = theme::severity(&group.severity);
    let severity = pad_end(&escape(&group.severity), 7);
    let number = pad_start(&count(group.count), 5);
    let first = group
        .first
        .map_or_else(String::new, |seq| format!("  #{}", seq.0));
    let used = width(&number) + width(&first) + width(&severity) + 8;
    let room = columns.saturating_sub(used).min(RULE);
    let named = pad_end(&cut(&escape(&group.rule), room), room);
    Line::from(vec![
        Span::raw(format!("{fold} ")),
        Span::styled(
            format!("{} {severity}", look.glyph(glyph)),
            look.style(role),
        ),
        Span::raw(format!("  {named}  {number}")),
        Span::styled(first, look.style(Role::Faint)),
    ])
}

/// The explanation of a row, which is about a rule or one of its findings.
fn explained(row: &Row<'_>, revision: Option<Revision>) -> Vec<TextLine> {
    let group = match row {
        Row::Finding(finding) => return explain::lines((*finding).into(), revision),
        Row::Group(group, _) | Row::More(group, _) => group,
    };
    let subject = explain::Subject {
        rule: &group.rule,
        severity: &group.severity,
        finding: None,
    };
    let mut lines = explain::lines(subject, revision);
    if let (Some(first), Some(last)) = (group.first, group.last) {
        let times = count(group.count);
        let text = match (group.count, first == last) {
            (1, _) => format!("once, in #{}", first.0),
            (_, true) => format!("{times} times in #{}", first.0),
            (_, false) => format!("{times} times, from #{} to #{}", first.0, last.0),
        };
        lines.insert(2, vec![(Role::Faint, text)]);
    }
    lines
}
