//! A recording that stands for another file, for as long as it is open.

use super::Recording;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct StandIn {
    file: PathBuf,
    _rest: Box<dyn Debug + Send + Sync>,
}

impl Recording {
    /// The same recording, which was made of the file `path` and stands for it as long as it is
    /// open; `rest` is what has to be kept for that.
    pub fn in_place_of(mut self, path: &Path, rest: Box<dyn Debug + Send + Sync>) -> Self {
        let file = std::mem::replace(&mut self.path, path.to_owned());
        self.stands_in = Some(StandIn { file, _rest: rest });
        self
    }

    /// The same, where the file that it stands for is handed on under this name.
    pub fn called(mut self, name: &Path) -> Self {
        debug_assert!(self.is_temporary(), "the path of a recording is its own");
        name.clone_into(&mut self.path);
        self
    }

    /// Whether it vanishes when it is closed.
    pub fn is_temporary(&self) -> bool {
        self.stands_in.is_some()
    }

    pub fn file(&self) -> &Path {
        self.stands_in.as_ref().map_or(&self.path, |own| &own.file)
    }
}
