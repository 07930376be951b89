//! Keys, and what the [`state`] is after them: `sequences.txt`.

use crate::by_hand::Viewer;
use crate::fixture;
use mcpreel_trace::item::Lens;
use mcpreel_tui::app::{Focus, Overlay, Session};
use mcpreel_tui::panels::compare::Comparison;
use mcpreel_tui::panels::list::List;
use mcpreel_tui::panels::menu::Menu;
use mcpreel_tui::panels::prompt::Prompt;
use mcpreel_tui::widget::pager::Text;

#[test]
fn each_sequence_of_keys_leads_where_the_table_says() {
    let recording = fixture::ended();
    let mut wrong = Vec::new();
    let rows = include_str!("sequences.txt").lines();
    for (keys, expected) in rows.filter_map(|row| row.split_once("-> ")) {
        let mut viewer = Viewer::open(&recording.path, (140, 40));
        viewer.settle();
        viewer.act(keys.trim());
        let state = state(&viewer);
        if state != expected {
            wrong.push(format!("{keys:24} {expected}\n{:24} {state}", "  is"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The state in words: the view, the row under the cursor, and whatever is not as it always is.
fn state(viewer: &Viewer) -> String {
    let app = &viewer.state.app;
    let session = &viewer.state.session;
    let mut words = session
        .as_deref()
        .map_or(vec!["recordings".to_owned()], of_session);
    words.extend(app.overlays.iter().map(|top| on_top(&**top)));
    words.extend(app.quit_armed.then(|| "armed".to_owned()));
    words.extend(viewer.has_quit().then(|| "quit".to_owned()));
    words.join(" ")
}

fn of_session(session: &Session) -> Vec<String> {
    let (list, filter) = (&session.list, &session.filter);
    let detail =
        (session.focus == Focus::Detail).then(|| format!("detail:{:?}", session.detail.tab()));
    let chosen = list.to_compare.len();
    let words = [
        Some(format!("{:?}", session.view)),
        (session.lens == Lens::Wire).then(|| "wire".to_owned()),
        list.selected().map(|key| match key.event_id() {
            Some(_) => format!("event-after-#{}", key.seq.0),
            None => format!("#{}", key.seq.0),
        }),
        list.follows().then(|| "follows".to_owned()),
        detail,
        session.zoom.then(|| "zoom".to_owned()),
        Some(filter.text.clone()).filter(|text| !text.is_empty()),
        filter.error.is_some().then(|| "wrong".to_owned()),
        filter.off.then(|| "off".to_owned()),
        session.playback.cursor.map(|seq| format!("at:{}", seq.0)),
        session.playback.paused.map(|_| "paused".to_owned()),
        is_marked(list).then(|| "marked".to_owned()),
        (chosen > 0).then(|| format!("chosen:{chosen}")),
    ];
    words.into_iter().flatten().collect()
}

fn is_marked(list: &List) -> bool {
    let annotation = list
        .selected_item()
        .and_then(|item| item.annotation.as_ref());
    annotation.is_some_and(|annotation| annotation.mark.is_some())
}

fn on_top(overlay: &dyn Overlay) -> String {
    if let Some(prompt) = overlay.cast::<Prompt>() {
        return format!("{prompt:?}");
    }
    let kinds = [
        ("text", overlay.cast::<Text>().is_some()),
        (
            "palette",
            overlay
                .cast()
                .is_some_and(|menu: &Menu| menu.search.is_some()),
        ),
        ("menu", overlay.cast::<Menu>().is_some()),
        ("comparison", overlay.cast::<Comparison>().is_some()),
    ];
    let kind = kinds.into_iter().find(|(_, is_on_top)| *is_on_top);
    kind.map_or("edit", |(kind, _)| kind).to_owned()
}
