//! What stands in the lower border: what is below the screen, and the keys.

use super::{Places, row, sign};
use crate::app::diff::{Compared, Diff, DiffRow};
use crate::theme::{Glyph, Look};
use mcpreel_replay::compare::Class;
use mcpreel_wire::text::{plural, width};

/// The rows below the screen: how many there are, and how many of the gravest class among them.
/// Noise is not worth a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hidden {
    rows: usize,
    gravest: Option<(Class, usize)>,
}

pub(super) fn hidden(look: &Look, diff: &Diff, compared: &Compared, places: &Places) -> Hidden {
    let mut room = usize::from(places.body.height);
    let mut next = diff.top.min(compared.rows.len());
    while let Some(row) = compared.rows.get(next) {
        let lines = row::lines(look, compared, *row, places.body.width, places.beside).len();
        if lines > room {
            break;
        }
        room -= lines;
        next += 1;
    }
    let below = &compared.rows[next..];
    let of = |class: Class| {
        let is = |row: &&DiffRow| match row {
            DiffRow::Head(_) => false,
            DiffRow::Row(half, row) => compared.part(*half).comparison.class(*row) == Some(class),
        };
        (class, below.iter().filter(is).count())
    };
    let graver = Class::ALL
        .into_iter()
        .filter(|class| *class != Class::Noise);
    Hidden {
        rows: below.len(),
        gravest: graver.map(of).find(|(_, count)| *count > 0),
    }
}

/// `▼ 12 more rows, 1 breaking · e E walk · Space unfolds · Esc closes`: of the keys what there is
/// room for beside the rest.
pub(super) fn text(look: &Look, hidden: Hidden, room: usize) -> String {
    let said = (hidden.rows > 0).then(|| {
        let more = look.glyph(Glyph::More);
        let text = format!("{more} {}", plural(hidden.rows as u64, "more row"));
        match hidden.gravest {
            Some((class, count)) => {
                format!("{text}, {} {count} {}", sign(look, class), class.as_str())
            }
            None => text,
        }
    });
    let ways = [
        &["e E walk", "Space unfolds", "Esc closes"][..],
        &["e E walk", "Esc closes"],
        &["Esc closes"],
    ];
    fitting(look, said, &ways, room)
}

/// What is said, and behind it the keys of the first of these ways that there is room for.
pub fn fitting(look: &Look, said: Option<String>, ways: &[&[&str]], room: usize) -> String {
    let dot = format!(" {} ", look.glyph(Glyph::Dot));
    for keys in ways {
        let parts = said.as_deref().into_iter().chain(keys.iter().copied());
        let text = parts.collect::<Vec<_>>().join(&dot);
        if width(&text) <= room {
            return text;
        }
    }
    said.unwrap_or_default()
}
