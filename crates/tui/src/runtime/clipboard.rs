//! Text out of the viewer: into the clipboard of the terminal, or into a file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// `screen` drops longer pieces of what it passes on.
const SCREEN_PIECE: usize = 512;

/// What stands between the program and the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    Nothing,
    /// tmux, which takes the sequence itself or passes it on, as it is configured.
    Tmux,
    /// GNU screen, which passes it on.
    Screen,
}

impl Between {
    pub fn of_process() -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match (set("TMUX"), set("STY")) {
            (true, _) => Self::Tmux,
            (false, true) => Self::Screen,
            (false, false) => Self::Nothing,
        }
    }
}

/// The sequence (OSC 52) that puts `text` into the clipboard.
pub(super) fn sequence(text: &str, between: Between) -> Vec<u8> {
    let plain = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
    match between {
        Between::Nothing => plain.into_bytes(),
        // Twice: one for a tmux that takes it, one for a tmux that passes it on.
        Between::Tmux => {
            let doubled = plain.replace('\x1b', "\x1b\x1b");
            format!("{plain}\x1bPtmux;{doubled}\x1b\\").into_bytes()
        }
        Between::Screen => {
            let pieces = plain.as_bytes().chunks(SCREEN_PIECE);
            let wrapped = pieces.map(|piece| [b"\x1bP", piece, b"\x1b\\"].concat());
            wrapped.collect::<Vec<_>>().concat()
        }
    }
}

/// Writes a new file, readable by its owner only. Bytes that were written.
pub(super) fn save(path: &Path, text: &str) -> io::Result<u64> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())?;
    Ok(text.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplexers_get_the_sequence_in_their_own_wrapping() {
        let text = |between| String::from_utf8(sequence("hi", between)).expect("it is ASCII");
        assert_eq!(text(Between::Nothing), "\x1b]52;c;aGk=\x07");
        assert_eq!(
            text(Between::Tmux),
            "\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"
        );
        assert_eq!(text(Between::Screen), "\x1bP\x1b]52;c;aGk=\x07\x1b\\");
    }

    #[test]
    fn a_file_that_is_there_is_never_written_over() {
        let dir = tempfile::tempdir().expect("a folder can be made");
        let path = dir.path().join("a.json");
        assert_eq!(save(&path, "1").expect("it is new"), 1);
        assert!(save(&path, "2").is_err());
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "1");
    }
}
