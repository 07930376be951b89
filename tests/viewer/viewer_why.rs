//! The line that says why, and the account that `W` opens.

use crate::by_hand::Viewer;
use crate::fixture::{self, Recording};
use crate::notation::row_text;
use mcpreel_tui::app::View;
use mcpreel_tui::panels::menu::Menu;

const WIDE: (u16, u16) = (180, 40);

fn viewer(recording: &Recording) -> Viewer {
    let mut viewer = Viewer::open(recording.path(), WIDE);
    viewer.settle();
    viewer
}

/// The line below the header.
fn line(viewer: &Viewer) -> String {
    row_text(&viewer.screen(), 1)
}

/// The labels of the entries of the account.
fn entries(viewer: &Viewer) -> Vec<String> {
    let entries = viewer.top::<Menu>().entries.iter();
    entries.map(|one| one.label.clone()).collect()
}

#[test]
fn where_nothing_is_wrong_the_line_says_what_the_rules_remark() {
    let recording = fixture::remarked();
    let said = line(&viewer(&recording));
    let remark = "no call failed, but there is a warning in #";
    assert!(said.starts_with(&format!(" why  {remark}")), "{said}");
    let mut viewer = viewer(&recording);
    viewer.act("W");
    let entries = entries(&viewer);
    assert!(
        entries[0].contains("frame-duplicate-key at params.data"),
        "{entries:?}"
    );
}

#[test]
fn a_cause_that_is_too_long_for_a_line_has_two_where_the_screen_is_high() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording);
    let whole = line(&viewer);
    let whole = whole
        .trim_end()
        .split(" · ")
        .next()
        .expect("it has a cause");
    let columns = u16::try_from(whole.len() * 2 / 3).expect("it is short");
    viewer.resize((columns, 24));
    let second = row_text(&viewer.screen(), 2);
    let both = format!("{} {}", line(&viewer).trim_end(), second.trim());
    assert!(both.starts_with(whole), "{both}");
    viewer.resize((columns, 23));
    let cut = line(&viewer);
    assert!(cut.trim_end().ends_with('…'), "{cut}");
    assert!(row_text(&viewer.screen(), 2).contains("1 Calls"));
}

#[test]
fn the_account_leads_to_what_shows_the_cause() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording);
    viewer.act("3 W");
    let entries = entries(&viewer);
    let label = &entries[0];
    assert!(
        label.contains("the client asked: tools/call search_docs"),
        "{label}"
    );
    let frame: u64 = label[1..]
        .split(' ')
        .next()
        .and_then(|seq| seq.parse().ok())
        .expect("it begins with a frame");
    viewer.act("Enter");
    assert!(viewer.state.app.overlays.is_empty());
    let session = viewer.session();
    assert_eq!(session.view, View::Exchanges);
    assert_eq!(session.list.selected().map(|key| key.seq.0), Some(frame));
}
