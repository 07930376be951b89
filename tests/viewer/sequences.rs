//! Keys, and what the state is after them.

use crate::by_hand::Viewer;
use crate::fixture;
use mcpreel::tui::app::{App, Overlay};

/// Keys as for [`Viewer::act`], pressed on the recording that has ended, and the [`state`] then.
const TABLE: &[(&str, &str)] = &[
    ("", "Exchanges Exchanges Main"),
    // Views and panes.
    ("2", "Timeline Exchanges Main"),
    ("3", "Stats Exchanges Main"),
    ("4", "Findings Exchanges Main"),
    ("4 1", "Exchanges Exchanges Main"),
    ("w", "Exchanges Wire Main"),
    ("w w", "Exchanges Exchanges Main"),
    ("2 w", "Exchanges Wire Main"),
    ("Tab", "Exchanges Exchanges Detail"),
    ("z", "Exchanges Exchanges Main zoom"),
    ("z z", "Exchanges Exchanges Main"),
    // What lies on top takes the keys, Esc takes it away, and never quits.
    (":", "Exchanges Exchanges Main palette"),
    (": Esc", "Exchanges Exchanges Main"),
    (": 'q'", "Exchanges Exchanges Main palette"),
    ("Esc Esc Esc", "Exchanges Exchanges Main"),
    // Out, one step at a time.
    ("q", "recordings"),
    ("q q", "recordings quit"),
    ("Ctrl-C", "Exchanges Exchanges Main armed"),
    ("Ctrl-C j", "Exchanges Exchanges Main"),
    ("Ctrl-C Ctrl-C", "Exchanges Exchanges Main armed quit"),
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
            wrong.push(format!("{keys:20} {state}\n{:20} not {expected}", ""));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The state in words: view, what a row is, pane, and whatever is not as it always is.
fn state(viewer: &Viewer) -> String {
    let app = &viewer.app;
    let mut words = match app.session.as_deref() {
        None => vec!["recordings".to_owned()],
        Some(session) => vec![
            format!("{:?}", session.view),
            format!("{:?}", session.lens),
            format!("{:?}", session.focus),
        ],
    };
    let zoom = app.session.as_deref().is_some_and(|session| session.zoom);
    words.extend(zoom.then(|| "zoom".to_owned()));
    words.extend(on_top(app));
    words.extend(app.quit_armed.then(|| "armed".to_owned()));
    words.extend(viewer.has_quit().then(|| "quit".to_owned()));
    words.join(" ")
}

fn on_top(app: &App) -> Vec<String> {
    let name = |overlay: &Overlay| match overlay {
        Overlay::Text(_) => "text".to_owned(),
        Overlay::Menu(_) => "menu".to_owned(),
        Overlay::Prompt(prompt) => format!("{:?}({})", prompt.purpose, prompt.input.value()),
        Overlay::Palette(_) => "palette".to_owned(),
        Overlay::Diff(_) => "diff".to_owned(),
    };
    app.overlays.iter().map(name).collect()
}
