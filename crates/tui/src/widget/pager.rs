//! A text that is read: wrapped, scrolled, in a frame.

use super::cursor::moved;
use super::frame;
use super::spans::{self, Spans};
use crate::action::Action;
use crate::theme::{Glyph, Look};
use mcpreel_wire::text::{plural, width, wrap};
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::widgets::Clear;

/// A narrower column is harder to read than none.
const MIN_COLUMN: usize = 16;

#[derive(Debug, Default)]
pub struct Text {
    pub title: String,
    /// The lines, escaped.
    pub lines: Vec<Spans>,
    /// The first line on the screen.
    pub top: usize,
    /// Another page, to which Tab goes.
    pub next: Option<Box<Text>>,
    /// What is found in place of the lines, where these are no sentences, each with what it does.
    pub index: Vec<(String, Action)>,
}

impl Text {
    pub fn new(title: impl Into<String>, lines: Vec<Spans>) -> Self {
        Self {
            title: title.into(),
            lines,
            ..Self::default()
        }
    }

    /// Goes to the other page, if there is one.
    pub fn turn_page(&mut self) -> Option<()> {
        let mut next = self.next.take()?;
        std::mem::swap(self, &mut next);
        self.next = Some(next);
        Some(())
    }

    /// The widest line, and how many lines there are in so many columns.
    pub fn extent(&self, columns: u16) -> (usize, usize) {
        let lines = self.lines.iter().map(|line| spans::width(line));
        let widest = lines.chain([width(&self.title) + 2]).max();
        (widest.unwrap_or(0), self.wrapped(columns).len())
    }

    fn wrapped(&self, columns: u16) -> Vec<Spans> {
        let lines = self.lines.iter();
        lines
            .flat_map(|line| wrapped(line, columns.into()))
            .collect()
    }

    /// Scrolls as the action says, in a frame of this size; `None` if the action is no motion.
    pub fn scroll(&mut self, action: Action, frame: Rect) -> Option<()> {
        let inner = frame.inner(Margin::new(1, 1));
        let page = usize::from(inner.height);
        let tops = self.wrapped(inner.width).len().saturating_sub(page) + 1;
        self.top = moved(action, self.top.min(tops - 1), tops, page)?;
        Some(())
    }

    /// The wheel was turned by so many rows.
    pub fn turn(&mut self, by: isize, frame: Rect) {
        let inner = frame.inner(Margin::new(1, 1));
        let rows = self.wrapped(inner.width).len();
        self.top = frame::turned(self.top, by, rows, inner.height.into());
    }

    /// Draws the text; `closes` says which key closes it.
    pub fn draw(
        &self,
        look: &Look,
        closes: &str,
        has_keys: bool,
        area: Rect,
        frame: &mut Frame<'_>,
    ) {
        frame.render_widget(Clear, area);
        let inner = area.inner(Margin::new(1, 1));
        let lines = self.wrapped(inner.width);
        let page = usize::from(inner.height);
        let top = self.top.min(lines.len().saturating_sub(page));
        let foot = foot(look, lines.len().saturating_sub(top + page), closes);
        frame::draw(look, &self.title, &foot, has_keys, area, frame);
        spans::draw_lines(look, lines.into_iter().skip(top), inner, frame);
    }
}

/// The foot of a frame: how many lines are hidden below, and what the keys do.
pub fn foot(look: &Look, below: usize, keys: &str) -> String {
    if below == 0 {
        return keys.to_owned();
    }
    let below = plural(below as u64, "more line");
    format!("{below} {} {keys}", look.glyph(Glyph::More))
}

/// A line, none wider than `columns`: what is longer goes on below, under the last piece.
pub fn wrapped(line: &Spans, columns: usize) -> Vec<Spans> {
    let split = line.split_last().filter(|_| spans::width(line) > columns);
    let Some(((role, last), before)) = split else {
        return vec![line.clone()];
    };
    let is_blank = before.iter().all(|(_, text)| text.trim().is_empty());
    // An address is whole where that can be: it is clicked and copied.
    if is_blank && !last.contains(' ') && width(last) <= columns {
        return vec![vec![(*role, last.clone())]];
    }
    let used = spans::width(before);
    // Where the pieces before leave no room, everything is one text.
    if used + MIN_COLUMN > columns {
        let whole: String = line.iter().map(|(_, text)| text.as_str()).collect();
        let lines = wrap(&whole, columns).into_iter();
        return lines.map(|line| vec![(*role, line)]).collect();
    }
    let mut lines = wrap(last, columns - used).into_iter();
    let mut first = before.to_vec();
    first.push((*role, lines.next().unwrap_or_default()));
    let below = lines.map(|line| vec![(*role, format!("{}{line}", " ".repeat(used)))]);
    [first].into_iter().chain(below).collect()
}
