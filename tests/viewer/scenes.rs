//! What is looked at: every panel with something in it, as a recording and keys.

use crate::by_hand::Viewer;
use crate::fixture::{self, Recording};
use mcpreel_tui::panels::menu::Menu;

/// A screen worth looking at.
pub struct Scene {
    pub name: &'static str,
    stage: Stage,
    /// As for [`Viewer::act`].
    keys: &'static str,
}

/// What the viewer is opened on.
enum Stage {
    /// A recording.
    On(fn() -> Recording),
    /// A folder with one of each.
    Folder,
    /// A folder with a recording and a replay of it.
    Replayed,
    /// A folder with a recording and a session with its mock.
    Mocked,
}

use Stage::{Folder, Mocked, On, Replayed};

/// All of them.
pub const SCENES: &[Scene] = &[
    scene("recordings", Folder, ""),
    scene("recordings-delete", Folder, "j Delete"),
    // How a recording stands.
    scene("live", On(fixture::live), "k"),
    scene("failed", On(fixture::live), "g e"),
    scene("ended", On(fixture::ended), ""),
    scene("killed", On(fixture::killed), ""),
    scene("empty", On(fixture::empty), ""),
    // The views.
    scene("wire", On(fixture::live), "w"),
    scene("timeline", On(fixture::live), "2"),
    scene("stats", On(fixture::ended), "3"),
    scene("findings", On(fixture::ended), "4 j"),
    // One row in full.
    scene("body", On(fixture::ended), "g e Enter j j j j"),
    scene("body-raw", On(fixture::ended), "g e Enter r"),
    scene("body-hex", On(fixture::ended), "g e Enter r r"),
    scene("body-hostile", On(fixture::ended), ": '38' Enter Enter"),
    scene("story", On(fixture::ended), ": '25' Enter Enter Tab"),
    scene(
        "findings-of-one",
        On(fixture::ended),
        ": '42' Enter Enter Tab Tab",
    ),
    // What is wrong, and where.
    scene(
        "violations",
        On(fixture::broken),
        ": '11' Enter Enter v v v",
    ),
    scene("finding-explained", On(fixture::broken), "4 Enter j i"),
    // Which rows.
    scene("filter-completes", On(fixture::ended), "f 'status:'"),
    scene(
        "filter-hides-all",
        On(fixture::ended),
        "f 'tool:nothing' Enter",
    ),
    scene("search", On(fixture::ended), "/ 'quota' Enter"),
    // Two, and then.
    scene("diff", On(fixture::ended), ": '38' Enter d"),
    scene("replay", On(fixture::ended), ": '11' Enter a"),
    scene("replay-session", On(fixture::ended), "a w"),
    scene("export", On(fixture::ended), "f 'is:failed' Enter x"),
    scene("comparison", Replayed, "P"),
    scene("comparison-of-a-call", Replayed, "P e e e Enter"),
    scene("near-miss", Mocked, "Enter : '9' Enter"),
    scene("time-cursor", On(fixture::ended), "g e T"),
    scene("state", On(fixture::ended), "g e T S"),
    // What lies on top.
    scene("help", On(fixture::ended), "?"),
    scene("palette", On(fixture::ended), ": 'st'"),
    scene("why", On(fixture::ended), "W"),
    scene("note", On(fixture::ended), "g e c"),
];

const fn scene(name: &'static str, stage: Stage, keys: &'static str) -> Scene {
    Scene { name, stage, keys }
}

impl Scene {
    /// The scene `name`.
    pub fn find(name: &str) -> &'static Self {
        let scene = SCENES.iter().find(|scene| scene.name == name);
        scene.unwrap_or_else(|| panic!("no scene is called {name}"))
    }

    /// The viewer as it stands then, and the recordings, which must outlive it.
    pub fn play(&self, size: (u16, u16)) -> (Viewer, Vec<Recording>) {
        match self.stage {
            On(recording) => self.play_on(recording, size),
            Folder | Replayed | Mocked => {
                let recordings = match self.stage {
                    Replayed => fixture::replayed(),
                    Mocked => fixture::mocked(),
                    _ => fixture::folder(),
                };
                let viewer = Viewer::folder(recordings[0].folder(), size);
                (self.perform(viewer, &recordings), recordings)
            }
        }
    }

    /// The same keys on another recording.
    pub fn play_on(
        &self,
        recording: fn() -> Recording,
        size: (u16, u16),
    ) -> (Viewer, Vec<Recording>) {
        let recordings = vec![recording()];
        let viewer = match self.stage {
            On(_) => Viewer::open(recordings[0].path(), size),
            Folder | Replayed | Mocked => Viewer::folder(recordings[0].folder(), size),
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
