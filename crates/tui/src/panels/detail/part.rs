//! The parts of a body: headings with what belongs below them.

use super::detail_body::Position;
use super::detail_draw::INDENT;
use super::detail_schema::Argument;
use super::head;
use super::violations::{Violations, Wrong};
use crate::theme::{Look, Role};
use crate::widget::raw::{self, Controls};
use crate::widget::tree::{NodeId, PAGE, Tree};
use crate::widget::tree_line;
use mcpreel_share::phrases;
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::frame::FrameHead;
use mcpreel_trace::item::{Item, ItemKey, What};
use mcpreel_wire::http;
use mcpreel_wire::json::{Document, Kind, Stopped};
use mcpreel_wire::text::{self, count, size, width};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Findings that are shown above the messages; the tab has all.
const FINDINGS_ABOVE: usize = 3;

/// Lines of a finding at most.
const FINDING: usize = 3;

/// Arguments beside which it is said what they are.
const ARGUMENTS: usize = 200;

/// Rows that a message is unfolded to: with its answer about a screen.
pub const FIT: usize = 40;

/// Columns in which no string is wrapped.
const NARROW: usize = 16;

/// How much of a message is read: each amount is four times the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(u8);

impl Amount {
    pub fn bytes(self) -> u64 {
        1 << (20 + 2 * self.0)
    }

    pub fn nodes(self) -> usize {
        PAGE << self.0
    }

    /// More than this; up to sixteen megabytes, as much as a viewer may hold.
    pub fn next(self) -> Option<Self> {
        (self.0 < 2).then_some(Self(self.0 + 1))
    }
}

/// The bytes of a message or line.
#[derive(Debug)]
pub struct Text {
    pub role: TextRole,
    pub key: ItemKey,
    pub head: Option<FrameHead>,
    pub size: u64,
    pub bytes: Arc<[u8]>,
    /// The tree of the bytes; `None` where they are no JSON.
    pub tree: Option<Box<Tree>>,
    /// The findings that have a place in the tree.
    pub violations: Violations,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRole {
    Request,
    Response,
    Message,
    Line,
    /// A head of HTTP, or what it carries beside messages.
    Http,
    /// An event, as the recording has it.
    Event,
    /// Words of ours, which are nowhere on record.
    Words,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Representation {
    /// JSON as rows that fold; anything else as text.
    #[default]
    Tree,
    Raw,
}

impl Representation {
    pub fn next(self) -> Self {
        [Self::Raw, Self::Tree][self as usize]
    }
}

/// A heading with what belongs below it.
#[derive(Debug)]
pub struct Part {
    pub kind: PartKind,
    pub text: Option<Text>,
    /// A remark about the bytes: that they are not all, that they are no JSON.
    pub note: Option<String>,
    /// Whether only the heading is shown.
    pub folded: bool,
    /// The search hits in the bytes.
    pub hits: Vec<Range<usize>>,
    /// Whether the search found more than these.
    pub more_hits: bool,
    /// Descriptions of the arguments of a call, by their nodes; escaped.
    pub told: BTreeMap<NodeId, String>,
    /// The first byte of each line, where the bytes are written as text.
    pub lines: Vec<u32>,
    /// For how many columns the lines were laid out.
    columns: usize,
    /// The lines of strings that are wrapped, after the first line of each, in their order.
    pub wraps: Vec<Wrap>,
}

/// A line of a string that is wrapped: its number in the part, the row of the tree, and the bytes; or one
/// of what is known of the value, which stands at its last byte.
#[derive(Clone, Debug)]
pub struct Wrap {
    line: usize,
    pub row: usize,
    pub bytes: Range<usize>,
    pub told: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// The finding at this place of the row's findings.
    Finding(usize),
    MoreFindings(usize),
    Note,
    /// The recorded request that comes nearest to one that a mock had nothing for.
    Near,
    /// What went wrong, or what happened, in words.
    Words(Role),
    Text(TextRole),
    /// The steps of logging in, of which this is one.
    Authorization,
    /// What the proxy changed.
    Edits,
    /// What took how long in HTTP: a bar.
    Timing,
    /// The response that has not come.
    Missing,
}

impl Part {
    pub fn head(kind: PartKind) -> Self {
        Self {
            kind,
            text: None,
            note: None,
            folded: false,
            hits: Vec::new(),
            more_hits: false,
            told: BTreeMap::new(),
            lines: Vec::new(),
            columns: 0,
            wraps: Vec::new(),
        }
    }

    pub fn words(role: Role, words: &str) -> Self {
        let text = Text {
            role: TextRole::Words,
            key: ItemKey::default(),
            head: None,
            size: words.len() as u64,
            bytes: words.as_bytes().into(),
            tree: None,
            violations: Violations::default(),
        };
        Self {
            text: Some(text),
            ..Self::head(PartKind::Words(role))
        }
    }

    /// A finding in words: those of its heading, without the sign.
    fn finding(at: usize, finding: &FindingRow) -> Self {
        let words = head::finding_line(finding, Look::default()).into_iter();
        let words: String = words.skip(1).map(|(_, text)| text).collect();
        Self {
            kind: PartKind::Finding(at),
            ..Self::words(Role::Text, words.trim_end())
        }
    }

    /// A part with these lines.
    pub fn lines(kind: PartKind, lines: &[String]) -> Self {
        Self {
            kind,
            ..Self::words(Role::Text, &lines.join("\n"))
        }
    }

    fn of(mut text: Text, amount: Amount) -> Self {
        let role = text.role;
        let note = note(&text, amount);
        if let Some(tree) = text.tree.as_deref_mut() {
            tree.fold_to_fit(FIT);
            hide_envelope(tree, role, &text.violations);
        }
        Self {
            text: Some(text),
            note,
            ..Self::head(PartKind::Text(role))
        }
    }

    /// The bytes of the message, as far as they were read.
    pub fn bytes(&self) -> &[u8] {
        self.text.as_ref().map_or(&[], |text| &text.bytes)
    }

    /// The note below the bytes, if these are shown.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref().filter(|_| !self.folded)
    }

    /// Divides the bytes into lines of so many columns, where they are written as text.
    pub fn lay_out(&mut self, representation: Representation, columns: usize) {
        self.wraps.clear();
        let is_text = representation == Representation::Raw || self.tree().is_none();
        if is_text && self.columns != columns {
            self.columns = columns;
            let is_finding = matches!(self.kind, PartKind::Finding(_));
            let columns = columns - if is_finding { INDENT.min(columns) } else { 0 };
            let lines = raw::lines(self.bytes(), columns, self.controls());
            // No more than some megabytes of a message are read.
            let starts = lines.filter_map(|line| u32::try_from(line.start).ok());
            self.lines = match self.kind {
                // The heading is the first.
                PartKind::Finding(_) => starts.skip(1).take(FINDING - 1).collect(),
                _ => starts.collect(),
            };
        }
    }

    /// The bytes of a finding that its heading shows.
    pub fn first_line(&self) -> usize {
        let below = self.lines.first().filter(|_| !self.folded);
        below.map_or(usize::MAX, |start| *start as usize)
    }

    /// Wraps strings that are longer than their line, and what is known of values, as far as there is
    /// `room` for more lines.
    pub fn wrap(&mut self, columns: usize, room: &mut usize) {
        let Some(tree) = self.tree().filter(|_| !self.folded) else {
            return;
        };
        let mut wraps: Vec<Wrap> = Vec::new();
        for (row, node) in (0..tree.rows()).filter_map(|row| Some((row, tree.node_at(row)?))) {
            let value = tree.node(node).value.clone();
            let wide = columns.saturating_sub(tree_line::value_at(tree, node, columns));
            if wide < NARROW || tree.can_fold(node) {
                continue;
            }
            let mut lines = Vec::new();
            if tree.node(node).kind == Kind::String {
                let more = tree_line::lines(tree, node, wide).skip(1).take(*room);
                lines.extend(more.map(|line| (line, None)));
                // What there is no room for is cut off visibly.
                if let Some((last, _)) = lines.last_mut() {
                    last.end = value.end;
                }
            }
            *room -= lines.len();
            let told = self
                .told
                .get(&node)
                .filter(|_| value.len() <= wide || !lines.is_empty());
            let told = told.filter(|told| value.len() + 2 + width(told) > wide);
            let told = told.map_or_else(Vec::new, |told| text::wrap(told, wide));
            if told.len() <= *room {
                *room -= told.len();
                lines.extend(
                    told.into_iter()
                        .map(|told| (value.end - 1..value.end, Some(told))),
                );
            }
            for (bytes, told) in lines {
                let line = row + 1 + wraps.len();
                wraps.push(Wrap {
                    line,
                    row,
                    bytes,
                    told,
                });
            }
        }
        self.wraps = wraps;
    }

    /// The line of a row of the tree among those of the part; with `byte` that of the byte in it.
    pub fn line_of(&self, row: usize, byte: usize) -> usize {
        let is_above = |wrap: &&Wrap| wrap.row < row || wrap.row == row && wrap.bytes.start <= byte;
        row + self.wraps.iter().filter(is_above).count()
    }

    /// The row of the tree in a line of the part, and the wrapped part of a string where the line
    /// shows no more than that.
    pub fn row_in(&self, line: usize) -> (usize, Option<&Wrap>) {
        let above = self.wraps.iter().rfind(|wrap| wrap.line <= line);
        let row = above.map_or(line, |wrap| wrap.row + line - wrap.line);
        (row, above.filter(|wrap| wrap.line == line))
    }

    pub fn controls(&self) -> Controls {
        let head = self.text.as_ref().and_then(|text| text.head);
        match (&self.kind, head.map(|head| head.carried.part)) {
            (
                PartKind::Words(_)
                | PartKind::Finding(_)
                | PartKind::Authorization
                | PartKind::Edits,
                _,
            ) => Controls::Read,
            (_, Some(http::Part::RequestHead | http::Part::ResponseHead)) => Controls::Lines,
            _ => Controls::Shown,
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
        let given = params.and_then(|params| member(params, b"\"arguments\""));
        let members = given.into_iter().flat_map(|given| tree.members_of(given));
        let told = members.take(ARGUMENTS).filter_map(|(_, node)| {
            let name = tree.name(node)?;
            let argument = arguments.iter().find(|argument| argument.name == name)?;
            Some((node, argument.told.clone()))
        });
        self.told = told.collect();
    }

    /// The tree of its bytes, if they are JSON.
    pub fn tree(&self) -> Option<&Tree> {
        self.text.as_ref()?.tree.as_deref()
    }

    /// The tree of its bytes, to be folded.
    pub fn tree_mut(&mut self) -> Option<&mut Tree> {
        self.text.as_mut()?.tree.as_deref_mut()
    }

    /// The findings that have a place in the tree.
    pub fn violations(&self) -> Option<&Violations> {
        Some(&self.text.as_ref()?.violations)
    }

    /// The findings in the row of `node`, with those further in where the row is folded.
    pub fn wrong_at(&self, node: NodeId) -> Option<Wrong<'_>> {
        let tree = self.tree()?;
        let nodes = if tree.is_folded(node) {
            tree.all_of(node)
        } else {
            node..=node
        };
        self.violations()?.within(nodes)
    }

    /// The findings in the heading: those of the message itself, and all where the part is folded.
    pub fn wrong_at_head(&self) -> Option<Wrong<'_>> {
        let tree = self.tree()?;
        let nodes = match (self.folded, tree.has_row(NodeId::ROOT)) {
            (true, _) => tree.all_of(NodeId::ROOT),
            (false, true) => return None,
            (false, false) => NodeId::ROOT..=NodeId::ROOT,
        };
        self.violations()?.within(nodes)
    }

    /// The position of `node`, if this is the part `nth`: the heading for a node without a row.
    pub fn place(&self, nth: usize, node: NodeId) -> Position {
        let tree = self.tree().filter(|tree| tree.has_row(node));
        Position {
            part: nth,
            byte: tree.map(|tree| tree.start(node)),
        }
    }

    /// The position of the container around `node`, if the container has a row.
    pub fn place_of_parent(&self, nth: usize, node: NodeId) -> Option<Position> {
        let parent = self.tree()?.parent(node)?;
        Some(self.place(nth, parent))
    }

    /// Unfolds what hides the node at this byte.
    pub fn reveal(&mut self, byte: usize) {
        if let Some(tree) = self.tree_mut() {
            tree.reveal(tree.node_at_offset(byte));
        }
    }

    /// Whether it is shown where messages are written so.
    pub fn is_on(&self, way: Representation) -> bool {
        self.kind != PartKind::Text(TextRole::Event) || way != Representation::Tree
    }
}

/// The parts of a row, from the top; `error`: what went wrong, whole; `near`: whether a mock has named a recorded request that comes near.
pub fn parts(
    item: &Item,
    texts: Vec<Text>,
    findings: &[FindingRow],
    error: Option<String>,
    near: bool,
    amount: Amount,
) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let is_told = error.is_some();
    parts.extend(error.map(|error| Part::words(Role::Bad, &error)));
    if let What::Event(event) = &item.what {
        parts.push(Part::words(Role::Text, &phrases::event(&event.kind)));
    }
    // The worst come first. Notes would stand above every other message.
    let is_bad = |finding: &&FindingRow| &*finding.severity != "note";
    let above = findings.iter().filter(is_bad).count().min(FINDINGS_ABOVE);
    let above_all = findings.iter().enumerate().take(above);
    parts.extend(above_all.map(|(at, finding)| Part::finding(at, finding)));
    if findings.len() > above {
        parts.push(Part::head(PartKind::MoreFindings(findings.len() - above)));
    }
    let note = item.annotation.as_ref().and_then(|note| note.note.as_ref());
    parts.extend(note.map(|_| Part::head(PartKind::Note)));
    parts.extend(near.then(|| Part::head(PartKind::Near)));
    parts.extend(texts.into_iter().map(|text| Part::of(text, amount)));
    let is_http = |part: &Part| part.kind == PartKind::Text(TextRole::Http);
    let is_timed = matches!(&item.what, What::Exchange(_) | What::Http(_));
    if let Some(heads) = parts.iter().position(is_http).filter(|_| is_timed) {
        parts.insert(heads, Part::head(PartKind::Timing));
    }
    if let What::Exchange(exchange) = &item.what
        && exchange.response.is_none()
        && !is_told
    {
        parts.push(Part::head(PartKind::Missing));
    }
    parts
}

/// The members that the heading says: hidden if there is nothing remarkable about them.
fn hide_envelope(tree: &mut Tree, role: TextRole, violations: &Violations) {
    if matches!(role, TextRole::Line | TextRole::Http | TextRole::Event) {
        return;
    }
    let names: [&[u8]; 3] = [b"\"jsonrpc\"", b"\"id\"", b"\"method\""];
    let said = |name: &[u8], node: NodeId| match name {
        b"\"jsonrpc\"" => *tree.raw(node) == *b"\"2.0\"",
        _ => matches!(tree.node(node).kind, Kind::String | Kind::Number),
    };
    let hidden = names.into_iter().filter_map(|name| {
        let members = tree.members_of(NodeId::ROOT);
        let mut found = members.filter(|(key, _)| *key == name);
        let (_, node) = found.next()?;
        let is_right = violations.at(node).is_empty();
        (found.next().is_none() && said(name, node) && is_right).then_some(node)
    });
    let hidden = hidden.collect();
    tree.hide(hidden);
}

/// The remark that the bytes are not all, or where the reading of a line stopped that should have
/// been a message.
fn note(text: &Text, amount: Amount) -> Option<String> {
    let more = match amount.next() {
        Some(_) => "L loads more",
        None => "`mcpreel show --json` has all of it",
    };
    let of = size(text.size);
    match text.tree.as_deref().and_then(Tree::stopped) {
        Some(Stopped::Enough { offset }) => {
            let values = count(text.tree.as_deref().map_or(0, Tree::nodes) as u64);
            let part = size(offset as u64);
            Some(format!(
                "the first {values} values: {part} of {of} · {more}"
            ))
        }
        _ if (text.bytes.len() as u64) < text.size => {
            let part = size(text.bytes.len() as u64);
            Some(format!("the first {part} of {of} · {more}"))
        }
        Some(Stopped::At(error)) => Some(format!("not JSON from here on: {error}")),
        None if text.tree.is_none() => {
            let on_protocol = text.role != TextRole::Http && text.head?.stream.messages().is_some();
            let error = Document::parse(&text.bytes).err().filter(|_| on_protocol)?;
            Some(format!("not JSON: {error}"))
        }
        None => None,
    }
}
