//! The row under the cursor in full.

use super::{Places, WORD, role, row, sign, word};
use crate::replay::compare::{Change, Excerpt, Row, Verdict};
use crate::text::{escape, pad_end, width};
use crate::tui::app::diff::{Compared, Diff, DiffRow};
use crate::tui::theme::{Look, Role};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

/// The row under the cursor: its path, in which way it differs, and both values as far as they
/// were kept.
pub(super) fn draw(
    look: &Look,
    diff: &Diff,
    compared: &Compared,
    places: &Places,
    frame: &mut Frame<'_>,
) {
    let Some(DiffRow::Row(half, Row::Line(at))) = compared.rows.get(diff.at).copied() else {
        return;
    };
    let mut areas = places.below.rows();
    let Some(first) = areas.next() else { return };
    let comparison = &compared.part(half).comparison;
    let Some(line) = comparison.lines.get(at) else {
        return;
    };
    let path = comparison.path(at).to_string();
    let path = match path.as_str() {
        "" => word(half).to_owned(),
        path => escape(path).into_owned(),
    };
    let mut spans = vec![Span::styled(format!(" {path}  "), look.style(Role::Title))];
    if let Verdict::Differs { class, change, .. } = &line.verdict {
        let text = format!(
            "{} {}: {}",
            sign(look, *class),
            class.as_str(),
            said(*change)
        );
        spans.push(Span::styled(text, look.style(role(*class))));
    }
    let used: usize = spans.iter().map(|span| width(&span.content)).sum();
    let rest = usize::from(first.width).saturating_sub(used + 1);
    let rule = format!(" {}", look.border().horizontal_top.repeat(rest));
    spans.push(Span::styled(rule, look.style(Role::Border)));
    frame.render_widget(Line::from(spans), first);
    let (left, right) = match &line.verdict {
        Verdict::Differs { left, right, .. } => (left.as_ref(), right.as_ref()),
        Verdict::NotCompared { left, right } => (Some(left), Some(right)),
        Verdict::Same(same) => (Some(same), None),
        Verdict::SameUnkept(_) | Verdict::Within(_) => (None, None),
    };
    let areas: Vec<Rect> = areas.collect();
    in_full(look, left, right, places.beside, &areas, frame);
}

fn in_full(
    look: &Look,
    left: Option<&Excerpt>,
    right: Option<&Excerpt>,
    beside: bool,
    areas: &[Rect],
    frame: &mut Frame<'_>,
) {
    let columns = areas.first().map_or(0, |area| area.width);
    if beside {
        let (a, b) = row::columns(columns);
        let left = left
            .map(|left| row::wrapped(look, left, a))
            .unwrap_or_default();
        let right = right
            .map(|right| row::wrapped(look, right, b))
            .unwrap_or_default();
        for (nth, area) in areas.iter().enumerate() {
            let cell = |lines: &[String]| lines.get(nth).cloned().unwrap_or_default();
            let line = format!(
                "{}{}{}{}",
                " ".repeat(WORD),
                pad_end(&cell(&left), a),
                row::divider(look),
                cell(&right)
            );
            frame.render_widget(Line::raw(line), *area);
        }
        return;
    }
    let room = usize::from(columns).saturating_sub(3);
    let lines = |sign: &'static str, excerpt: Option<&Excerpt>, most: usize| -> Vec<String> {
        let lines = excerpt.map(|one| row::wrapped(look, one, room));
        let lines = lines.unwrap_or_default().into_iter().take(most);
        lines.map(|line| format!(" {sign} {line}")).collect()
    };
    let mut all = lines("-", left, areas.len().div_ceil(2));
    all.extend(lines("+", right, areas.len()));
    for (line, area) in all.into_iter().zip(areas) {
        frame.render_widget(Line::raw(line), *area);
    }
}

/// In which way it differs, for people.
fn said(change: Change) -> &'static str {
    match change {
        Change::Value => "another value",
        Change::Type => "another type",
        Change::Removed => "no longer there",
        Change::Added => "was not there before",
        Change::Order => "another order",
        Change::Outcome => "a result on one side, an error on the other",
    }
}
