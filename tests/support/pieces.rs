//! Bytes in pieces: what one side writes, and where it pauses. Shared by the tests and the peer.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

/// Long enough for the reader to have seen what came before it.
const PAUSE: Duration = Duration::from_micros(300);

/// What is written at once, piece after piece; an empty one is a pause.
#[derive(Clone, Debug, Default)]
pub struct Pieces(pub Vec<Vec<u8>>);

impl Pieces {
    /// Bytes in pieces of one length, with a pause behind each.
    pub fn of_length(length: usize, bytes: &[u8]) -> Self {
        let pieces = bytes
            .chunks(length)
            .flat_map(|piece| [piece.to_vec(), Vec::new()]);
        Self(pieces.collect())
    }

    /// Long enough for the other side to have seen what came before.
    pub fn pause() {
        std::thread::sleep(PAUSE);
    }

    /// All bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.concat()
    }

    /// Writes piece after piece, each in one call if the kernel takes it.
    pub fn write_to(&self, mut sink: impl Write) -> io::Result<()> {
        for piece in &self.0 {
            if piece.is_empty() {
                Self::pause();
            }
            sink.write_all(piece)?;
            sink.flush()?;
        }
        Ok(())
    }

    /// Keeps them in a file: lengths and bytes.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut file = Vec::new();
        for piece in &self.0 {
            file.extend((piece.len() as u64).to_le_bytes());
            file.extend(piece);
        }
        std::fs::write(path, file)
    }

    /// Reads what [`Self::save`] wrote.
    pub fn load(path: &Path) -> io::Result<Self> {
        let mut file = io::BufReader::new(std::fs::File::open(path)?);
        let mut pieces = Vec::new();
        let mut length = [0; 8];
        while file.read_exact(&mut length).is_ok() {
            let mut piece = Vec::new();
            let taken = (&mut file)
                .take(u64::from_le_bytes(length))
                .read_to_end(&mut piece)?;
            assert_eq!(
                taken as u64,
                u64::from_le_bytes(length),
                "the file is whole"
            );
            pieces.push(piece);
        }
        Ok(Self(pieces))
    }
}
