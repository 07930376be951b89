//! Findings by rule, and beside or below them what the rule means.
//!
//! ```text
//!  ‼ 1 error   ! 2 warnings   • 0 notes
//!  ▾ ‼ error    frame-not-json           #14  a line … │ error  frame-not-json
//!      #14  starts with "hello"                        │ a line on stdout that is no JSON
//!  ▸ ! warning  request-id-reused    ×2  #9   an id …  │
//!                                                      │ why    the host cannot read on …
//!                                                      │ ▼ 7 more lines: i reads on
//! ```

pub mod explain;
pub mod groups;

use crate::action::Action;
use crate::app::{App, Focus, Session, View};
use crate::effect::{Effect, Effects};
use crate::layout::{self, Sheet};
use crate::panels::detail;
use crate::panels::filter::{self, is, narrowed};
use crate::theme::{self, Glyph, Look, Role};
use crate::widget::cursor::moved;
use crate::widget::frame;
use crate::widget::spans::{self, Spans};
use crate::worker::errand::Place;
use crate::worker::job::{Slot, Source};
use groups::Found;
pub use groups::{Findings, GroupId, Row};
use mcpreel_store::story::FindingGroup;
use mcpreel_trace::query::ast::{Field, Op};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::text::{count, cut, escape, pad_end, pad_start, plural, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// Columns of the rule's name at most; the rest of a longer one is cut.
const RULE: usize = 32;

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let page = usize::from(sheet(app, session).rows.height);
    let state = &mut session.findings;
    match action {
        Action::Open => return Some(open(app, session)),
        Action::Explain => {
            let revision = explain::revision(session);
            let row = session.findings.current()?;
            return Some(app.push(explain::explanation(explained(&row, revision))));
        }
        Action::Toggle => state.fold(None),
        Action::Expand => state.fold(Some(false)),
        Action::Collapse => state.fold(Some(true)),
        action => {
            let places = state.places();
            let at = moved(action, state.at(), places.len(), page)?;
            state.cursor.put(&places, at, page);
        }
    }
    Some(vec![])
}

/// On a group unfolds it, on a finding goes to its frame, on what was not read filters the list to
/// the rule.
fn open(app: &mut App, session: &mut Session) -> Effects {
    let state = &mut session.findings;
    let id = match state.current() {
        Some(Row::More(group, _)) => {
            let rule = [is(Field::Finding, Op::Equal, &group.rule)];
            let query = narrowed(session.filter.in_force(), rule);
            session.view = View::Exchanges;
            return filter::set(app, session, &query.to_string());
        }
        Some(Row::Group(..)) | None => {
            state.fold(None);
            return vec![];
        }
        Some(Row::Finding(finding)) => finding.id,
    };
    let Some(seq) = state.frame() else {
        return app.refuse("this finding has no single frame to go to");
    };
    detail::motion::jump(session, seq, id)
}

/// Asks for what the screen lacks.
pub fn wanted(app: &mut App, session: &mut Session) -> Option<Effect> {
    let counts = session.counts(View::Findings)?;
    let state = &mut session.findings;
    let what = (session.filter.in_force().clone(), state.unfolded.clone());
    let before = state.asked.what.clone();
    (state.asked).renew(what.clone(), counts, app.now.ui_ns)?;
    let (query, unfolded) = what;
    if before.is_some_and(|(before, _)| before != query) {
        state.groups = None;
        state.rows.clear();
    }
    let count = move |source: &Source<'_>, _: &Place<'_>| groups::count(source, &query, &unfolded);
    Some(app.questions.read(Slot::Findings, session, count, found))
}

fn found(app: &mut App, session: &mut Session, found: Found) -> Effects {
    let state = &mut session.findings;
    state.groups = Some(found.groups());
    state.rows.extend(found.rows);
    state.asked.answered_ns = Some(app.now.ui_ns);
    vec![]
}

fn sheet(app: &App, session: &Session) -> Sheet {
    let pane = layout::session(app, session).main;
    layout::sheet(pane).with_rows(session.findings.all().len())
}

/// A click selects a row. Returns whether one is there.
pub fn click(app: &App, session: &mut Session, cell: (u16, u16)) -> bool {
    let rows = sheet(app, session).rows;
    let state = &mut session.findings;
    let places = state.places();
    state.cursor.click(&places, rows, cell)
}

pub fn wheel(app: &App, session: &mut Session, by: isize) {
    let page = usize::from(sheet(app, session).rows.height);
    let rows = session.findings.all().len();
    session.findings.cursor.wheel(by, rows, page);
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let focus = session.focus == Focus::Main;
    let state = &session.findings;
    let rows = state.all();
    let sheet = layout::sheet(area).with_rows(rows.len());
    let foot = foot(look, state, rows.len(), usize::from(sheet.rows.height));
    frame::draw(look, &title(session), &foot, focus, area, frame);
    if state.groups.is_none() {
        return;
    }
    frame.render_widget(spans::line(counts(look, state), *look), sheet.above);
    if rows.is_empty() {
        let text = nothing(app, session);
        return frame.render_widget(Line::styled(text, look.style(Role::Faint)), sheet.rows);
    }
    let cursor = state.at();
    let columns = usize::from(sheet.rows.width);
    let rules = state.groups.iter().flatten().map(|it| width(&it.rule));
    let named = rules.max().unwrap_or(0).min(RULE).min(columns / 2);
    for (at, area) in (state.cursor.top..rows.len()).zip(sheet.rows.rows()) {
        let line = spans::cut(line(look, &rows[at], named), columns);
        frame.render_widget(spans::line(line, *look), area);
        if at == cursor {
            spans::draw(look.style(Role::selected(focus)), area, frame);
        }
    }
    if let Some(row) = rows.get(cursor) {
        let lines = explained(row, explain::revision(session));
        let size = (sheet.aside.width.into(), sheet.aside.height.into());
        let lines = explain::wrapped(&lines, size, &explain::hint(app), look);
        spans::draw_lines(look, lines, sheet.aside, frame);
    }
}

/// Why there is no row, and where failures are: a call may fail without a rule that is broken.
fn nothing(app: &App, session: &Session) -> String {
    if session.filter.is_on() {
        return "no row that fits the filter has a finding".to_owned();
    }
    let none = "no rule has a finding";
    let vitals = session.vitals.as_deref();
    let failed = vitals.map_or(0, |vitals| vitals.summary.failed);
    let keys = app.settings.keymap.keys(Action::NextFailure);
    match keys.first().filter(|_| failed > 0) {
        Some(key) => format!("{none}; {} failed: {key} shows the next", count(failed)),
        None => none.to_owned(),
    }
}

/// `Findings (3 of 12: what fits the filter)`
fn title(session: &Session) -> String {
    let state = &session.findings;
    let fitting: u64 = state.groups.iter().flatten().map(|group| group.count).sum();
    match session.vitals.as_deref().filter(|_| session.filter.is_on()) {
        Some(vitals) => {
            let found = vitals.severities;
            let all = found.errors + found.warnings + found.notes;
            let (fitting, all) = (count(fitting), count(all));
            format!("Findings ({fitting} of {all}: what fits the filter)")
        }
        None => "Findings".to_owned(),
    }
}

/// How far it has counted, and where the cursor is among rows that go on below.
fn foot(look: &Look, state: &Findings, rows: usize, page: usize) -> String {
    let mut parts = Vec::new();
    if state.cursor.top + page < rows {
        let (at, of) = (count(state.at() as u64 + 1), count(rows as u64));
        parts.push(format!("{at} of {of} {}", look.glyph(Glyph::More)));
    }
    if state.groups.is_none() {
        parts.push("counting".to_owned());
    }
    parts.join(&format!(" {} ", look.glyph(Glyph::Dot)))
}

fn counts(look: &Look, state: &Findings) -> Spans {
    let one = |severity: &str| {
        let number = state.count(severity);
        let (glyph, role) = theme::severity(severity);
        let role = if number == 0 { Role::Faint } else { role };
        let text = format!("{} {}   ", look.glyph(glyph), plural(number, severity));
        (role, text)
    };
    ["error", "warning", "note"].map(one).into()
}

/// A row; names of rules have `named` columns.
fn line(look: &Look, row: &Row<'_>, named: usize) -> Spans {
    match row {
        Row::Group(group, unfolded) => group_line(look, group, *unfolded, named),
        Row::Finding(finding) => {
            let seq = finding.frame.map(|seq| format!("#{}", seq.0));
            let seq = seq.unwrap_or_default();
            let text = format!("    {}  {}", pad_end(&seq, 7), escape(&finding.detail));
            let place = finding.path.as_deref().map(escape);
            let place = place.map_or_else(String::new, |place| format!("  {place}"));
            vec![(Role::Text, text), (Role::Faint, place)]
        }
        Row::More(group, left) => {
            let does = match group.count - *left {
                0 => "    reading".to_owned(),
                _ => format!("    {} more; Enter filters the list to them", count(*left)),
            };
            vec![(Role::Faint, does)]
        }
    }
}

/// `▸ ‼ request-lost   ×2  #83    a request without an answer, because…`: its sign says how bad it is, the
/// explanation whatever there is no room for.
fn group_line(look: &Look, group: &FindingGroup, unfolded: bool, named: usize) -> Spans {
    let fold = look.glyph([Glyph::Folded, Glyph::Unfolded][usize::from(unfolded)]);
    let (glyph, role) = theme::severity(&group.severity);
    let times = match group.count {
        1 => String::new(),
        n => format!("{}{}", look.glyph(Glyph::Times), count(n)),
    };
    let first = group.first.map(|seq| format!("#{}", seq.0));
    let summary = mcpreel_lint::rule(&group.rule).map(|rule| rule.summary);
    let name = pad_end(&cut(&escape(&group.rule), named), named);
    vec![
        (Role::Text, format!("{fold} ")),
        (role, format!("{} ", look.glyph(glyph))),
        (Role::Text, format!("{name} {}", pad_start(&times, 4))),
        (
            Role::Faint,
            format!("  {}  ", pad_end(&first.unwrap_or_default(), 5)),
        ),
        (Role::Text, summary.unwrap_or_default().to_owned()),
    ]
}

/// The explanation of a row, which is about a rule or one of its findings.
fn explained(row: &Row<'_>, revision: Option<Revision>) -> Vec<Spans> {
    let group = match row {
        Row::Finding(finding) => return explain::of_finding(finding, revision),
        Row::Group(group, _) | Row::More(group, _) => group,
    };
    let mut lines = explain::lines(&group.rule, &group.severity, None, revision);
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
