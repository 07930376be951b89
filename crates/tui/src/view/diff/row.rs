//! A row of the comparison as one line or two.

use super::{WORD, fitted, role, sign, word};
use crate::app::diff::{Compared, DiffRow};
use crate::theme::{Glyph, Look, Role};
use mcpreel_replay::compare::{Change, Class, Excerpt, Label, Row, Verdict};
use mcpreel_wire::json::Kind;
use mcpreel_wire::text::{self, escape, width};
use ratatui::text::{Line, Span};

/// Columns by which nested values are moved in at most.
const INDENT: usize = 20;

/// How wide the two sides are where they stand side by side.
pub(crate) fn columns(width: u16) -> (usize, usize) {
    let room = usize::from(width).saturating_sub(WORD + 3);
    (room / 2, room - room / 2)
}

pub(crate) fn divider(look: &Look) -> String {
    format!(" {} ", look.border().vertical_left)
}

pub(super) fn lines(
    look: &Look,
    compared: &Compared,
    row: DiffRow,
    columns: u16,
    beside: bool,
) -> Vec<Line<'static>> {
    match row {
        DiffRow::Head(half) => {
            let mut text = format!("{}{}", " ".repeat(indent_of_words(columns)), word(half));
            if compared.part(half).comparison.lines.is_empty() {
                text.push_str(": there is none on either side");
            }
            vec![Line::styled(text, look.style(Role::Title))]
        }
        DiffRow::Row(_, Row::Folded { depth, values }) => {
            let drawing = Drawing {
                look,
                depth,
                label: "",
                columns,
                beside,
            };
            let ellipsis = look.glyph(Glyph::Ellipsis);
            let text = format!("{ellipsis} {} unchanged", text::count(values));
            vec![drawing.plain(&drawing.cell(&text), Role::Faint)]
        }
        DiffRow::Row(half, Row::Line(at)) => {
            let Some(line) = compared.part(half).comparison.lines.get(at) else {
                return vec![Line::default()];
            };
            Drawing {
                look,
                depth: line.depth,
                label: &label(&line.label),
                columns,
                beside,
            }
            .lines(&line.verdict)
        }
    }
}

/// Columns that the word of a class takes; none where there is little room.
fn indent_of_words(columns: u16) -> usize {
    if columns < 50 { 2 } else { WORD }
}

struct Drawing<'a> {
    look: &'a Look,
    depth: u16,
    label: &'a str,
    columns: u16,
    beside: bool,
}

impl Drawing<'_> {
    fn lines(&self, verdict: &Verdict) -> Vec<Line<'static>> {
        match verdict {
            Verdict::Within(kind) => {
                let sign = match kind {
                    Kind::Object => "{",
                    Kind::Array => "[",
                    _ => "text",
                };
                vec![self.plain(&self.cell(sign), Role::Text)]
            }
            Verdict::Same(same) => {
                vec![self.plain(&self.cell(&shown(self.look, same)), Role::Faint)]
            }
            Verdict::SameUnkept(values) => {
                let text = format!("{} unchanged", text::count(*values));
                vec![self.plain(&self.cell(&text), Role::Faint)]
            }
            Verdict::NotCompared { .. } => {
                let text = self.cell("not compared, there was too much");
                vec![self.plain(&text, Role::Warn)]
            }
            Verdict::Differs {
                class,
                change,
                left,
                right,
            } => {
                let left = left.as_ref().map(|one| self.cell(&shown(self.look, one)));
                let right = right.as_ref().map(|one| match (change, self.label) {
                    (Change::Outcome, "result") => self.labelled("error", &shown(self.look, one)),
                    (Change::Outcome, _) => self.labelled("result", &shown(self.look, one)),
                    _ => self.cell(&shown(self.look, one)),
                });
                self.differing(*class, left, right)
            }
        }
    }

    fn cell(&self, value: &str) -> String {
        self.labelled(self.label, value)
    }

    fn labelled(&self, label: &str, value: &str) -> String {
        let indent = indent(self.depth);
        match label {
            "" => format!("{indent}{value}"),
            _ => format!("{indent}{label}: {value}"),
        }
    }

    /// What is the same on both sides.
    fn plain(&self, text: &str, role: Role) -> Line<'static> {
        let before = indent_of_words(self.columns);
        if self.beside {
            let (a, b) = columns(self.columns);
            let style = self.look.style(role);
            return Line::from(vec![
                Span::raw(" ".repeat(before)),
                Span::styled(fitted(text, a), style),
                Span::raw(divider(self.look)),
                Span::styled(fitted(text, b), style),
            ]);
        }
        let room = usize::from(self.columns).saturating_sub(before);
        let text = format!("{}{}", " ".repeat(before), text::cut(text, room));
        Line::styled(text, self.look.style(role))
    }

    fn differing(
        &self,
        class: Class,
        left: Option<String>,
        right: Option<String>,
    ) -> Vec<Line<'static>> {
        let style = self.look.style(role(class));
        let before = indent_of_words(self.columns);
        let named = format!("{} {}", sign(self.look, class), class.as_str());
        let named = Span::styled(fitted(&named, before), style);
        if self.beside {
            let (a, b) = columns(self.columns);
            return vec![Line::from(vec![
                named,
                Span::styled(fitted(&left.unwrap_or_default(), a), style),
                Span::raw(divider(self.look)),
                Span::styled(fitted(&right.unwrap_or_default(), b), style),
            ])];
        }
        let room = usize::from(self.columns).saturating_sub(before + 2);
        let mut first = Some(named);
        let sides = [("- ", left), ("+ ", right)];
        let lines = sides.into_iter().filter_map(|(sign, side)| {
            let side = side?;
            let blank = || Span::raw(" ".repeat(before));
            Some(Line::from(vec![
                first.take().unwrap_or_else(blank),
                Span::styled(format!("{sign}{}", text::cut(&side, room)), style),
            ]))
        });
        lines.collect()
    }
}

fn indent(depth: u16) -> String {
    " ".repeat((2 * usize::from(depth.max(1))).min(INDENT))
}

fn label(label: &Label) -> String {
    match label {
        Label::Root => String::new(),
        Label::Member(name) => escape(name).into_owned(),
        Label::Element { key: Some(key), .. } => format!("[{}]", escape(key)),
        Label::Element { left, right, .. } => format!("[{}]", both(*left, *right, 0)),
        Label::TextLine { left, right } => format!("line {}", both(*left, *right, 1)),
    }
}

/// The place on both sides, as one where it is the same.
fn both(left: Option<usize>, right: Option<usize>, from: usize) -> String {
    match (left, right) {
        (Some(left), Some(right)) if left != right => format!("{}/{}", left + from, right + from),
        (left, right) => left.or(right).map_or(0, |at| at + from).to_string(),
    }
}

/// An excerpt on one line, with what is left out.
fn shown(look: &Look, excerpt: &Excerpt) -> String {
    let ellipsis = look.glyph(Glyph::Ellipsis);
    let before = if excerpt.before > 0 { ellipsis } else { "" };
    let text = escape(&excerpt.text);
    match excerpt.after {
        0 => format!("{before}{text}"),
        after => format!("{before}{text}{ellipsis} {} more", text::size(after as u64)),
    }
}

/// An excerpt in lines of at most `columns` columns.
pub(super) fn wrapped(look: &Look, excerpt: &Excerpt, columns: usize) -> Vec<String> {
    let text = shown(look, excerpt);
    let mut lines = vec![String::new()];
    let mut used = 0;
    let mut buffer = [0; 4];
    for letter in text.chars() {
        let wide = width(letter.encode_utf8(&mut buffer));
        if used + wide > columns && used > 0 {
            lines.push(String::new());
            used = 0;
        }
        // A letter that is wider than the line has no place at all.
        if wide <= columns {
            used += wide;
            if let Some(line) = lines.last_mut() {
                line.push(letter);
            }
        }
    }
    lines
}
