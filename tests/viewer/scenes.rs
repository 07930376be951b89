//! What is looked at: every panel with something in it, as a recording and keys.

use crate::by_hand::Viewer;
use crate::fixture::{self, Recording};

/// A screen worth looking at.
pub struct Scene {
    pub name: &'static str,
    recording: fn() -> Recording,
    /// As for [`Viewer::act`].
    keys: &'static str,
}

/// All of them. Each is shown at every size.
pub const SCENES: &[Scene] = &[
    Scene {
        name: "live",
        recording: fixture::live,
        keys: "",
    },
    Scene {
        name: "ended",
        recording: fixture::ended,
        keys: "",
    },
    Scene {
        name: "empty",
        recording: fixture::empty,
        keys: "",
    },
];

impl Scene {
    /// The scene `name`.
    pub fn find(name: &str) -> &'static Self {
        let scene = SCENES.iter().find(|scene| scene.name == name);
        scene.unwrap_or_else(|| panic!("no scene is called {name}"))
    }

    /// Whether nothing but ASCII comes from the recording itself.
    pub fn is_tame(&self) -> bool {
        self.name == "empty"
    }

    /// The viewer as it stands then, and the recording, which must outlive it.
    pub fn play(&self, size: (u16, u16)) -> (Viewer, Recording) {
        let recording = (self.recording)();
        let mut viewer = Viewer::open(&recording.path, size);
        viewer.settle();
        viewer.act(self.keys);
        viewer.stand_in(recording.path());
        (viewer, recording)
    }
}
