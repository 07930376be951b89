//! The list by hand: answers are made up, the screen is 100 columns by 30 rows.

use super::*;
use crate::app::Settings;
use crate::effect::{Effect, Msg, Now};
use crate::keymap::Key;
use crate::panels::filter;
use crate::update::update;
use crate::worker::{self, Answer, Ask};
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
fn asked() -> App {
    let (folder, settings) = (Library::new("/nonexistent"), Settings::default());
    let mut app = App::new(&folder, settings, (100, 30), Now::default());
    crate::panels::session::open(&mut app, Path::new("/nonexistent/x.reel"), None);
    app
}

/// The same with the rows `seqs`, all of them found.
fn with_rows(seqs: impl DoubleEndedIterator<Item = u64>) -> App {
    let mut app = asked();
    found(&mut app, seqs);
    app
}

fn list(app: &mut App) -> &mut List {
    &mut app.session.as_deref_mut().expect("it is open").list
}

fn tell(app: &mut App, change: impl FnOnce(&mut Found)) {
    let mut found = Found {
        done: true,
        from: Some(ItemKey::default()),
        percent: 100,
        ..Found::default()
    };
    change(&mut found);
    super::found(app, &mut found);
}

fn found(app: &mut App, seqs: impl DoubleEndedIterator<Item = u64>) {
    tell(app, |found| found.older = hits(seqs.rev()));
}

fn asks_rows(effects: &[Effect]) -> bool {
    let is_it = |effect: &Effect| matches!(effect, Effect::Ask(ask) if ask.slot() == Slot::Rows);
    effects.iter().any(is_it)
}

fn press(app: &mut App, keys: &str) {
    for key in keys.split(' ') {
        let key = Key::parse(key).expect("it is a key");
        update(app, Msg::Key(key));
    }
}

fn screen(app: &mut App) -> Vec<u64> {
    let page = page(app);
    let rows: Vec<_> = list(app).visible(page).collect();
    rows.into_iter().map(|row| row.key().seq.0).collect()
}

fn cursor(app: &mut App) -> u64 {
    list(app).selected().expect("there are rows").seq.0
}

#[test]
fn older_rows_that_are_found_move_nothing_on_the_screen() {
    let mut app = asked();
    tell(&mut app, |answer| {
        answer.older = hits((500..600).rev());
        answer.done = false;
        answer.from = Some(key(500));
    });
    press(&mut app, "k PgUp PgUp");
    let before = screen(&mut app);
    found(&mut app, 0..500);
    assert_eq!(screen(&mut app), before);
    assert_eq!(list(&mut app).index.len(), 600);
}

#[test]
fn the_end_is_followed_while_it_is_seen_and_new_rows_are_counted_while_it_is_not() {
    let mut app = with_rows(1..100);
    tell(&mut app, |answer| answer.newer = hits(100..110));
    assert_eq!(cursor(&mut app), 109);
    assert_eq!(screen(&mut app).last(), Some(&109));
    press(&mut app, "PgUp PgUp");
    assert!(!list(&mut app).follows());
    let before = screen(&mut app);
    tell(&mut app, |answer| answer.newer = hits(110..147));
    assert_eq!(list(&mut app).fresh, 37);
    assert_eq!(screen(&mut app), before);
    press(&mut app, "G");
    assert_eq!((cursor(&mut app), list(&mut app).fresh), (146, 0));
    assert!(list(&mut app).follows());
}

#[test]
fn following_never_carries_the_cursor_off_the_screen() {
    let mut app = with_rows(1..100);
    press(&mut app, "k k");
    assert!(list(&mut app).follows());
    let at = cursor(&mut app);
    for seq in 100..200 {
        tell(&mut app, |answer| answer.newer = hits([seq]));
        assert_eq!(cursor(&mut app), at);
        assert!(screen(&mut app).contains(&at), "{seq}");
    }
    assert!(!list(&mut app).follows());
    assert!(list(&mut app).fresh > 0);
}

#[test]
fn rows_that_begin_or_cease_to_fit_come_and_go_where_they_belong() {
    let mut app = with_rows((1..100).filter(|seq| seq % 2 == 1));
    press(&mut app, "PgUp PgUp PgUp");
    let at = cursor(&mut app);
    tell(&mut app, |answer| {
        answer.begin = hits([2, 3]);
        answer.cease = vec![key(5), key(6)];
    });
    let rows: Vec<_> = list(&mut app).index.rows(0, 4).collect();
    let rows: Vec<_> = rows.into_iter().map(|row| row.key().seq.0).collect();
    assert_eq!(rows, [1, 2, 3, 7]);
    assert_eq!(cursor(&mut app), at);
}

#[test]
fn the_selection_survives_another_filter_on_its_line_of_the_screen() {
    let mut app = with_rows(1..1000);
    go_to(&mut app, key(500));
    let line = |app: &mut App, seq| screen(app).iter().position(|at| *at == seq);
    let before = line(&mut app, 500);
    filter::set(&mut app, "is:failed");
    tell(&mut app, |answer| {
        answer.older = hits((900..1000).rev());
        answer.done = false;
        answer.from = Some(key(900));
    });
    found(&mut app, (1..900).filter(|seq| seq % 4 == 0));
    assert_eq!(cursor(&mut app), 500);
    assert_eq!(line(&mut app, 500), before);
}

#[test]
fn a_hidden_selection_goes_to_the_nearest_row_and_that_is_said() {
    let mut app = with_rows(1..1000);
    go_to(&mut app, key(501));
    filter::set(&mut app, "is:failed");
    found(&mut app, (1..1000).filter(|seq| seq % 100 == 0));
    assert_eq!(cursor(&mut app), 500);
    let notice = app.notices.shown(app.now).expect("it is said");
    assert!(notice.text.contains("#501 is hidden"), "{}", notice.text);
}

#[test]
fn answers_to_an_older_question_are_thrown_away() {
    let mut app = with_rows(1..10);
    let older = |app: &mut App| {
        let effects = begin(app);
        let Some(Effect::Ask(ask)) = effects.into_iter().next() else {
            panic!("it asks");
        };
        match *ask {
            Ask::Job(question) => question.number,
            ask => panic!("{ask:?}"),
        }
    };
    let old = older(&mut app);
    filter::set(&mut app, "is:failed");
    let answer = Answer::Found(worker::Found {
        slot: Slot::List,
        number: old,
        apply: Box::new(|app| super::found(app, &mut Found::default())),
    });
    update(&mut app, Msg::Answer(Box::new(answer)));
    assert_eq!(list(&mut app).index.len(), 9);
    found(&mut app, 1..2);
    assert_eq!(list(&mut app).index.len(), 1);
}

#[test]
fn a_frame_is_gone_to_as_soon_as_it_is_known_in_which_row_it_is() {
    let mut app = with_rows(1..100);
    goto(&mut app, Seq(51));
    assert!(asks_rows(&wanted(&mut app)));
    read(&mut app, Lens::Exchanges, vec![], Some((Seq(51), key(50))));
    assert_eq!(cursor(&mut app), 50);
    assert_eq!(list(&mut app).go_to, None);
}

#[test]
fn a_scan_that_is_stopped_keeps_what_it_has_found() {
    let mut app = asked();
    tell(&mut app, |answer| {
        answer.older = hits((500..600).rev());
        answer.done = false;
        answer.from = Some(key(500));
        answer.percent = 16;
    });
    press(&mut app, "Ctrl-C");
    assert!(list(&mut app).scan.stopped);
    assert!(!app.quit_armed);
    assert_eq!(list(&mut app).index.len(), 100);
    press(&mut app, "Ctrl-C");
    assert!(app.quit_armed);
}

#[test]
fn a_key_that_is_held_down_grows_nothing() {
    let mut app = with_rows(1..100_000);
    let mut asked = 0;
    for step in 0..20_000 {
        let key = if step % 20_000 < 10_000 { "k" } else { "j" };
        let key = Key::parse(key).expect("it is a key");
        asked += u32::from(asks_rows(&update(&mut app, Msg::Key(key))));
    }
    assert!(asked > 0);
    let list = list(&mut app);
    assert_eq!(list.index.len(), 99_999);
    assert!(list.cache.is_empty());
    assert!(list.window(100).len() <= 301);
}

#[test]
fn two_rows_can_be_selected_and_a_third_takes_the_place_of_the_first() {
    let mut app = with_rows(1..10);
    press(&mut app, "Space k Space");
    let told = |app: &App| app.notices.shown(app.now).map(|told| told.text.clone());
    assert_eq!(told(&app), None);
    press(&mut app, "k Space");
    assert_eq!(list(&mut app).chosen, [key(8), key(7)]);
    // Once the first was dropped without a word.
    let dropped = "#9 is not selected any more: two at most";
    assert_eq!(told(&app).as_deref(), Some(dropped));
    press(&mut app, "Space");
    assert_eq!(list(&mut app).chosen, [key(8)]);
}

fn mouse(app: &mut App, kind: MouseEventKind, (column, row): (u16, u16)) {
    let event = MouseEvent {
        kind,
        column,
        row,
        modifiers: KeyModifiers::NONE,
    };
    update(app, Msg::Mouse(event));
}

#[test]
fn the_wheel_scrolls_without_moving_the_cursor_and_a_double_click_opens() {
    let mut app = with_rows(1..100);
    let place = (10, 6);
    mouse(&mut app, MouseEventKind::ScrollUp, place);
    assert_eq!(cursor(&mut app), 99);
    assert!(!screen(&mut app).contains(&99));
    tell(&mut app, |answer| answer.newer = hits([100]));
    assert_eq!(cursor(&mut app), 99);
    let area = layout::session(&app, app.session.as_deref().expect("it is open"));
    let rows = super::list_draw::rows_of(area.arrangement, area.main);
    let third = screen(&mut app)[2];
    let click = MouseEventKind::Down(MouseButton::Left);
    mouse(&mut app, click, (10, rows.y + 2));
    assert_eq!(cursor(&mut app), third);
    let focus = |app: &App| app.session.as_deref().map(|session| session.focus);
    assert_eq!(focus(&app), Some(Focus::Main));
    mouse(&mut app, click, (10, rows.y + 2));
    assert_eq!(focus(&app), Some(Focus::Detail));
}

#[test]
fn the_top_is_where_the_first_row_will_be() {
    let mut app = asked();
    tell(&mut app, |answer| {
        answer.older = hits((500..600).rev());
        answer.done = false;
        answer.from = Some(key(500));
    });
    press(&mut app, "g");
    assert_eq!(cursor(&mut app), 500);
    found(&mut app, 3..500);
    assert_eq!(cursor(&mut app), 3);
    assert_eq!(screen(&mut app)[0], 3);
    assert!(app.notices.shown(app.now).is_none());
}
