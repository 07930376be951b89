//! The files in one ZIP file.

use super::{NAMES, unwritten};
use crate::cli::exit::Failure;
use anyhow::Context as _;
use mcpreel_share::outgoing::file::Draft;
use mcpreel_share::outgoing::file::Replace;
use std::fs::File;
use std::io;
use std::path::Path;
use zip::ZipArchive;
use zip::write::{SimpleFileOptions, ZipWriter};

/// From so many bytes on a file needs the larger form of entries.
const LARGE: u64 = u32::MAX as u64;

/// Packs what is in `folder` into the file `path`, which appears when it is whole, in the place of
/// what is there if that `may` be; returns its bytes. The files stand in a folder of its name.
pub fn appear(folder: &Path, path: &Path, may: Replace) -> Result<u64, Failure> {
    let draft = Draft::beside(path).with_context(|| unwritten(path))?;
    let inside = path.file_stem().unwrap_or_default().to_string_lossy();
    let draft = pack(folder, &inside, draft).with_context(|| unwritten(path))?;
    let bytes = draft.path().metadata()?.len();
    draft.settle(path, may).with_context(|| unwritten(path))?;
    Ok(bytes)
}

/// Whether a file is such a one.
pub fn is_report(path: &Path) -> bool {
    let archive = File::open(path).ok().map(ZipArchive::new);
    let is_ours = |name: &str| {
        NAMES
            .iter()
            .any(|ours| name.rsplit('/').next() == Some(*ours))
    };
    archive.and_then(Result::ok).is_some_and(|archive| {
        let mut names = archive.file_names();
        archive.len() == NAMES.len() && names.all(|name| name.is_ok_and(|name| is_ours(&name)))
    })
}

fn pack(folder: &Path, inside: &str, draft: Draft) -> anyhow::Result<Draft> {
    let mut zip = ZipWriter::new_stream(draft);
    for name in NAMES {
        let mut file = File::open(folder.join(name))?;
        let is_large = file.metadata()?.len() >= LARGE;
        let options = SimpleFileOptions::default()
            .unix_permissions(0o600)
            .large_file(is_large);
        zip.start_file(format!("{inside}/{name}"), options)?;
        io::copy(&mut file, &mut zip)?;
    }
    Ok(zip.finish()?.into_inner())
}
