//! Enter and the mouse in the detail.

use super::detail_body::Position;
use super::motion::{fold, go_to, load_more};
use super::part::PartKind;
use super::tabs::story_lines;
use super::{Detail, Tab, detail_draw, settle, size};
use crate::action::Action;
use crate::app::{App, Focus, Session, View};
use crate::effect::Effects;
use crate::layout;
use crate::panels::findings::explain;
use crate::panels::list;
use crate::panels::search::hits::Term;
use crate::theme::{Look, Role};
use crate::widget::pager::Text;
use crate::widget::raw::{self, Controls};
use crate::widget::spans::Spans;
use crate::widget::tree::{NodeId, PAGE, Tree};
use crate::widget::{frame, tree_line};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_wire::json::Kind;
use mcpreel_wire::text::{escape, size as in_bytes};

/// Lines of a string that are laid out: some megabytes of text would hold up the screen.
const LINES: usize = 5_000;

/// Lines that are shown above the first hit in a string.
const ABOVE: usize = 3;

/// Opens what is under the cursor.
pub fn open(app: &mut App, session: &mut Session) -> Effects {
    let tab = session.detail.tab();
    let Some(shown) = session.detail.shown.as_deref_mut() else {
        return vec![];
    };
    match tab {
        Tab::Body => in_body(app, session),
        Tab::Story => {
            let story = shown.story.as_ref();
            let row = story.and_then(|story| story.rows.get(shown.at_story.0));
            let to = row.map(|row| (row.lens, row.key));
            to.map_or_else(Effects::new, |(lens, key)| jump(app, session, lens, key))
        }
        Tab::Findings => {
            let at = shown.at_finding;
            let frame = shown.findings.get(at).and_then(|finding| finding.frame);
            let mut parts = shown.parts.iter();
            let within = parts.position(|part| {
                let text = part.text.as_ref();
                text.is_some_and(|text| Some(text.key.seq) == frame)
            });
            if go_to(app, session, at) {
                return vec![];
            }
            if let (Some(part), Some(shown)) = (within, session.detail.shown.as_deref_mut()) {
                shown.at.cursor = Position::head(part);
                session.detail.chosen = Tab::Body;
                settle(app, session);
                return vec![];
            }
            frame.map_or_else(Effects::new, |frame| {
                jump(app, session, Lens::Wire, ItemKey::of_part(frame, 0))
            })
        }
    }
}

/// Shows what the rule of the finding under the cursor means.
pub fn explain(app: &mut App, session: &mut Session) -> Effects {
    let Some(finding) = finding(session) else {
        return app.refuse("there is no finding here");
    };
    let lines = explain::of_finding(finding, explain::revision(session));
    app.push(explain::explanation(lines))
}

/// The finding under the cursor: of the tab, of the heading, of the value.
fn finding(session: &Session) -> Option<&FindingRow> {
    let detail = &session.detail;
    let shown = detail.shown.as_deref()?;
    let part = detail.part();
    let at = match (detail.tab(), part.map(|part| part.kind)) {
        (Tab::Findings, _) => shown.at_finding,
        (Tab::Body, Some(PartKind::Finding(at))) => at,
        (Tab::Body, Some(PartKind::Text(_))) => {
            let node = detail.node().unwrap_or_default();
            part?.violations()?.at(node).first()?.finding
        }
        (Tab::Body | Tab::Story, _) => return None,
    };
    shown.findings.get(at)
}

fn in_body(app: &mut App, session: &mut Session) -> Effects {
    let columns = usize::from(app.size.0).saturating_sub(8).max(1);
    let terms = session.sought().to_vec();
    let detail = &mut session.detail;
    let (Some(cursor), Some(part)) = (detail.cursor(), detail.part()) else {
        return vec![];
    };
    let is_note = cursor.byte == Some(part.bytes().len());
    match (part.kind, detail.node(), part.tree()) {
        _ if is_note => return load_more(app, session),
        (PartKind::Finding(at), ..) => {
            detail.chosen = Tab::Findings;
            if let Some(shown) = detail.shown.as_deref_mut() {
                shown.at_finding = at;
            }
        }
        (PartKind::MoreFindings(_), ..) => detail.chosen = Tab::Findings,
        (PartKind::Words(_), ..) => {
            let lines = bounded(wrapped(part.bytes(), columns, &[]));
            app.push(Text::new("in full", lines));
        }
        (_, Some(node), Some(tree))
            if tree.node(node).kind == Kind::String && !tree.can_fold(node) =>
        {
            if let Some(text) = text(tree, node, columns, &terms, app.settings.look) {
                app.push(text);
            }
        }
        _ => {
            fold(detail, Action::Toggle);
            settle(app, session);
        }
    }
    vec![]
}

/// Selects a row of the list, through the lens that has it.
fn jump(app: &mut App, session: &mut Session, lens: Lens, key: ItemKey) -> Effects {
    let view = std::mem::replace(&mut session.view, View::Exchanges);
    let call = session.list.selected().map(|key| (session.lens, key));
    session.back = Some((view, session.filter.as_before(), call));
    session.focus = Focus::Main;
    let has_all = session.lens == Lens::Wire;
    list::go_through(app, session, if has_all { Lens::Wire } else { lens }, key)
}

/// A string in full, from the first of these terms in it on.
fn text(tree: &Tree, node: NodeId, columns: usize, terms: &[Term], look: Look) -> Option<Text> {
    let string = tree.string(node)?;
    // `data` of images and audio, `blob` of resources.
    let is_data = matches!(tree.name(node).as_deref(), Some("data" | "blob"));
    let size = in_bytes(tree.node(node).value.len() as u64);
    let line = |text: String| vec![(Role::Text, text)];
    let (kind, lines) = match Content::of(string, is_data) {
        Content::Json(mut tree) => {
            tree.unfold_all();
            let rows = 0..tree.rows().min(LINES + 1);
            let hits = Term::places(terms, tree.text()).places;
            let lines = rows.map(|row| tree_line::line(&tree, row, None, columns, &hits, look));
            ("JSON", lines.collect::<Vec<_>>())
        }
        Content::Binary(binary) => {
            let hint = "the characters themselves: r shows them".to_owned();
            let lines = [binary, String::new(), hint].map(line);
            ("base64", lines.into())
        }
        Content::Text(text) => ("text", wrapped(text.as_bytes(), columns, terms)),
    };
    let path = tree.path(node).to_string();
    let title = format!("{} · {kind} · {size}", escape(&path));
    let is_hit = |line: &Spans| line.iter().any(|(role, _)| *role == Role::Hit);
    let first = lines.iter().position(is_hit).unwrap_or(0);
    Some(Text {
        top: first.saturating_sub(ABOVE),
        ..Text::new(title, bounded(lines))
    })
}

/// Text in lines of so many columns, one more than are shown, with these terms marked.
fn wrapped(text: &[u8], columns: usize, terms: &[Term]) -> Vec<Spans> {
    let hits = Term::places(terms, text).places;
    let lines = raw::lines(text, columns, Controls::Read).take(LINES + 1);
    let lines = lines.map(|line| raw::write(text, line, Controls::Read, &hits));
    lines.collect()
}

/// As many lines as are shown, and whether these are all.
fn bounded(mut lines: Vec<Spans>) -> Vec<Spans> {
    if lines.len() > LINES {
        lines.truncate(LINES);
        let more = format!("the first {LINES} lines; y copies all of it");
        lines.push(vec![(Role::Warn, more)]);
    }
    lines
}

/// A click at this column and row of the screen, within the pane.
pub fn click(app: &mut App, session: &mut Session, cell: (u16, u16), double: bool) -> Effects {
    let (column, row) = cell;
    let area = layout::session(app, session).detail;
    let inner = detail_draw::inner(app, area);
    session.focus = Focus::Detail;
    if let Some(tab) = detail_draw::tab_at(app, session, area, cell) {
        session.detail.chosen = tab;
        return vec![];
    }
    if !(inner.y..inner.bottom()).contains(&row) {
        return vec![];
    }
    let (left, down) = (column.saturating_sub(inner.x), usize::from(row - inner.y));
    let (look, size) = (app.settings.look, size(app, session));
    let detail = &mut session.detail;
    match detail.tab() {
        Tab::Body => {
            let is_on_sign = click_line(detail, left.into(), down);
            if is_on_sign && !double {
                fold(detail, Action::Toggle);
            }
            settle(app, session);
            if is_on_sign {
                return vec![];
            }
        }
        Tab::Story => {
            if let Some(shown) = detail.shown.as_deref_mut() {
                let last = shown.story_rows().saturating_sub(1);
                let lines = shown.story.as_ref();
                let lines = lines.map(|story| story_lines(shown, story, size, look));
                let line = lines.and_then(|lines| lines.get(down).map(|(at, _)| *at));
                shown.at_story.0 = line.unwrap_or(last).min(last);
            }
        }
        Tab::Findings => {}
    }
    if double { open(app, session) } else { vec![] }
}

/// Puts the cursor of the body on a line of the screen. Whether the click was on its arrow.
fn click_line(detail: &mut Detail, left: usize, down: usize) -> bool {
    let to = detail.shown.as_deref().zip(detail.body());
    let to = to.map(|(shown, body)| body.position(body.line_of(shown.at.top) + down));
    if let (Some(shown), Some(to)) = (detail.shown.as_deref_mut(), to) {
        shown.at.cursor = to;
    }
    match (detail.node(), detail.part().and_then(|part| part.tree())) {
        (Some(node), Some(tree)) => {
            let level = left.checked_sub(detail_draw::INDENT).map(|left| left / 2);
            level == Some(tree.depth(node))
        }
        _ => to.is_some_and(|to| to.byte.is_none()) && left < detail_draw::INDENT,
    }
}

/// The wheel was turned by so many rows: the picture moves, the cursor does not.
pub fn wheel(app: &mut App, session: &mut Session, by: isize) -> Effects {
    let (_, page) = size(app, session);
    let detail = &mut session.detail;
    let tab = detail.tab();
    let body = detail.shown.as_deref().zip(detail.body());
    let top = body.map(|(shown, body)| {
        let top = frame::turned(body.line_of(shown.at.top), by, body.len(), page);
        body.position(top)
    });
    if let (Some(shown), Some(top)) = (detail.shown.as_deref_mut(), top) {
        match tab {
            Tab::Body => shown.at.top = top,
            Tab::Story => {
                let rows = shown.story_rows();
                shown.at_story.1 = frame::turned(shown.at_story.1, by, rows, page);
            }
            Tab::Findings => {
                let last = shown.findings.len().saturating_sub(1);
                let to = shown.at_finding.saturating_add_signed(by.signum());
                shown.at_finding = to.min(last);
            }
        }
    }
    vec![]
}

/// The content of a string: JSON within it becomes a tree, base64 is described rather than shown, and
/// anything else is text with its real line feeds.
#[derive(Clone, Debug)]
enum Content {
    Json(Box<Tree>),
    /// Base64, described: `image/png, 12 kB`.
    Binary(String),
    Text(String),
}

impl Content {
    /// The content of `text`. Base64 is recognised by what it decodes to, or where `is_data` says
    /// that it is expected.
    fn of(text: String, is_data: bool) -> Self {
        if let Some(tree) = json(&text) {
            return Self::Json(Box::new(tree));
        }
        describe(&text, is_data).map_or(Self::Text(text), Self::Binary)
    }
}

/// The tree of an object or array that holds something, and is nothing but JSON.
fn json(text: &str) -> Option<Tree> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let tree = Tree::read(text.as_bytes().into(), PAGE)?;
    (tree.stopped().is_none() && tree.nodes() > 1).then_some(tree)
}

/// Shorter texts are words more often than data.
const SHORTEST: usize = 32;

/// Characters that are decoded to look at: a multiple of four.
const LOOKED_AT: usize = 64;

/// Media types by how data begins: at which byte, with what.
const BEGINNINGS: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (4, b"ftyp", "video/mp4"),
    (0, b"<svg", "image/svg+xml"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"OggS", "audio/ogg"),
    (0, b"ID3", "audio/mpeg"),
];

/// The media type and the size of base64, also of a `data:` URI.
fn describe(text: &str, is_data: bool) -> Option<String> {
    let text = text.split_once(";base64,").map_or(text, |(_, data)| data);
    let data = text.trim_ascii().trim_end_matches('=');
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    if data.is_empty() || data.len() % 4 == 1 || !data.bytes().all(is_base64) {
        return None;
    }
    let looked_at = &data.as_bytes()[..data.len().min(LOOKED_AT)];
    let bytes = STANDARD_NO_PAD.decode(looked_at).ok()?;
    let begins =
        |at: usize, with: &[u8]| bytes.get(at..).is_some_and(|rest| rest.starts_with(with));
    let mut known = BEGINNINGS.iter();
    let mime = known.find_map(|(at, with, mime)| begins(*at, with).then_some(*mime));
    let is_sure = is_data || mime.is_some() && data.len() >= SHORTEST;
    let size = in_bytes(data.len() as u64 * 3 / 4);
    is_sure.then(|| format!("{}, {size}", mime.unwrap_or("data of an unknown kind")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_a_string_is_a_tree_and_what_only_looks_like_it_is_text() {
        let Content::Json(tree) = Content::of(" {\"a\":[1,2]}\n".to_owned(), false) else {
            panic!("no tree");
        };
        assert_eq!(tree.rows(), 3);
        for text in ["{}", "[INFO] up", "{\"a\":1} and more", "[1,", "7", ""] {
            let content = Content::of(text.to_owned(), false);
            assert!(
                matches!(content, Content::Text(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn data_is_described_and_words_are_no_data_unless_said_so() {
        let png = b"\x89PNG\r\n\x1a\n".repeat(125);
        let png = base64::engine::general_purpose::STANDARD.encode(png);
        for text in [&png, &format!("data:image/png;base64,{png}")] {
            assert_eq!(describe(text, false).as_deref(), Some("image/png, 1.0 kB"));
        }
        let hash = "a".repeat(64);
        assert_eq!(describe(&hash, false), None);
        assert_eq!(
            describe(&hash, true).as_deref(),
            Some("data of an unknown kind, 48 B")
        );
        for text in ["", "hello world", "héllo", "data:text/plain,hi"] {
            assert_eq!(describe(text, true), None, "{text}");
        }
    }
}
