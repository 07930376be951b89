//! The mouse: everything that lies on top takes it, and the wheel never moves a cursor.

use crate::by_hand::Viewer;
use crate::fixture;
use crate::notation::row_text;
use crate::support::conversation::Conversation;
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use mcpreel_tui::panels::compare::Comparison;

use mcpreel_tui::app::View;
use mcpreel_tui::effect::Msg;

const WIDE: (u16, u16) = (140, 40);

/// Clicks on the first letter of what stands on the screen.
pub fn click_on(viewer: &mut Viewer, what: &str) {
    let at = place_of(viewer, what);
    click(viewer, at);
}

/// The cell of its first letter.
fn place_of(viewer: &Viewer, what: &str) -> (u16, u16) {
    let screen = viewer.screen();
    let place = screen.area.rows().find_map(|row| {
        let text = row_text(&screen, row.y);
        let before = text.find(what)?;
        Some((mcpreel_wire::text::width(&text[..before]), row.y))
    });
    let (x, row) = place.unwrap_or_else(|| panic!("no {what:?} in\n{}", viewer.text()));
    (u16::try_from(x).expect("it is on the screen"), row)
}

pub fn click(viewer: &mut Viewer, at: (u16, u16)) {
    mouse(viewer, MouseEventKind::Down(MouseButton::Left), at);
}

/// Turns the wheel down by a notch.
pub fn wheel_down(viewer: &mut Viewer, at: (u16, u16)) {
    mouse(viewer, MouseEventKind::ScrollDown, at);
}

fn mouse(viewer: &mut Viewer, kind: MouseEventKind, (column, row): (u16, u16)) {
    viewer.tell(Msg::Mouse(MouseEvent {
        kind,
        column,
        row,
        modifiers: KeyModifiers::NONE,
    }));
}

#[test]
fn a_click_on_an_entry_of_a_menu_takes_it_and_one_beside_the_menu_closes_it() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(&recording.path, WIDE);
    viewer.press("g e y");
    click_on(&mut viewer, " copy ");
    assert_eq!(
        viewer.state.app.overlays.len(),
        1,
        "its border belongs to it"
    );
    let before = viewer.session().list.selected();
    click_on(&mut viewer, "weather-server");
    assert!(viewer.state.app.overlays.is_empty());
    assert_eq!(viewer.session().list.selected(), before);
    viewer.press("y");
    click_on(&mut viewer, "link: recording and frame");
    assert!(viewer.state.app.overlays.is_empty());
    let copied = viewer.state.app.copied.as_deref().unwrap_or_default();
    assert!(copied.ends_with("#11"), "{copied}");
}

#[test]
fn a_double_click_opens_in_every_view() {
    let recording = fixture::ended();
    for (keys, what) in [("2 g", "resources/l"), ("3", "└ get_forecast")] {
        let mut viewer = Viewer::open(&recording.path, WIDE);
        viewer.press(keys);
        let at = place_of(&viewer, what);
        click(&mut viewer, at);
        assert_ne!(viewer.session().view, View::Exchanges, "{keys}");
        click(&mut viewer, at);
        let view = viewer.session().view;
        assert_eq!(view, View::Exchanges, "{keys}\n{}", viewer.text());
    }
    let mut viewer = Viewer::open(&recording.path, WIDE);
    viewer.press("3");
    let at = place_of(&viewer, "#11 ");
    click(&mut viewer, at);
    click(&mut viewer, at);
    let selected = viewer.session().list.selected().map(|key| key.seq.0);
    assert_eq!(selected, Some(11), "{}", viewer.text());
    let mut viewer = Viewer::open(&recording.path, WIDE);
    viewer.press("4");
    let at = place_of(&viewer, "frame-not-json");
    click(&mut viewer, at);
    click(&mut viewer, at);
    assert_eq!(viewer.session().findings.unfolded.len(), 1);
}

#[test]
fn a_click_in_the_palette_does_what_stands_there_and_one_beside_it_closes_it() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(&recording.path, WIDE);
    viewer.act(": 'latenc'");
    click_on(&mut viewer, "stats  ");
    assert!(viewer.state.app.overlays.is_empty(), "{}", viewer.text());
    assert_eq!(viewer.session().view, View::Stats);
    viewer.press(":");
    click_on(&mut viewer, " : ");
    assert_eq!(viewer.state.app.overlays.len(), 1, "the line that is typed");
    click(&mut viewer, (2, 20));
    assert!(viewer.state.app.overlays.is_empty());
}

#[test]
fn a_candidate_of_the_filter_is_taken_by_a_click_and_one_elsewhere_ends_the_typing() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(&recording.path, WIDE);
    viewer.act("f 'status:'");
    click_on(&mut viewer, "input-required  ");
    assert_eq!(viewer.session().filter.text, "status:input-required");
    assert_eq!(viewer.state.app.overlays.len(), 1, "it is still typed");
    click(&mut viewer, (60, 30));
    assert!(viewer.state.app.overlays.is_empty());
    let filter = &viewer.session().filter;
    assert_eq!(filter.in_force().to_string(), "status:input-required");
}

fn comparison(viewer: &Viewer) -> &Comparison {
    viewer.top()
}

#[test]
fn recordings_beside_each_other_are_clicked_opened_and_scrolled() {
    let recordings = fixture::plain_pair();
    // Each way leads to the same comparison.
    for keys in ["Space j Space d", "P", "Enter P"] {
        for size in [WIDE, (90, 14)] {
            let mut viewer = Viewer::folder(recordings[0].folder(), size);
            viewer.act(&format!("g {keys}"));
            let rows = comparison(&viewer)
                .content
                .as_ref()
                .expect("it is there")
                .lines
                .len();
            let page = comparison(&viewer).page(size);
            assert!(size == WIDE || rows > page, "there is something to scroll");

            // The wheel scrolls to the end and back; the cursor stays where it was.
            let at = comparison(&viewer).at;
            for _ in 0..200 {
                wheel_down(&mut viewer, (20, 5));
            }
            assert_eq!(comparison(&viewer).at, at, "{keys} {size:?}");
            assert_eq!(comparison(&viewer).top, rows.saturating_sub(page));
            for _ in 0..200 {
                mouse(&mut viewer, MouseEventKind::ScrollUp, (20, 5));
            }
            assert_eq!(comparison(&viewer).top, 0, "{keys} {size:?}");

            // A click puts the cursor on its row, wherever the screen was scrolled to.
            wheel_down(&mut viewer, (20, 5));
            let top = comparison(&viewer).top;
            click(&mut viewer, (20, 4));
            assert_eq!(comparison(&viewer).at, top + 2, "{}", viewer.text());
            // What lies beside the rows is none.
            let at = comparison(&viewer).at;
            for beside in [(0, 4), (20, 0), (20, 1), (20, size.1 - 1)] {
                click(&mut viewer, beside);
                assert_eq!(comparison(&viewer).at, at, "{beside:?}");
            }
        }
    }
}

#[test]
fn in_the_timeline_the_wheel_reaches_the_first_row_and_the_cursor_stays_on_the_screen() {
    let recording = fixture::wild(Conversation::tame(3), 1_200);
    let mut viewer = Viewer::open(recording.path(), (100, 20));
    viewer.press("2");
    for _ in 0..1_000 {
        mouse(&mut viewer, MouseEventKind::ScrollUp, (40, 10));
    }
    let page = mcpreel_tui::panels::timeline::size(&viewer.state.app, viewer.session()).1;
    let state = &viewer.session().timeline;
    let picture = state.picture.as_deref().expect("it was drawn");
    let (first, at) = (state.top(page), state.cursor_row());
    assert_eq!(
        (first, picture.more),
        (0, (false, true)),
        "the first row was reached"
    );
    assert!(at < page, "{at}");
    let under = picture.rows[at].key;
    viewer.press("Enter");
    let selected = viewer.session().list.selected();
    assert_eq!(selected, Some(under));
}

#[test]
fn a_click_on_a_heading_sorts() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(&recording.path, WIDE);
    viewer.press("3");
    click_on(&mut viewer, "p95");
    assert_eq!(viewer.session().stats.sort, Some(4));
}

#[test]
fn a_click_on_a_hint_does_what_its_key_does_and_one_on_the_line_of_why_shows_all_of_it() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(&recording.path, WIDE);
    viewer.settle();
    for (hint, contexts) in [(" help ", "text"), (" filter ", "prompt")] {
        click_on(&mut viewer, hint);
        let context: &str = viewer.state.contexts()[0].into();
        assert_eq!(context, contexts, "{hint}\n{}", viewer.text());
        viewer.press("Esc");
    }
    click_on(&mut viewer, "why ");
    assert_eq!(viewer.state.app.overlays.len(), 1, "{}", viewer.text());
}

#[test]
fn a_click_on_a_number_in_the_header_shows_what_it_counts() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(&recording.path, WIDE);
    viewer.settle();
    click_on(&mut viewer, "weather-server");
    assert!(!viewer.session().filter.is_on());
    click_on(&mut viewer, "failed ");
    let filter = viewer.session().filter.in_force().to_string();
    assert_eq!(filter, "is:failed");
    click_on(&mut viewer, "findings");
    assert_eq!(viewer.session().view, View::Findings);
}
