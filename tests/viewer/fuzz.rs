//! Any traffic, any size, any keys: what is drawn is always whole.

use crate::by_hand::Viewer;
use crate::fixture;
use crate::support::conversation::Conversation;
use crate::support::dice::Dice;
use crate::support::note;
use mcpreel_tui::action::TABLE;
use mcpreel_tui::keymap::{Key, Keymap};
use ratatui::buffer::{Buffer, CellWidth as _};

/// Keys of one viewer.
const KEYS: u32 = 60;

/// Viewers of one test.
const ROUNDS: u64 = if cfg!(feature = "long-tests") { 100 } else { 8 };

#[test]
fn whatever_comes_at_whatever_size_nothing_breaks_out_of_its_cells() {
    let seed = Dice::shaken().0;
    note(format_args!("seed {seed:#x}"));
    for round in 0..ROUNDS {
        one_viewer(Dice(seed.wrapping_add(round)));
    }
}

fn one_viewer(mut dice: Dice) {
    let mut recording = fixture::wild(Conversation::wild(dice.below(u64::MAX)), 120);
    let mut viewer = Viewer::open(recording.path(), size(&mut dice));
    viewer.settle();
    assert_whole(&viewer.screen(), "at the start");
    let keys = all_keys();
    let mut pressed = Vec::new();
    for _ in 0..KEYS {
        match dice.below(12) {
            0 => {
                viewer.resize(size(&mut dice));
            }
            1 => {
                recording.add(3);
                viewer.wait_ns(40 * fixture::MS);
            }
            2 => {
                let text = [
                    "tool:x OR",
                    "is:failed",
                    "日本",
                    "\u{202e}(",
                    "a",
                    "\"",
                    "12",
                ];
                viewer.type_text(text[dice.length_below(text.len())]);
            }
            _ => {
                let key = keys[dice.length_below(keys.len())];
                pressed.push(key.to_string());
                viewer.key(key);
            }
        }
        assert_whole(&viewer.screen(), &pressed.join(" "));
    }
}

/// Mostly such as people have, and sometimes as nobody has.
fn size(dice: &mut Dice) -> (u16, u16) {
    let mut between = |least: u64, below: u64| {
        u16::try_from(least + dice.below(below - least)).expect("a size is small")
    };
    match between(0, 4) {
        0 => (between(1, 45), between(1, 12)),
        1 => (between(20, 60), between(3, 20)),
        _ => (between(60, 220), between(10, 60)),
    }
}

/// Every key that does something anywhere.
fn all_keys() -> Vec<Key> {
    let keymap = Keymap::default();
    TABLE
        .iter()
        .flat_map(|row| keymap.keys(row.action))
        .collect()
}

/// Fails if a cell holds what a terminal would act upon, or sticks out.
fn assert_whole(screen: &Buffer, after: &str) {
    for y in screen.area.rows().map(|row| row.y) {
        for x in screen.area.left()..screen.area.right() {
            let cell = &screen[(x, y)];
            let acts = |c: char| c.is_control() || is_invisible(c);
            let symbol = cell.symbol();
            let at = format!("{symbol:?} at column {x} of row {y} after {after}");
            assert!(!symbol.chars().any(acts), "acts: {at}");
            let fits = x + cell.cell_width() <= screen.area.right();
            assert!(fits, "sticks out: {at}");
        }
    }
}

/// Bidirectional overrides, and others that change how their neighbours are shown.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
}
