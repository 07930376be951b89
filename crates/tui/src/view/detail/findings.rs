//! What is wrong with a row: all of it in short, and the one under the cursor in full.
//!
//! ```text
//! ✗ error  result-and-error  #1201
//!     found  the response has both
//!     at     result
//!     why    a peer cannot know which of them counts
//!     fix    send one of them
//! • note  progress-after-end  #1204
//!     progress 3 came after the answer
//! ```

use super::Pane;
use crate::app::text::Line;
use crate::theme::{self, Look, Role};
use crate::view::{explain, findings};
use crate::widget::spans::Spans;
use mcpreel_store::reader::FindingRow;
use mcpreel_wire::text::{escape, wrap};
use ratatui::Frame;

/// Columns by which what is said of a finding stands further in.
const INDENT: usize = 4;

pub fn draw(pane: &Pane<'_>, frame: &mut Frame<'_>) {
    let all = &pane.shown.findings;
    if all.is_empty() {
        let nothing = vec![(Role::Faint, "nothing is wrong with it".to_owned())];
        return pane.line(0, nothing, false, frame);
    }
    let rows = usize::from(pane.area.height);
    let cursor = pane.shown.at_finding.min(all.len() - 1);
    let lines = |at: usize| {
        if at == cursor {
            return in_full(pane, &all[at], rows);
        }
        in_short(&all[at], pane.columns(), pane.app.settings.look)
    };
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
    let mut row = 0;
    for at in first..all.len() {
        for line in lines(at) {
            if row == pane.area.height {
                return;
            }
            pane.line(row, line, at == cursor, frame);
            row += 1;
        }
    }
}

/// `✗ error  result-and-error  #1201`
fn head(finding: &FindingRow, look: Look) -> Spans {
    let (glyph, role) = theme::severity(&finding.severity);
    let place = finding.frame;
    let place = place.map_or_else(String::new, |frame| format!("  #{}", frame.0));
    let word = format!("{} {}  ", look.glyph(glyph), escape(&finding.severity));
    vec![
        (role, word),
        (Role::Strong, escape(&finding.rule).into_owned()),
        (Role::Faint, place),
    ]
}

/// The finding and what was found.
fn in_short(finding: &FindingRow, columns: usize, look: Look) -> Vec<Spans> {
    let mut lines = vec![head(finding, look)];
    let detail = wrap(&escape(&finding.detail), columns.saturating_sub(INDENT));
    lines.extend(
        detail
            .into_iter()
            .map(|line| indented(vec![(Role::Text, line)])),
    );
    lines
}

/// The finding, its place, what its rule means and what to do; `rows` lines at most.
fn in_full(pane: &Pane<'_>, finding: &FindingRow, rows: usize) -> Vec<Spans> {
    let look = pane.app.settings.look;
    let mut told: Vec<Line> = explain::place(finding);
    if let Some(rule) = mcpreel_lint::rule(&finding.rule) {
        told.push(vec![(Role::Faint, rule.summary.to_owned())]);
        let revision = explain::revision(pane.session);
        told.extend(explain::meaning(rule, revision));
    }
    let size = (
        pane.columns().saturating_sub(INDENT),
        rows.saturating_sub(1),
    );
    let told = explain::wrapped(&told, size, &findings::hint(pane.app), &look);
    let mut lines = vec![head(finding, look)];
    lines.extend(told.into_iter().map(indented));
    lines
}

fn indented(mut line: Spans) -> Spans {
    line.insert(0, (Role::Text, " ".repeat(INDENT)));
    line
}
