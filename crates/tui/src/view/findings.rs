//! What is wrong: findings by rule, and beside or below them what the rule means.
//!
//! ```text
//!  ✗ 1 error   ⚠ 2 warnings   • 0 notes
//!  ▾ ✗ error    frame-not-json        1  #14  │ error  frame-not-json
//!      #14  starts with "hello"               │ a line on stdout that is no JSON
//!  ▸ ⚠ warning  request-id-reused     2  #9   │
//!                                             │ why    the host cannot read on …
//!                                             │ ▼ 7 more lines: i reads on
//! ```

use crate::action::Action;
use crate::app::findings::{Findings, MOST, Row};
use crate::app::text::Line as TextLine;
use crate::app::{App, Focus, Session, View};
use crate::layout;
use crate::theme::{self, Glyph, Look, Role};
use crate::view::explain;
use crate::widget;
use crate::widget::{highlight, spans};
use mcpreel_store::story::FindingGroup;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::text::{count, cut, escape, pad_end, pad_start, plural, width};
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::text::{Line, Span};

/// From so many columns on the explanation stands beside the list.
const BESIDE: u16 = 100;

/// Columns of the rule's name at most; the rest of a longer one is cut.
const RULE: usize = 32;

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

fn placed(app: &App) -> Option<Parts> {
    let session = app.session.as_deref()?;
    let main = layout::session(app, session).main;
    let shown = session.view == View::Findings && main.width > 2 && main.height > 2;
    shown.then(|| parts(inside(main)))
}

/// What the frame of the pane `area` leaves.
fn inside(area: Rect) -> Rect {
    area.inner(Margin::new(1, 1))
}

/// How many rows the list shows at once.
pub fn page(app: &App) -> usize {
    placed(app).map_or(1, |parts| usize::from(parts.list.height))
}

/// The row at this cell of the screen, counted from the first of all.
pub fn hit(app: &App, (x, y): (u16, u16)) -> Option<usize> {
    let (parts, session) = (placed(app)?, app.session.as_deref()?);
    let inside = parts.list.contains((x, y).into());
    let row = session.findings.top + usize::from(y.saturating_sub(parts.list.y));
    (inside && row < session.findings.all().len()).then_some(row)
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let focus = session.focus == Focus::Main;
    let state = &session.findings;
    let parts = parts(inside(area));
    let rows = state.all();
    let foot = foot(look, state, &rows, usize::from(parts.list.height));
    widget::frame::draw(look, &title(session), &foot, focus, area, frame);
    if state.groups.is_none() {
        return;
    }
    frame.render_widget(counts(look, state), parts.counts);
    if rows.is_empty() && state.percent == 100 {
        frame.render_widget(nothing(look, session), parts.list);
        return;
    }
    let cursor = state.cursor_row(&rows);
    let columns = usize::from(parts.list.width);
    for (at, area) in (state.top..rows.len()).zip(parts.list.rows()) {
        frame.render_widget(line(look, &rows[at], columns), area);
        if at == cursor {
            let role = if focus {
                Role::Selected
            } else {
                Role::SelectedElsewhere
            };
            highlight::draw(look.style(role), area, frame);
        }
    }
    if let Some(row) = rows.get(cursor).filter(|_| !parts.aside.is_empty()) {
        explain(app, session, row, parts.aside, frame);
    }
}

fn nothing(look: &Look, session: &Session) -> Line<'static> {
    let (text, role) = if session.filter.is_on() {
        let text = "no finding is about a row that fits the filter";
        (text, Role::Faint)
    } else {
        ("nothing was found", Role::Good)
    };
    Line::styled(text, look.style(role))
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
fn foot(look: &Look, state: &Findings, rows: &[Row<'_>], page: usize) -> String {
    let mut parts = Vec::new();
    if state.top + page < rows.len() {
        let at = count(state.cursor_row(rows) as u64 + 1);
        let of = count(rows.len() as u64);
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
    let mut spans = Vec::new();
    for severity in ["error", "warning", "note"] {
        let number = state.count(severity);
        let (glyph, role) = theme::severity(severity);
        let role = if number == 0 { Role::Faint } else { role };
        let text = format!("{} {}   ", look.glyph(glyph), plural(number, severity));
        spans.push(Span::styled(text, look.style(role)));
    }
    Line::from(spans)
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
            let text = match group.count == *left {
                true => "    reading".to_owned(),
                false if group.count - *left >= u64::from(MOST) => {
                    format!("    {} more; Enter filters the list to them", count(*left))
                }
                false => format!("    {} more; Enter reads on", count(*left)),
            };
            Line::styled(cut(&text, columns), look.style(Role::Faint))
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

/// What the rule means, and what was found in full.
fn explain(app: &App, session: &Session, row: &Row<'_>, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let lines = explained(row, explain::revision(session));
    let size = (usize::from(area.width), usize::from(area.height));
    let lines = explain::wrapped(&lines, size, &hint(app), look);
    for (line, row) in lines.into_iter().zip(area.rows()) {
        frame.render_widget(spans::line(line, *look), row);
    }
}

/// The explanation of a row, which is about a rule or one of its findings.
pub fn explained(row: &Row<'_>, revision: Option<Revision>) -> Vec<TextLine> {
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
        let text = match (group.count, first == last) {
            (1, _) => format!("once, in #{}", first.0),
            (_, true) => format!("{} times in #{}", count(group.count), first.0),
            (_, false) => format!(
                "{} times, from #{} to #{}",
                count(group.count),
                first.0,
                last.0
            ),
        };
        lines.insert(2, vec![(Role::Faint, text)]);
    }
    lines
}

pub fn hint(app: &App) -> String {
    let keys = app.settings.keymap.keys(Action::Explain);
    let key = keys.first().map(ToString::to_string);
    let key = key.unwrap_or_else(|| format!(":{}", Action::Explain.row().name));
    format!("{key} reads on")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_explanation_is_below_the_list_where_it_is_narrow() {
        let narrow = parts(Rect::new(1, 1, 58, 12));
        assert!(narrow.aside.y >= narrow.list.bottom());
        let wide = parts(Rect::new(1, 1, 150, 12));
        assert!(wide.aside.x > wide.list.right());
        assert!(parts(Rect::new(1, 1, 58, 6)).aside.is_empty());
    }

    #[test]
    fn rows_below_the_last_on_the_screen_are_told_of() {
        let group = |rule: &str| FindingGroup {
            rule: rule.into(),
            severity: "error".into(),
            count: 1,
            first: None,
            last: None,
        };
        let state = Findings {
            groups: Some(vec![group("a"), group("b"), group("c")]),
            percent: 100,
            ..Findings::default()
        };
        let look = Look::default();
        let rows = state.all();
        assert_eq!(foot(&look, &state, &rows, 2), "1 of 3 ▼");
        assert_eq!(foot(&look, &state, &rows, 3), "");
    }
}
