//! What is looked at: every panel with something in it, as a recording and keys.

use crate::by_hand::Viewer;
use crate::fixture::{self, Recording};
use mcpreel_tui::panels::menu::Menu;

/// A screen worth looking at.
pub struct Scene {
    pub name: &'static str,
    /// What the viewer is opened on.
    stage: &'static str,
    /// As for [`Viewer::act`].
    keys: &'static str,
}

/// All of them, as `scenes.txt` has them.
pub fn all() -> impl Iterator<Item = Scene> {
    let rows = include_str!("scenes.txt").lines();
    let rows = rows.filter(|row| !row.is_empty() && !row.starts_with('#'));
    rows.map(|row| {
        let (name, rest) = row.split_once(' ').expect("a scene has a name");
        let (stage, keys) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
        let keys = keys.trim();
        Scene { name, stage, keys }
    })
}

impl Scene {
    /// The scene `name`.
    pub fn find(name: &str) -> Self {
        let scene = all().find(|scene| scene.name == name);
        scene.unwrap_or_else(|| panic!("no scene is called {name}"))
    }

    /// The viewer as it stands then, and the recordings, which must outlive it.
    pub fn play(&self, size: (u16, u16)) -> (Viewer, Vec<Recording>) {
        let recordings = match self.stage {
            "recordings" => fixture::folder(),
            "replayed" => fixture::replayed(),
            "mocked" => fixture::mocked(),
            "live" => vec![fixture::live()],
            "ended" => vec![fixture::ended()],
            "killed" => vec![fixture::killed()],
            "empty" => vec![fixture::empty()],
            "broken" => vec![fixture::broken()],
            other => panic!("no stage is called {other}"),
        };
        self.play_on(recordings, size)
    }

    /// The same keys on other recordings.
    pub fn play_on(
        &self,
        recordings: Vec<Recording>,
        size: (u16, u16),
    ) -> (Viewer, Vec<Recording>) {
        let viewer = if ["recordings", "replayed", "mocked"].contains(&self.stage) {
            Viewer::folder(recordings[0].folder(), size)
        } else {
            Viewer::open(recordings[0].path(), size)
        };
        (self.perform(viewer, &recordings), recordings)
    }

    fn perform(&self, mut viewer: Viewer, recordings: &[Recording]) -> Viewer {
        viewer.settle();
        viewer.act(self.keys);
        let is_menu = viewer.state.app.top::<Menu>().is_some();
        let wanted = [
            "palette",
            "recordings-delete",
            "why",
            "replay",
            "replay-session",
            "export",
        ]
        .contains(&self.name);
        assert_eq!(is_menu, wanted, "{}: whether a menu is open", self.name);
        viewer.stand_in(recordings[0].path());
        viewer
    }
}
