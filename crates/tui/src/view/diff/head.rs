//! What stands above the rows: the two exchanges, and how many differences there are.

use super::{Places, WORD, role, row, sign, word};
use crate::app::diff::{Compared, Diff, Part};
use crate::theme::{Glyph, Look, Role};
use crate::widget::spans;
use mcpreel_replay::compare::{Class, Half};
use mcpreel_replay::report::words::REDACTED;
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::text::{self, cut, pad_end};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// `#1187  tool-error  842 ms  412 B → 210 B`, of two recordings `7f3a#1187 …`
fn head(look: &Look, of: Option<&str>, exchange: &Exchange) -> String {
    let mut parts = vec![
        format!("{}#{}", of.unwrap_or_default(), exchange.request.0.0),
        exchange.status.as_str().to_owned(),
    ];
    parts.extend(exchange.latency_ns().map(text::duration));
    let arrow = look.glyph(Glyph::ToServer);
    let answer = exchange.response.map(|_| exchange.response_size);
    let answer = answer.map_or_else(|| "no answer".to_owned(), text::size);
    parts.push(format!(
        "{} {arrow} {answer}",
        text::size(exchange.request_size)
    ));
    parts.join("  ")
}

pub(super) fn sides(look: &Look, compared: &Compared, places: &Places, frame: &mut Frame<'_>) {
    let style = look.style(Role::Strong);
    let of = |at: usize| compared.of.as_ref().map(|of| of[at].short.as_str());
    let left = head(look, of(0), &compared.left);
    let right = head(look, of(1), &compared.right);
    if places.beside {
        let (a, b) = row::columns(places.heads.width);
        let line = format!(
            "{}{}{}{}",
            " ".repeat(WORD),
            pad_end(&cut(&left, a), a),
            row::divider(look),
            cut(&right, b)
        );
        frame.render_widget(Line::styled(line, style), places.heads);
        return;
    }
    let room = usize::from(places.heads.width).saturating_sub(2);
    for ((sign, text), area) in [("-", left), ("+", right)]
        .into_iter()
        .zip(places.heads.rows())
    {
        let line = format!("{sign} {}", cut(&text, room));
        frame.render_widget(Line::styled(line, style), area);
    }
}

/// How many differences of each class there are, which one the cursor is on, and what was not
/// looked at.
pub(super) fn summary(
    look: &Look,
    diff: &Diff,
    compared: &Compared,
    area: Rect,
    frame: &mut Frame<'_>,
) {
    let mut spans = vec![(Role::Text, " ".to_owned())];
    let passed = compared.changes.iter().filter(|at| **at <= diff.at).count();
    if compared.changes.is_empty() {
        let text = format!("{} nothing differs  ", look.glyph(Glyph::Ok));
        spans.push((Role::Good, text));
    } else {
        let text = format!("{passed} of {}  ", compared.changes.len());
        spans.push((Role::Faint, text));
    }
    for class in Class::ALL {
        let count = compared.count(class);
        if count > 0 {
            let text = format!("{} {count} {}  ", sign(look, class), class.as_str());
            spans.push((role(class), text));
        }
    }
    for half in [Half::Request, Half::Response] {
        let part = compared.part(half);
        for remark in remarks(part) {
            let text = format!("{} {}: {remark}  ", look.glyph(Glyph::Warning), word(half));
            spans.push((Role::Warn, text));
        }
    }
    if let Some((_, last)) = spans.last_mut() {
        last.truncate(last.trim_end().len());
    }
    let spans = spans::cut(spans, usize::from(area.width));
    frame.render_widget(spans::line(spans, *look), area);
}

fn remarks(part: &Part) -> Vec<String> {
    let limits = part.comparison.limits;
    let mut remarks = Vec::new();
    if part.outline {
        remarks.push("too long, only its outline is compared".to_owned());
    }
    if part.redacted > 0 {
        let values = text::plural(part.redacted, "value");
        remarks.push(format!("{values} {REDACTED}"));
    }
    if part.is_bound {
        remarks.push("what the server chose anew stands as it is now".to_owned());
    }
    let passed_over = part.comparison.passed_over;
    if passed_over > 0 {
        let differences = text::plural(passed_over, "difference");
        remarks.push(format!("{differences} passed over by rules"));
    }
    if limits.as_bytes {
        remarks.push("no JSON on one side, compared as bytes".to_owned());
    }
    if limits.not_compared > 0 {
        let values = text::plural(limits.not_compared, "value");
        remarks.push(format!("{values} not compared, there was too much"));
    }
    if limits.coarse > 0 {
        remarks.push("long lists compared place by place".to_owned());
    }
    remarks
}
