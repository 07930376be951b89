//! The row under the cursor in full.

use super::{Places, WORD, role, row, sign, word};
use crate::app::diff::{Compared, Diff, DiffRow};
use crate::theme::{Glyph, Look, Role};
use mcpreel_replay::compare::{Change, Excerpt, Row, Verdict};
use mcpreel_wire::text::{cut, escape, pad_end, plural, size, width};
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
    frame.render_widget(head(look, &path, &line.verdict, first.width), first);
    let (left, right) = match &line.verdict {
        Verdict::Differs { left, right, .. } => (left.as_ref(), right.as_ref()),
        Verdict::NotCompared { left, right } => (Some(left), Some(right)),
        Verdict::Same(same) => (Some(same), None),
        Verdict::SameUnkept(_) | Verdict::Within(_) => (None, None),
    };
    let areas: Vec<Rect> = areas.collect();
    in_full(look, left, right, places.beside, &areas, frame);
}

/// Where the row is, in which way it differs, and a rule up to the border.
fn head(look: &Look, path: &str, verdict: &Verdict, columns: u16) -> Line<'static> {
    let mut spans = vec![Span::styled(format!(" {path}  "), look.style(Role::Title))];
    if let Verdict::Differs { class, change, .. } = verdict {
        let (sign, change) = (sign(look, *class), said(*change));
        let text = format!("{sign} {}: {change}", class.as_str());
        spans.push(Span::styled(text, look.style(role(*class))));
    }
    let used: usize = spans.iter().map(|span| width(&span.content)).sum();
    let rest = usize::from(columns).saturating_sub(used + 1);
    let rule = format!(" {}", look.border().horizontal_top.repeat(rest));
    spans.push(Span::styled(rule, look.style(Role::Border)));
    Line::from(spans)
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
        return side_by_side(look, [left, right], columns, areas, frame);
    }
    let room = usize::from(columns).saturating_sub(3);
    let lines = |sign: &'static str, excerpt: Option<&Excerpt>, most: usize| -> Vec<String> {
        let lines = excerpt.map(|one| shown(look, one, room, most));
        let lines = lines.unwrap_or_default().into_iter();
        lines.map(|line| format!(" {sign} {line}")).collect()
    };
    let half = match right {
        Some(_) => areas.len().div_ceil(2),
        None => areas.len(),
    };
    let mut all = lines("-", left, half);
    all.extend(lines("+", right, areas.len() - all.len()));
    for (line, area) in all.into_iter().zip(areas) {
        frame.render_widget(Line::raw(line), *area);
    }
}

fn side_by_side(
    look: &Look,
    [left, right]: [Option<&Excerpt>; 2],
    columns: u16,
    areas: &[Rect],
    frame: &mut Frame<'_>,
) {
    let (a, b) = row::columns(columns);
    let lines = |excerpt: Option<&Excerpt>, columns| {
        excerpt.map_or_else(Vec::new, |one| shown(look, one, columns, areas.len()))
    };
    let (left, right) = (lines(left, a), lines(right, b));
    for (nth, area) in areas.iter().enumerate() {
        let cell = |lines: &[String]| lines.get(nth).cloned().unwrap_or_default();
        let (margin, divider) = (" ".repeat(WORD), row::divider(look));
        let line = format!(
            "{margin}{}{divider}{}",
            pad_end(&cell(&left), a),
            cell(&right)
        );
        frame.render_widget(Line::raw(line), *area);
    }
}

/// A value in at most `rows` lines. Where that is not all of it, the last one ends with how much
/// is left out.
fn shown(look: &Look, excerpt: &Excerpt, columns: usize, rows: usize) -> Vec<String> {
    let mut lines = row::wrapped(look, excerpt, columns);
    let left = lines.len().saturating_sub(rows);
    lines.truncate(rows);
    if let Some(last) = lines.last_mut().filter(|_| left > 0) {
        let mut more = plural(left as u64, "more line");
        if excerpt.after > 0 {
            more = format!("{more} and {}", size(excerpt.after as u64));
        }
        let more = format!("{} {more}", look.glyph(Glyph::Ellipsis));
        let room = columns.saturating_sub(width(&more));
        *last = cut(&format!("{}{more}", prefix(last, room)), columns);
    }
    lines
}

/// As much of the beginning of `text` as has room.
fn prefix(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let fits = |letter: &char| {
        used += width(letter.encode_utf8(&mut [0; 4]));
        used <= columns
    };
    let end: usize = text.chars().take_while(fits).map(char::len_utf8).sum();
    &text[..end]
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
