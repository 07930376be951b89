//! What is kept for the next time.
//!
//! A file that cannot be read or written is nobody's trouble: the viewer begins as it always does.

use crate::app::settings::Remembered;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

const MOST: u64 = 64 * 1024;

pub fn read(path: &Path) -> Remembered {
    let is_ours = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= MOST);
    let text = is_ours.then(|| fs::read_to_string(path).ok()).flatten();
    text.and_then(|text| toml::from_str(&text).ok())
        .unwrap_or_default()
}

/// Writes it, readable by its owner only.
pub(super) fn write(path: &Path, remembered: &Remembered) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)?;
    }
    let text = toml::to_string(remembered).map_err(io::Error::other)?;
    let mut options = fs::OpenOptions::new();
    let file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path);
    io::Write::write_all(&mut file?, text.as_bytes())
}
