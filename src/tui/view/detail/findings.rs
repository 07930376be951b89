//! What is wrong with a row.
//!
//! ```text
//! ✗ error  result-and-error  both result and error are there  #1201
//!     a response has either a result or an error, never both
//! ```

use super::Pane;
use crate::lint;
use crate::store::reader::FindingRow;
use crate::text::{escape, wrap};
use crate::tui::theme::{self, Look, Role};
use crate::tui::widget::spans::Spans;
use ratatui::Frame;

/// Lines of a detail or an explanation at most.
const LINES: usize = 8;

/// Draws them.
pub fn draw(pane: &Pane<'_>, frame: &mut Frame<'_>) {
    let findings = &pane.shown.findings;
    if findings.is_empty() {
        let nothing = vec![(Role::Faint, "nothing is wrong with it".to_owned())];
        return pane.line(0, nothing, false, frame);
    }
    let look = pane.app.settings.look;
    let rows = usize::from(pane.area.height);
    let lines = |at: usize| lines(&findings[at], pane.columns(), look);
    let cursor = pane.shown.at_finding.min(findings.len() - 1);
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
    for at in first..findings.len() {
        for line in lines(at) {
            if row == pane.area.height {
                return;
            }
            pane.line(row, line, at == cursor, frame);
            row += 1;
        }
    }
}

/// The finding, its place and its explanation, wrapped.
fn lines(finding: &FindingRow, columns: usize, look: Look) -> Vec<Spans> {
    let (glyph, role) = theme::severity(&finding.severity);
    let place = finding.frame;
    let place = place.map_or_else(String::new, |frame| format!("  #{}", frame.0));
    let word = format!("{} {}  ", look.glyph(glyph), escape(&finding.severity));
    let head = vec![
        (role, word),
        (Role::Strong, escape(&finding.rule).into_owned()),
        (Role::Faint, place),
    ];
    let mut lines = vec![head];
    lines.extend(wrapped(&escape(&finding.detail), columns, Role::Text));
    if let Some(rule) = lint::rule(&finding.rule) {
        lines.extend(wrapped(rule.summary, columns, Role::Faint));
    }
    lines
}

fn wrapped(text: &str, columns: usize, role: Role) -> impl Iterator<Item = Spans> {
    let lines = wrap(text, columns.saturating_sub(4));
    let line = move |line| vec![(Role::Text, "    ".to_owned()), (role, line)];
    lines.into_iter().take(LINES).map(line)
}
