//! The list by hand: answers are made up, the screen is 100 columns by 30 rows.

use super::*;
use crate::app::{App, Session, Settings, Viewer};
use crate::effect::{Effect, Msg, Now};
use crate::keymap::Key;
use crate::panels::filter;
use crate::update::update;
use crate::worker::{Answer, Ask};
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use mcpreel_store::library::Library;
use mcpreel_store::select::Hit;
use mcpreel_trace::item::{ItemKind, Lens};
use std::path::Path;

fn key(seq: u64) -> ItemKey {
    ItemKey::of_part(Seq(seq), 0)
}

fn hits(seqs: impl IntoIterator<Item = u64>) -> Vec<Hit> {
    let hit = |seq| Hit {
        key: key(seq),
        kind: ItemKind::Request,
        fold: None,
    };
    seqs.into_iter().map(hit).collect()
}

/// A viewer whose list has asked and not been answered.
fn asked() -> Viewer {
    let (folder, settings) = (Library::new("/nonexistent"), Settings::default());
    let mut viewer = Viewer::new(&folder, settings, (100, 30), Now::default());
    crate::panels::session::open(&mut viewer, Path::new("/nonexistent/x.reel"), None);
    viewer
}

/// The same with the rows `seqs`, all of them found.
fn with_rows(seqs: impl DoubleEndedIterator<Item = u64>) -> Viewer {
    let mut viewer = asked();
    found(&mut viewer, seqs);
    viewer
}

fn with<T>(viewer: &mut Viewer, act: impl FnOnce(&mut App, &mut Session) -> T) -> T {
    let (viewer, session) = viewer.parts().expect("it is open");
    act(viewer, session)
}

fn list(viewer: &mut Viewer) -> &mut List {
    &mut viewer.session.as_deref_mut().expect("it is open").list
}

fn tell(viewer: &mut Viewer, change: impl FnOnce(&mut Found)) {
    let mut found = Found {
        done: true,
        from: Some(ItemKey::default()),
        percent: 100,
        ..Found::default()
    };
    change(&mut found);
    with(viewer, |app, session| super::found(app, session, found));
}

fn found(viewer: &mut Viewer, seqs: impl DoubleEndedIterator<Item = u64>) {
    tell(viewer, |found| found.older = hits(seqs.rev()));
}

fn asks_rows(effects: &[Effect]) -> bool {
    let is_it = |effect: &Effect| matches!(effect, Effect::Ask(Ask::Job(Slot::Rows, ..)));
    effects.iter().any(is_it)
}

fn press(viewer: &mut Viewer, keys: &str) {
    for key in keys.split(' ') {
        let key = Key::parse(key).expect("it is a key");
        update(viewer, Msg::Key(key));
    }
}

fn screen(viewer: &mut Viewer) -> Vec<u64> {
    let page = page(&viewer.app, viewer.session.as_deref().expect("it is open"));
    let rows: Vec<_> = list(viewer).visible(page).collect();
    rows.into_iter().map(|row| row.key().seq.0).collect()
}

fn cursor(viewer: &mut Viewer) -> u64 {
    list(viewer).selected().expect("there are rows").seq.0
}

#[test]
fn older_rows_that_are_found_move_nothing_on_the_screen() {
    let mut viewer = asked();
    tell(&mut viewer, |answer| {
        answer.older = hits((500..600).rev());
        answer.done = false;
        answer.from = Some(key(500));
    });
    press(&mut viewer, "k PgUp PgUp");
    let before = screen(&mut viewer);
    found(&mut viewer, 0..500);
    assert_eq!(screen(&mut viewer), before);
    assert_eq!(list(&mut viewer).index.len(), 600);
}

#[test]
fn the_end_is_followed_while_it_is_seen_and_new_rows_are_counted_while_it_is_not() {
    let mut viewer = with_rows(1..100);
    tell(&mut viewer, |answer| answer.newer = hits(100..110));
    assert_eq!(cursor(&mut viewer), 109);
    assert_eq!(screen(&mut viewer).last(), Some(&109));
    press(&mut viewer, "PgUp PgUp");
    assert!(!list(&mut viewer).follows());
    let before = screen(&mut viewer);
    tell(&mut viewer, |answer| answer.newer = hits(110..147));
    assert_eq!(list(&mut viewer).fresh, 37);
    assert_eq!(screen(&mut viewer), before);
    press(&mut viewer, "G");
    assert_eq!((cursor(&mut viewer), list(&mut viewer).fresh), (146, 0));
    assert!(list(&mut viewer).follows());
}

#[test]
fn moving_up_ends_the_following_at_once_and_going_to_the_end_begins_it() {
    let mut viewer = with_rows(1..100);
    press(&mut viewer, "k");
    let before = (cursor(&mut viewer), screen(&mut viewer));
    tell(&mut viewer, |answer| answer.newer = hits(100..110));
    assert_eq!((cursor(&mut viewer), screen(&mut viewer)), before);
    assert_eq!(list(&mut viewer).fresh, 10);
    press(&mut viewer, "G");
    tell(&mut viewer, |answer| answer.newer = hits([110]));
    assert_eq!((cursor(&mut viewer), list(&mut viewer).fresh), (110, 0));
}

#[test]
fn the_selection_survives_another_filter_on_its_line_of_the_screen() {
    let mut viewer = with_rows(1..1000);
    with(&mut viewer, |app, session| go_to(app, session, key(500)));
    let line = |viewer: &mut Viewer, seq| screen(viewer).iter().position(|at| *at == seq);
    let before = line(&mut viewer, 500);
    with(&mut viewer, |app, session| {
        filter::set(app, session, "is:failed")
    });
    tell(&mut viewer, |answer| {
        answer.older = hits((900..1000).rev());
        answer.done = false;
        answer.from = Some(key(900));
    });
    found(&mut viewer, (1..900).filter(|seq| seq % 4 == 0));
    assert_eq!(cursor(&mut viewer), 500);
    assert_eq!(line(&mut viewer, 500), before);
}

#[test]
fn a_hidden_selection_goes_to_the_nearest_row_and_that_is_said() {
    let mut viewer = with_rows(1..1000);
    with(&mut viewer, |app, session| go_to(app, session, key(501)));
    with(&mut viewer, |app, session| {
        filter::set(app, session, "is:failed")
    });
    found(&mut viewer, (1..1000).filter(|seq| seq % 100 == 0));
    assert_eq!(cursor(&mut viewer), 500);
    let notice = viewer
        .app
        .notices
        .shown(viewer.app.now)
        .expect("it is said");
    assert!(notice.text.contains("hides #501"), "{}", notice.text);
}

#[test]
fn answers_to_an_older_question_are_thrown_away() {
    let mut viewer = with_rows(1..10);
    let older = |viewer: &mut Viewer| {
        let effects = with(viewer, begin);
        match effects.into_iter().next() {
            Some(Effect::Ask(Ask::Job(_, number, _))) => number,
            _ => panic!("no job is asked for"),
        }
    };
    let old = older(&mut viewer);
    with(&mut viewer, |app, session| {
        filter::set(app, session, "is:failed")
    });
    let answer = Answer::found(|app, session| super::found(app, session, Found::default()));
    update(&mut viewer, Msg::Answer(answer.to(Slot::List, old)));
    assert_eq!(list(&mut viewer).index.len(), 9);
    found(&mut viewer, 1..2);
    assert_eq!(list(&mut viewer).index.len(), 1);
}

#[test]
fn a_frame_is_gone_to_as_soon_as_it_is_known_in_which_row_it_is() {
    let mut viewer = with_rows(1..100);
    with(&mut viewer, |_, session| goto(session, Seq(51)));
    assert!(asks_rows(with(&mut viewer, wanted).as_slice()));
    with(&mut viewer, |app, session| {
        let found = Some((Seq(51), key(50)));
        let (lens, items) = (Lens::Exchanges, vec![]);
        read(app, session, Read { lens, items, found })
    });
    assert_eq!(cursor(&mut viewer), 50);
    assert_eq!(list(&mut viewer).go_to, None);
}

#[test]
fn a_scan_that_is_stopped_keeps_what_it_has_found() {
    let mut viewer = asked();
    tell(&mut viewer, |answer| {
        answer.older = hits((500..600).rev());
        answer.done = false;
        answer.from = Some(key(500));
        answer.percent = 16;
    });
    press(&mut viewer, "Ctrl-C");
    assert!(list(&mut viewer).scan.stopped);
    assert!(!viewer.app.quit_armed);
    assert_eq!(list(&mut viewer).index.len(), 100);
    press(&mut viewer, "Ctrl-C");
    assert!(viewer.app.quit_armed);
}

#[test]
fn a_key_that_is_held_down_grows_nothing() {
    let mut viewer = with_rows(1..100_000);
    let mut asked = 0;
    for step in 0..4_000 {
        let key = if step < 2_000 { "k" } else { "j" };
        let key = Key::parse(key).expect("it is a key");
        asked += u32::from(asks_rows(&update(&mut viewer, Msg::Key(key))));
    }
    assert!(asked > 0);
    let list = list(&mut viewer);
    assert_eq!(list.index.len(), 99_999);
    assert!(list.window(100).len() <= 301);
}

fn mouse(viewer: &mut Viewer, kind: MouseEventKind, (column, row): (u16, u16)) {
    let event = MouseEvent {
        kind,
        column,
        row,
        modifiers: KeyModifiers::NONE,
    };
    update(viewer, Msg::Mouse(event));
}

#[test]
fn the_wheel_scrolls_without_moving_the_cursor_and_a_double_click_opens() {
    let mut viewer = with_rows(1..100);
    let place = (10, 6);
    mouse(&mut viewer, MouseEventKind::ScrollUp, place);
    assert_eq!(cursor(&mut viewer), 99);
    assert!(!screen(&mut viewer).contains(&99));
    tell(&mut viewer, |answer| answer.newer = hits([100]));
    assert_eq!(cursor(&mut viewer), 99);
    let area = layout::session(&viewer.app, viewer.session.as_deref().expect("it is open"));
    let rows = super::list_draw::rows_of(&viewer.app, area.main);
    let third = screen(&mut viewer)[2];
    let click = MouseEventKind::Down(MouseButton::Left);
    mouse(&mut viewer, click, (10, rows.y + 2));
    assert_eq!(cursor(&mut viewer), third);
    let focus = |viewer: &Viewer| viewer.session.as_deref().map(|session| session.focus);
    assert_eq!(focus(&viewer), Some(Focus::Main));
    mouse(&mut viewer, click, (10, rows.y + 2));
    assert_eq!(focus(&viewer), Some(Focus::Detail));
}
