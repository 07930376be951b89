//! What is looked at: every panel with something in it, as a recording and keys.

use crate::by_hand::Viewer;
use crate::fixture::{self, Recording};

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
}

use Stage::{Folder, On};

/// All of them. Each is shown at every size.
pub const SCENES: &[Scene] = &[
    scene("recordings", Folder, ""),
    scene("live", On(fixture::live), ""),
    scene("ended", On(fixture::ended), ""),
    scene("empty", On(fixture::empty), ""),
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
            Folder => {
                let recordings = fixture::folder();
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
            Folder => Viewer::folder(recordings[0].folder(), size),
        };
        (self.perform(viewer, &recordings), recordings)
    }

    fn perform(&self, mut viewer: Viewer, recordings: &[Recording]) -> Viewer {
        viewer.settle();
        viewer.act(self.keys);
        viewer.stand_in(recordings[0].path());
        viewer
    }
}
