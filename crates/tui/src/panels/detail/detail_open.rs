//! Enter and the mouse in the detail.

use super::detail_body::{Position, Spot};
use super::draw as view;
use super::keys::load_more;
use super::part::{Part, PartKind};
use crate::action::Action;
use crate::app::{App, Focus, Session, View};
use crate::effect::Effects;
use crate::layout;
use crate::panels::detail::size;
use crate::panels::detail::{Detail, Shown, Tab};
use crate::panels::findings::{self, explain};
use crate::panels::list::Cursor;
use crate::panels::text::Text;
use crate::theme::{Look, Role};
use crate::widget::frame;
use crate::widget::raw::{Controls, Wrapped};
use crate::widget::spans::Spans;
use crate::widget::tree::{NodeId, Tree};
use crate::widget::widget_text::{Content, Expect};
use crate::widget::{spans, tree_line};
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_wire::json::Kind;

/// Lines of a string that are laid out: some megabytes of text would hold up the screen.
const LINES: usize = 5_000;

/// Opens what is under the cursor.
pub fn open(app: &mut App, session: &mut Session) -> Effects {
    let tab = session.detail.tab;
    let Some(shown) = session.detail.shown.as_deref() else {
        return vec![];
    };
    match tab {
        Tab::Body => in_body(app, session),
        Tab::Story => {
            let rows = shown.story.as_ref().map(|story| &story.rows);
            let row = rows.and_then(|rows| rows.get(shown.at_story.0));
            let to = row.map(|row| (row.lens, row.key));
            to.map_or_else(Effects::new, |(lens, key)| jump(app, session, lens, key))
        }
        Tab::Findings => {
            let finding = shown.findings.get(shown.at_finding);
            let frame = finding.and_then(|finding| finding.frame);
            let within = frame.and_then(|frame| part_of(shown, frame));
            let (at, size) = (shown.at_finding, size(app, session));
            if super::keys::go_to(&mut session.detail, at, size) {
                return vec![];
            }
            match (within, frame) {
                (Some(part), _) => {
                    session.detail.tab = Tab::Body;
                    super::keys::go(&mut session.detail, Position::head(part), size);
                    vec![]
                }
                (None, Some(frame)) => jump(app, session, Lens::Wire, ItemKey::of_part(frame, 0)),
                (None, None) => vec![],
            }
        }
    }
}

/// Shows what the rule of the finding under the cursor means.
pub fn explain(app: &mut App, session: &mut Session) -> Effects {
    let Some(finding) = finding(session) else {
        app.notices.error("no finding is about this", app.now);
        return vec![];
    };
    let lines = explain::lines(finding.into(), explain::revision(session));
    let text = findings::explain::explanation(lines);
    app.push(text);
    vec![]
}

/// The finding under the cursor: of the tab, of the heading, of the value.
fn finding(session: &Session) -> Option<&FindingRow> {
    let shown = session.detail.shown.as_deref()?;
    let part = session.detail.part();
    let at = match (session.detail.tab, part.map(|part| part.kind)) {
        (Tab::Findings, _) => shown.at_finding,
        (Tab::Body, Some(PartKind::Finding(at))) => at,
        (Tab::Body, Some(PartKind::Text(_))) => {
            let node = shown.at.cursor.node().unwrap_or_default();
            part?.violations()?.at(node).first()?.finding
        }
        (Tab::Body | Tab::Story, _) => return None,
    };
    shown.findings.get(at)
}

/// The part whose bytes stand in this frame.
fn part_of(shown: &Shown, frame: mcpreel_trace::frame::Seq) -> Option<usize> {
    let is_there = |text: &super::jobs::Text| text.key.seq == frame;
    let mut parts = shown.parts.iter();
    parts.position(|part| part.text.as_ref().is_some_and(is_there))
}

fn in_body(app: &mut App, session: &mut Session) -> Effects {
    let size = size(app, session);
    let columns = usize::from(app.size.0).saturating_sub(8).max(1);
    let detail = &mut session.detail;
    let Some(shown) = detail.shown.as_deref() else {
        return vec![];
    };
    let cursor = shown.at.cursor;
    let Some(part) = shown.parts.get(cursor.part) else {
        return vec![];
    };
    match (cursor.spot, part.kind, part.tree()) {
        (Spot::Head, PartKind::Finding(at), _) => {
            detail.tab = Tab::Findings;
            if let Some(shown) = detail.shown.as_deref_mut() {
                shown.at_finding = at;
            }
        }
        (Spot::Head, PartKind::MoreFindings(_), _) => detail.tab = Tab::Findings,
        (Spot::Note(_), ..) => return load_more(app, session),
        (Spot::Node(node), _, Some(tree)) if tree.kind(node) == Kind::String => {
            let text = text(tree, node, columns, app.settings.look);
            if let Some(text) = text {
                app.push(text);
            }
        }
        _ => super::keys::fold(detail, Action::Toggle, size),
    }
    vec![]
}

/// Selects a row of the list, through the lens that has it.
fn jump(app: &mut App, session: &mut Session, lens: Lens, key: ItemKey) -> Effects {
    session.view = View::Exchanges;
    session.focus = Focus::Main;
    if lens == Lens::Wire && session.lens != Lens::Wire {
        // The rows of the other lens have to come first.
        session.list.cursor = Cursor::At(key);
        session.list.hold = Some(0);
        session.lens = Lens::Wire;
        return crate::panels::list::begin(app, session);
    }
    crate::panels::list::go_to(app, session, key)
}

fn text(tree: &Tree, node: NodeId, columns: usize, look: Look) -> Option<Text> {
    let string = tree.string(node)?;
    let name = tree.name(node);
    // `data` of images and audio, `blob` of resources.
    let expect = match name.as_deref() {
        Some("data" | "blob") => Expect::Base64,
        _ => Expect::Anything,
    };
    let size = string.len() as u64;
    let (kind, mut lines) = match Content::of(string, expect) {
        Content::Json(tree) => ("JSON", json(*tree, columns, look)),
        Content::Binary(binary) => {
            let line = |text: String| vec![(Role::Text, text)];
            let hint = "the characters themselves: r shows them".to_owned();
            let lines = vec![line(binary.to_string()), line(String::new()), line(hint)];
            ("base64", lines)
        }
        Content::Text(text) => ("text", prose(&text, columns)),
    };
    if lines.len() > LINES {
        lines.truncate(LINES);
        let more = format!("the first {LINES} lines; y copies all of it");
        lines.push(vec![(Role::Warn, more)]);
    }
    let path = mcpreel_wire::text::escape(&tree.path(node).to_string()).into_owned();
    Some(Text {
        title: format!("{path} · {kind} · {}", mcpreel_wire::text::size(size)),
        lines,
        top: 0,
    })
}

fn prose(text: &str, columns: usize) -> Vec<Spans> {
    let wrapped = Wrapped::new(text.as_bytes(), columns, Controls::Read);
    let lines = wrapped.lines(0, LINES + 1, &[]).into_iter();
    let spans = lines.map(|line| {
        let mut spans = Spans::new();
        spans::push(&mut spans, line.pieces, Role::Text);
        spans
    });
    spans.collect()
}

fn json(mut tree: Tree, columns: usize, look: Look) -> Vec<Spans> {
    tree.unfold_all();
    let rows = 0..tree.rows().min(LINES + 1);
    let rows = rows.filter_map(|row| tree.row(row, columns, &[]));
    rows.map(|row| tree_line::line(row, columns, look))
        .collect()
}

/// A click at this column and row of the screen, within the pane.
pub fn click(
    app: &mut App,
    session: &mut Session,
    (column, row): (u16, u16),
    double: bool,
) -> Effects {
    let size = size(app, session);
    let area = layout::session(app, session).detail;
    let inner = view::inner(app, area);
    let on_tab = view::tab_at(app, session, area, (column, row));
    session.focus = Focus::Detail;
    let detail = &mut session.detail;
    if let Some(tab) = on_tab {
        detail.tab = tab;
        return vec![];
    }
    let Some(down) = row.checked_sub(inner.y).filter(|down| *down < inner.height) else {
        return vec![];
    };
    let down = usize::from(down);
    match detail.tab {
        Tab::Body => {
            let left = usize::from(column.saturating_sub(inner.x));
            if click_line(detail, (left, down), double, size) == Some(Folded) {
                return vec![];
            }
        }
        Tab::Story => {
            if let Some(shown) = detail.shown.as_deref_mut() {
                let rows = shown.story.as_ref().map_or(0, |story| story.rows.len());
                shown.at_story.0 = (shown.at_story.1 + down).min(rows.saturating_sub(1));
            }
        }
        Tab::Findings => {}
    }
    if double { open(app, session) } else { vec![] }
}

/// A click that folded or unfolded.
#[derive(PartialEq, Eq)]
struct Folded;

/// A click on a line of the body: the cursor goes there; on an arrow it folds.
fn click_line(
    detail: &mut Detail,
    (left, down): (usize, usize),
    double: bool,
    size: (usize, usize),
) -> Option<Folded> {
    let top = detail.shown.as_deref()?.at.top;
    let to = detail
        .body(size.0)?
        .step(top, isize::try_from(down).unwrap_or(0));
    let on_sign = is_on_sign(detail, to, left);
    super::keys::go(detail, to, size);
    if on_sign && !double {
        super::keys::fold(detail, Action::Toggle, size);
    }
    on_sign.then_some(Folded)
}

/// Whether the column `left` of the line is that of its arrow.
fn is_on_sign(detail: &Detail, at: Position, left: usize) -> bool {
    let part = detail
        .shown
        .as_deref()
        .and_then(|shown| shown.parts.get(at.part));
    match (at.spot, part.and_then(Part::tree)) {
        (Spot::Head, _) => left < view::INDENT,
        (Spot::Node(node), Some(tree)) => {
            let level = left.checked_sub(view::INDENT).map(|left| left / 2);
            let row = tree.row(tree.row_of(node), 0, &[]);
            row.is_some_and(|row| level == Some(row.depth.into()))
        }
        _ => false,
    }
}

/// The wheel was turned by so many rows: the picture moves, the cursor does not.
pub fn wheel(app: &mut App, session: &mut Session, by: isize) -> Effects {
    let size = size(app, session);
    let detail = &mut session.detail;
    let top = detail.body(size.0).and_then(|body| {
        let top = body.snap(detail.shown.as_deref()?.at.top);
        let to = body.step(top, by);
        // The last line stays at the bottom at most.
        let rows = isize::try_from(size.1.saturating_sub(1)).unwrap_or(0);
        Some(to.min(body.step(body.last(), -rows)))
    });
    let tab = detail.tab;
    if let (Some(shown), Some(top)) = (detail.shown.as_deref_mut(), top) {
        match tab {
            Tab::Body => shown.at.top = top,
            Tab::Story => {
                let rows = shown.story.as_ref().map_or(0, |story| story.rows.len());
                shown.at_story.1 = frame::turned(shown.at_story.1, by, rows, size.1);
            }
            Tab::Findings => {
                let last = shown.findings.len().saturating_sub(1);
                shown.at_finding = shown
                    .at_finding
                    .saturating_add_signed(by.signum())
                    .min(last);
            }
        }
    }
    vec![]
}
