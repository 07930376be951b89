//! What the screens look like: text and style, in [our notation](crate::notation).
//!
//! After a change of the looks `INSTA_UPDATE=always cargo test --test viewer snapshots` writes
//! them anew; `git diff` shows what became of each.

use crate::by_hand::Viewer;
use crate::fixture;
use crate::notation;
use crate::scenes::{Scene, all};
use crate::zone::in_utc;
use mcpreel_tui::theme::{Look, Theme};
use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};
use std::collections::BTreeSet;

/// The size at which every scene is looked at.
const SIZE: (u16, u16) = (100, 30);

/// Wide with two panes, and narrow with one: what changes with the size is looked at here.
const OTHERS: [(u16, u16); 2] = [(200, 50), (60, 15)];

const AT_OTHERS: [&str; 5] = ["recordings", "live", "body", "timeline", "comparison"];

#[test]
fn every_panel_looks_as_reviewed() {
    in_utc("snapshots::every_panel_looks_as_reviewed", || {
        for scene in all() {
            let (viewer, _recordings) = scene.play(SIZE);
            compare(scene.name, &viewer);
        }
        for (size, name) in OTHERS
            .into_iter()
            .flat_map(|size| AT_OTHERS.map(|name| (size, name)))
        {
            let (viewer, _recordings) = Scene::find(name).play(size);
            compare(&format!("{name}-{}x{}", size.0, size.1), &viewer);
        }
    });
}

#[test]
fn without_colour_the_words_and_signs_remain() {
    let look = Look {
        plain: true,
        ..Look::default()
    };
    in_utc(
        "snapshots::without_colour_the_words_and_signs_remain",
        || looking("no-color", look),
    );
}

#[test]
fn a_light_terminal_has_colours_of_its_own() {
    let look = Look {
        theme: Theme::Light,
        ..Look::default()
    };
    in_utc("snapshots::a_light_terminal_has_colours_of_its_own", || {
        looking("light", look);
    });
}

#[test]
fn a_terminal_that_is_too_small_says_so() {
    let (viewer, _recordings) = Scene::find("ended").play((18, 2));
    compare("too-small", &viewer);
}

#[test]
fn nothing_has_a_colour_where_none_are_wanted() {
    for scene in all() {
        let (mut viewer, _recordings) = scene.play(OTHERS[0]);
        viewer.state.app.settings.look.plain = true;
        let screen = viewer.screen();
        let colored = |cell: &&Cell| (cell.fg, cell.bg) != (Color::Reset, Color::Reset);
        let other = screen.content.iter().find(colored);
        assert!(other.is_none(), "{}: {other:?}", scene.name);
    }
}

#[test]
fn nothing_but_ascii_is_drawn_where_that_is_asked_for() {
    let mut wrong = Vec::new();
    for scene in all() {
        let (mut viewer, _recordings) = scene.play_on(vec![fixture::plain()], OTHERS[0]);
        viewer.state.app.settings.look.ascii = true;
        let screen = viewer.screen();
        let symbols = screen.content.iter().map(Cell::symbol);
        let other: BTreeSet<_> = symbols.filter(|symbol| !symbol.is_ascii()).collect();
        if !other.is_empty() {
            wrong.push(format!("{}: {other:?}", scene.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_failed_row_has_one_ground_in_high_contrast_and_a_selected_one_the_colours_of_its_signs() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(recording.path(), (120, 30));
    viewer.press("g e");
    let cells = |viewer: &Viewer, with: &dyn Fn(&Cell) -> bool| {
        let screen = viewer.screen();
        let list = screen
            .area
            .rows()
            .map(|row| (1..65).map(move |x| (x, row.y)));
        let rows = list.map(|row| row.map(|at| screen[at].clone()).collect::<Vec<_>>());
        let mut rows = rows.filter(|row| {
            ["→", "✗"]
                .iter()
                .all(|sign| row.iter().any(|cell| cell.symbol() == *sign))
        });
        rows.find(|row| row.iter().any(with))
            .expect("a call failed")
    };
    let is_selected = |cell: &Cell| cell.modifier.contains(Modifier::REVERSED);
    let row = cells(&viewer, &is_selected);
    for cell in row.iter().filter(|cell| cell.symbol() != " ") {
        let is_sign = matches!(cell.symbol(), "✗" | "✎");
        assert_eq!(cell.fg != Color::Reset, is_sign, "{cell:?}");
    }
    viewer.state.app.settings.look.theme = Theme::Contrast;
    let row = cells(&viewer, &|cell| !is_selected(cell));
    let grounds: BTreeSet<_> = row.iter().map(|cell| format!("{:?}", cell.bg)).collect();
    assert_eq!(grounds.len(), 1, "{grounds:?}");
    assert_ne!(row[0].bg, Color::Reset);
}

fn looking(name: &str, look: Look) {
    let (mut viewer, _recordings) = Scene::find("live").play((120, 30));
    viewer.state.app.settings.look = look;
    compare(name, &viewer);
}

fn compare(name: &str, viewer: &Viewer) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, notation::screen(&viewer.screen())));
}
