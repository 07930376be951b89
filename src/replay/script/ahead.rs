//! Reads the next page while the one before is gone through.

use super::pager::{Page, Pager};
use crate::store::reader::{ReadError, Recording};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// A thread with a connection of its own. It holds one page, and waits until that is taken.
#[derive(Debug)]
pub(super) struct Ahead {
    /// Gone as soon as nobody wants more: then the thread ends.
    read: Option<Receiver<Result<Page, ReadError>>>,
    thread: Option<JoinHandle<()>>,
}

impl Ahead {
    /// Goes on from where `pager` is; `None` where there cannot be such a thread.
    pub fn start(pager: &Pager, recording: &Recording) -> Option<Self> {
        let recording = recording.another().ok()?;
        let (sender, read) = sync_channel(0);
        let pager = pager.clone();
        let builder = Builder::new().name("read-ahead".into());
        let thread = builder.spawn(move || run(pager, &recording, &sender));
        Some(Self {
            read: Some(read),
            thread: Some(thread.ok()?),
        })
    }

    /// The next page; `None` after the last one, or after what went wrong.
    pub fn next(&mut self) -> Result<Option<Page>, ReadError> {
        match self.read.as_ref().map(Receiver::recv) {
            Some(Ok(page)) => page.map(Some),
            // A thread that panicked has not come to the end.
            Some(Err(_)) => self
                .join()
                .map_or_else(|panic| resume_unwind(panic), |()| Ok(None)),
            None => Ok(None),
        }
    }

    fn join(&mut self) -> std::thread::Result<()> {
        self.read = None;
        self.thread.take().map_or(Ok(()), JoinHandle::join)
    }
}

fn run(mut pager: Pager, recording: &Recording, sender: &SyncSender<Result<Page, ReadError>>) {
    while let Some(page) = pager.next(recording).transpose() {
        let is_last = page.is_err();
        if sender.send(page).is_err() || is_last {
            return;
        }
    }
}

impl Drop for Ahead {
    /// What the thread reads may be gone with the recording.
    fn drop(&mut self) {
        // If it panicked, that was said, or nobody needs what it read.
        let _ = self.join();
    }
}
