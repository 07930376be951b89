//! What recordings are called where somebody is to find them again.

use mcpreel_store::library::REEL;
use mcpreel_store::reader::Recording;
use std::path::Path;

/// Whether the file `path` is a cassette, of which a recording is made for as long as it is looked
/// at: nobody can open that by its id.
pub fn is_cassette(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_none_or(|extension| extension != REEL)
}

/// `weather.jsonl` for a cassette; `None` for a recording, which has an id. Not escaped.
pub fn cassette_name(recording: &Recording) -> Option<String> {
    let path = recording.path();
    let file = path.file_name().filter(|_| is_cassette(path))?;
    Some(file.to_string_lossy().into_owned())
}
