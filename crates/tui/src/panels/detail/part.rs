//! What stands below each other in the body of a row.

use super::detail_body::{Position, Spot};
use super::jobs::{Amount, Argument, Text, TextRole, Violations, Wrong};
use crate::panels::detail::Sides;
use crate::widget::tree::{NodeId, Tree};
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::item::{Item, What};
use mcpreel_wire::json::{Document, Kind, Stopped};
use mcpreel_wire::text::{count, size};
use std::collections::BTreeMap;
use std::ops::Range;

/// Findings that are shown above the messages; the tab has all.
const FINDINGS_ABOVE: usize = 3;

/// Arguments beside which it is said what they are.
const ARGUMENTS: usize = 200;

/// Rows that a message is unfolded to: with its answer about a screen.
pub const FIT: usize = 40;

/// A heading with what belongs below it.
#[derive(Debug)]
pub struct Part {
    pub kind: PartKind,
    pub text: Option<Text>,
    pub notes: Vec<String>,
    /// Whether only the heading is shown.
    pub folded: bool,
    /// What a search found in the bytes.
    pub hits: Vec<Range<usize>>,
    /// Whether it found more than these.
    pub more_hits: bool,
    /// What the arguments of a call are, by their nodes; escaped.
    pub told: BTreeMap<NodeId, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// The finding at this place of the row's findings.
    Finding(usize),
    MoreFindings(usize),
    Note,
    /// What a mock had that comes nearest.
    Near,
    Text(TextRole),
    /// The response that has not come.
    Missing,
}

impl Part {
    fn head(kind: PartKind) -> Self {
        Self {
            kind,
            text: None,
            notes: Vec::new(),
            folded: false,
            hits: Vec::new(),
            more_hits: false,
            told: BTreeMap::new(),
        }
    }

    fn of(mut text: Text, amount: Amount) -> Self {
        let role = text.role;
        let notes = notes(&text, amount);
        if let Some(tree) = text.tree.as_deref_mut() {
            tree.fold_to_fit(FIT);
            hide_envelope(tree, role, &text.violations);
        }
        Self {
            text: Some(text),
            notes,
            ..Self::head(PartKind::Text(role))
        }
    }

    /// Looks as it did before the row was read again: what is folded stays so.
    pub fn keep(&mut self, before: Self) {
        self.folded = before.folded;
        if let (Some(text), Some(before)) = (&mut self.text, before.text)
            && text.bytes == before.bytes
        {
            text.tree = before.tree;
            if let Some(tree) = text.tree.as_deref_mut() {
                hide_envelope(tree, text.role, &text.violations);
            }
        }
    }

    /// Says beside the arguments of a call what they are.
    pub fn tell(&mut self, arguments: &[Argument]) {
        let Some(tree) = self.tree() else { return };
        let member = |object, name: &[u8]| {
            let mut members = tree.members_of(object);
            members.find_map(|(key, node)| (key == name).then_some(node))
        };
        let params = member(NodeId::ROOT, b"\"params\"");
        let Some(given) = params.and_then(|params| member(params, b"\"arguments\"")) else {
            return;
        };
        let told = |(_, node): (&[u8], NodeId)| {
            let name = tree.name(node)?;
            let argument = arguments.iter().find(|argument| argument.name == name)?;
            (!argument.told.is_empty()).then(|| (node, argument.told.clone()))
        };
        self.told = tree
            .members_of(given)
            .take(ARGUMENTS)
            .filter_map(told)
            .collect();
    }

    /// The tree of its bytes, if they are JSON.
    pub fn tree(&self) -> Option<&Tree> {
        self.text.as_ref()?.tree.as_deref()
    }

    /// The tree of its bytes, to be folded.
    pub fn tree_mut(&mut self) -> Option<&mut Tree> {
        self.text.as_mut()?.tree.as_deref_mut()
    }

    /// What is wrong in the tree, and where.
    pub fn violations(&self) -> Option<&Violations> {
        Some(&self.text.as_ref()?.violations)
    }

    /// What is wrong in the row of `node`: also further in, where that is folded.
    pub fn wrong_at(&self, node: NodeId) -> Option<Wrong<'_>> {
        let tree = self.tree()?;
        let nodes = if tree.is_folded(node) {
            tree.all_of(node)
        } else {
            node..=node
        };
        self.violations()?.within(nodes)
    }

    /// What is wrong in the row of the heading: with the message itself, and further in where
    /// that is folded.
    pub fn wrong_at_head(&self) -> Option<Wrong<'_>> {
        let tree = self.tree()?;
        let nodes = match (self.folded, tree.has_row(NodeId::ROOT)) {
            (true, _) => tree.all_of(NodeId::ROOT),
            (false, true) => return None,
            (false, false) => NodeId::ROOT..=NodeId::ROOT,
        };
        self.violations()?.within(nodes)
    }

    /// Where `node` stands, if this is the part `nth`: what has no row of its own, in the heading.
    pub fn place(&self, nth: usize, node: NodeId) -> Position {
        let has_row = self.tree().is_some_and(|tree| tree.has_row(node));
        let spot = if has_row {
            Spot::Node(node)
        } else {
            Spot::Head
        };
        Position { part: nth, spot }
    }

    /// Whether there is something below its heading.
    pub fn can_fold(&self) -> bool {
        self.text.is_some()
    }

    /// Whether it is shown where only these sides are.
    pub fn is_on(&self, sides: Sides) -> bool {
        match self.kind {
            PartKind::Text(TextRole::Request) => sides != Sides::Response,
            PartKind::Text(TextRole::Response) | PartKind::Missing => sides != Sides::Request,
            _ => true,
        }
    }
}

/// The parts of a row, from the top; `near`: whether a mock has named a recorded request that comes near.
pub fn parts(
    item: &Item,
    texts: Vec<Text>,
    findings: &[FindingRow],
    near: bool,
    amount: Amount,
) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    // The worst come first. Notes would stand above every other message.
    let bad = findings
        .iter()
        .filter(|finding| &*finding.severity != "note");
    let above = bad.count().min(FINDINGS_ABOVE);
    parts.extend((0..above).map(|at| Part::head(PartKind::Finding(at))));
    if findings.len() > above {
        parts.push(Part::head(PartKind::MoreFindings(findings.len() - above)));
    }
    let note = item.annotation.as_ref().and_then(|note| note.note.as_ref());
    parts.extend(note.map(|_| Part::head(PartKind::Note)));
    parts.extend(near.then(|| Part::head(PartKind::Near)));
    parts.extend(texts.into_iter().map(|text| Part::of(text, amount)));
    if let What::Exchange(exchange) = &item.what
        && exchange.response.is_none()
    {
        parts.push(Part::head(PartKind::Missing));
    }
    parts
}

/// The members that the heading says: hidden if there is nothing remarkable about them.
fn hide_envelope(tree: &mut Tree, role: TextRole, violations: &Violations) {
    if !matches!(
        role,
        TextRole::Request | TextRole::Response | TextRole::Message
    ) {
        return;
    }
    let names: [&[u8]; 3] = [b"\"jsonrpc\"", b"\"id\"", b"\"method\""];
    let said = |name: &[u8], node: NodeId| match name {
        b"\"jsonrpc\"" => tree.raw(node) == b"\"2.0\"",
        _ => matches!(tree.kind(node), Kind::String | Kind::Number),
    };
    let hidden = names.into_iter().filter_map(|name| {
        let mut found = tree.members().filter(|(key, _)| *key == name);
        let (_, node) = found.next()?;
        let is_right = violations.at(node).is_empty();
        (found.next().is_none() && said(name, node) && is_right).then_some(node)
    });
    let hidden = hidden.collect();
    tree.hide(hidden);
}

/// What is to be said about the bytes: that they are not all, that they are no JSON.
fn notes(text: &Text, amount: Amount) -> Vec<String> {
    let mut notes = Vec::new();
    let read = text.bytes.len() as u64;
    let stopped = text.tree.as_deref().and_then(Tree::stopped);
    let more = match amount.next() {
        Some(_) => "L loads more",
        None => "`mcpreel show --json` has all of it",
    };
    match stopped {
        Some(Stopped::Enough { offset }) => {
            let values = count(text.tree.as_deref().map_or(0, Tree::nodes) as u64);
            let part = size(offset as u64);
            let of = size(text.size);
            notes.push(format!(
                "the first {values} values: {part} of {of} · {more}"
            ));
        }
        _ if read < text.size => {
            let (part, of) = (size(read), size(text.size));
            notes.push(format!("the first {part} of {of} · {more}"));
        }
        Some(Stopped::At(error)) => notes.push(format!("no JSON from here on: {error}")),
        None => notes.extend(no_json(text)),
    }
    notes
}

/// Where the reading of a line stopped that should have been a message. Lines that are no JSON
/// end soon; those that nearly are have a tree.
fn no_json(text: &Text) -> Option<String> {
    let on_protocol = text.head.and_then(|head| head.stream.messages()).is_some();
    if text.tree.is_some() || !on_protocol {
        return None;
    }
    let error = Document::parse(&text.bytes).err()?;
    Some(format!("no JSON: {error}"))
}
