//! Keys, and what the state is after them.

use crate::by_hand::Viewer;
use crate::fixture;
use mcpreel_trace::item::Lens;
use mcpreel_tui::app::{Focus, Overlay, Session};
use mcpreel_tui::panels::compare::Comparison;
use mcpreel_tui::panels::list::List;
use mcpreel_tui::panels::menu::Menu;
use mcpreel_tui::panels::prompt::Prompt;
use mcpreel_tui::widget::pager::Text;

/// Keys as for [`Viewer::act`], pressed on the recording that has ended, and the [`state`] then.
const TABLE: &[(&str, &str)] = &[
    ("", "Exchanges event-after-#86 follows"),
    // Moving.
    ("g", "Exchanges event-after-#0"),
    ("g j j", "Exchanges #1"),
    ("g j j j j", "Exchanges #4"),
    ("g j j j j k", "Exchanges #2"),
    ("k k k", "Exchanges #86 follows"),
    ("k k k k", "Exchanges #85 follows"),
    ("Home End", "Exchanges event-after-#86 follows"),
    ("g k", "Exchanges event-after-#0"),
    ("g Ctrl-D Ctrl-U", "Exchanges event-after-#0"),
    // Views and panes.
    ("2", "Timeline event-after-#86 follows"),
    ("3", "Stats event-after-#86 follows"),
    ("4", "Findings event-after-#86 follows"),
    ("4 1", "Exchanges event-after-#86 follows"),
    ("2 Esc", "Exchanges event-after-#86 follows"),
    ("4 Esc", "Exchanges event-after-#86 follows"),
    ("w", "Exchanges wire event-after-#86 follows"),
    ("w w", "Exchanges event-after-#86 follows"),
    ("2 w", "Exchanges wire event-after-#86 follows"),
    ("Tab", "Exchanges event-after-#86 follows detail:Body"),
    ("Tab Tab", "Exchanges event-after-#86 follows detail:Story"),
    (
        "Tab Tab Tab",
        "Exchanges event-after-#86 follows detail:Findings",
    ),
    ("Tab Tab Tab Tab", "Exchanges event-after-#86 follows"),
    ("Tab Esc", "Exchanges event-after-#86 follows"),
    ("z", "Exchanges event-after-#86 follows zoom"),
    ("z z", "Exchanges event-after-#86 follows"),
    // What has failed, and marks.
    ("g e", "Exchanges #11"),
    ("g e e", "Exchanges #17"),
    ("g e e E", "Exchanges #11"),
    // The mark is on record: the next viewer sees it, and the same key takes it away.
    ("g e m", "Exchanges #11 marked"),
    ("g e", "Exchanges #11 marked"),
    ("g e m", "Exchanges #11"),
    // Filters.
    ("f", "Exchanges event-after-#86 follows filter()"),
    (
        "f 'is:failed'",
        "Exchanges #85 follows is:failed filter(is:failed)",
    ),
    ("f 'is:failed' Enter", "Exchanges #85 follows is:failed"),
    ("f 'is:failed' Esc", "Exchanges event-after-#86 follows"),
    (
        "f 'is:failed' Enter F",
        "Exchanges event-after-#86 follows is:failed off",
    ),
    ("f 'is:failed' Enter F F", "Exchanges #85 follows is:failed"),
    ("f 'is:failed' Enter g", "Exchanges #11 follows is:failed"),
    (
        "f 'tool:get_tides' Enter",
        "Exchanges #29 follows tool:get_tides",
    ),
    ("g f 'is:failed' Enter", "Exchanges #11 follows is:failed"),
    (
        "f 'nothing_like_it' Enter",
        "Exchanges follows nothing_like_it",
    ),
    (
        "f 'is:nonsense'",
        "Exchanges event-after-#86 follows is:nonsense wrong filter(is:nonsense)",
    ),
    (
        "f 'is:failed' Enter f ' x' Esc",
        "Exchanges #85 follows is:failed",
    ),
    // The time cursor and the pause.
    ("g e T", "Exchanges #11 follows at:11"),
    ("g e T .", "Exchanges #11 follows at:12"),
    ("g e T . T", "Exchanges #11"),
    ("p", "Exchanges event-after-#86 follows paused"),
    ("p p", "Exchanges event-after-#86 follows"),
    // Two for a comparison.
    ("g e Space", "Exchanges #11 chosen:1"),
    ("g e Space e Space d", "Exchanges #17 chosen:2 comparison"),
    // A replay is asked about first; what is no yes starts nothing.
    ("g e a", "Exchanges #11 menu"),
    ("g e a Esc", "Exchanges #11"),
    ("g e a Enter", "Exchanges #11"),
    ("g e a n", "Exchanges #11"),
    ("g e a w", "Exchanges #11 menu"),
    ("g e a e", "Exchanges #11 edit"),
    ("g e a e Esc", "Exchanges #11 menu"),
    ("g e a e Ctrl-S Esc", "Exchanges #11"),
    // An export is asked about first, too.
    ("g e x", "Exchanges #11 menu"),
    ("g e x Esc", "Exchanges #11"),
    ("g e x h", "Exchanges #11 menu"),
    ("g e x h Esc", "Exchanges #11"),
    ("g e x w e Esc", "Exchanges #11"),
    // What was made from nothing is compared with nothing.
    ("g e P", "Exchanges #11"),
    // What lies on top takes the keys, Esc takes it away, and never quits.
    ("?", "Exchanges event-after-#86 follows text"),
    ("? q", "Exchanges event-after-#86 follows"),
    ("? Esc", "Exchanges event-after-#86 follows"),
    (":", "Exchanges event-after-#86 follows palette"),
    (": Esc", "Exchanges event-after-#86 follows"),
    (": 'q'", "Exchanges event-after-#86 follows palette"),
    (": 'stats' Enter", "Stats event-after-#86 follows"),
    (": '42' Enter", "Exchanges #42 follows"),
    ("/ 'quota' Esc", "Exchanges event-after-#86 follows"),
    ("/ 'quota' Enter g n", "Exchanges #11"),
    ("y", "Exchanges event-after-#86 follows menu"),
    ("=", "Exchanges event-after-#86 follows menu"),
    ("Esc Esc Esc", "Exchanges event-after-#86 follows"),
    // Out, one step at a time.
    ("q", "recordings"),
    ("q q", "recordings quit"),
    ("Ctrl-C", "Exchanges event-after-#86 follows armed"),
    ("Ctrl-C j", "Exchanges event-after-#86 follows"),
    (
        "Ctrl-C Ctrl-C",
        "Exchanges event-after-#86 follows armed quit",
    ),
];

#[test]
fn each_sequence_of_keys_leads_where_the_table_says() {
    let recording = fixture::ended();
    let mut wrong = Vec::new();
    for (keys, expected) in TABLE {
        let mut viewer = Viewer::open(&recording.path, (140, 40));
        viewer.settle();
        viewer.act(keys);
        let state = state(&viewer);
        if state != *expected {
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
        (session.focus == Focus::Detail).then(|| format!("detail:{:?}", session.detail.tab));
    let chosen = list.chosen.len();
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
