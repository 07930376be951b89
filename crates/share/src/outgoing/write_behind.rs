//! A file is written while more of it is made.

use std::fs::File;
use std::io::{self, Write as _};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Pieces that wait to be written. With the one that is being written and the one that is being
/// filled there are three in memory, however long the file becomes.
const WAITING: usize = 1;

/// A thread that writes into a file what it is given, piece by piece.
#[derive(Debug)]
pub(super) struct WriteBehind {
    /// Gone as soon as nothing more comes: then the thread ends.
    full: Option<SyncSender<Vec<u8>>>,
    /// Pieces that are written; their memory is used again.
    empty: Receiver<Vec<u8>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl WriteBehind {
    /// Begins where `file` stands; `None` where there cannot be such a thread.
    pub fn start(file: &File) -> Option<Self> {
        let mut file = file.try_clone().ok()?;
        let (full, pieces) = sync_channel::<Vec<u8>>(WAITING);
        let (back, empty) = sync_channel(WAITING + 1);
        let write = move || {
            for piece in pieces {
                file.write_all(&piece)?;
                // Where nobody wants it back it goes.
                let _ = back.try_send(piece);
            }
            Ok(())
        };
        let thread = Builder::new().name("write-behind".into()).spawn(write);
        Some(Self {
            full: Some(full),
            empty,
            thread: Some(thread.ok()?),
        })
    }

    /// Takes a piece. That one before it could not be written is said here, or at the end.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut piece = self.empty.try_recv().unwrap_or_default();
        piece.clear();
        piece.extend_from_slice(bytes);
        let sent = self.full.as_ref().map(|full| full.send(piece));
        if matches!(sent, Some(Ok(()))) {
            return Ok(());
        }
        self.finish()
    }

    /// Waits until all of it is written, which is asked once.
    pub fn finish(&mut self) -> io::Result<()> {
        self.full = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(ended) => ended.unwrap_or_else(|panic| resume_unwind(panic)),
            None => Err(io::Error::other("what came before could not be written")),
        }
    }
}

impl Drop for WriteBehind {
    /// Nobody writes into a file that is removed.
    fn drop(&mut self) {
        self.full = None;
        // What went wrong was said, or nobody needs the file.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_stands_in_the_file_in_its_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"first ").unwrap();
        let mut behind = WriteBehind::start(&file).unwrap();
        let pieces: Vec<_> = (0..100).map(|n| vec![b'a' + n % 26; n.into()]).collect();
        for piece in &pieces {
            behind.write(piece).unwrap();
        }
        behind.finish().unwrap();
        let written = std::fs::read(&path).unwrap();
        assert_eq!(written, [b"first ".to_vec(), pieces.concat()].concat());
    }

    #[test]
    fn that_something_could_not_be_written_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "").unwrap();
        let mut behind = WriteBehind::start(&File::open(&path).unwrap()).unwrap();
        let written = (0..10).try_for_each(|_| behind.write(b"x"));
        assert!(written.and_then(|()| behind.finish()).is_err());
        assert!(behind.write(b"x").is_err() && behind.finish().is_err());
    }
}
