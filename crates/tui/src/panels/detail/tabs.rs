//! Drawing the story and the findings of a row.
//!
//! What happened from a request to its answer.
//!
//! ```text
//!  12:04.318            → request       tools/call search_docs {q:"rust async"}
//!  12:04.330    +12 ms  ← notification  progress 1/100
//!  12:04.402    +72 ms  ← request         elicitation/create confirm?
//!  12:05.160   +758 ms  ← response      tool-error: quota exceeded
//! ```
//!
//! The longest gap stands out: that is where the time went.
//!
//! What is wrong with a row: all of it in short, and the one under the cursor in full.
//!
//! ```text
//! ‼ error  result-and-error  #1201
//!     found  the response has both
//!     at     result
//!     why    a peer cannot know which of them counts
//!     fix    send one of them
//! • note  progress-after-end  #1204
//!     progress 3 came after the answer
//! ```

use crate::panels::detail::Shown;
use crate::panels::detail::detail_draw::Pane;
use crate::panels::detail::head::severity_and_rule;
use crate::panels::findings::explain;
use crate::theme::{Glyph, Look, Role};
use crate::widget::spans::{self, Spans};
use mcpreel_share::phrases::phrases_story::{Row, Told, Tone};
use mcpreel_store::reader::FindingRow;
use mcpreel_wire::text::{count, cut, duration, escape, pad_end, pad_start, since, wrap};
use ratatui::Frame;

/// From this width on there is room for the time beside the gap, and for whole words.
const WIDE: usize = 84;

pub fn draw_story(pane: &Pane<'_>, frame: &mut Frame<'_>) {
    let Some(story) = &pane.shown.story else {
        let reading = vec![(Role::Faint, "reading".to_owned())];
        return pane.line(pane.area, reading, false, frame);
    };
    let (cursor, _) = pane.shown.at_story;
    let size = (pane.columns(), usize::from(pane.area.height));
    let lines = story_lines(pane.shown, story, size, pane.app.settings.look);
    for (area, (at, line)) in pane.area.rows().zip(lines) {
        pane.line(area, line, at == cursor, frame);
    }
}

/// The lines of the story on a screen of so many columns and rows, each with the number of its row. Where
/// rows are left, a text that is too long for its line goes on below.
pub fn story_lines(
    shown: &Shown,
    story: &Told,
    (columns, rows): (usize, usize),
    look: Look,
) -> Vec<(usize, Spans)> {
    let longest = story.longest_gap();
    let (_, top) = shown.at_story;
    let used = story.rows.len().saturating_sub(top) + usize::from(story.left_out > 0);
    let mut left = rows.saturating_sub(used);
    let mut lines = Vec::new();
    for (at, row) in story.rows.iter().enumerate().skip(top) {
        let (before, (role, text)) = line(row, longest == Some(at), columns, look);
        let indent = spans::width(&before);
        let room = columns.saturating_sub(indent).max(1);
        let mut wrapped = match left {
            0 => vec![text],
            _ => wrap(&text, room),
        };
        if wrapped.len() > left + 1 {
            wrapped.truncate(left + 1);
            wrapped[left] = cut(&format!("{} …", wrapped[left]), room);
        }
        left -= wrapped.len() - 1;
        for (nth, text) in wrapped.into_iter().enumerate() {
            let mut line = match nth {
                0 => before.clone(),
                _ => vec![(Role::Text, " ".repeat(indent))],
            };
            line.push((role, text));
            lines.push((at, line));
        }
    }
    if story.left_out > 0 {
        let text = format!("{} more of the same are not shown", count(story.left_out));
        lines.push((story.rows.len(), vec![(Role::Warn, text)]));
    }
    lines
}

/// A row of the story, up to its text and that.
fn line(row: &Row, is_longest: bool, columns: usize, look: Look) -> (Spans, (Role, String)) {
    let mut line = Spans::new();
    let is_wide = columns >= WIDE;
    if is_wide {
        line.push((Role::Faint, pad_start(&since(row.t.0), 10)));
    }
    let gap = match row.gap_ns {
        0 => String::new(),
        gap => format!("+{}", duration(gap)),
    };
    let gap_role = if is_longest { Role::Warn } else { Role::Faint };
    line.push((gap_role, pad_start(&gap, 10)));
    let role = role(row);
    line.push((role, format!("  {} ", arrow(row, look))));
    let word = match row.word {
        "notification" if !is_wide => "notif.",
        word => word,
    };
    line.push((role, pad_end(word, if is_wide { 13 } else { 9 })));
    // What the other side asked meanwhile stands further in: it lies within the call.
    let nested = matches!(row.tone, Tone::Child | Tone::Round);
    if nested {
        line.push((Role::Text, "  ".to_owned()));
    }
    let text_role = match row.tone {
        Tone::Own => Role::Text,
        Tone::Notification | Tone::Line => Role::Faint,
        _ => role,
    };
    let text = match row.tone {
        // Servers pad what they log, and the line is cut.
        Tone::Line => row.text.split_whitespace().collect::<Vec<_>>().join(" "),
        _ => row.text.clone(),
    };
    (line, (text_role, text))
}

fn arrow(row: &Row, look: Look) -> &'static str {
    match (row.tone, row.direction) {
        (Tone::Finding, _) => look.glyph(Glyph::Alert),
        (Tone::Event, _) => look.glyph(Glyph::Diamond),
        (_, Some(direction)) => look.glyph(direction.into()),
        (_, None) => look.glyph(Glyph::Note),
    }
}

fn role(row: &Row) -> Role {
    match row.tone {
        Tone::Own => Role::Strong,
        Tone::Notification => Role::Notification,
        Tone::Child => Role::FromServer,
        Tone::Round => Role::Text,
        Tone::Line => Role::Stderr,
        Tone::Event => Role::Event,
        Tone::Finding => Role::Warn,
    }
}

/// Columns by which what is said of a finding stands further in.
const INDENT: usize = 4;

pub fn draw_findings(pane: &Pane<'_>, frame: &mut Frame<'_>) {
    let all = &pane.shown.findings;
    if all.is_empty() {
        let nothing = vec![(Role::Faint, "no findings".to_owned())];
        return pane.line(pane.area, nothing, false, frame);
    }
    let rows = usize::from(pane.area.height);
    let cursor = pane.shown.at_finding.min(all.len() - 1);
    let lines = |at: usize| in_lines(pane, &all[at], at == cursor);
    // The one under the cursor is wholly on the screen, and as many before it as there is room.
    let mut first = cursor;
    let mut used = lines(cursor).len();
    while first > 0 {
        let above = lines(first - 1).len();
        if used + above > rows {
            break;
        }
        used += above;
        first -= 1;
    }
    let lines = (first..all.len()).flat_map(|at| lines(at).into_iter().map(move |line| (at, line)));
    for (area, (at, line)) in pane.area.rows().zip(lines) {
        pane.line(area, line, at == cursor, frame);
    }
}

/// A finding with what was found; in full also its place, what its rule means and what to do.
fn in_lines(pane: &Pane<'_>, finding: &FindingRow, is_full: bool) -> Vec<Spans> {
    let look = pane.app.settings.look;
    let place = finding.frame.map(|frame| format!("  #{}", frame.0));
    let mut first = severity_and_rule(finding, look);
    first.extend(place.map(|place| (Role::Faint, place)));
    let mut lines = vec![first];
    let columns = pane.columns().saturating_sub(INDENT);
    let rows = usize::from(pane.area.height.saturating_sub(1));
    let mut indented = |mut line: Spans| {
        line.insert(0, (Role::Text, " ".repeat(INDENT)));
        lines.push(line);
    };
    if is_full {
        let mut told = explain::place(finding);
        if let Some(rule) = mcpreel_lint::rule(&finding.rule) {
            told.push(vec![(Role::Faint, rule.summary.to_owned())]);
            let revision = explain::revision(pane.session);
            told.extend(explain::meaning(rule, revision));
        }
        let hint = explain::hint(pane.app);
        let told = explain::wrapped(&told, (columns, rows), &hint, &look);
        told.into_iter().for_each(&mut indented);
    } else {
        for line in wrap(&escape(&finding.detail), columns) {
            indented(vec![(Role::Text, line)]);
        }
    }
    lines
}
