//! The detail, driven by hand: what is shown of a row, its tabs, and the ways from it.

mod body_lines;
mod hand;

use super::detail_open::{click, wheel};
use super::*;
use crate::effect::Msg;
use hand::{CALLS, Hand};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};

#[test]
fn a_call_is_shown_with_its_answer() {
    let hand = Hand::calls();
    insta::assert_snapshot!(hand.pane());
}

#[test]
fn an_answer_that_comes_later_is_added_and_moves_nothing() {
    let mut hand = Hand::open(&CALLS[..3], (120, 30));
    hand.select(1);
    assert!(
        hand.pane().contains("no response yet  … open"),
        "{}",
        hand.pane()
    );
    hand.press("j j j j Space");
    hand.record(&CALLS[3..6]);
    let pane = hand.pane();
    assert!(pane.contains("▾ response  ✗ tool-error"), "{pane}");
    assert!(pane.contains("▸ arguments"), "{pane}");
    assert_eq!(hand.path(), "params.arguments");
    hand.press("Tab");
    assert!(
        hand.pane().contains("tool error: first line"),
        "{}",
        hand.pane()
    );
}

#[test]
fn a_story_tells_what_happened_meanwhile_and_leads_there() {
    let mut hand = Hand::calls();
    hand.press("Tab");
    insta::assert_snapshot!(hand.pane());
    hand.press("j j j Enter");
    assert_eq!(
        hand.session().list.selected(),
        Some(ItemKey::of_part(Seq(3), 0))
    );
    assert_eq!(hand.session().lens, Lens::Exchanges);
    hand.select(1);
    hand.press("j j Enter");
    assert_eq!(
        hand.session().list.selected(),
        Some(ItemKey::of_part(Seq(2), 0))
    );
    assert_eq!(
        hand.session().lens,
        Lens::Wire,
        "progress has no row of its own elsewhere"
    );
}

#[test]
fn findings_are_explained_and_lead_to_their_place() {
    let mut hand = Hand::calls();
    hand.select(8);
    let pane = hand.pane();
    assert!(
        pane.contains("Findings 3") && pane.contains("✗ error  response-unknown-id"),
        "{pane}"
    );
    hand.press("j j Enter");
    assert_eq!(hand.detail().tab, Tab::Findings);
    insta::assert_snapshot!(hand.pane());
    hand.press("Enter");
    assert_eq!(hand.detail().tab, Tab::Body);
    assert_eq!(
        hand.detail().part().unwrap().text.as_ref().unwrap().key.seq,
        Seq(8)
    );
}

#[test]
fn the_mouse_selects_folds_and_scrolls() {
    let mut hand = Hand::calls();
    let area = layout::session(&hand.viewer.app, hand.session()).detail;
    let (x, y) = (area.x + 1, area.y + 1);
    let (app, session) = hand.viewer.parts().unwrap();
    click(app, session, (x + 20, y + 3), false);
    assert_eq!(hand.path(), "params.name");
    let (app, session) = hand.viewer.parts().unwrap();
    click(app, session, (x + 4, y + 4), false);
    assert!(hand.pane().contains("▸ arguments"), "{}", hand.pane());
    let (app, session) = hand.viewer.parts().unwrap();
    click(app, session, (area.right() - 5, area.y), false);
    assert_eq!(hand.detail().tab, Tab::Findings);
    hand.press("BackTab BackTab");
    hand.viewer.app.size.1 = 18;
    hand.tell(Msg::Resize(120, 18));
    let cursor = hand.path();
    let (app, session) = hand.viewer.parts().unwrap();
    wheel(app, session, 3);
    assert_eq!(hand.path(), cursor, "the cursor stays");
    assert!(!hand.pane().contains("▾ request"), "{}", hand.pane());
}
