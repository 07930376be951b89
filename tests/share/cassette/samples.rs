//! The sample recordings, and a session that is recorded twice.

use crate::cassette::taken;
use crate::cassette::written;
use mcpreel_store::reader::Recording;
use std::path::PathBuf;

fn samples() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("recordings");
    let files = std::fs::read_dir(root).expect("the folder can be listed");
    let mut files: Vec<_> = files.flatten().map(|file| file.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "reel"));
    assert!(files.len() >= 4, "{files:?}");
    files
}

#[test]
fn a_sample_exported_twice_is_the_same_to_the_byte_and_so_is_what_was_made_of_it() {
    for reel in samples() {
        let file = written(&reel);
        assert!(written(&reel) == file, "{}", reel.display());
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        let tape = taken(dir.path(), &file);
        assert_eq!(tape.told(), [""; 0], "{}", reel.display());
        assert!(written(tape.reel()) == file, "{}", reel.display());
        let id = |tape: &mcpreel::cli::cassette::Tape| {
            let recording = Recording::open(tape.reel()).expect("it can be read");
            recording.summary().expect("it can be read").id
        };
        assert_eq!(
            id(&tape),
            id(&taken(dir.path(), &file)),
            "the id comes from the content"
        );
    }
}
