//! The state of the detail: the row that is shown in full, and how it is looked at.

use super::detail_body::{Body, Position};
use super::part::{Amount, Part, Representation, TextRole};
use crate::panels::search::hits::{Marks, Term};
use crate::widget::tree::{NodeId, Tree};
use mcpreel_share::phrases;
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::http::Timing;
use mcpreel_trace::item::{Item, ItemKey, Lens, What};
use std::borrow::Cow;

/// Hits that are unfolded to: with more the whole message would stand open.
const REVEALED: usize = 100;

/// The state of the pane.
#[derive(Debug, Default)]
pub struct Detail {
    /// The tab that was chosen; see [`Detail::tab`].
    pub chosen: Tab,
    pub representation: Representation,
    /// How much of the messages of this row.
    pub amount: Amount,
    pub asked: Option<Ask>,
    /// The row that has come; the one before as long as an answer has not come.
    pub shown: Option<Box<Shown>>,
    /// Columns and rows that it was scrolled for.
    pub size: (usize, usize),
    /// The number of a finding that was jumped to, until its row has come.
    pub aim: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr)]
pub enum Tab {
    #[default]
    Body,
    /// The events from the request to the answer.
    Story,
    Findings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    pub key: ItemKey,
    pub lens: Lens,
    pub amount: Amount,
}

/// A recorded request that comes near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    pub recording: String,
    pub seq: Seq,
    /// Whether it was served all the same.
    pub is_served: bool,
}

#[derive(Debug)]
pub struct Shown {
    pub ask: Ask,
    pub item: Item,
    /// The parts of its body.
    pub parts: Vec<Part>,
    /// The findings on it, the worst first.
    pub findings: Vec<FindingRow>,
    /// The recorded request that comes nearest to one that a mock had nothing for.
    pub near: Option<Near>,
    /// What took how long in the HTTP exchange that carried it.
    pub timing: Timing,
    /// The story, once it has come; `None` for what is no exchange.
    pub story: Option<phrases::phrases_story::Told>,
    pub at: Place,
    /// The row of the story under the cursor, and the first on the screen.
    pub at_story: (usize, usize),
    /// The finding under the cursor.
    pub at_finding: usize,
    /// The texts whose first place was gone to.
    pub marked: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub cursor: Position,
    pub top: Position,
}

impl Tab {
    pub const ALL: [Self; 3] = [Self::Body, Self::Story, Self::Findings];

    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl Detail {
    /// The tabs of the row: what is no exchange has no story.
    pub fn tabs(&self) -> impl Iterator<Item = Tab> {
        let item = self.shown.as_deref().map(|shown| &shown.item);
        let has_story = item.is_none_or(|item| item.exchange().is_some());
        let tabs = Tab::ALL.into_iter();
        tabs.filter(move |tab| has_story || *tab != Tab::Story)
    }

    /// The tab that is shown: the one that was chosen, where the row has it.
    pub fn tab(&self) -> Tab {
        let mut tabs = self.tabs();
        tabs.find(|tab| *tab == self.chosen).unwrap_or_default()
    }

    /// The lines of the body.
    pub fn body(&self) -> Option<Body<'_>> {
        let parts = &self.shown.as_deref()?.parts;
        Some(Body::new(parts, self.representation))
    }

    pub fn cursor(&self) -> Option<Position> {
        Some(self.shown.as_deref()?.at.cursor)
    }

    /// The part under the cursor of the body.
    pub fn part(&self) -> Option<&Part> {
        self.shown.as_deref()?.parts.get(self.cursor()?.part)
    }

    /// The node under the cursor; none where the body is no tree.
    pub fn node(&self) -> Option<NodeId> {
        let (byte, part) = (self.cursor()?.byte?, self.part()?);
        let is_tree = self.representation == Representation::Tree && byte < part.bytes().len();
        Some(part.tree().filter(|_| is_tree)?.node_at_offset(byte))
    }

    /// The path of the value under the cursor; none where there is no tree.
    pub fn path(&self) -> Option<String> {
        Some(self.part()?.tree()?.path(self.node()?).to_string())
    }

    /// The bytes of the value under the cursor, as they are on the wire or in a string; none where
    /// there is no tree.
    pub fn value(&self) -> Option<Cow<'_, [u8]>> {
        Some(self.part()?.tree()?.raw(self.node()?))
    }

    /// The bytes of the message under the cursor, beside all messages of the first, and whether that
    /// is all of them.
    pub fn message(&self) -> Option<(&[u8], bool)> {
        let parts = self.part().into_iter().chain(&self.shown.as_deref()?.parts);
        let mut texts = parts.filter_map(|part| part.text.as_ref());
        let text = texts.find(|text| text.role != TextRole::Words)?;
        Some((&text.bytes, text.bytes.len() as u64 == text.size))
    }
}

impl Shown {
    /// The frame that it is named after.
    pub fn seq(&self) -> Seq {
        match &self.item.what {
            What::Exchange(exchange) => exchange.request.0,
            _ => self.item.key.seq,
        }
    }

    /// The same row read again: the cursors stay, and what was folded.
    pub fn keep(&mut self, before: Self) {
        // A part above may have come or gone: the cursor stays in the part that it was in.
        let kind = |at: usize| before.parts.get(at).map(|part| part.kind);
        let same = |at: usize| {
            let kind = kind(at)?;
            self.parts.iter().position(|part| part.kind == kind)
        };
        if let (Some(cursor), Some(top)) = (same(before.at.cursor.part), same(before.at.top.part)) {
            self.at = before.at;
            self.at.cursor.part = cursor;
            self.at.top.part = top;
        }
        let id = before.findings.get(before.at_finding).map(|one| one.id);
        let at = self.findings.iter().position(|one| Some(one.id) == id);
        self.at_finding = at.unwrap_or(before.at_finding);
        self.at_story = before.at_story;
        self.story = before.story;
        self.marked = before.marked;
        for old in before.parts {
            if let Some(part) = self.parts.iter_mut().find(|part| part.kind == old.kind) {
                part.keep(old);
            }
        }
    }

    /// The position of one of its findings in the messages; `None` if it has no place there.
    pub fn place_of(&self, finding: usize) -> Option<Position> {
        let mut parts = self.parts.iter().enumerate();
        parts.find_map(|(nth, part)| {
            let node = part.violations()?.place_of(finding)?;
            Some(part.place(nth, node))
        })
    }

    /// Rows of its story, as far as that has come.
    pub fn story_rows(&self) -> usize {
        self.story.as_ref().map_or(0, |story| story.rows.len())
    }

    /// Marks the places of these terms in every part.
    pub fn mark(&mut self, terms: &[Term]) {
        for part in &mut self.parts {
            let text = part
                .text
                .as_ref()
                .filter(|text| text.role != TextRole::Words);
            let marks = text.map_or_else(Marks::default, |text| Term::places(terms, &text.bytes));
            (part.hits, part.more_hits) = (marks.places, marks.more);
        }
    }

    /// Unfolds what hides a hit; of very many hits the first. Returns where the first one stands.
    pub fn reveal_hits(&mut self) -> Option<Position> {
        let mut first = None;
        for (nth, part) in self.parts.iter_mut().enumerate() {
            let Some(hit) = part.hits.first().map(|hit| hit.start) else {
                continue;
            };
            part.folded = false;
            for hit in part.hits.clone().iter().take(REVEALED) {
                part.reveal(hit.start);
            }
            let start = |tree: &Tree| tree.start(tree.node_at_offset(hit));
            first.get_or_insert(Position {
                part: nth,
                byte: Some(part.tree().map_or(hit, start)),
            });
        }
        first
    }
}
