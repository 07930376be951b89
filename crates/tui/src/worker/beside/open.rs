//! Which recording is meant, and opening it.

use super::Which;
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::{Details, Entry, Library};
use mcpreel_store::reader::Recording;
use mcpreel_store::recovery;
use mcpreel_trace::clock::Clock;
use mcpreel_wire::text::escape;
use std::path::{Path, PathBuf};

/// Opens it, with all that its spool still holds where that may be added. Why it cannot be.
pub fn open(which: &Which, library: &Library, clock: Clock) -> Result<Recording, String> {
    let path = path_of(which, library)?;
    let entry = Entry::read(&path);
    if entry.standing.is_recoverable() && library.contains(&path) {
        // What cannot be completed is read as it stands.
        let _ = recovery::bring_up_to_date(&path, clock, &mut |_| ());
    }
    Recording::open(&path).map_err(|error| sentence(&error))
}

fn path_of(which: &Which, library: &Library) -> Result<PathBuf, String> {
    match which {
        Which::File(path) => Ok(path.clone()),
        Which::Id(id, beside) => find(id, beside, library),
        Which::Parent(path) => {
            let entry = Entry::read(path);
            if let Details::Unreadable(error) = &entry.details {
                return Err(sentence(error));
            }
            let parent = entry.summary().and_then(|summary| summary.parent.clone());
            let parent = parent.or_else(|| entry.context()?.parent.clone());
            let parent = parent.ok_or_else(|| {
                let id = escape(&entry.id).into_owned();
                format!("{id} was not made from another recording")
            })?;
            find(&parent, path, library)
        }
    }
}

/// The recording with this id, of the folder or of the one that `beside` lies in.
fn find(id: &str, beside: &Path, library: &Library) -> Result<PathBuf, String> {
    let other = beside.parent().map(Library::new);
    let mut folders = [Some(library), other.as_ref()].into_iter().flatten();
    let found = folders.find_map(|folder| folder.with_id(id));
    found.ok_or_else(|| format!("the recording {} is not there", escape(id)))
}
