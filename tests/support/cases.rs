//! Cases as files: those of a folder, and one of them read.

use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// The files with cases in FOLDER and in the folders right below it, in the order of the
/// alphabet.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files = entries(&folder);
    let below: Vec<_> = files.extract_if(.., |path| path.is_dir()).collect();
    files.extend(below.iter().flat_map(|folder| entries(folder)));
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// What the file at `path` tells.
pub fn read<T: DeserializeOwned>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
