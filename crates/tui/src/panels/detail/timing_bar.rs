//! What took how long in an HTTP exchange: a bar of the width, and its durations under it.
//!
//! ```text
//!   █▒▒▒▒████████████████████████████████████████▒▒▒▒▒▒▒▒▒▒▒▒
//!   █ connect 1.2 ms  ▒ TLS 8.0 ms  █ wait 820 ms  ▒ stream 290 ms
//! ```

use super::detail_draw::INDENT;
use crate::theme::{Glyph, Look, Role};
use crate::widget::spans::Spans;
use mcpreel_trace::http::Timing;
use mcpreel_wire::text::duration;

/// The bar: of each part as much as it took of the whole, and one cell at least.
pub fn bar(timing: &Timing, columns: usize, look: Look) -> Spans {
    let parts: Vec<_> = timing.parts().map(|(_, ns)| ns).collect();
    let room = columns.saturating_sub(INDENT + parts.len()) as u128;
    let all: u128 = parts.iter().map(|ns| u128::from(*ns)).sum();
    let share = |ns: u64| room * u128::from(ns) / all.max(1);
    let left_over = room.saturating_sub(parts.iter().map(|ns| share(*ns)).sum());
    let longest = (0..parts.len()).max_by_key(|at| parts[*at]);
    let cells = parts.iter().enumerate().map(|(at, ns)| {
        let more = if Some(at) == longest { left_over } else { 0 };
        let cells = usize::try_from(1 + share(*ns) + more).unwrap_or(1);
        let (glyph, role) = sign(at, look);
        (role, glyph.repeat(cells))
    });
    indented(cells)
}

/// The parts with their durations, each behind its sign in the bar.
pub fn legend(timing: &Timing, look: Look) -> Spans {
    let parts = timing.parts().enumerate().flat_map(|(at, (part, ns))| {
        let (glyph, role) = sign(at, look);
        let said = format!(" {part} {}  ", duration(ns));
        [(role, glyph.to_owned()), (Role::Text, said)]
    });
    indented(parts)
}

/// The sign of a part: never that of its neighbours, with and without colours.
fn sign(at: usize, look: Look) -> (&'static str, Role) {
    match at % 2 {
        0 => (look.glyph(Glyph::Bar), Role::Event),
        _ => (look.glyph(Glyph::Hatched), Role::FromServer),
    }
}

fn indented(spans: impl Iterator<Item = (Role, String)>) -> Spans {
    let indent = (Role::Text, " ".repeat(INDENT));
    std::iter::once(indent).chain(spans).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::widget::spans;

    #[test]
    fn every_part_has_its_share_of_the_width_and_a_cell_at_least() {
        let timing = Timing {
            connect: Some(1),
            send: Some(0),
            wait: Some(600_000_000),
            stream: Some(200_000_000),
            ..Timing::default()
        };
        let look = Look::default();
        let bar = bar(&timing, 45, look);
        let widths: Vec<_> = bar
            .iter()
            .map(|one| spans::width(std::slice::from_ref(one)))
            .collect();
        assert_eq!(widths, [INDENT, 1, 32, 10]);
        let legend: String = legend(&timing, look).into_iter().map(|it| it.1).collect();
        let said = "  █ connect 1 ns  ▒ wait 600 ms  █ stream 200 ms  ";
        assert_eq!(legend, said);
        assert_eq!(spans::width(&super::bar(&timing, 0, look)), INDENT + 3);
    }
}
