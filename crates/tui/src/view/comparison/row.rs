//! A row of the comparison as one line.

use super::{WORD, role, sign};
use crate::app::comparison::{Compared, Occurrence, Pair, Part, Row};
use crate::theme::{Glyph, Look, Role};
use crate::view::diff;
use mcpreel_replay::compare::Class;
use mcpreel_replay::report::words;
use mcpreel_trace::exchange::Status;
use mcpreel_wire::text::{count, cut, duration, pad_end, width};
use ratatui::text::{Line, Span};

/// Columns of the sign and the word of a class where there is little room.
const SIGN: usize = 2;

/// From this width on there is room for the words of the classes.
const WIDE: u16 = 50;

pub(super) fn line(
    look: &Look,
    compared: &Compared,
    row: Row,
    columns: u16,
    beside: bool,
) -> Line<'static> {
    let before = before(columns);
    let room = usize::from(columns).saturating_sub(before);
    match row {
        Row::Head(part) => {
            let text = format!("{}{}", " ".repeat(before), title(part));
            Line::styled(text, look.style(Role::Title))
        }
        Row::Folded(same, noise) => {
            let text = folded(look, same, noise);
            let text = format!("{}  {}", " ".repeat(before), cut(&text, room));
            Line::styled(text, look.style(Role::Faint))
        }
        Row::Said(_) | Row::Offer(_) => {
            let class = compared.class(row);
            let text = cut(&told(compared, row), room);
            Line::from(vec![
                class_of(look, class, before),
                Span::styled(text, style(look, class)),
            ])
        }
        Row::Pair(at) => match compared.pairs.get(at) {
            Some(pair) if beside => pair_beside(look, compared, pair, columns),
            Some(pair) => pair_below(look, compared, pair, columns),
            None => Line::default(),
        },
    }
}

fn before(columns: u16) -> usize {
    if columns < WIDE { SIGN } else { WORD }
}

fn title(part: Part) -> &'static str {
    match part {
        Part::Session => "as a whole",
        Part::Offers => "what the server offers",
        Part::Calls => "call by call",
    }
}

fn folded(look: &Look, same: usize, noise: usize) -> String {
    let ellipsis = look.glyph(Glyph::Ellipsis);
    let same = count(same as u64);
    match noise {
        0 => format!("{ellipsis} {same} the same"),
        noise => format!(
            "{ellipsis} {same} the same, {} of them but for what differs in any two runs",
            count(noise as u64)
        ),
    }
}

/// What is said in a row that is about no single call.
pub(super) fn told(compared: &Compared, row: Row) -> String {
    match row {
        Row::Said(at) => compared
            .said
            .get(at)
            .map_or_else(String::new, |(_, text)| text.to_string()),
        Row::Offer(_) => compared.offer(row).map_or_else(String::new, |offer| {
            let subject = words::offered(offer);
            match &offer.difference.note {
                Some(note) => format!("{subject}: {note}"),
                None => format!("{subject}: {}", offer.difference.path),
            }
        }),
        _ => String::new(),
    }
}

/// The sign and the word of a class, in exactly so many columns.
fn class_of(look: &Look, class: Option<Class>, columns: usize) -> Span<'static> {
    let text = class.map_or_else(String::new, |class| {
        format!("{} {}", sign(look, class), class.as_str())
    });
    let text = if columns == SIGN {
        text.chars().take(1).collect()
    } else {
        text
    };
    Span::styled(diff::fitted(&text, columns), style(look, class))
}

fn style(look: &Look, class: Option<Class>) -> ratatui::style::Style {
    look.style(class.map_or(Role::Text, role))
}

/// The call and how it went, on the left and on the right.
fn pair_beside(look: &Look, compared: &Compared, pair: &Pair, columns: u16) -> Line<'static> {
    let (a, b) = diff::columns(columns);
    let call = words::call(compared.call(pair));
    let style = style(look, pair.class);
    let [left, right] = pair.sides.map(|side| side.map(|side| went(look, &side)));
    let seq = |side: usize| pair.sides[side].map(|side| format!("#{}", side.request.0.0));
    let part = |side: usize, went: Option<String>, room: usize| match (seq(side), went) {
        (Some(seq), Some(went)) => justified(&format!("{seq} {call}"), &went, room),
        // What became of it stands where the other one would be.
        _ => diff::fitted(pair.said.as_deref().unwrap_or_default(), room),
    };
    let (left, right) = (part(0, left, a), part(1, right, b));
    Line::from(vec![
        class_of(look, pair.class, WORD),
        Span::styled(left, style),
        Span::raw(diff::divider(look)),
        Span::styled(right, style),
    ])
}

fn pair_below(look: &Look, compared: &Compared, pair: &Pair, columns: u16) -> Line<'static> {
    let before = before(columns);
    let room = usize::from(columns).saturating_sub(before);
    let call = words::call(compared.call(pair));
    let arrow = look.glyph(Glyph::ToServer);
    let seq = |side: usize| pair.sides[side].map(|side| format!("#{}", side.request.0.0));
    let (seqs, went) = match (seq(0), seq(1)) {
        (Some(left), Some(right)) => {
            let [left_went, right_went] =
                pair.sides.map(|side| side.map_or("", |side| status(&side)));
            let went = if left_went == right_went {
                left_went.to_owned()
            } else {
                format!("{left_went} {arrow} {right_went}")
            };
            (format!("{left} {arrow} {right}"), went)
        }
        (left, right) => {
            let said = pair.said.as_deref().unwrap_or_default();
            (left.or(right).unwrap_or_default(), said.to_owned())
        }
    };
    Line::from(vec![
        class_of(look, pair.class, before),
        Span::styled(
            justified(&format!("{seqs} {call}"), &went, room),
            style(look, pair.class),
        ),
    ])
}

/// How it went: `tool-error 842 ms`.
fn went(look: &Look, one: &Occurrence) -> String {
    let glyph = match one.status {
        Status::Ok => Glyph::Ok,
        Status::Error | Status::ToolError | Status::Lost | Status::Unanswered => Glyph::Failed,
        _ => Glyph::Dot,
    };
    let latency = one.latency_ns.map(duration).unwrap_or_default();
    let text = format!("{} {} {latency}", look.glyph(glyph), status(one));
    text.trim_end().to_owned()
}

fn status(one: &Occurrence) -> &'static str {
    one.status.as_str()
}

/// Both at the ends of so many columns; the left one is cut where there is no room for it.
fn justified(left: &str, right: &str, columns: usize) -> String {
    let right = cut(right, columns.saturating_sub(8));
    let room = columns.saturating_sub(width(&right) + 2);
    let left = cut(left, room);
    format!("{}  {right}", pad_end(&left, room))
}
