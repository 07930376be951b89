//! Views with a name: what was saved under it comes back, in any recording.

use crate::by_hand::Viewer;
use crate::fixture;
use mcpreel_trace::item::Lens;
use mcpreel_tui::action::Action;
use mcpreel_tui::app::stats::Sort;
use mcpreel_tui::app::{Session, View};
use mcpreel_tui::effect::Effect;
use mcpreel_tui::update;
use mcpreel_tui::view::footer;

const WIDE: (u16, u16) = (140, 40);

fn session(viewer: &Viewer) -> &Session {
    viewer.app.session.as_deref().expect("a recording is open")
}

fn chip(viewer: &Viewer) -> Option<String> {
    let chips = footer::chips(&viewer.app).into_iter();
    let named = chips.map(|chip| chip.text);
    named.into_iter().find(|text| text.starts_with("VIEW "))
}

#[test]
fn a_view_brings_back_filter_rows_view_and_order_and_says_so_until_something_changes() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(&recording.path, WIDE);
    viewer.act("f 'method:tools/call' Enter w 3 s r");
    let sort = session(&viewer).stats.sort;
    assert_ne!(sort, Sort::default());
    viewer.act(": 'view save my calls' Enter");
    assert_eq!(chip(&viewer).as_deref(), Some("VIEW my calls"));
    let keeps = |wish: &Effect| matches!(wish, Effect::Remember);
    assert!(viewer.wishes.iter().any(keeps));
    viewer.act("s");
    assert_eq!(chip(&viewer), None, "another order");
    viewer.act("1 w f Ctrl-U 'is:failed' Enter");
    viewer.act(": 'view my' Enter");
    let session = session(&viewer);
    assert_eq!(session.filter.text, "method:tools/call");
    assert_eq!((session.view, session.lens), (View::Stats, Lens::Wire));
    assert_eq!((session.stats.sort, session.stats.reverse), (sort, true));
    assert_eq!(chip(&viewer).as_deref(), Some("VIEW my calls"));
    viewer.press("F");
    assert_eq!(chip(&viewer), None, "the filter is off");
    viewer.press("F");
    assert!(chip(&viewer).is_some());
    update::perform(&mut viewer.app, Action::LeaveView);
    let session = viewer.app.session.as_deref().expect("it is open");
    assert_eq!(session.filter.text, "is:failed");
    assert_eq!(
        (session.view, session.lens),
        (View::Exchanges, Lens::Exchanges)
    );
}

#[test]
fn the_rows_of_a_view_are_those_of_its_filter_and_lens() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(&recording.path, WIDE);
    viewer.act("w : 'view save wire' Enter w");
    let rows = |viewer: &Viewer| session(viewer).list.index.items();
    let exchanges = rows(&viewer);
    viewer.act(": 'view wire' Enter");
    assert!(rows(&viewer) > exchanges);
    viewer.act(": 'view-leave' Enter");
    assert_eq!(rows(&viewer), exchanges);
}

#[test]
fn what_is_kept_for_the_next_time_has_the_saved_views_and_not_the_forgotten() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(&recording.path, WIDE);
    viewer.act("f 'is:failed' Enter : 'view save failures' Enter");
    viewer.act("f Ctrl-U 'is:slow' Enter : 'view save slow ones' Enter");
    let kept = |viewer: &Viewer| {
        let kept = viewer.app.settings.remember().views;
        kept.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(kept(&viewer), ["failures", "slow ones"]);
    viewer.act(": 'view delete slow ones' Enter");
    assert_eq!(kept(&viewer), ["failures"]);
    assert_eq!(chip(&viewer), None);
    viewer.act(": 'view save' Enter");
    assert!(
        viewer.text().contains("a name is needed"),
        "{}",
        viewer.text()
    );
    viewer.act(": 'view delete nothing like it' Enter");
    assert!(viewer.text().contains("no command"), "{}", viewer.text());
    assert_eq!(kept(&viewer), ["failures"]);
}
