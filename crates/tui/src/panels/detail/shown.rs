//! One row in full, and how it is looked at.

use super::detail_body::{Body, Position, Spot};
use super::jobs::{Amount, Ask, Near, Row};
use super::part::{self, Part};
use crate::panels::search::hits::Marks;
use mcpreel_share::phrases;
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, What};

/// Hits that are unfolded to: with more the whole message would stand open.
const REVEALED: usize = 100;

/// One row in full, and how it is looked at.
#[derive(Debug, Default)]
pub struct Detail {
    pub tab: Tab,
    pub sides: Sides,
    pub representation: Representation,
    /// How much of the messages of this row.
    pub amount: Amount,
    pub asked: Option<Ask>,
    /// Whose story was asked for last.
    pub asked_story: Option<ExchangeId>,
    /// What is there. It may be the row before as long as the answer has not come.
    pub shown: Option<Box<Shown>>,
    /// Columns and rows that it was scrolled for.
    pub size: (usize, usize),
    /// The number of a finding that was jumped to, until its row has come.
    pub aim: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    #[default]
    Body,
    /// What happened from the request to the answer.
    Story,
    Findings,
}

/// Which messages of an exchange are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sides {
    #[default]
    Both,
    Request,
    /// The response, or that there is none.
    Response,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Representation {
    /// JSON as rows that fold; anything else as text.
    #[default]
    Tree,
    Raw,
    Hex,
}

#[derive(Debug)]
pub struct Shown {
    pub ask: Ask,
    pub item: Item,
    /// What stands below each other in its body.
    pub parts: Vec<Part>,
    /// What is wrong with it, the worst first.
    pub findings: Vec<FindingRow>,
    /// What a mock had that comes nearest.
    pub near: Option<Near>,
    /// What happened; none until it has come, and for what is no exchange.
    pub story: Option<phrases::phrases_story::Told>,
    pub at: Place,
    /// Where one is in the story: the row of the cursor, the first on the screen.
    pub at_story: (usize, usize),
    /// Where one is in the findings: the one under the cursor.
    pub at_finding: usize,
    /// The search whose hits are marked.
    pub marked: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub cursor: Position,
    pub top: Position,
}

impl Tab {
    pub const ALL: [Self; 3] = [Self::Body, Self::Story, Self::Findings];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Body => "Body",
            Self::Story => "Story",
            Self::Findings => "Findings",
        }
    }
}

impl Sides {
    pub fn next(self) -> Self {
        match self {
            Self::Both => Self::Request,
            Self::Request => Self::Response,
            Self::Response => Self::Both,
        }
    }
}

impl Representation {
    pub fn next(self) -> Self {
        match self {
            Self::Tree => Self::Raw,
            Self::Raw => Self::Hex,
            Self::Hex => Self::Tree,
        }
    }
}

impl Detail {
    /// The lines of the body, written for so many columns.
    pub fn body(&self, columns: usize) -> Option<Body<'_>> {
        let shown = self.shown.as_deref()?;
        Some(Body::new(
            &shown.parts,
            self.sides,
            self.representation,
            columns,
        ))
    }

    /// The part under the cursor of the body.
    pub fn part(&self) -> Option<&Part> {
        let shown = self.shown.as_deref()?;
        shown.parts.get(shown.at.cursor.part)
    }

    /// The path of the value under the cursor; none where there is no tree.
    pub fn path(&self) -> Option<String> {
        let node = self.shown.as_deref()?.at.cursor.node()?;
        Some(self.part()?.tree()?.path(node).to_string())
    }

    /// The bytes of the value under the cursor, as they are on the wire; none where there is no
    /// tree.
    pub fn value(&self) -> Option<&[u8]> {
        let node = self.shown.as_deref()?.at.cursor.node()?;
        Some(self.part()?.tree()?.raw(node))
    }

    /// The bytes of the message under the cursor, and whether that is all of them.
    pub fn message(&self) -> Option<(&[u8], bool)> {
        let text = self.part()?.text.as_ref()?;
        Some((&text.bytes, text.bytes.len() as u64 == text.size))
    }
}

impl Shown {
    /// The row that has come; `before`: as it was read before.
    pub fn new(ask: Ask, row: Row, before: Option<Self>) -> Self {
        let mut parts = part::parts(
            &row.item,
            row.texts,
            &row.findings,
            row.near.is_some(),
            ask.amount,
        );
        for part in &mut parts {
            part.tell(&row.arguments);
        }
        let mut shown = Self {
            ask,
            parts,
            item: row.item,
            findings: row.findings,
            near: row.near,
            story: None,
            at: Place::default(),
            at_story: (0, 0),
            at_finding: 0,
            marked: None,
        };
        if let Some(before) = before {
            shown.keep(before);
        }
        shown
    }

    /// The frame that it is named after.
    pub fn seq(&self) -> Seq {
        match &self.item.what {
            What::Exchange(exchange) => exchange.request.0,
            _ => self.item.key.seq,
        }
    }

    /// The same row read again: the cursors stay, and what was folded.
    fn keep(&mut self, before: Self) {
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

    /// Where one of its findings stands in the messages; none if it has no place there.
    pub fn place_of(&self, finding: usize) -> Option<Position> {
        let mut parts = self.parts.iter().enumerate();
        parts.find_map(|(nth, part)| {
            let node = part.violations()?.place_of(finding)?;
            Some(part.place(nth, node))
        })
    }

    /// Marks in every part what `find` finds in its bytes.
    pub fn mark(&mut self, find: impl Fn(&[u8]) -> Marks) {
        for part in &mut self.parts {
            let text = part.text.as_ref();
            let marks = text.map_or_else(Marks::default, |text| find(&text.bytes));
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
            let hits: Vec<_> = part.hits.iter().take(REVEALED).cloned().collect();
            let mut spot = Spot::Byte(hit);
            if let Some(tree) = part.tree_mut() {
                let nodes = tree.nodes_of(&hits);
                for &node in &nodes {
                    tree.reveal(node);
                }
                spot = nodes.first().map_or(spot, |&node| Spot::Node(node));
            }
            first = first.or(Some(Position { part: nth, spot }));
        }
        first
    }
}
