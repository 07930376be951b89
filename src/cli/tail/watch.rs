//! Waiting for a recording that does not exist yet.

use mcpreel_store::library::{REEL, SPOOL};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The recordings that began after a moment.
pub struct Newcomers {
    dir: PathBuf,
    known: BTreeSet<PathBuf>,
}

impl Newcomers {
    /// Those in `dir` that begin from now on. The folder need not exist.
    pub fn since_now(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            known: spools(dir),
        }
    }
}

impl Iterator for Newcomers {
    type Item = PathBuf;

    /// One that was not there before; `None` as long as there is none, which may change.
    fn next(&mut self) -> Option<PathBuf> {
        let fresh = spools(&self.dir)
            .into_iter()
            .find(|spool| !self.known.contains(spool))?;
        let reel = fresh.with_extension(REEL);
        self.known.insert(fresh);
        Some(reel)
    }
}

/// The spools of a folder: every recording begins with one.
fn spools(dir: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == SPOOL))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_comes_later_is_found_and_only_once() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let touch = |name| std::fs::write(dir.path().join(name), "").expect("it can be written");
        touch("old.spool");
        let mut newcomers = Newcomers::since_now(dir.path());
        assert_eq!(newcomers.next(), None);
        touch("new.spool");
        touch("new.reel");
        assert_eq!(newcomers.next(), Some(dir.path().join("new.reel")));
        assert_eq!(newcomers.next(), None);
    }
}
