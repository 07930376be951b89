//! What is highlighted is what is acted on, and nothing that is offered is silent.

use crate::by_hand::Viewer;
use crate::fixture;
use crate::notation::row_text;
use mcpreel_tui::effect::Effect;
use mcpreel_tui::keymap::Key;
use mcpreel_tui::panels::menu::Menu;
use mcpreel_tui::panels::palette;
use mcpreel_tui::update;

const WIDE: (u16, u16) = (140, 40);
const NARROW: (u16, u16) = (60, 15);

/// What stands on the screen, in one piece.
fn text(viewer: &Viewer) -> String {
    let screen = viewer.screen();
    let rows = screen.area.rows().map(|row| row_text(&screen, row.y));
    rows.collect::<Vec<_>>().join("\n")
}

/// What was copied last.
fn copied(viewer: &Viewer) -> &str {
    let copy = |wish: &Effect| match wish {
        Effect::Copy(text) => Some(text.clone()),
        _ => None,
    };
    assert!(viewer.wishes.iter().any(|wish| copy(wish).is_some()));
    viewer
        .state
        .app
        .copied
        .as_deref()
        .expect("something was copied")
}

#[test]
fn a_row_can_be_copied_where_the_detail_has_no_room() {
    let recording = fixture::ended();
    for (size, before) in [(NARROW, "g e"), (WIDE, "z g e"), (WIDE, "g e")] {
        let mut viewer = Viewer::open(&recording.path, size);
        viewer.press(before).press("y");
        let menu = viewer.state.app.top::<Menu>();
        assert!(menu.is_some(), "{}", text(&viewer));
        viewer.press("l");
        assert!(copied(&viewer).ends_with("#11"), "{}", copied(&viewer));
    }
}

#[test]
fn in_the_timeline_and_the_findings_what_is_highlighted_is_marked_copied_and_opened() {
    for (keys, is_finding) in [("2 g j j", false), ("4 Enter j", true)] {
        let recording = fixture::ended();
        let mut viewer = Viewer::open(&recording.path, WIDE);
        viewer.press(keys);
        let of = viewer.session();
        let seq = if is_finding {
            of.findings.frame().expect("it is about a frame")
        } else {
            let picture = of.timeline.picture.as_deref().expect("it was drawn");
            picture.rows[of.timeline.cursor_row()].key.seq
        };
        let hidden = of.list.selected().expect("the list has rows").seq;
        assert_ne!(seq, hidden, "{keys}: nothing would be shown by this");
        viewer.press("y l");
        let link = copied(&viewer).to_owned();
        assert!(link.ends_with(&format!("#{}", seq.0)), "{keys}: {link}");
        viewer.press("m");
        let said = format!("#{}: marked", seq.0);
        assert!(text(&viewer).contains(&said), "{keys}\n{}", text(&viewer));
        viewer.press("m");
        let said = format!("#{}: no longer marked", seq.0);
        assert!(text(&viewer).contains(&said), "{keys}\n{}", text(&viewer));
        viewer.press("Tab");
        let shown = viewer.session().detail.shown.as_deref();
        assert_eq!(shown.map(|shown| shown.ask.key.seq), Some(seq), "{keys}");
        viewer.press("Tab Tab Tab T");
        assert_eq!(viewer.session().playback.cursor, Some(seq), "{keys}");
    }
}

#[test]
fn whatever_the_palette_offers_somewhere_somebody_there_takes() {
    let (recording, folder) = (fixture::ended(), fixture::folder());
    let places = [
        None,
        Some(""),
        Some("Tab"),
        Some("2"),
        Some("3"),
        Some("4"),
        Some("g e T"),
        Some("g e T S Tab"),
    ];
    let mut silent = Vec::new();
    for place in places {
        let begin = || match place {
            None => Viewer::folder(folder[0].folder(), WIDE),
            Some(keys) => {
                let mut viewer = Viewer::open(&recording.path, WIDE);
                viewer.settle();
                viewer.press(keys);
                viewer
            }
        };
        let mut viewer = begin();
        let contexts = viewer.state.contexts();
        for row in palette::possible(&contexts) {
            if update::offered(&mut viewer.state, row.action).is_none() {
                silent.push((place, row.action));
            }
            // The next one again where the palette was opened, if this one has led elsewhere.
            if viewer.state.contexts() != contexts {
                viewer = begin();
            }
        }
    }
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn no_letter_of_a_menu_means_something_else_while_it_is_open() {
    let recording = fixture::ended();
    let menus = ["g e =", "g e y", "s", ": 'theme' Enter", "g ="];
    for keys in menus {
        let mut viewer = Viewer::open(&recording.path, WIDE);
        viewer.settle();
        viewer.act(keys);
        let Some(menu) = viewer.state.app.top::<Menu>() else {
            panic!("{keys} opens no menu");
        };
        let contexts = viewer.state.contexts();
        let mut seen = Vec::new();
        for entry in &menu.entries {
            let key = Key::parse(&entry.letter.to_string()).expect("a letter is a key");
            let other = viewer.state.app.settings.keymap.action(&contexts, key);
            assert_eq!(other, None, "{keys}: {}", entry.label);
            assert!(!seen.contains(&entry.letter), "{keys}: {}", entry.label);
            seen.push(entry.letter);
        }
    }
}

#[test]
fn the_state_scrolls_to_its_last_line_and_back_and_says_what_is_below() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(&recording.path, NARROW);
    viewer.press("g e T S Tab");
    assert!(text(&viewer).contains("more line"), "{}", text(&viewer));
    assert!(!text(&viewer).contains("1 call"), "{}", text(&viewer));
    viewer.press("G");
    let end = text(&viewer);
    assert!(
        end.contains("1 call") && !end.contains("more line"),
        "{end}"
    );
    viewer.press("k");
    assert_ne!(text(&viewer), end);
}
