//! The row under the cursor in full: what differs, the worst first.

use super::{role, row, sign};
use crate::app::comparison::{Compared, Comparison, Row};
use crate::theme::{Glyph, Look, Role};
use crate::widget::spans::{self, Spans};
use mcpreel_replay::report::{Difference, words};
use mcpreel_wire::text::{cut, plural, width, wrap};
use ratatui::Frame;
use ratatui::layout::Rect;

pub(super) fn draw(
    look: &Look,
    comparison: &Comparison,
    compared: &Compared,
    area: Rect,
    frame: &mut Frame<'_>,
) {
    let Some(row) = compared.rows.get(comparison.at).copied() else {
        return;
    };
    let mut areas = area.rows();
    let Some(first) = areas.next() else { return };
    let columns = usize::from(area.width);
    frame.render_widget(
        spans::line(rule(look, compared, row, columns), *look),
        first,
    );
    let lines = lines(look, compared, row, columns);
    let room = usize::from(area.height).saturating_sub(1);
    let hidden = lines.len().saturating_sub(room);
    for (at, (line, area)) in lines.into_iter().zip(areas).enumerate() {
        let line = if hidden > 0 && at > 0 && at + 1 == room {
            let text = format!(
                " {} and {}",
                look.glyph(Glyph::Ellipsis),
                plural(hidden as u64 + 1, "more line")
            );
            vec![(Role::Faint, text)]
        } else {
            line
        };
        frame.render_widget(spans::line(spans::cut(line, columns), *look), area);
    }
}

/// ` tools/call search  ✗ breaking ────`
fn rule(look: &Look, compared: &Compared, row: Row, columns: usize) -> Spans {
    let subject = match row {
        Row::Pair(at) => compared
            .pairs
            .get(at)
            .map_or_else(String::new, |pair| words::call(compared.call(pair))),
        Row::Offer(_) => compared.offer(row).map_or_else(String::new, words::offered),
        Row::Said(_) => "as a whole".to_owned(),
        Row::Head(_) | Row::Folded(..) => String::new(),
    };
    let mut line = vec![(Role::Title, format!(" {} ", cut(&subject, columns / 2)))];
    if let Some(class) = compared.class(row) {
        let text = format!(" {} {} ", sign(look, class), class.as_str());
        line.push((role(class), text));
    }
    let rest = columns.saturating_sub(spans::width(&line));
    let rule = look.border().horizontal_top.repeat(rest);
    line.push((Role::Border, rule));
    line
}

fn lines(look: &Look, compared: &Compared, row: Row, columns: usize) -> Vec<Spans> {
    let plain = |text: &str| {
        let lines = wrap(text, columns.saturating_sub(2)).into_iter();
        let lines = lines.map(|line| vec![(Role::Text, format!(" {line}"))]);
        lines.collect::<Vec<Spans>>()
    };
    match row {
        Row::Head(_) => Vec::new(),
        Row::Folded(..) => plain("Space shows them"),
        Row::Said(_) => plain(&row::told(compared, row)),
        Row::Offer(_) => match compared.offer(row) {
            Some(offer) => {
                let mut lines = plain(&row::told(compared, row));
                lines.extend(difference(look, &offer.difference, columns));
                lines
            }
            None => Vec::new(),
        },
        Row::Pair(at) => {
            let said = compared.pairs.get(at).and_then(|pair| pair.said.as_deref());
            let mut lines = said.map_or_else(Vec::new, plain);
            if let Some(account) = compared.account(row) {
                for one in &account.differences {
                    lines.extend(difference(look, one, columns));
                }
                if account.more > 0 {
                    let more = plural(account.more, "more difference");
                    lines.extend(plain(&format!("and {more}")));
                }
            }
            if lines.is_empty() {
                lines = plain("nothing differs");
            }
            lines
        }
    }
}

/// `✗ breaking result.isError: was false, is true`, on two lines where it is long.
fn difference(look: &Look, difference: &Difference, columns: usize) -> Vec<Spans> {
    let class = difference.class;
    let head = format!(" {} {}  ", sign(look, class), class.as_str());
    let mut place = words::place(difference);
    if let Some(note) = &difference.note {
        place = format!("{place}: {note}");
    }
    let was = difference.left.as_deref();
    let is = difference.right.as_deref();
    let values = match (was, is) {
        (Some(was), Some(is)) => vec![("was ", was), ("is ", is)],
        (Some(was), None) => vec![("is gone, was ", was)],
        (None, Some(is)) => vec![("is new: ", is)],
        (None, None) => Vec::new(),
    };
    let mut line = vec![(role(class), head), (Role::Strong, place)];
    let used = spans::width(&line);
    let wanted: usize = values
        .iter()
        .map(|(word, value)| width(word) + width(value) + 2)
        .sum();
    let one = |(word, value): &(&str, &str)| {
        [
            (Role::Faint, (*word).to_owned()),
            (Role::Text, (*value).to_owned()),
        ]
    };
    if used + wanted <= columns {
        for value in &values {
            line.push((Role::Text, "  ".to_owned()));
            line.extend(one(value));
        }
        return vec![line];
    }
    let mut lines = vec![line];
    lines.extend(values.iter().map(|value| {
        let mut line = vec![(Role::Text, "     ".to_owned())];
        line.extend(one(value));
        line
    }));
    lines
}
