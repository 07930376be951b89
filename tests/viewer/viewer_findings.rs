//! Findings stand where they belong: in the list, in the tree of the message, in the header.

use crate::by_hand::{Viewer, has};
use crate::fixture;
use mcpreel_store::reader::{FindingRow, Recording};
use mcpreel_tui::app::{Focus, View};
use mcpreel_tui::panels::detail::Tab;
use mcpreel_tui::widget::pager::Text;

const WIDE: (u16, u16) = (160, 50);

fn findings(recording: &fixture::Recording) -> Vec<FindingRow> {
    let reader = Recording::open(recording.path()).expect("it can be read");
    reader.findings(0).expect("it can be read")
}

#[test]
fn enter_on_a_finding_opens_its_row_at_the_place_that_is_wrong() {
    let recording = fixture::broken();
    let all = findings(&recording);
    for finding in &all {
        let mut viewer = Viewer::open(recording.path(), WIDE);
        viewer.press("4");
        let groups = viewer.session().findings.groups.clone();
        let groups = groups.expect("they were counted");
        let is_its = |group: &&_| {
            let group: &mcpreel_store::story::FindingGroup = group;
            (&group.rule, &group.severity) == (&finding.rule, &finding.severity)
        };
        let group = groups.iter().position(|group| is_its(&group));
        let group = group.expect("every finding is in a group");
        viewer.press(&"j ".repeat(group)).press("Enter");
        let mut same = all
            .iter()
            .filter(|one| one.rule == finding.rule && one.severity == finding.severity);
        let nth = same
            .position(|one| one.id == finding.id)
            .expect("it is one of them");
        viewer.press(&"j ".repeat(nth + 1)).press("Enter");
        let session = viewer.session();
        let Some(frame) = finding.frame else { continue };
        assert_eq!(session.view, View::Exchanges);
        let shown = session.detail.shown.as_deref().expect("a row is shown");
        if !shown.findings.iter().any(|one| one.id == finding.id) {
            continue;
        }
        assert_eq!(
            session.focus,
            Focus::Detail,
            "#{} {}",
            frame.0,
            finding.rule
        );
        assert_eq!(shown.findings[shown.at_finding].id, finding.id);
        match (&finding.path, session.detail.tab()) {
            (None, tab) => assert_eq!(tab, Tab::Findings, "{}", finding.rule),
            (Some(path), Tab::Body) => {
                let place = session.detail.path().unwrap_or_default();
                assert!(path.starts_with(&place), "{path}, but stands at {place}");
            }
            (Some(path), tab) => panic!("{path}: {tab:?}"),
        }
    }
}

#[test]
fn beside_a_finding_stands_the_whole_call() {
    let recording = fixture::said(
        r#"1 > "id":1,"method":"tools/call","params":{"name":"search_docs","arguments":{}}
        2 < "id":1,"error":{"code":-32000,"message":"quota exceeded","data":1,"data":2}"#,
    );
    let mut viewer = Viewer::open(recording.path(), WIDE);
    viewer.settle();
    viewer.press("4");
    let found = findings(&recording);
    let frames = found.iter().filter_map(|finding| finding.frame);
    assert!(frames.map(|seq| seq.0).any(|seq| seq == 2), "{found:?}");
    for _ in 0..=found.len() {
        has(&viewer, &["▾ request", "▾ response", "quota exceeded"]);
        viewer.press("j");
    }
}

#[test]
fn v_walks_the_places_that_are_wrong_in_order_and_says_what_is_wrong_there() {
    let recording = fixture::broken();
    let mut viewer = Viewer::open(recording.path(), WIDE);
    viewer.press(": ").type_text("11").press("Enter Enter");
    let places = |viewer: &mut Viewer, key: &str| {
        let mut places = Vec::new();
        for _ in 0..20 {
            viewer.press(key);
            let detail = &viewer.session().detail;
            let shown = detail.shown.as_deref().expect("a row is shown");
            if places.contains(&shown.at.cursor) {
                assert_eq!(shown.at.cursor, places[0], "after the last comes the first");
                break;
            }
            places.push(shown.at.cursor);
        }
        places
    };
    let forward = places(&mut viewer, "v");
    assert!(forward.len() > 3, "{forward:?}");
    assert!(forward.is_sorted(), "{forward:?}");
    let mut back = places(&mut viewer, "V");
    back.sort();
    assert_eq!(back, forward);
    viewer.press("v");
    let said = viewer.text();
    assert!(said.contains(&format!(" of {}: ", forward.len())), "{said}");
}

#[test]
fn the_explanation_of_a_finding_can_be_read_to_its_end_on_any_screen() {
    let recording = fixture::broken();
    for size in [(200, 50), (100, 30), (60, 15), (40, 9)] {
        for keys in ["4 Enter j i", "4 i", ": '11' Enter Enter Tab Tab i"] {
            let mut viewer = Viewer::open(recording.path(), size);
            viewer.act(keys);
            let Some(text) = viewer.state.app.top::<Text>() else {
                panic!("{keys} at {size:?}: no text\n{}", viewer.text());
            };
            let said: String = text
                .lines
                .iter()
                .flatten()
                .map(|(_, text)| text.as_str())
                .collect();
            let rule = mcpreel_lint::catalogue()
                .iter()
                .find(|rule| said.contains(rule.id));
            let rule = rule.unwrap_or_else(|| panic!("{said}"));
            assert!(said.contains(rule.why) && said.contains(rule.fix), "{said}");
            viewer.press("G");
            assert!(viewer.text().contains("for    "), "{}", viewer.text());
        }
    }
}

/// Once it said in green that nothing was found.
#[test]
fn where_no_rule_has_a_finding_it_says_how_failures_are_found() {
    let recording = fixture::said(
        r#"1 > "id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
        2 < "id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"resources":{}},"serverInfo":{"name":"s","version":"1"}}
        3 > "method":"notifications/initialized"
        4 > "id":2,"method":"resources/read","params":{"uri":"file:///a"}
        5 < "id":2,"error":{"code":-32603,"message":"quota exceeded"}"#,
    );
    let mut viewer = Viewer::open(recording.path(), WIDE);
    viewer.settle();
    viewer.press("4");
    has(
        &viewer,
        &["no rule has a finding; 1 failed: e shows the next"],
    );
}

/// Once each was one line, cut at its end.
#[test]
fn a_finding_above_the_messages_is_there_whole() {
    let recording = fixture::broken();
    let mut viewer = Viewer::open(recording.path(), (60, 40));
    viewer.act(": '11' Enter Enter");
    has(&viewer, &["│  params._meta.progressToken"]);
}
